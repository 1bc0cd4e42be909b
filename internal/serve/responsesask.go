package serve

// The body of POST /v1/responses.

import (
	"fmt"
)

var responsesFields = fields{
	"model": {kind: stringKind, required: true},
	"input": {required: true},

	"instructions": {kind: stringKind}, "text": object, "max_output_tokens": atLeast(16), "stream": flag, "store": flag,
	"temperature": between(numberKind, 0, 2), "top_p": fraction, "top_logprobs": between(integerKind, 0, 20), "reasoning": object,
	"metadata": object, "user": shortText, "safety_identifier": shortText, "prompt_cache_key": shortText, "include": {kind: arrayKind},
	"prompt_cache_retention": {kind: stringKind, enum: retentions}, "service_tier": {kind: stringKind, enum: tiers},
	"truncation": {kind: stringKind, enum: []string{"auto", "disabled"}}, "parallel_tool_calls": flag, "stream_options": object,
	"previous_response_id": {kind: stringKind},

	"tools": refused, "tool_choice": refused, "max_tool_calls": refused, "background": refused, "conversation": refused, "prompt": refused,
}

var textFields = fields{"format": {}, "verbosity": {kind: stringKind, enum: verbosity}}

// askResponses reads it.
func (s *Server) askResponses(body members) (*ask, *apiError) {
	if err := responsesFields.check("", body); err != nil {
		return nil, err
	}
	a := &ask{
		api: "responses", model: body["model"].Str, stream: body["stream"].Bool(),
		cacheKey: body["prompt_cache_key"].Str, most: int(body["max_output_tokens"].Int()),
	}
	if id := body["previous_response_id"].Str; id != "" {
		return nil, invalid("previous_response_id", "previous_response_not_found", "Previous response with id '%s' not found.", id)
	}
	if err := textFields.check("text.", membersOf(body["text"])); err != nil {
		return nil, err
	}
	var err *apiError
	if a.format, err = responsesFormat(body["text"].Get("format")); err != nil {
		return nil, err
	}
	if a.messages, err = s.readInput(body); err != nil {
		return nil, err
	}
	return a, s.ready(a)
}

// readInput is the instructions and the input, which may be a bare text.
func (s *Server) readInput(body members) ([]message, *apiError) {
	input := body["input"]
	var list []message
	var err *apiError
	switch kindOf(input) {
	case stringKind:
		list = []message{s.newMessage(`{"role":"user","content":` + input.Raw + `}`)}
	case arrayKind:
		if list, err = s.readMessages("input", input, responsesMessage); err != nil {
			return nil, err
		}
	default:
		return nil, invalid("input", "invalid_type", "Invalid type for 'input': expected one of a string or array of objects, but got %s instead.", kindOf(input))
	}
	if instructions := body["instructions"]; instructions.Str != "" {
		lead := s.newMessage(fmt.Sprintf(`{"role":"system","content":%s}`, instructions.Raw))
		list = append([]message{lead}, list...)
	}
	return list, nil
}

// responses is POST /v1/responses.
func (s *Server) responses(x *exchange) *apiError {
	return s.converse(x, s.askResponses, (*answerWriter).response)
}

package serve

// A question in either API: what there is to answer.

import (
	"net/http"
)

// ask is the body of a request, checked.
type ask struct {
	api          string // chat or responses: the endpoint's name
	model        string
	messages     []message
	format       format
	most         int // tokens that the answer may have; 0 is any number
	stream       bool
	includeUsage bool // a last chunk of the stream has the usage
	cacheKey     string

	talk *conversation // what the messages say
}

// op is the opcode that is asked about, "" where the messages ask none.
func (a *ask) op() string { return a.talk.last.op }

const (
	perMessage = 3 + 1 // tokens around a message, and its role
	perPrompt  = 3     // that begin the answer
)

// lead is the tokens of a prompt before the first message, tokens all of them.
func (a *ask) lead(t *tokens) int {
	if a.format.schema == "" {
		return perPrompt
	}
	return perPrompt + t.count(a.format.schema)
}

func (a *ask) tokens(t *tokens) int {
	n := a.lead(t)
	for i := range a.messages {
		n += a.messages[i].tokens
	}
	return n
}

// start is the key of what comes before the first message.
func (a *ask) start() key { return keyOf(a.cacheKey).then(keyOf(a.model), keyOf(a.format.schema)) }

// ready is what all questions have to pass in the end.
func (s *Server) ready(a *ask) *apiError {
	if !s.knows(a.model) {
		return noModel(a.model)
	}
	a.talk = converse(a.messages)
	if have := a.tokens(s.tokens); s.o.ContextTokens > 0 && have+a.most > s.o.ContextTokens {
		return invalid("messages", "context_length_exceeded", "This model's maximum context length is %d tokens. However, you requested %d tokens (%d in the messages, %d in the completion). Please reduce the length of the messages or completion.",
			s.o.ContextTokens, have+a.most, have, a.most)
	}
	return nil
}

var (
	fraction   = between(numberKind, 0, 1)
	penalty    = between(numberKind, -2, 2)
	shortText  = field{kind: stringKind, longest: 64}
	flag       = field{kind: boolKind}
	object     = field{kind: objectKind}
	refused    = field{refused: true}
	efforts    = []string{"none", "minimal", "low", "medium", "high", "xhigh"}
	verbosity  = []string{"low", "medium", "high"}
	tiers      = []string{"auto", "default", "flex", "priority", "scale"}
	retentions = []string{"in-memory", "24h"}
)

// chatFields are those of a chat completion.
var chatFields = fields{
	"model":    {kind: stringKind, required: true},
	"messages": {kind: arrayKind, required: true},

	"max_tokens": atLeast(1), "max_completion_tokens": atLeast(1), "n": between(integerKind, 1, 1),
	"temperature": between(numberKind, 0, 2), "top_p": fraction, "frequency_penalty": penalty, "presence_penalty": penalty,
	"top_logprobs": between(integerKind, 0, 20), "logprobs": flag, "logit_bias": object, "seed": {kind: integerKind},
	"stop": {kind: stringKind, or: arrayKind}, "stream": flag, "stream_options": object, "store": flag,
	"response_format": {}, "metadata": object, "user": shortText, "safety_identifier": shortText, "prompt_cache_key": shortText,
	"prompt_cache_retention": {kind: stringKind, enum: retentions}, "reasoning_effort": {kind: stringKind, enum: efforts},
	"verbosity": {kind: stringKind, enum: verbosity}, "service_tier": {kind: stringKind, enum: tiers}, "parallel_tool_calls": flag,

	"tools": refused, "tool_choice": refused, "functions": refused, "function_call": refused, "audio": refused,
	"modalities": refused, "prediction": refused, "web_search_options": refused,
}

var streamFields = fields{"include_usage": flag, "include_obfuscation": flag}

// askChat reads the body of POST /v1/chat/completions.
func (s *Server) askChat(body members) (*ask, *apiError) {
	if err := chatFields.check("", body); err != nil {
		return nil, err
	}
	a := &ask{api: "chat", model: body["model"].Str, stream: body["stream"].Bool(), cacheKey: body["prompt_cache_key"].Str}
	a.includeUsage = body["stream_options"].Get("include_usage").Bool()
	old, most := body["max_tokens"], body["max_completion_tokens"]
	a.most = int(max(old.Int(), most.Int()))
	options := body["stream_options"]
	switch {
	case old.Int() > 0 && most.Int() > 0:
		return nil, invalid("max_tokens", "invalid_parameter_combination", "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
	case options.IsObject() && !a.stream:
		return nil, invalid("stream_options", "invalid_parameter_combination", "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
	}
	if err := streamFields.check("stream_options.", membersOf(options)); err != nil {
		return nil, err
	}
	var err *apiError
	if a.format, err = chatFormat(body["response_format"]); err != nil {
		return nil, err
	}
	if a.messages, err = s.readMessages("messages", body["messages"], chatMessage); err != nil {
		return nil, err
	}
	if err := a.wantsJSON(); err != nil {
		return nil, err
	}
	return a, s.ready(a)
}

// wantsJSON is OpenAI's condition for JSON without a schema.
func (a *ask) wantsJSON() *apiError {
	if a.format.kind != "json_object" {
		return nil
	}
	for i := range a.messages {
		if containsFold(a.messages[i].content(), "json") {
			return nil
		}
	}
	return invalid("messages", "", "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.")
}

// chat is POST /v1/chat/completions.
func (s *Server) chat(x *exchange) *apiError {
	return s.converse(x, s.askChat, (*answerWriter).chat)
}

// converse reads a question, answers it and writes the answer.
func (s *Server) converse(x *exchange, read func(members) (*ask, *apiError), write func(*answerWriter, *said) error) *apiError {
	body, err := readBody(x)
	if err != nil {
		return err
	}
	a, err := read(body)
	if err != nil {
		return err
	}
	x.op = a.op()
	fault := s.faults.next(circumstances{x.route.name, x.op, a.model})
	x.note = fault.String()
	if err := s.before(x, fault); err != nil {
		return err
	}
	said := s.say(a)
	fault.spoil(said)
	s.limit(a, said)
	w := &answerWriter{s: s, x: x, ask: a, wire: newWire(s, x, fault), latency: fault.latencyOr(s.o.Latency)}
	if write(w, said) != nil {
		panic(http.ErrAbortHandler) // the client has gone, or is to think so
	}
	return nil
}

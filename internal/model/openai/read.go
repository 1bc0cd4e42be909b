package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/openai/openai-go/v3/packages/respjson"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
)

// said is what the model said, in either API and streamed or not.
type said struct {
	content   string
	reasoning string
	refusal   string
	finish    string // as Chat Completions has it: stop, length, content_filter, error
	failed    string // an error within the body, as JSON
	nothing   bool   // there was no choice
	runaway   bool   // cut off for its white space
	usage     model.Usage
}

// answer is the JSON of what was said, or why there is none.
func (s *said) answer() (*model.Answer, error) {
	text := jsonIn(s.content)
	if reasoned := jsonIn(s.reasoning); text == "" && isObject(reasoned) {
		text = reasoned
	}
	kind, err := s.problem(text)
	if err != nil {
		return nil, &model.Error{Kind: kind, Err: err, Usage: s.usage}
	}
	return &model.Answer{Reply: []byte(text), Usage: s.usage}, nil
}

func (s *said) problem(text string) (model.Kind, error) {
	cut := s.finish == "length" || s.runaway
	switch {
	case s.failed != "":
		kind, message := ofBody([]byte(s.failed))
		return kind, &failure{msg: message}
	case s.refusal != "":
		return model.Refused, &failure{msg: s.refusal}
	case s.finish == "content_filter":
		return model.Filtered, &failure{msg: "finish_reason content_filter"}
	case s.nothing:
		return model.Empty, &failure{msg: "no choices"}
	case cut && isObject(text): // it was complete before
		return 0, nil
	case s.runaway:
		return model.Truncated, fmt.Errorf("more than %d characters of white space in a row", maxBlank)
	case cut:
		return model.Truncated, fmt.Errorf("finish_reason length after %d tokens", s.usage.OutputTokens)
	case s.finish == "error":
		return model.Outage, &failure{msg: "finish_reason error"}
	case text == "" && s.reasoning != "":
		return model.Empty, &failure{msg: "reasoning without content"}
	case text == "":
		return model.Empty, &failure{msg: "no content"}
	}
	return 0, nil
}

// jsonIn takes away what models put around JSON. A text without an object in it
// comes back trimmed, for the session to complain of.
func jsonIn(text string) string {
	text = trim(text)
	if rest, ok := strings.CutPrefix(text, "<think>"); ok {
		if _, after, ok := strings.Cut(rest, "</think>"); ok {
			text = trim(after)
		}
	}
	if strings.HasPrefix(text, "{") {
		return text
	}
	if inner := fenced(text); strings.HasPrefix(inner, "{") {
		return inner
	}
	return text
}

// fenced is the inside of the first ``` block, or "".
func fenced(text string) string {
	_, after, ok := strings.Cut(text, "```")
	if !ok {
		return ""
	}
	after = strings.TrimPrefix(strings.TrimPrefix(after, "json"), "JSON")
	inner, _, _ := strings.Cut(after, "\n```")
	return trim(strings.TrimSuffix(trim(inner), "```"))
}

// trim takes away white space and byte order marks.
func trim(text string) string { return strings.Trim(text, " \t\r\n\v\f\u0085\u00a0\ufeff") }

func isObject(text string) bool { return strings.HasPrefix(text, "{") && json.Valid([]byte(text)) }

// reasoningIn reads the field under both of the names that servers give it.
func reasoningIn(fields map[string]respjson.Field) (text string) {
	for _, name := range []string{"reasoning_content", "reasoning"} {
		if raw := fields[name].Raw(); json.Unmarshal([]byte(raw), &text) == nil && text != "" {
			return text
		}
	}
	return ""
}

package openai

// The server that the tests talk to. It is as strict as OpenAI: a field it does
// not know, or a schema outside strict mode, is 400.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testKey = "sk-secret-0123456789"

// lookup has its keys in an order that sorting would change.
var lookup = model.Schema{Name: "LOOKUP", JSON: []byte(`{"type":"object","properties":{"Errno":{"type":"integer"},"Data":{"type":"string"}},"required":["Errno","Data"],"additionalProperties":false}`)}

func named(name string) model.Schema { return model.Schema{Name: name, JSON: lookup.JSON} }

// fake is a server that answers with a script.
type fake struct {
	t      *testing.T
	server *httptest.Server
	answer func(w http.ResponseWriter, r *http.Request, body request)

	mu    sync.Mutex
	calls []request
}

// request is a body in either API.
type request struct {
	Path   string
	Header http.Header
	Raw    []byte

	Model    string `json:"model"`
	Messages []struct{ Role, Content string }
	Input    []struct{ Role, Content string }
	Stream   bool
	schema   model.Schema
}

func (r request) last() string {
	all := append(r.Messages, r.Input...)
	return all[len(all)-1].Content
}

// The fields that servers know beside those of the dialect.
var (
	chatFields      = []string{"messages", "model", "response_format", "stream", "stream_options", "reasoning_effort", "temperature", "max_tokens", "max_completion_tokens", "prompt_cache_key", "store", "top_k", "chat_template_kwargs"}
	responsesFields = []string{"input", "model", "text", "stream", "reasoning", "temperature", "max_output_tokens", "prompt_cache_key", "store", "top_k"}
)

func newFake(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, body request)) *fake {
	f := &fake{t: t, answer: answer}
	f.server = httptest.NewServer(f)
	t.Cleanup(f.server.Close)
	return f
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	body, err := parse(r, text)
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	f.mu.Lock()
	f.calls = append(f.calls, body)
	f.mu.Unlock()
	f.answer(w, r, body)
}

func (f *fake) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.calls)
}

func parse(r *http.Request, text []byte) (body request, err error) {
	fields := chatFields
	switch r.Method + r.URL.Path {
	case "POST/v1/chat/completions":
	case "POST/v1/responses":
		fields = responsesFields
	default:
		return body, fmt.Errorf("no such page: %s %s", r.Method, r.URL)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return body, err
	}
	for name := range all {
		if !slices.Contains(fields, name) {
			return body, fmt.Errorf("Unrecognized request argument supplied: %s", name)
		}
	}
	err = json.Unmarshal(text, &body)
	body.Path, body.Header, body.Raw = r.URL.Path, r.Header, text
	if err == nil {
		err = body.readSchema(all)
	}
	return body, err
}

func (r *request) readSchema(all map[string]json.RawMessage) error {
	type format struct {
		Type   string
		Name   string
		Strict bool
		Schema json.RawMessage
	}
	var f format
	if raw, ok := all["response_format"]; ok {
		var chat struct {
			Type       string
			JSONSchema *format `json:"json_schema"`
		}
		if err := json.Unmarshal(raw, &chat); err != nil || chat.JSONSchema == nil {
			return fmt.Errorf("response_format: %s", raw)
		}
		f, f.Type = *chat.JSONSchema, chat.Type
	} else if raw, ok := all["text"]; ok {
		var responses struct{ Format format }
		if err := json.Unmarshal(raw, &responses); err != nil {
			return err
		}
		f = responses.Format
	} else {
		return nil
	}
	var s struct {
		AdditionalProperties *bool
		Required             []string
		Properties           map[string]any
	}
	if err := json.Unmarshal(f.Schema, &s); err != nil {
		return err
	}
	if f.Type != "json_schema" || !f.Strict || f.Name == "" || s.AdditionalProperties == nil || len(s.Required) != len(s.Properties) {
		return fmt.Errorf("Invalid schema for response_format %q", f.Name)
	}
	r.schema = model.Schema{Name: f.Name, JSON: f.Schema}
	return nil
}

func fail(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": message, "type": "t", "param": nil, "code": nil}})
}

func quote(s string) string {
	text, _ := json.Marshal(s)
	return string(text)
}

// message is a chat completion's message with this content.
func message(content string) string {
	return `{"role":"assistant","content":` + quote(content) + `,"refusal":null}`
}

const chatUsageJSON = `{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"prompt_tokens_details":{"cached_tokens":64}}`

// chatSays answers in Chat Completions, streamed where that is asked for.
func chatSays(w http.ResponseWriter, body request, message, finish string) {
	if !body.Stream {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":%s,"finish_reason":%s,"logprobs":null}],"usage":%s}`, message, quote(finish), chatUsageJSON)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprint(w, ": comment\n\n")
	var m map[string]any
	_ = json.Unmarshal([]byte(message), &m)
	for name, value := range m {
		text, ok := value.(string)
		if !ok || name == "role" {
			continue
		}
		for _, part := range strings.SplitAfter(text, "r") {
			chunk(w, `{"`+name+`":`+quote(part)+`}`, "null")
		}
	}
	chunk(w, `{}`, quote(finish))
	event(w, `{"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":`+chatUsageJSON+`}`)
	event(w, `[DONE]`)
}

func chunk(w http.ResponseWriter, delta, finish string) {
	event(w, `{"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":`+delta+`,"finish_reason":`+finish+`}],"usage":null}`)
}

func event(w http.ResponseWriter, data string) {
	_, _ = fmt.Fprintf(w, "data: %s\n\n", data)
	w.(http.Flusher).Flush()
}

// responsesSays answers in the Responses API.
func responsesSays(w http.ResponseWriter, body request, status, parts, reason string) {
	output := `[{"type":"reasoning","id":"r","summary":[]},{"type":"message","id":"m","role":"assistant","status":"completed","content":[` + parts + `]}]`
	details := "null"
	if reason != "" {
		details = `{"reason":` + quote(reason) + `}`
	}
	text := `{"id":"x","object":"response","created_at":1,"status":` + quote(status) + `,"error":null,"incomplete_details":` + details + `,"model":"m","output":` + output +
		`,"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":64},"output_tokens":20,"output_tokens_details":{"reasoning_tokens":5},"total_tokens":120}}`
	if !body.Stream {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, text)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	event(w, `{"type":"response.created","sequence_number":0,"response":{"status":"in_progress","error":null,"output":[]}}`)
	event(w, `{"type":"response.output_text.delta","sequence_number":1,"delta":"{"}`)
	event(w, `{"type":"response.`+status+`","sequence_number":2,"response":`+text+`}`)
}

// says answers {"Errno":0,"Data":data} in the API that was asked.
func says(w http.ResponseWriter, body request, content string) {
	if strings.HasSuffix(body.Path, "responses") {
		responsesSays(w, body, "completed", `{"type":"output_text","text":`+quote(content)+`,"annotations":[]}`, "")
		return
	}
	chatSays(w, body, message(content), "stop")
}

// client has short times.
func (f *fake) client(o Options) (*Client, *bytes.Buffer) {
	f.t.Helper()
	if o.BaseURL == "" {
		o.BaseURL = f.server.URL + "/v1"
	}
	o.APIKey, o.Model = testKey, "gpt-test"
	if o.MaxWait == 0 {
		o.MaxWait = time.Millisecond
	}
	if o.TripAfter == 0 {
		o.TripAfter = 1000
	}
	var log bytes.Buffer
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	c, err := New(o)
	require.NoError(f.t, err)
	f.t.Cleanup(func() { require.NoError(f.t, c.Close()) })
	return c, &log
}

var question = &model.Prompt{
	Messages: []model.Message{{Role: "system", Content: "be a disk"}, {Role: "user", Content: "q1"}, {Role: "assistant", Content: "a1"}, {Role: "user", Content: "q2"}},
	Schema:   lookup,
}

// modes are the four ways to ask.
var modes = map[string]Options{
	"chat":             {Stream: StreamNever},
	"chat stream":      {Stream: StreamAlways},
	"responses":        {Stream: StreamNever, Responses: true},
	"responses stream": {Stream: StreamAlways, Responses: true},
}

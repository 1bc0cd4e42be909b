package serve

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/llmfs-raw/llmfs-raw/internal/model/openai"
	"github.com/llmfs-raw/llmfs-raw/schema"
)

// send makes one request without the SDK.
func send(t *testing.T, method, url, key, body string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	require.NoError(t, err)
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res, string(text)
}

const hello = `"messages":[{"role":"user","content":"hello"}]`

// wrapped is a chat body with more fields.
func chatBody(more string) string {
	if more != "" {
		more = "," + more
	}
	return `{"model":"gpt-test",` + hello + more + `}`
}

func jsonSchema(name, strict, schema string) string {
	return chatBody(`"response_format":{"type":"json_schema","json_schema":{"name":"` + name + `","strict":` + strict + `,"schema":` + schema + `}}`)
}

const (
	open      = `{"type":"object","properties":{},"required":[],"additionalProperties":true}`
	closed    = `{"type":"object","properties":{},"required":[],"additionalProperties":false}`
	chat      = "POST /chat/completions"
	responses = "POST /responses"
)

// refusals are bodies and what is wrong with them.
var refusals = []struct {
	where, key, body string
	status           int
	code, param      string
	message          string
}{
	{"GET /models", "", "", 401, "", "", "You didn't provide an API key"},
	{"GET /models/gpt-5", testKey, "", 404, "model_not_found", "", "The model `gpt-5` does not exist"},
	{"GET /nothing", testKey, "", 404, "unknown_url", "", "Invalid URL (GET /v1/nothing)"},
	{"GET /chat/completions", testKey, "", 405, "method_not_supported", "", "Not allowed to GET on /v1/chat/completions"},
	{chat, testKey, "{", 400, "", "", "could not parse the JSON"},
	{chat, testKey, "[]", 400, "invalid_type", "", "expected an object, but got an array"},
	{chat, testKey, `{"model":"gpt-test"}`, 400, "missing_required_parameter", "messages", "Missing required parameter: 'messages'"},
	{chat, testKey, `{` + hello + `}`, 400, "missing_required_parameter", "model", ""},
	{chat, testKey, `{"model":null,` + hello + `}`, 400, "invalid_type", "model", ""},
	{chat, testKey, `{"model":"gpt-5",` + hello + `}`, 404, "model_not_found", "", ""},
	{chat, testKey, chatBody(`"top_k":1`), 400, "unknown_parameter", "top_k", "Unknown parameter: 'top_k'."},
	{chat, testKey, chatBody(`"tools":[]`), 400, "unsupported_parameter", "tools", ""},
	{chat, testKey, chatBody(`"n":2`), 400, "integer_above_max_value", "n", "Expected a value <= 1, but got 2 instead"},
	{chat, testKey, chatBody(`"max_tokens":0`), 400, "integer_below_min_value", "max_tokens", ""},
	{chat, testKey, chatBody(`"max_tokens":1.5`), 400, "invalid_type", "max_tokens", "expected an integer, but got a decimal"},
	{chat, testKey, chatBody(`"max_tokens":1,"max_completion_tokens":1`), 400, "invalid_parameter_combination", "max_tokens", ""},
	{chat, testKey, chatBody(`"temperature":3`), 400, "decimal_above_max_value", "temperature", ""},
	{chat, testKey, chatBody(`"temperature":"hot"`), 400, "invalid_type", "temperature", "expected a decimal, but got a string"},
	{chat, testKey, chatBody(`"stream":1`), 400, "invalid_type", "stream", ""},
	{chat, testKey, chatBody(`"stream_options":{}`), 400, "invalid_parameter_combination", "stream_options", ""},
	{chat, testKey, chatBody(`"stream":true,"stream_options":{"usage":true}`), 400, "unknown_parameter", "stream_options.usage", ""},
	{chat, testKey, chatBody(`"reasoning_effort":"much"`), 400, "invalid_value", "reasoning_effort", "Supported values are: 'none', 'minimal', 'low', 'medium', 'high', and 'xhigh'"},
	{chat, testKey, chatBody(`"prompt_cache_key":"` + strings.Repeat("k", 65) + `"`), 400, "string_above_max_length", "prompt_cache_key", "maximum length 64"},
	{chat, testKey, `{"model":"gpt-test","messages":"hi"}`, 400, "invalid_type", "messages", ""},
	{chat, testKey, `{"model":"gpt-test","messages":[]}`, 400, "empty_array", "messages", ""},
	{chat, testKey, `{"model":"gpt-test","messages":["hi"]}`, 400, "invalid_type", "messages[0]", ""},
	{chat, testKey, `{"model":"gpt-test","messages":[{"role":"king","content":"hi"}]}`, 400, "invalid_value", "messages[0].role", "'system', 'assistant', 'user', 'function', 'tool', and 'developer'"},
	{chat, testKey, `{"model":"gpt-test","messages":[{"role":"user"}]}`, 400, "missing_required_parameter", "messages[0].content", ""},
	{chat, testKey, `{"model":"gpt-test","messages":[{"role":"user","content":7}]}`, 400, "invalid_type", "messages[0].content", ""},
	{chat, testKey, `{"model":"gpt-test","messages":[{"role":"user","content":[{"type":"image_url"}]}]}`, 400, "invalid_value", "messages[0].content[0].type", ""},
	{chat, testKey, `{"model":"gpt-test","messages":[{"role":"user","content":[{"type":"text"}]}]}`, 400, "missing_required_parameter", "messages[0].content[0].text", ""},
	{chat, testKey, `{"model":"gpt-test","messages":[{"role":"user","content":"a","mood":1}]}`, 400, "unknown_parameter", "messages[0].mood", ""},
	{chat, testKey, chatBody(`"response_format":"json"`), 400, "invalid_type", "response_format", ""},
	{chat, testKey, chatBody(`"response_format":{}`), 400, "missing_required_parameter", "response_format.type", ""},
	{chat, testKey, chatBody(`"response_format":{"type":"xml"}`), 400, "invalid_value", "response_format.type", ""},
	{chat, testKey, chatBody(`"response_format":{"type":"json_object"}`), 400, "", "messages", "must contain the word 'json'"},
	{chat, testKey, chatBody(`"response_format":{"type":"json_schema"}`), 400, "missing_required_parameter", "response_format.json_schema", ""},
	{chat, testKey, jsonSchema("a b", "true", closed), 400, "invalid_value", "response_format.json_schema.name", "pattern"},
	{chat, testKey, jsonSchema(strings.Repeat("a", 65), "true", closed), 400, "string_above_max_length", "response_format.json_schema.name", ""},
	{chat, testKey, jsonSchema("a", "1", closed), 400, "invalid_type", "response_format.json_schema.strict", ""},
	{chat, testKey, jsonSchema("a", "true", open), 400, "invalid_json_schema", "response_format", "additionalProperties is not false"},
	{chat, testKey, jsonSchema("a", "true", `{"type":"object","properties":{"a":{"type":"string","format":"date"}},"required":[],"additionalProperties":false}`), 400, "invalid_json_schema", "response_format", "#/properties/a: string with format; #: required is not every member in order."},
	{chat, testKey, jsonSchema("a", "true", `null`), 400, "missing_required_parameter", "response_format", ""},
	{chat, testKey, jsonSchema("a", "false", open), 200, "", "", ""},
	{chat, testKey, chatBody(`"user":"` + strings.Repeat("u", 5000) + `"`), 413, "request_too_large", "", "maximum is 4000 bytes"},
	{chat, testKey, chatBody(`"max_tokens":400`), 400, "context_length_exceeded", "messages", "maximum context length is 300 tokens"},
	{responses, testKey, `{"model":"gpt-test"}`, 400, "missing_required_parameter", "input", ""},
	{responses, testKey, `{"model":"gpt-test","input":7}`, 400, "invalid_type", "input", "one of a string or array"},
	{responses, testKey, `{"model":"gpt-test","input":"x","max_output_tokens":1}`, 400, "integer_below_min_value", "max_output_tokens", ""},
	{responses, testKey, `{"model":"gpt-test","input":"x","previous_response_id":"r"}`, 400, "previous_response_not_found", "previous_response_id", ""},
	{responses, testKey, `{"model":"gpt-test","input":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`, 400, "invalid_value", "input[0].content[0].type", ""},
	{responses, testKey, `{"model":"gpt-test","input":"x","text":{"format":{"type":"json_schema","name":"a","strict":true,"schema":` + open + `}}}`, 400, "invalid_json_schema", "text.format.schema", ""},
	{responses, testKey, `{"model":"gpt-test","input":"x","text":{"form":1}}`, 400, "unknown_parameter", "text.form", ""},
	{responses, testKey, `{"model":"gpt-test","input":"x","text":{"format":{"type":"json_schema","strict":true,"schema":` + closed + `}}}`, 400, "missing_required_parameter", "text.format.name", ""},
	{"GET /files/file-9", testKey, "", 404, "", "id", "No such File object: file-9"},
	{"POST /files", testKey, "x", 400, "", "file", "multipart"},
	{"GET /batches/b", testKey, "", 404, "", "id", "No batch found with id 'b'"},
	{"POST /batches", testKey, `{"input_file_id":"f","endpoint":"/v1/embeddings","completion_window":"24h"}`, 400, "invalid_value", "endpoint", ""},
	{"POST /batches", testKey, `{"input_file_id":"f","endpoint":"/v1/responses","completion_window":"1h"}`, 400, "invalid_value", "completion_window", ""},
	{"POST /batches", testKey, `{"input_file_id":"f","endpoint":"/v1/responses","completion_window":"24h"}`, 400, "invalid_file_id", "input_file_id", ""},
}

// What is refused, and how.
func TestStrict(t *testing.T) {
	base, _, stop := started(t, Options{Models: []string{"gpt-other"}, MaxBody: 4000, ContextTokens: 300})
	defer stop()
	defer http.DefaultClient.CloseIdleConnections()
	for _, c := range refusals {
		method, path, _ := strings.Cut(c.where, " ")
		res, text := send(t, method, base+path, c.key, c.body)
		about := fmt.Sprintf("%s %.200s: %s", c.where, c.body, text)
		if !assert.Equal(t, c.status, res.StatusCode, about) || c.status == 200 {
			continue
		}
		e := gjson.Get(text, "error")
		assert.Equal(t, "invalid_request_error", e.Get("type").Str, about)
		assert.Equal(t, c.code, e.Get("code").Str, about)
		assert.Equal(t, c.param, e.Get("param").Str, about)
		assert.Contains(t, e.Get("message").Str, c.message, about)
		assert.True(t, e.Get("param").Exists() && e.Get("code").Exists(), about)
		assert.NotEmpty(t, res.Header.Get("Content-Type"))
	}
	_, text := send(t, "GET", base+"/models", testKey, "")
	assert.Equal(t, "gpt-test gpt-other", gjson.Get(text, "data.0.id").Str+" "+gjson.Get(text, "data.1.id").Str)
	_, text = send(t, "GET", base+"/models/gpt-other", testKey, "")
	assert.Equal(t, "model", gjson.Get(text, "object").Str)
}

func TestKey(t *testing.T) {
	base, _, stop := started(t, Options{Key: "sk-the-right-one"})
	defer stop()
	res, text := send(t, "GET", base+"/models", testKey, "")
	assert.Equal(t, 401, res.StatusCode)
	assert.Equal(t, "invalid_api_key", gjson.Get(text, "error.code").Str)
	assert.NotContains(t, text, testKey)
	res, _ = send(t, "GET", base+"/models", "sk-the-right-one", "")
	assert.Equal(t, 200, res.StatusCode)
}

// Every schema of the project is taken, warmed and honoured, in both APIs.
func TestSchemas(t *testing.T) {
	base, _, stop := started(t, Options{})
	defer stop()
	for _, respond := range []bool{false, true} {
		c := client(t, base, func(o *openai.Options) { o.Responses = respond })
		var all []modelSchema
		for _, form := range []schema.Form{schema.All, schema.Lean} {
			for _, s := range schema.Schemas(form) {
				all = append(all, modelSchema{Name: s.Name, JSON: s.JSON})
			}
		}
		require.NoError(t, c.Warm(t.Context(), all, nil))
		for _, r := range c.Probe(t.Context(), all[:5]) {
			assert.Equal(t, openai.Honoured, r.Verdict, "%s: %v", r.Name, r.Err)
		}
	}
}

package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
)

const good = `{"Errno":0,"Data":"for or"}`

// What is sent in each mode, to the byte.
func TestRequest(t *testing.T) {
	schema := string(lookup.JSON)
	chat := `"messages":[{"content":"be a disk","role":"system"},{"content":"q1","role":"user"},{"content":"a1","role":"assistant"},{"content":"q2","role":"user"}],"model":"gpt-test",`
	format := `"response_format":{"json_schema":{"name":"LOOKUP","strict":true,"schema":` + schema + `},"type":"json_schema"}`
	input := `"input":[{"content":"be a disk","role":"system"},{"content":"q1","role":"user"},{"content":"a1","role":"assistant"},{"content":"q2","role":"user"}],"model":"gpt-test",`
	text := `"text":{"format":{"type":"json_schema","name":"LOOKUP","strict":true,"schema":` + schema + `}}`
	want := map[string]string{
		"chat":             "{" + chat + format + "}",
		"chat stream":      "{" + chat + format + `,"stream_options":{"include_usage":true},"stream":true}`,
		"responses":        "{" + input + text + "}",
		"responses stream": "{" + input + text + `,"stream":true}`,
	}
	for name, o := range modes {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, func(w http.ResponseWriter, _ *http.Request, body request) { says(w, body, good) })
			c, _ := f.client(o)
			got, err := c.Answer(context.Background(), question)
			require.NoError(t, err)
			assert.Equal(t, good, string(got.Reply))
			assert.Equal(t, model.Usage{InputTokens: 100, CachedTokens: 64, OutputTokens: 20}, got.Usage)
			assert.JSONEq(t, want[name], string(f.calls[0].Raw))
			assert.Contains(t, string(f.calls[0].Raw), schema, "with its keys in their order")
			assert.Equal(t, "Bearer "+testKey, f.calls[0].Header.Get("Authorization"))
		})
	}
}

// Options that are set are sent, each in its API's form.
func TestOptions(t *testing.T) {
	zero := 0.0
	for name, tt := range map[string]struct {
		o    Options
		want string
	}{
		"chat":      {Options{}, `{"max_tokens":50,"reasoning_effort":"low","prompt_cache_key":"mine-LOOKUP"}`},
		"responses": {Options{Responses: true}, `{"max_output_tokens":50,"reasoning":{"effort":"low"},"prompt_cache_key":"mine-LOOKUP"}`},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, func(w http.ResponseWriter, _ *http.Request, body request) { says(w, body, good) })
			o := tt.o
			o.MaxOutput, o.ReasoningEffort, o.Temperature, o.PromptCacheKey = 50, "low", &zero, "mine"
			o.Extra = map[string]json.RawMessage{"top_k": json.RawMessage("40")}
			c, _ := f.client(o)
			_, err := c.Answer(context.Background(), question)
			require.NoError(t, err)
			var got, want map[string]any
			require.NoError(t, json.Unmarshal(f.calls[0].Raw, &got))
			require.NoError(t, json.Unmarshal([]byte(tt.want), &want))
			for key, value := range want {
				assert.Equal(t, value, got[key], key)
			}
			assert.Equal(t, 40.0, got["top_k"])
			assert.Equal(t, 0.0, got["temperature"])
		})
	}
}

func TestExtraPath(t *testing.T) {
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request, body request) { says(w, body, good) })
	c, _ := f.client(Options{Extra: map[string]json.RawMessage{"chat_template_kwargs.enable_thinking": json.RawMessage("false")}})
	_, err := c.Answer(context.Background(), question)
	require.NoError(t, err)
	assert.Contains(t, string(f.calls[0].Raw), `"chat_template_kwargs":{"enable_thinking":false}`)
}

// redirect sends what goes to OpenAI to the fake server.
type redirect struct{ to string }

func (r redirect) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.URL.Scheme, req.URL.Host = "http", strings.TrimPrefix(r.to, "http://")
	return http.DefaultTransport.RoundTrip(req)
}

// OpenAI's own servers get what only they know, and no stream.
func TestHosted(t *testing.T) {
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	for _, url := range []string{"", "https://eu.api.openai.com/v1"} {
		t.Setenv("OPENAI_BASE_URL", "https://api.openai.com/v1")
		f := newFake(t, func(w http.ResponseWriter, _ *http.Request, body request) { says(w, body, good) })
		c, err := New(Options{BaseURL: url, APIKey: testKey, Model: "m", MaxOutput: 9, HTTPClient: &http.Client{Transport: redirect{f.server.URL}}})
		require.NoError(t, err)
		_, err = c.Answer(context.Background(), question)
		require.NoError(t, err)
		raw := string(f.calls[0].Raw)
		assert.Contains(t, raw, `"max_completion_tokens":9`)
		assert.Contains(t, raw, `"prompt_cache_key":"llmfs-raw-LOOKUP"`)
		assert.Contains(t, raw, `"store":false`)
		assert.NotContains(t, raw, `"max_tokens"`)
		assert.False(t, f.calls[0].Stream)
	}
}

func TestEnvironment(t *testing.T) {
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request, body request) { says(w, body, good) })
	t.Setenv("OPENAI_BASE_URL", f.server.URL+"/v1/")
	t.Setenv("OPENAI_API_KEY", "sk-environment")
	c, err := New(Options{Model: "m"})
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	_, err = c.Answer(context.Background(), question)
	require.NoError(t, err)
	assert.Equal(t, "Bearer sk-environment", f.calls[0].Header.Get("Authorization"))
}

func TestNoKey(t *testing.T) {
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request, body request) { says(w, body, good) })
	t.Setenv("OPENAI_API_KEY", "")
	c, err := New(Options{Model: "m", BaseURL: f.server.URL + "/v1"})
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	_, err = c.Answer(context.Background(), &model.Prompt{Request: []byte(`{"Op":"LOOKUP"}`)})
	require.NoError(t, err)
	assert.Equal(t, `{"Op":"LOOKUP"}`, f.calls[0].last(), "without messages, the request is the message")
	assert.NotContains(t, string(f.calls[0].Raw), "response_format")
}

func TestWrongOptions(t *testing.T) {
	for want, o := range map[string]Options{
		"have no model":                          {},
		`base URL "ftp://x"`:                     {Model: "m", BaseURL: "ftp://x"},
		`extra field "messages" is set by`:       {Model: "m", Extra: map[string]json.RawMessage{"messages": nil}},
		`extra field "stream" is set by`:         {Model: "m", Extra: map[string]json.RawMessage{"stream": nil}},
		`extra field top_k=forty, want JSON`:     {Model: "m", Extra: map[string]json.RawMessage{"top_k": json.RawMessage("forty")}},
		`base URL "http://[key]@/v1", want http`: {Model: "m", APIKey: testKey, BaseURL: "http://" + testKey + "@/v1"},
	} {
		_, err := New(o)
		assert.ErrorContains(t, err, want)
	}
}

// What servers and models put around the JSON.
func TestTolerance(t *testing.T) {
	reasoning := func(name, content string) string {
		return `{"role":"assistant","content":` + content + `,"` + name + `":` + quote(good) + `}`
	}
	for name, msg := range map[string]string{
		"plain":             message(good),
		"white space":       message("\n\t " + good + " \r\n\ufeff"),
		"fence":             message("```json\n" + good + "\n```"),
		"fence, one line":   message("```" + good + "```"),
		"prose and fence":   message("Here is the reply for you:\n\n```json\n" + good + "\n```\nAnything more?"),
		"think":             message("<think>\n{hm, ```}\n</think>\n\n" + good),
		"reasoning_content": reasoning("reasoning_content", `""`),
		"reasoning":         reasoning("reasoning", `null`),
		"both":              `{"role":"assistant","content":` + quote(good) + `,"reasoning_content":"{\"no\":1}"}`,
	} {
		for _, mode := range []string{"chat", "chat stream"} {
			t.Run(name+" "+mode, func(t *testing.T) {
				f := newFake(t, func(w http.ResponseWriter, _ *http.Request, body request) { chatSays(w, body, msg, "stop") })
				c, _ := f.client(modes[mode])
				got, err := c.Answer(context.Background(), question)
				require.NoError(t, err)
				assert.Equal(t, good, string(got.Reply))
			})
		}
	}
}

// raw answers with these bytes.
func raw(status int, media, body string) func(w http.ResponseWriter, r *http.Request, _ request) {
	return func(w http.ResponseWriter, _ *http.Request, _ request) {
		w.Header().Set("Content-Type", media)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

const completion = `{"choices":[{"index":0,"message":{"role":"assistant","content":"{\"Errno\":0,\"Data\":\"for or\"}"},"finish_reason":"stop"}]}`

func TestJSONAsText(t *testing.T) {
	f := newFake(t, raw(200, "text/plain; charset=utf-8", "\n\n \n"+completion))
	c, _ := f.client(Options{Stream: StreamNever})
	got, err := c.Answer(context.Background(), question)
	require.NoError(t, err)
	assert.Equal(t, good, string(got.Reply))
}

// An answer that is no JSON is the session's to complain of.
func TestNotJSON(t *testing.T) {
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request, body request) { says(w, body, " Hello! ") })
	c, _ := f.client(Options{})
	got, err := c.Answer(context.Background(), question)
	require.NoError(t, err)
	assert.Equal(t, "Hello!", string(got.Reply))
}

func requireKind(t *testing.T, err error, kind model.Kind, text string) model.Usage {
	t.Helper()
	var e *model.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, kind.String(), e.Kind.String(), "%v", err)
	assert.ErrorContains(t, err, text)
	assert.NotContains(t, fmt.Sprintf("%v %+v %#v", err, err, err), testKey)
	return e.Usage
}

// Ways to have no answer in Chat Completions.
func TestChatFailures(t *testing.T) {
	for name, tt := range map[string]struct {
		message, finish string
		kind            model.Kind
		text            string
	}{
		"refusal":        {`{"role":"assistant","content":null,"refusal":"I can't be a disk"}`, "stop", model.Refused, "I can't be a disk"},
		"content filter": {message(""), "content_filter", model.Filtered, "content_filter"},
		"length":         {message(`{"Errno":0,"Da`), "length", model.Truncated, "after 20 tokens"},
		"empty":          {message(""), "stop", model.Empty, "no content"},
		"blank":          {message(" \n"), "stop", model.Empty, "no content"},
		"only reasoning": {`{"role":"assistant","content":"","reasoning_content":"Hm, or not."}`, "stop", model.Empty, "reasoning without content"},
		"error":          {message(""), "error", model.Outage, "finish_reason error"},
	} {
		for _, mode := range []string{"chat", "chat stream"} {
			t.Run(name+" "+mode, func(t *testing.T) {
				f := newFake(t, func(w http.ResponseWriter, _ *http.Request, body request) { chatSays(w, body, tt.message, tt.finish) })
				c, _ := f.client(modes[mode])
				_, err := c.Answer(context.Background(), question)
				usage := requireKind(t, err, tt.kind, tt.text)
				assert.Equal(t, 64, usage.CachedTokens, "what it cost all the same")
				assert.Equal(t, 1, f.count())
			})
		}
	}
}

// A cut after the JSON was complete costs nothing.
func TestLengthAfterJSON(t *testing.T) {
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request, body request) {
		chatSays(w, body, message(good+strings.Repeat("\n", 100)), "length")
	})
	c, _ := f.client(Options{})
	got, err := c.Answer(context.Background(), question)
	require.NoError(t, err)
	assert.Equal(t, good, string(got.Reply))
}

func TestResponsesFailures(t *testing.T) {
	text := func(s string) string { return `{"type":"output_text","text":` + quote(s) + `,"annotations":[]}` }
	for name, tt := range map[string]struct {
		status, parts, reason string
		kind                  model.Kind
		text                  string
	}{
		"refusal":        {"completed", `{"type":"refusal","refusal":"I can't"}`, "", model.Refused, "I can't"},
		"length":         {"incomplete", text(`{"Err`), "max_output_tokens", model.Truncated, "after 20 tokens"},
		"content filter": {"incomplete", text(``), "content_filter", model.Filtered, "content_filter"},
		"empty":          {"completed", text(""), "", model.Empty, "no content"},
		"failed":         {"failed", "", "", model.Outage, "error"},
	} {
		for _, mode := range []string{"responses", "responses stream"} {
			t.Run(name+" "+mode, func(t *testing.T) {
				f := newFake(t, func(w http.ResponseWriter, _ *http.Request, body request) {
					responsesSays(w, body, tt.status, tt.parts, tt.reason)
				})
				c, _ := f.client(modes[mode])
				_, err := c.Answer(context.Background(), question)
				usage := requireKind(t, err, tt.kind, tt.text)
				assert.Equal(t, 20, usage.OutputTokens)
			})
		}
	}
}

// Bodies that are no answers.
func TestBodies(t *testing.T) {
	stream := func(events ...string) string { return "data: " + strings.Join(events, "\n\ndata: ") + "\n\n" }
	const delta = `{"choices":[{"index":0,"delta":{"content":"{\"Err"}}]}`
	for name, tt := range map[string]struct {
		mode   string
		status int
		media  string
		body   string
		kind   model.Kind
		text   string
	}{
		"no choices":          {"chat", 200, "application/json", `{"choices":[]}`, model.Empty, "no choices"},
		"null choices":        {"chat", 200, "application/json", `{"choices":null,"error":null}`, model.Empty, "no choices"},
		"no output":           {"responses", 200, "application/json", `{"output":[]}`, model.Empty, "no choices"},
		"error in the body":   {"chat", 200, "application/json", `{"error":{"message":"Provider is down","code":502}}`, model.Outage, "Provider is down"},
		"limit in the body":   {"chat", 200, "application/json", `{"error":{"message":"slow down","code":429}}`, model.Limited, "slow down"},
		"error of a response": {"responses", 200, "application/json", `{"status":"failed","error":{"code":"rate_limit_exceeded","message":"slow down"},"output":[]}`, model.Limited, "slow down"},
		"no JSON":             {"chat", 200, "application/json", `<html>`, model.Outage, "response json"},
		"half JSON":           {"chat", 200, "application/json", `{"choices":[{`, model.Outage, "response json"},
		"a page":              {"chat", 200, "text/html", `<html>Log in to the hotel's network</html>`, model.Outage, "text/html"},
		"no stream":           {"chat stream", 200, "application/json", completion, model.Rejected, "don't stream"},
		"empty stream":        {"chat stream", 200, "text/event-stream", stream("[DONE]"), model.Empty, "no choices"},
		"half a stream":       {"chat stream", 200, "text/event-stream", stream(delta), model.Outage, "ended within the answer"},
		"error in a stream":   {"chat stream", 200, "text/event-stream", stream(delta, `{"error":{"code":400,"message":"context is full"}}`), model.Rejected, "context is full"},
		"garbage in a stream": {"chat stream", 200, "text/event-stream", stream(`{"choices`), model.Outage, "invalid character"},
		"half a response":     {"responses stream", 200, "text/event-stream", stream(`{"type":"response.output_text.delta","delta":"{"}`), model.Outage, "ended within the answer"},
		"error of a stream":   {"responses stream", 200, "text/event-stream", stream(`{"type":"error","code":"server_error","message":"oops"}`), model.Outage, "oops"},
		"400":                 {"chat", 400, "application/json", `{"error":{"message":"Invalid schema for response_format 'LOOKUP'"}}`, model.Rejected, "400 Bad Request: Invalid schema"},
		"400 of FastAPI":      {"chat", 400, "application/json", `{"object":"error","message":"too long","code":400}`, model.Rejected, "400 Bad Request: too long"},
		"400 of Ollama":       {"chat", 400, "application/json", `{"error":"no grammar"}`, model.Rejected, "400 Bad Request: no grammar"},
		"400 in a stream":     {"chat stream", 400, "application/json", `{"error":{"message":"no streams for you"}}`, model.Rejected, "no streams for you"},
		"400 without a body":  {"chat", 400, "application/json", ``, model.Rejected, "400 Bad Request"},
		"400 of reasoning":    {"chat", 400, "application/json", `{"error":{"message":"Could not finish the message because max_tokens or model output limit was reached."}}`, model.Truncated, "limit was reached"},
		"422":                 {"chat", 422, "application/json", `{"detail":[{"loc":["body","store"]}]}`, model.Rejected, "store"},
		"413":                 {"chat", 413, "text/plain", "too large", model.Rejected, "too large"},
		"401":                 {"chat", 401, "application/json", `{"error":{"message":"Incorrect API key provided: ` + testKey + `."}}`, model.Denied, "key provided: [key]."},
		"402":                 {"chat", 402, "application/json", `{"error":{"message":"Insufficient credits"}}`, model.Denied, "credits"},
		"403":                 {"responses", 403, "application/json", `{"error":{"message":"country"}}`, model.Denied, "country"},
		"404":                 {"chat stream", 404, "application/json", `{"error":{"message":"model 'gpt-test' not found"}}`, model.Denied, "not found"},
		"429":                 {"chat", 429, "application/json", `{"error":{"message":"Rate limit reached"}}`, model.Limited, "Rate limit reached"},
		"500":                 {"chat", 500, "application/json", `{"error":{"message":"boom ` + testKey + `"}}`, model.Outage, "500 Internal Server Error: boom [key]"},
		"502":                 {"responses stream", 502, "text/html", `<html>Bad Gateway</html>`, model.Outage, "Bad Gateway"},
		"key in the refusal":  {"chat", 200, "application/json", `{"choices":[{"message":{"content":"","refusal":"not with ` + testKey + `"}}]}`, model.Refused, "not with [key]"},
		"large error":         {"chat", 400, "application/json", strings.Repeat("x", 1<<20), model.Rejected, "xxxx"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, raw(tt.status, tt.media, tt.body))
			c, log := f.client(modes[tt.mode])
			_, err := c.Answer(context.Background(), question)
			requireKind(t, err, tt.kind, tt.text)
			assert.NotContains(t, log.String(), testKey)
			want := 1
			if tt.status == 429 || tt.status >= 500 {
				want = 3 // with two retries
			}
			assert.Equal(t, want, f.count())
		})
	}
}

// What fails on the way is tried again, and then is an answer.
func TestRetries(t *testing.T) {
	for name, failure := range map[string]func(w http.ResponseWriter, n int){
		"429": func(w http.ResponseWriter, _ int) {
			w.Header().Set("Retry-After-Ms", "1")
			fail(w, 429, "slow down")
		},
		"503":   func(w http.ResponseWriter, _ int) { fail(w, 503, "overloaded") },
		"reset": func(http.ResponseWriter, int) { panic(http.ErrAbortHandler) },
		"reset within the body": func(w http.ResponseWriter, _ int) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, completion)
			panic(http.ErrAbortHandler)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var f *fake
			f = newFake(t, func(w http.ResponseWriter, _ *http.Request, body request) {
				if n := f.count(); n <= 2 {
					failure(w, n)
					return
				}
				says(w, body, good)
			})
			c, _ := f.client(Options{Stream: StreamNever})
			got, err := c.Answer(context.Background(), question)
			require.NoError(t, err)
			assert.Equal(t, good, string(got.Reply))
			assert.Equal(t, 3, f.count())
		})
	}
}

// A Retry-After that the call has no time for ends it now.
func TestRetryAfterTooLong(t *testing.T) {
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ request) {
		w.Header().Set("Retry-After", "60")
		fail(w, 429, "come back in a minute")
	})
	c, _ := f.client(Options{MaxWait: time.Hour})
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	start := time.Now()
	_, err := c.Answer(ctx, question)
	requireKind(t, err, model.Limited, "come back in a minute")
	assert.Less(t, time.Since(start), 5*time.Second)
	assert.Equal(t, 1, f.count())
}

// Retry-After is honoured.
func TestRetryAfter(t *testing.T) {
	var f *fake
	f = newFake(t, func(w http.ResponseWriter, _ *http.Request, body request) {
		if f.count() == 1 {
			w.Header().Set("Retry-After-Ms", "80")
			fail(w, 429, "")
			return
		}
		says(w, body, good)
	})
	c, _ := f.client(Options{MaxWait: time.Minute})
	start := time.Now()
	_, err := c.Answer(context.Background(), question)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, time.Since(start), 80*time.Millisecond)
}

func TestNoServer(t *testing.T) {
	f := newFake(t, nil)
	f.server.Close()
	c, _ := f.client(Options{Retries: -1})
	_, err := c.Answer(context.Background(), question)
	requireKind(t, err, model.Outage, "connection refused")
}

// requireLeft waits until the server has seen the client go from all of its
// calls: there can be none, on a slow machine.
func requireLeft(t *testing.T, f *fake, gone *atomic.Int32) {
	t.Helper()
	require.Eventually(t, func() bool { return int(gone.Load()) == f.count() }, 5*time.Second, time.Millisecond)
}

// hang answers nothing until the client goes, and counts those that have gone.
func hang(gone *atomic.Int32, begin string) func(w http.ResponseWriter, r *http.Request, _ request) {
	return func(w http.ResponseWriter, r *http.Request, body request) {
		if begin != "" {
			w.Header().Set("Content-Type", map[bool]string{true: "text/event-stream", false: "application/json"}[body.Stream])
			_, _ = io.WriteString(w, begin)
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
		gone.Add(1)
	}
}

// A cancelled call ends at once, here and on the server, and is no outage.
func TestCancel(t *testing.T) {
	for name, o := range modes {
		for _, begin := range []string{"", "data: "} {
			t.Run(name+begin, func(t *testing.T) {
				var gone atomic.Int32
				f := newFake(t, hang(&gone, begin))
				o.TripAfter = 1
				c, _ := f.client(o)
				for i := range 2 {
					ctx, cancel := context.WithCancel(context.Background())
					done := make(chan error, 1)
					go func() { _, err := c.Answer(ctx, question); done <- err }()
					require.Eventually(t, func() bool { return f.count() > i }, 5*time.Second, time.Millisecond)
					start := time.Now()
					cancel()
					err := <-done
					assert.Less(t, time.Since(start), time.Second)
					assert.ErrorIs(t, err, context.Canceled)
					var e *model.Error
					assert.False(t, errors.As(err, &e), "%v", err)
					requireLeft(t, f, &gone)
				}
			})
		}
	}
}

func TestHang(t *testing.T) {
	for name, o := range modes {
		t.Run(name, func(t *testing.T) {
			var gone atomic.Int32
			f := newFake(t, hang(&gone, ""))
			o.Timeout = 20 * time.Millisecond
			c, _ := f.client(o)
			_, err := c.Answer(context.Background(), question)
			requireKind(t, err, model.Outage, "no answer in time")
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			requireLeft(t, f, &gone)

			o.Timeout = 0
			c, _ = f.client(o)
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
			defer cancel()
			_, err = c.Answer(ctx, question)
			requireKind(t, err, model.Outage, "no answer in time")
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			requireLeft(t, f, &gone)
		})
	}
}

// A server that begins to answer and then falls silent is left.
func TestStall(t *testing.T) {
	for name, o := range modes {
		t.Run(name, func(t *testing.T) {
			var gone atomic.Int32
			f := newFake(t, hang(&gone, ": "))
			o.Idle, o.Retries = 20*time.Millisecond, -1
			c, _ := f.client(o)
			_, err := c.Answer(context.Background(), question)
			requireKind(t, err, model.Outage, "")
			assert.Contains(t, err.Error(), "silent")
			requireLeft(t, f, &gone)
		})
	}
}

// A trickle is not silent, but the call has an end.
func TestTrickle(t *testing.T) {
	for name, o := range modes {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, func(w http.ResponseWriter, r *http.Request, body request) {
				if body.Stream {
					w.Header().Set("Content-Type", "text/event-stream")
				}
				for r.Context().Err() == nil {
					_, _ = io.WriteString(w, "\n")
					w.(http.Flusher).Flush()
					time.Sleep(time.Millisecond)
				}
			})
			o.Timeout = 50 * time.Millisecond
			c, _ := f.client(o)
			_, err := c.Answer(context.Background(), question)
			requireKind(t, err, model.Outage, "no answer in time")
		})
	}
}

// A body without end is cut off, compressed or not, and not asked for again.
func TestTooLarge(t *testing.T) {
	for name, o := range modes {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, func(w http.ResponseWriter, r *http.Request, body request) {
				w.Header().Set("Content-Type", "application/json")
				line := strings.Repeat(" ", 1<<16)
				if body.Stream {
					w.Header().Set("Content-Type", "text/event-stream")
					line = ": " + line + "\n"
				}
				for r.Context().Err() == nil {
					if _, err := io.WriteString(w, line); err != nil {
						return
					}
				}
			})
			o.MaxBytes = 1 << 20
			c, _ := f.client(o)
			_, err := c.Answer(context.Background(), question)
			requireKind(t, err, model.Truncated, "larger than the limit")
			assert.Equal(t, 1, f.count())
		})
	}
}

// Text without end in a stream is cut off, too.
func TestTooMuchText(t *testing.T) {
	for _, mode := range []string{"chat stream", "responses stream"} {
		f := newFake(t, func(w http.ResponseWriter, r *http.Request, body request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for r.Context().Err() == nil {
				if body.Path == "/v1/responses" {
					event(w, `{"type":"response.output_text.delta","delta":"`+strings.Repeat("x", 1<<12)+`"}`)
				} else {
					chunk(w, `{"content":"`+strings.Repeat("x", 1<<12)+`"}`, "null")
				}
			}
		})
		o := modes[mode]
		o.MaxBytes = 1 << 16
		c, _ := f.client(o)
		_, err := c.Answer(context.Background(), question)
		requireKind(t, err, model.Truncated, "larger than the limit")
	}
}

// White space without end is cut off, and the server sees that.
func TestRunaway(t *testing.T) {
	for _, mode := range []string{"chat stream", "responses stream"} {
		for begin, complete := range map[string]bool{`{"Errno":0,`: false, good: true, `{"Errno":0,"Data":"` + strings.Repeat(" ", 2*maxBlank) + `"}`: true} {
			gone := make(chan struct{}, 1)
			f := newFake(t, func(w http.ResponseWriter, r *http.Request, body request) {
				w.Header().Set("Content-Type", "text/event-stream")
				for text := begin; r.Context().Err() == nil; text = "\n \t" {
					if body.Path == "/v1/responses" {
						event(w, `{"type":"response.output_text.delta","delta":`+quote(text)+`}`)
					} else {
						chunk(w, `{"content":`+quote(text)+`}`, "null")
					}
				}
				gone <- struct{}{}
			})
			c, _ := f.client(modes[mode])
			got, err := c.Answer(context.Background(), question)
			if complete {
				require.NoError(t, err)
				assert.Equal(t, begin, string(got.Reply))
			} else {
				requireKind(t, err, model.Truncated, "white space")
			}
			<-gone
		}
	}
}

func TestBlanks(t *testing.T) {
	blank := strings.Repeat(" ", maxBlank)
	for text, want := range map[string]bool{
		"":                           false,
		blank:                        false,
		blank + " ":                  true,
		blank + "{" + blank:          false,
		`"` + blank + blank + `"`:    false,
		`"\"` + blank + blank:        false,
		`"\\"` + blank + blank:       true,
		`{"a":"b",` + blank + "\n\t": true,
	} {
		var whole, pieces blanks
		assert.Equal(t, want, whole.add(text), "%q", text)
		got := false
		for i := range len(text) {
			got = got || pieces.add(text[i:i+1])
		}
		assert.Equal(t, want, got, "%q in pieces", text)
	}
}

// The breaker fails calls at once, looks again after a while, and closes.
func TestBreaker(t *testing.T) {
	var mu sync.Mutex
	down := true
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request, body request) {
		mu.Lock()
		defer mu.Unlock()
		if down {
			fail(w, 503, "maintenance")
			return
		}
		says(w, body, good)
	})
	c, log := f.client(Options{Retries: -1, TripAfter: 3, OpenFor: 50 * time.Millisecond})
	for range 3 {
		_, err := c.Answer(context.Background(), question)
		requireKind(t, err, model.Outage, "503")
	}
	for range 20 {
		_, err := c.Answer(context.Background(), question)
		requireKind(t, err, model.Outage, "circuit breaker is open, last outage: 503 Service Unavailable: maintenance")
	}
	assert.Equal(t, 3, f.count())
	assert.Contains(t, log.String(), "to=open")

	require.Eventually(t, func() bool { // half open: one call looks, and is the only one
		_, err := c.Answer(context.Background(), question)
		return !strings.Contains(err.Error(), "breaker")
	}, 5*time.Second, time.Millisecond)
	assert.Equal(t, 4, f.count())

	mu.Lock()
	down = false
	mu.Unlock()
	require.Eventually(t, func() bool {
		_, err := c.Answer(context.Background(), question)
		return err == nil
	}, 5*time.Second, time.Millisecond)
	assert.Contains(t, log.String(), "to=closed")
}

// What is no outage never opens the breaker.
func TestBreakerCountsOutagesOnly(t *testing.T) {
	for _, status := range []int{400, 401, 429} {
		f := newFake(t, raw(status, "application/json", `{"error":{"message":"no"}}`))
		c, _ := f.client(Options{Retries: -1, TripAfter: 1})
		for range 5 {
			_, err := c.Answer(context.Background(), question)
			assert.NotContains(t, err.Error(), "breaker")
		}
		assert.Equal(t, 5, f.count())
	}
}

// Many calls are in flight together, over few connections.
func TestParallel(t *testing.T) {
	const n = 30
	var all sync.WaitGroup
	all.Add(n)
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request, body request) {
		all.Done()
		all.Wait()
		says(w, body, `{"Errno":0,"Data":`+quote(body.last())+`}`)
	})
	c, _ := f.client(Options{})
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			text := fmt.Sprintf("question %d", i)
			got, err := c.Answer(context.Background(), &model.Prompt{Messages: []model.Message{{Role: "user", Content: text}}})
			if assert.NoError(t, err) {
				assert.Contains(t, string(got.Reply), quote(text))
			}
		})
	}
	group.Wait()
}

// The key is in no error of a server that sends it back, nor in the log.
func TestKeyStaysSecret(t *testing.T) {
	f := newFake(t, func(w http.ResponseWriter, r *http.Request, _ request) {
		var dump bytes.Buffer
		_ = r.Header.Write(&dump)
		fail(w, 500, dump.String())
	})
	c, log := f.client(Options{Retries: -1, TripAfter: 1})
	for range 3 {
		_, err := c.Answer(context.Background(), question)
		requireKind(t, err, model.Outage, "[key]")
	}
	assert.NotContains(t, log.String(), testKey)
	assert.Contains(t, log.String(), "[key]")
}

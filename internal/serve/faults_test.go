package serve

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/internal/model/openai"
	"github.com/llmfs-raw/llmfs-raw/internal/session"
	"github.com/llmfs-raw/llmfs-raw/proto"
	"github.com/llmfs-raw/llmfs-raw/schema"
)

func script(t needs, text string) *Faults {
	f, err := ParseFaults([]byte(text))
	require.NoError(t, err)
	return f
}

// apis are the four ways to ask.
var apis = map[string]func(*openai.Options){
	"chat":             func(o *openai.Options) { o.Stream = openai.StreamNever },
	"chat stream":      func(o *openai.Options) { o.Stream = openai.StreamAlways },
	"responses":        func(o *openai.Options) { o.Stream, o.Responses = openai.StreamNever, true },
	"responses stream": func(o *openai.Options) { o.Stream, o.Responses = openai.StreamAlways, true },
}

// lookupPrompt asks for a name that is missing.
func lookupPrompt(t needs, unique uint64) *model.Prompt {
	req := &proto.Request{Op: proto.OpLookup, Names: []string{"x"}, Header: proto.Header{Unique: unique, NodeId: 1, Now: proto.Time{Sec: 7}}}
	text, err := proto.AppendRequestJSON(nil, req)
	require.NoError(t, err)
	form := schema.For(proto.OpLookup, schema.All)
	return &model.Prompt{
		Op: req.Op, Request: text, Schema: model.Schema{Name: form.Name, JSON: form.JSON},
		Messages: []model.Message{{Role: "system", Content: "be a disk"}, {Role: "user", Content: string(text)}},
	}
}

const missing = `{"Reply":{"Errno":0,"Out":{"NodeId":0,"Generation":0,"EntryValid":3600,`

// Each fault ends in its kind of error, or in a reply, in all four ways to ask.
func TestFaults(t *testing.T) {
	ok := model.Kind(255)
	for _, c := range []struct {
		do      string
		want    model.Kind
		reply   string // what the reply begins with, where there is one
		options func(*openai.Options)
	}{
		{do: `latency, first_token: 1ms, tokens_per_second: 20000`, want: ok, reply: missing},
		{do: `error, status: 500`, want: model.Outage},
		{do: `error, status: 503`, want: model.Outage},
		{do: `error, status: 429, retry_after: 1ms`, want: model.Limited},
		{do: `error, status: 429, retry_after: 1h`, want: model.Limited},
		{do: `error, status: 400, message: no`, want: model.Rejected},
		{do: `error, status: 401`, want: model.Denied},
		{do: `error, status: 404`, want: model.Denied},
		{do: `reset`, want: model.Outage},
		{do: `reset, after: 100`, want: model.Outage},
		{do: `hang`, want: model.Outage, options: func(o *openai.Options) { o.Timeout = 300 * time.Millisecond }},
		{do: `hang, for: 1ms`, want: ok, reply: missing},
		{do: `trickle, bytes: 200, pause: 1ms`, want: ok, reply: missing},
		{do: `trickle, pause: 50ms`, want: model.Outage, options: func(o *openai.Options) { o.Timeout = 300 * time.Millisecond }},
		{do: `truncate`, want: model.Truncated},
		{do: `refuse, text: never`, want: model.Refused},
		{do: `content_filter`, want: model.Filtered},
		{do: `empty_choices`, want: model.Empty},
		{do: `null_content`, want: model.Empty},
		{do: `garbage`, want: ok, reply: "Sure!"},
		{do: `garbage, text: "[]"`, want: ok, reply: "[]"},
		{do: `fence`, want: ok, reply: missing},
		{do: `whitespace`, want: model.Truncated},
		{do: `wrong`, want: ok, reply: `{"Reply":{"Errno":0,"Out":{"NodeId":0,`},
		{do: `invalid`, want: ok, reply: `{"Reply":{"Errno":"none"`},
		{do: `reasoning`, want: ok, reply: missing},
	} {
		for api, how := range apis {
			t.Run(c.do+" "+api, func(t *testing.T) {
				base, s, stop := started(t, Options{Faults: script(t, "rules: [{do: "+c.do+"}]")})
				defer stop()
				m := client(t, base, func(o *openai.Options) {
					o.Retries = 1
					how(o)
					if c.options != nil {
						c.options(o)
					}
				})
				answer, err := m.Answer(context.Background(), lookupPrompt(t, 2))
				if c.want == ok {
					require.NoError(t, err)
					assert.Equal(t, c.reply, string(answer.Reply)[:len(c.reply)])
					assert.Positive(t, answer.Usage.InputTokens)
					assert.Positive(t, answer.Usage.OutputTokens)
					return
				}
				var e *model.Error
				require.ErrorAs(t, err, &e)
				assert.Equal(t, c.want, e.Kind, "%v", err)
				s.faults.mu.Lock()
				defer s.faults.mu.Unlock()
				assert.Positive(t, s.faults.done[0])
			})
		}
	}
}

// Through the session each fault is its errno, nothing that was accepted is
// lost, and afterwards all goes on with the numbers that the kernel knows.
func TestFaultsBetweenRequests(t *testing.T) {
	for do, want := range map[string]syscall.Errno{
		"error": syscall.EIO, "error, status: 429, retry_after: 1ms": syscall.EBUSY, "refuse": syscall.EACCES, "content_filter": syscall.EACCES,
		"truncate": syscall.EFBIG, "garbage": syscall.EIO, "invalid": syscall.EIO, "empty_choices": syscall.EIO, "reset": syscall.EIO, "whitespace": syscall.EFBIG,
	} {
		for _, context := range []session.Context{shown(session.Full, 0), shown(session.Ledger, 4)} {
			t.Run(fmt.Sprint(do, context), func(t *testing.T) {
				base, _, stop := started(t, Options{Faults: script(t, "rules: [{op: MKNOD, do: "+do+"}]")})
				defer stop()
				c := mounted(t, client(t, base, func(o *openai.Options) { o.Retries = -1 }), session.Options{Context: context})
				blurred(c)
				c.do(proto.OpGetattr, 1, nil, "")
				d := c.mkdir(1, "d")
				f := c.file(d, "f", "hello")
				broken := c.request(proto.OpMknod, 1, &fuse.MknodIn{Mode: 0o100644}, "", "n")
				assert.Equal(t, &proto.Reply{Errno: want}, c.session.Handle(t.Context(), broken))
				assert.Equal(t, "hello", c.read(f))
				assert.Equal(t, []string{".", "..", "f"}, c.list(d))
				assert.Zero(t, c.lookup(1, "n"))
			})
		}
	}
}

// An invalid answer is asked again, and the second one has the same numbers.
func TestRepair(t *testing.T) {
	for _, context := range []session.Context{shown(session.Full, 0), shown(session.Window, 5), shown(session.Ledger, 2)} {
		base, _, stop := started(t, Options{Faults: script(t, "rules: [{do: invalid, every: 3}, {do: garbage, every: 7}]")})
		c := mounted(t, client(t, base, nil), session.Options{Context: context})
		blurred(c)
		c.do(proto.OpGetattr, 1, nil, "")
		for i := range 12 {
			c.file(1, fmt.Sprint(i), "x")
		}
		assert.Positive(t, c.session.Totals().Repairs)
		assert.Empty(t, c.session.Totals().Failures)
		stop()
	}
}

// A wrong answer that was accepted is what the kernel knows: what can be told
// from it holds.
func TestWrongButValid(t *testing.T) {
	base, _, stop := started(t, Options{Faults: script(t, "rules: [{op: CREATE, do: wrong, field: Out.EntryOut.NodeId}, {op: READ, from: 2, do: wrong}]")})
	defer stop()
	c := mounted(t, client(t, base, nil), session.Options{Context: shown(session.Full, 0)})
	c.same = func(*proto.Request, *proto.Reply, *proto.Reply) {}
	id, fh := c.create(1, "f")
	assert.EqualValues(t, 3, id, "2 would be right")
	c.write(id, fh, 0, "hello")
	c.close(id, fh)
	assert.Equal(t, "hello", c.read(id))
	assert.Equal(t, "?????", c.read(id))
	assert.EqualValues(t, 4, c.mkdir(1, "d"))
	assert.EqualValues(t, 3, c.lookup(1, "f"))
}

func TestRulesMatch(t *testing.T) {
	chat := circumstances{"chat", "READ", "m"}
	for rule, want := range map[string][]int{
		"do: fence":                                  {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
		"do: fence, op: WRITE":                       nil,
		"do: fence, op: [WRITE, READ], times: 2":     {1, 2},
		"do: fence, endpoint: chat, every: 5":        {5, 10},
		"do: fence, endpoint: [files], every: 5":     nil,
		"do: fence, model: other":                    nil,
		"do: fence, from: 3, to: 9, every: 3":        {5, 8},
		"do: fence, probability: 0.3":                {3, 7, 12},
		"do: fence, from: 2, probability: 1":         {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
		"do: latency, first_token: 1s":               nil,
		"do: fence, every: 4}, {do: fence, every: 6": {4, 6, 8, 12},
	} {
		s := newFaultState(script(t, "seed: 3\nrules: [{"+rule+"}]"))
		var hit []int
		for n := 1; n <= 12; n++ {
			if s.next(chat).Rule != nil {
				hit = append(hit, n)
			}
		}
		if rule == "do: fence, probability: 0.3" {
			assert.NotEmpty(t, hit)
			assert.Less(t, len(hit), 12)
			again := newFaultState(script(t, "seed: 3\nrules: [{"+rule+"}]"))
			for n := 1; n <= 12; n++ {
				assert.Equal(t, again.next(chat).Rule != nil, contains(hit, n), "the same seed, the same faults")
			}
			continue
		}
		assert.Equal(t, want, hit, rule)
	}
}

func contains(list []int, n int) bool {
	for _, m := range list {
		if m == n {
			return true
		}
	}
	return false
}

func TestScriptErrors(t *testing.T) {
	for text, want := range map[string]string{
		"rules: [{do: explode}]":                      `rule 1: do: have "explode", want one of content_filter, empty_choices, error,`,
		"rules: [{do: fence}, {op: read, do: fence}]": `rule 2: op: have "read", want the name of an opcode`,
		"rules: [{endpoint: chats, do: fence}]":       `rule 1: endpoint: have "chats", want one of chat, responses`,
		"rules: [{do: fence, text: x}]":               "rule 1: text: do: fence takes no such key, only none",
		"rules: [{do: hang, status: 500}]":            "rule 1: status: do: hang takes no such key, only for",
		"rules: [{do: error, status: 200}]":           "rule 1: status: have 200, want 400 to 599",
		"rules: [{do: fence, probability: 2}]":        "rule 1: probability: have 2, want 0 to 1",
		"rules: [{do: fence, from: 5, to: 2}]":        "rule 1: to: have 2, want 5 or more",
		"rules: [{do: fence, every: -1}]":             "rule 1: from, to, every, times: want 1 or more",
		"rules: [{do: truncate, tokens: -1}]":         "want 0 or more",
		"rules: [{do: hang, for: -1s}]":               "want no time below 0",
		"rules:\n- do: fence\n  evry: 2":              "line 3: field evry is no key of a rule",
		"seeds: 1":                                    "line 1: field seeds is no key of a script: want seed, rules",
		"rules: [{do: latency, first_token: soon}]":   "line 1: cannot unmarshal",
		"rules: {": "line 1",
		`{"rules": [{"do": "error", "retry_after": "1x"}]}`:   "line 1",
		`{"rules": [{"do": "reset", "after": -1, "op": []}]}`: "want 0 or more",
	} {
		_, err := ParseFaults([]byte(text))
		assert.ErrorContains(t, err, want, text)
	}
	_, err := ReadFaults(filepath.Join(t.TempDir(), "none"))
	assert.ErrorIs(t, err, os.ErrNotExist)
	file := filepath.Join(t.TempDir(), "f.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"seed": 9, "rules": [{"do": "error"}]}`), 0o600))
	f, err := ReadFaults(file)
	require.NoError(t, err)
	assert.Equal(t, 500, f.Rules[0].Status)
	require.NoError(t, os.WriteFile(file, []byte(`{"rules": [{"do": "x"}]}`), 0o600))
	_, err = ReadFaults(file)
	assert.ErrorContains(t, err, file+": rule 1: do:")
	empty, err := ParseFaults(nil)
	require.NoError(t, err)
	assert.Empty(t, empty.Rules)
}

// The example of the documentation is one.
func TestExampleScript(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	f := script(t, exampleIn(string(text)))
	require.Len(t, f.Rules, 2)
	assert.Equal(t, 2*time.Second, f.Rules[1].RetryAfter)
	for _, name := range actionNames() {
		assert.Regexp(t, "(?m)^//\t"+name+"( |$)", string(text), "the documentation has every action")
	}
}

// Simulated latency is the time that it says.
func TestLatency(t *testing.T) {
	for api, how := range apis {
		base, _, stop := started(t, Options{Latency: Latency{FirstToken: 50 * time.Millisecond, TokensPerSecond: 1000}})
		start := time.Now()
		answer, err := client(t, base, how).Answer(context.Background(), lookupPrompt(t, 2))
		require.NoError(t, err)
		least := 50*time.Millisecond + time.Duration(answer.Usage.OutputTokens)*time.Millisecond
		assert.GreaterOrEqual(t, time.Since(start), least, api)
		stop()
	}
}

// A client that goes ends the answer.
func TestGoing(t *testing.T) {
	base, _, stop := started(t, Options{Latency: Latency{FirstToken: time.Hour}})
	defer stop()
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := client(t, base, nil).Answer(ctx, lookupPrompt(t, 2))
	assert.Error(t, err)
	assert.Less(t, time.Since(start), 2*time.Second)
}

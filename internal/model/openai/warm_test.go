package openai

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
)

func schemas(n int) (list []model.Schema) {
	for i := range n {
		list = append(list, named(fmt.Sprint("OP", i)))
	}
	return list
}

// Each schema is sent once, a few at a time, with a small limit.
func TestWarm(t *testing.T) {
	var running, most atomic.Int32
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request, body request) {
		most.Store(max(most.Load(), running.Add(1)))
		time.Sleep(time.Millisecond)
		running.Add(-1)
		chatSays(w, body, message(`{"Err`), "length")
	})
	c, _ := f.client(Options{})
	seen := map[string]int{}
	err := c.Warm(context.Background(), append(schemas(20), schemas(20)...), func(done, total int, name string, _ time.Duration, err error) {
		seen[name]++
		assert.Equal(t, 20, total)
		assert.Len(t, seen, done)
		assert.NoError(t, err)
	})
	require.NoError(t, err)
	assert.Len(t, seen, 20)
	assert.Equal(t, 20, f.count())
	assert.LessOrEqual(t, most.Load(), int32(warmParallel))
	for _, call := range f.calls {
		assert.Contains(t, string(call.Raw), `"max_tokens":16`)
		assert.Contains(t, call.schema.Name, "OP")
	}
}

// A schema that is rejected does not keep the others from being warmed.
func TestWarmRejected(t *testing.T) {
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request, body request) {
		if body.schema.Name == "OP3" {
			fail(w, 400, "schema is too deep")
			return
		}
		says(w, body, good)
	})
	c, _ := f.client(Options{})
	failed := ""
	err := c.Warm(context.Background(), schemas(6), func(_, _ int, name string, _ time.Duration, err error) {
		if err != nil {
			failed += name
		}
	})
	requireKind(t, err, model.Rejected, "schema OP3: request rejected: 400 Bad Request: schema is too deep")
	assert.Equal(t, "OP3", failed)
	assert.Equal(t, 6, f.count())
}

// A wrong key is wrong for all.
func TestWarmDenied(t *testing.T) {
	f := newFake(t, raw(401, "application/json", `{"error":{"message":"wrong key"}}`))
	c, _ := f.client(Options{})
	err := c.Warm(context.Background(), schemas(100), nil)
	requireKind(t, err, model.Denied, "wrong key")
	assert.Less(t, f.count(), 20)
}

func TestWarmCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	f := newFake(t, func(_ http.ResponseWriter, r *http.Request, _ request) {
		cancel()
		<-r.Context().Done()
	})
	c, _ := f.client(Options{})
	assert.ErrorIs(t, c.Warm(ctx, schemas(20), nil), context.Canceled)
	assert.LessOrEqual(t, f.count(), warmParallel)
}

// What a server does with each schema is told apart.
func TestProbe(t *testing.T) {
	compiled := false
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request, body request) {
		switch body.schema.Name {
		case "SLOW":
			if !compiled {
				time.Sleep(slowCompile + 100*time.Millisecond)
			}
			compiled = true
			says(w, body, good)
		case "IGNORED":
			says(w, body, "Hello there!")
		case "LOOSE":
			says(w, body, `{"Errno":"none"}`)
		case "REJECTED":
			fail(w, 400, "unsupported keyword")
		case "DOWN":
			fail(w, 500, "oops")
		default:
			says(w, body, good)
		}
	})
	c, _ := f.client(Options{})
	var got []string
	names := []string{"GOOD", "SLOW", "IGNORED", "LOOSE", "REJECTED", "DOWN"}
	var list []model.Schema
	for _, name := range names {
		list = append(list, named(name))
	}
	for i, r := range c.Probe(context.Background(), list) {
		got = append(got, fmt.Sprintf("%s %v slow=%v %v", r.Name, r.Verdict, r.Slow(), r.Err != nil))
		assert.Equal(t, names[i], r.Name)
		assert.Positive(t, r.First)
	}
	assert.Equal(t, []string{
		"GOOD honoured slow=false false", "SLOW honoured slow=true false", "IGNORED ignored slow=false true",
		"LOOSE ignored slow=false true", "REJECTED rejected slow=false true", "DOWN unknown slow=false true",
	}, got)
	assert.Contains(t, string(f.calls[0].Raw), "Never write JSON")
}

// A probe ends where it has no chance.
func TestProbeDenied(t *testing.T) {
	f := newFake(t, raw(401, "application/json", `{"error":{"message":"wrong key"}}`))
	c, _ := f.client(Options{})
	results := c.Probe(context.Background(), schemas(9))
	require.Len(t, results, 1)
	requireKind(t, results[0].Err, model.Denied, "wrong key")
	assert.Equal(t, Unknown, results[0].Verdict)
}

// A schema that is none gets no verdict.
func TestProbeNoSchema(t *testing.T) {
	r := ProbeResult{Verdict: Unknown}
	r.judge(model.Schema{Name: "x", JSON: []byte("{")}, []byte(good))
	assert.Equal(t, Unknown, r.Verdict)
	assert.ErrorContains(t, r.Err, "schema x")
}

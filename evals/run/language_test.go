package run_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/evals/run"
	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/internal/model/openai"
	"github.com/llmfs-raw/llmfs-raw/internal/serve"
	"github.com/llmfs-raw/llmfs-raw/internal/session"
	"github.com/llmfs-raw/llmfs-raw/schema"
)

// served is a language model behind a server with reference in it, and how many
// questions have reached it.
func served(t testing.TB, o serve.Options) (*run.Contestant, *atomic.Int64) {
	s, asked := serve.New(o), new(atomic.Int64)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		s.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { web.Close(); s.Close() })
	return &run.Contestant{Name: serve.DefaultModel, Price: &session.Price{Input: 1, Cached: 0.5, Output: 10}, Model: func(int) (model.Model, error) {
		return openai.New(openai.Options{
			BaseURL: web.URL + "/v1", APIKey: "sk-test-0123456789", Model: serve.DefaultModel,
			Retries: -1, TripAfter: 1 << 20, Log: slog.New(slog.DiscardHandler),
		})
	}}, asked
}

// forced are the options of a quick run over HTTP.
func forced(t testing.TB, c *run.Contestant) run.Options {
	o := options(t, c)
	o.Modes = []evals.Mode{evals.Forced}
	o.Session = session.Options{Context: session.Context{Kind: session.Full}, Fields: schema.Lean}
	o.Retry = run.Retry{First: time.Millisecond, Most: 4 * time.Millisecond}
	return o
}

func faults(t testing.TB, script string) *serve.Faults {
	path := filepath.Join(t.TempDir(), "faults.yaml")
	require.NoError(t, os.WriteFile(path, []byte(script), 0o644))
	f, err := serve.ReadFaults(path)
	require.NoError(t, err)
	return f
}

// The whole way over HTTP loses nothing: prompts say all that an answer depends on.
func TestServedReferenceIsRight(t *testing.T) {
	for _, context := range []session.Context{{Kind: session.Full}, {Kind: session.Ledger, Pairs: 4}} {
		for _, fields := range []schema.Form{schema.All, schema.Lean} {
			t.Run(context.String()+" "+fields.String(), func(t *testing.T) {
				c, _ := served(t, serve.Options{})
				o := options(t, c)
				o.Session = session.Options{Context: context, Fields: fields}
				allRight(t, o, 2)
			})
		}
	}
}

func allRight(t *testing.T, o run.Options, scores int) {
	s, err := run.Run(context.Background(), o)
	require.NoError(t, err)
	for _, l := range lines(t, o.Dir) {
		assert.Equal(t, evals.Correct, l.Stage, "%s %s %d %s %s, want %s: %v %v %s", l.Mode, l.Trace, l.Pair, l.Request, l.Reply, l.Expected, l.Diffs, l.Problems, l.Infra)
	}
	require.Len(t, s.Scores, scores)
	for _, m := range s.Scores {
		assert.Equal(t, 1.0, m.Score)
		if m.Mode == evals.Rollout {
			assert.Equal(t, 1.0, m.Survived)
		}
	}
}

// What servers do wrong is waited out, and no model's fault.
func TestInfrastructureIsNoScore(t *testing.T) {
	for _, c := range []struct {
		name, script string
		infra        int
	}{
		{"busy now and then", "rules: [{do: error, status: 429, every: 3}]", 0},
		{"failing now and then", "rules: [{do: error, status: 503, every: 3}]", 0},
		{"a request that it never takes", "rules: [{do: error, status: 400, op: [STATFS, LOOKUP]}]", 5},
		{"no access", "rules: [{do: error, status: 401}]", 50},
	} {
		t.Run(c.name, func(t *testing.T) {
			model, asked := served(t, serve.Options{Faults: faults(t, c.script)})
			o := forced(t, model)
			s, err := run.Run(context.Background(), o)
			require.NoError(t, err)
			all := o.Traces[0].Steps + o.Traces[1].Steps
			require.Equal(t, c.infra, s.Infra)
			require.Equal(t, all-c.infra, s.Steps)
			assert.Equal(t, all-c.infra, s.Scores[0].Stages[evals.Correct])
			if c.infra == all {
				assert.LessOrEqual(t, asked.Load(), int64(8), "who is not let in does not go on asking")
			}
			for _, l := range lines(t, o.Dir) {
				assert.Equal(t, l.Infra == "", l.Stage == evals.Correct, "%s %s", l.Op, l.Infra)
			}
		})
	}
}

// A server that is gone does not hold up each question.
func TestAServerThatIsGone(t *testing.T) {
	model, asked := served(t, serve.Options{Faults: faults(t, "rules: [{do: error, status: 502}]")})
	o := forced(t, model)
	s, err := run.Run(context.Background(), o)
	require.NoError(t, err)
	assert.Zero(t, s.Steps)
	assert.Equal(t, 50, s.Infra)
	assert.Contains(t, s.Why, "502")
	assert.LessOrEqual(t, asked.Load(), int64(8*8+50))
}

// What the model does wrong is its score, and is paid once.
func TestNoAnswerIsAScore(t *testing.T) {
	for _, c := range []struct{ name, script, problem string }{
		{"refusal", "rules: [{do: refuse, op: WRITE}]", "refusal"},
		{"cut off", "rules: [{do: truncate, op: WRITE, tokens: 2}]", "truncated"},
		{"no choices", "rules: [{do: empty_choices, op: WRITE}]", "empty answer"},
		{"filtered", "rules: [{do: content_filter, op: WRITE}]", "content filter"},
	} {
		t.Run(c.name, func(t *testing.T) {
			model, asked := served(t, serve.Options{Faults: faults(t, c.script)})
			o := forced(t, model)
			s, err := run.Run(context.Background(), o)
			require.NoError(t, err)
			assert.Zero(t, s.Infra)
			assert.Equal(t, 2, s.Scores[0].Stages[evals.Unanswered])
			for _, l := range lines(t, o.Dir) {
				if l.Op == "WRITE" {
					assert.Equal(t, evals.Unanswered, l.Stage)
					assert.Contains(t, l.Problems, c.problem)
					assert.Equal(t, c.name == "refusal" || c.name == "filtered", l.Refused)
				}
			}
			before := asked.Load()
			_, err = run.Run(context.Background(), o)
			require.NoError(t, err)
			assert.Equal(t, before, asked.Load(), "the same run again asks nothing")
		})
	}
}

// A run that is done again asks nothing, and writes the same log.
func TestAgainIsTheSame(t *testing.T) {
	model, asked := served(t, serve.Options{})
	o := forced(t, model)
	o.Modes, o.Trials = append(o.Modes, evals.Rollout), 2
	first, err := run.Run(context.Background(), o)
	require.NoError(t, err)
	was, before := lines(t, o.Dir), asked.Load()
	assert.GreaterOrEqual(t, before, int64(2*50), "each trial is asked for itself")
	assert.LessOrEqual(t, before, int64(4*50))
	questions := before
	o.Seed = 99
	second, err := run.Run(context.Background(), o)
	require.NoError(t, err)
	assert.Equal(t, before, asked.Load())
	now := lines(t, o.Dir)
	require.Len(t, now, len(was))
	for i := range now {
		assert.True(t, now[i].FromCache)
		if was[i].FromCache {
			questions++ // a rollout's that was a forced step's, too
		}
		was[i].FromCache = true
		assert.Equal(t, was[i], now[i])
	}
	assert.Equal(t, int64(4*50), questions)
	assert.Equal(t, first.Scores, second.Scores)
	assert.Positive(t, first.Scores[0].Cost)
}

// What is left of an interrupted write is cut off, and the rest is used.
func TestATornAnswer(t *testing.T) {
	model, asked := served(t, serve.Options{})
	o := forced(t, model)
	_, err := run.Run(context.Background(), o)
	require.NoError(t, err)
	path := filepath.Join(o.Dir, run.CacheFile)
	all, err := os.ReadFile(path)
	require.NoError(t, err)
	last := bytes.LastIndexByte(all[:len(all)-1], '\n') + 1
	require.NoError(t, os.WriteFile(path, all[:last+20], 0o644))
	before := asked.Load()
	_, err = run.Run(context.Background(), o)
	require.NoError(t, err)
	assert.Equal(t, before+1, asked.Load())
	again, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, bytes.Count(all, []byte("\n")), bytes.Count(again, []byte("\n")))
	require.NoError(t, os.WriteFile(path, []byte("something else\n"), 0o644))
	_, err = run.Run(context.Background(), o)
	assert.ErrorContains(t, err, "line 1 is no answer")
}

func TestTheBudgetHolds(t *testing.T) {
	model, _ := served(t, serve.Options{})
	o := forced(t, model)
	o.Concurrency, o.MaxCost = 1, 0.1 // a prompt has about 6,000 tokens, at $1 a million
	s, err := run.Run(context.Background(), o)
	require.NoError(t, err)
	assert.Positive(t, s.Steps)
	assert.Positive(t, s.Infra)
	assert.LessOrEqual(t, s.Scores[0].Cost, o.MaxCost)
	assert.Greater(t, s.Scores[0].Cost, o.MaxCost/2)
	assert.True(t, slices.ContainsFunc(lines(t, o.Dir), func(l *evals.StepResult) bool { return l.Infra != "" }))
}

// What is wrong ends a rollout, or not.
func TestRolloutsEnd(t *testing.T) {
	script := `rules: [{do: wrong, op: WRITE, field: Out.Size, times: 1}]`
	for _, resync := range []bool{false, true} {
		model, _ := served(t, serve.Options{Faults: faults(t, script)})
		o := forced(t, model)
		o.Modes, o.Resync, o.Concurrency, o.Traces = []evals.Mode{evals.Rollout}, resync, 1, o.Traces[:1]
		s, err := run.Run(context.Background(), o)
		require.NoError(t, err)
		all := lines(t, o.Dir)
		require.Equal(t, "files", all[2].Trace)
		assert.True(t, all[2].Ended)
		assert.Equal(t, []int{2, o.Traces[0].Steps}, []int{all[2].Survived, all[2].Of})
		assert.InDelta(t, 2/float64(o.Traces[0].Steps), s.Scores[0].Survived, 1e-9)
		if !resync {
			assert.Len(t, all, 3, "a rollout that ended has no more lines")
			continue
		}
		assert.Len(t, all, o.Traces[0].Steps)
		for _, l := range all[3:] {
			assert.Equal(t, evals.Correct, l.Stage, "%s: %v", l.Op, l.Diffs)
			assert.Zero(t, l.Of)
		}
	}
}

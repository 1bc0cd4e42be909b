package run_test

import (
	"context"
	"net/http/httptest"
	"testing"

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

// served is a language model behind a server with reference in it.
func served(t testing.TB, o serve.Options) *run.Contestant {
	s := serve.New(o)
	web := httptest.NewServer(s)
	t.Cleanup(func() { web.Close(); s.Close() })
	return &run.Contestant{Name: serve.DefaultModel, Model: func(int) (model.Model, error) {
		return openai.New(openai.Options{BaseURL: web.URL + "/v1", APIKey: "sk-test-0123456789", Model: serve.DefaultModel})
	}}
}

// The whole way over HTTP loses nothing: prompts say all that an answer depends on.
func TestServedReferenceIsRight(t *testing.T) {
	for _, context := range []session.Context{{Kind: session.Full}, {Kind: session.Ledger, Pairs: 4}} {
		for _, fields := range []schema.Form{schema.All, schema.Lean} {
			t.Run(context.String()+" "+fields.String(), func(t *testing.T) {
				o := options(t, served(t, serve.Options{}))
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

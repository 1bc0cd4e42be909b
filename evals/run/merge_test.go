package run_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/evals/run"
	"github.com/llmfs-raw/llmfs-raw/internal/serve"
)

// Shards put together are the run that was not divided.
func TestShards(t *testing.T) {
	model, _ := served(t, serve.Options{})
	whole := options(t, referee, model)
	whole.Trials, whole.Session = 3, forced(t, model).Session
	whole.Cache = t.TempDir()
	want, err := run.Run(context.Background(), whole)
	require.NoError(t, err)
	var dirs []string
	for i := range 3 {
		o := whole
		o.Dir, o.Shard = t.TempDir(), run.Shard{I: i + 1, N: 3}
		s, err := run.Run(context.Background(), o)
		require.NoError(t, err)
		assert.Less(t, s.Steps, want.Steps)
		dirs = append(dirs, o.Dir)
	}
	out := t.TempDir()
	have, err := run.Merge(dirs, out)
	require.NoError(t, err)
	assert.Equal(t, want.Scores, have.Scores)
	assert.Empty(t, have.Shard)
	a, b := lines(t, whole.Dir), lines(t, out)
	require.Len(t, b, len(a))
	for i := range a {
		a[i].FromCache = b[i].FromCache
		assert.Equal(t, a[i], b[i])
	}

	_, err = run.Merge(dirs[:2], t.TempDir())
	assert.ErrorContains(t, err, "have 2 of 3 shards")
	_, err = run.Merge([]string{whole.Dir, whole.Dir}, t.TempDir())
	assert.ErrorContains(t, err, "is there twice")
	other := whole
	other.Dir, other.Seed = t.TempDir(), 7
	_, err = run.Run(context.Background(), other)
	require.NoError(t, err)
	_, err = run.Merge([]string{whole.Dir, other.Dir}, t.TempDir())
	assert.ErrorContains(t, err, "the runs differ")
}

func TestParseShard(t *testing.T) {
	for _, wrong := range []string{"1", "0/2", "3/2", "a/b", "1/2/3", "-1/2"} {
		_, err := run.ParseShard(wrong)
		assert.ErrorContains(t, err, "want i/n", wrong)
	}
	s, err := run.ParseShard("2/3")
	require.NoError(t, err)
	assert.Equal(t, "2/3", s.String())
}

// Logs and summaries that are no such thing, or another one's, say so.
func TestForeignLogs(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"old.jsonl", "have version 0, want 1"},
		{"future.jsonl", "have version 2, want 1"},
		{"foreign.jsonl", `no header of "llmfs-raw evals"`},
		{"empty.jsonl", "no header"},
	} {
		_, err := evals.OpenLog(filepath.Join("testdata", c.file))
		assert.ErrorContains(t, err, c.want, c.file)
	}
	torn := lines(t, filepath.Join("testdata", "torn.jsonl"))
	require.Len(t, torn, 1, "what was whole is read")
	assert.Equal(t, "LOOKUP", torn[0].Op)
	_, err := run.Merge([]string{filepath.Join("testdata", "torn.jsonl")}, t.TempDir())
	assert.ErrorContains(t, err, "in the middle of a line")

	// A compressed one that was cut off is read as far as it goes.
	o := options(t, referee)
	_, err = run.Run(context.Background(), o)
	require.NoError(t, err)
	whole := lines(t, o.Dir)
	path := filepath.Join(o.Dir, evals.StepsFiles[0])
	packed, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, packed[:len(packed)-100], 0o644))
	r, err := evals.OpenLog(path)
	require.NoError(t, err)
	n := 0
	for _, err := range r.Steps() {
		require.NoError(t, err)
		n++
	}
	assert.True(t, r.Torn())
	assert.NoError(t, r.Close())
	assert.Positive(t, n)
	assert.Less(t, n, len(whole))

	for name, want := range map[string]string{
		`{"log":"llmfs-raw evals","version":9}`: "have version 9, want 1",
		`{"log":"inspect"}`:                     `want "llmfs-raw evals"`,
		`{`:                                     "unexpected end",
	} {
		path := filepath.Join(t.TempDir(), evals.SummaryFile)
		require.NoError(t, os.WriteFile(path, []byte(name), 0o644))
		_, err := evals.ReadSummary(path)
		assert.ErrorContains(t, err, want)
	}
}

func TestRegressions(t *testing.T) {
	old := &evals.Summary{Scores: []evals.ModelSummary{{Model: "a", Mode: evals.Forced, Score: 0.9}, {Model: "a", Mode: evals.Rollout, Score: 0.9, Survived: 0.5}}}
	now := &evals.Summary{Scores: []evals.ModelSummary{{Model: "a", Mode: evals.Forced, Score: 0.89}, {Model: "a", Mode: evals.Rollout, Score: 0.95, Survived: 0.4}}}
	assert.Equal(t, []string{"a forced: score 0.8900, was 0.9000", "a rollout: survived 0.4000, was 0.5000"}, run.Regressions(now, old, 0))
	assert.Equal(t, []string{"a rollout: survived 0.4000, was 0.5000"}, run.Regressions(now, old, 0.02))
	assert.Empty(t, run.Regressions(old, old, 0))
	assert.Empty(t, run.Regressions(now, nil, 0))
	assert.Equal(t, []string{"a forced is missing", "a rollout is missing"}, run.Regressions(&evals.Summary{}, old, 1))
}

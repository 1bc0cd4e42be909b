package run_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/evals/run"
	"github.com/llmfs-raw/llmfs-raw/evals/sample"
	"github.com/llmfs-raw/llmfs-raw/internal/model/reference"
)

func referenceWorld(settings map[string]string) (run.World, error) {
	o, err := reference.FromSettings(settings)
	return reference.New(o), err
}

var referee = &run.Contestant{Name: "reference", World: referenceWorld}

func corpus(t testing.TB) *evals.Corpus {
	c, err := sample.Corpus(t.TempDir(), sample.Files().Trace("files"), sample.Names().Trace("names"))
	require.NoError(t, err)
	return c
}

func options(t testing.TB, c ...*run.Contestant) run.Options {
	all := corpus(t)
	return run.Options{
		Corpus: all, Traces: all.Traces(evals.Core), Contestants: c, Modes: []evals.Mode{evals.Forced, evals.Rollout}, Dir: t.TempDir(),
	}
}

// lines are those of a run's log.
func lines(t testing.TB, dir string) (list []*evals.StepResult) {
	r, err := evals.OpenLog(dir)
	require.NoError(t, err)
	for s, err := range r.Steps() {
		require.NoError(t, err)
		list = append(list, s)
	}
	require.NoError(t, r.Close())
	return list
}

func TestReferenceIsRight(t *testing.T) {
	o := options(t, referee)
	s, err := run.Run(context.Background(), o)
	require.NoError(t, err)
	for _, l := range lines(t, o.Dir) {
		assert.Equal(t, evals.Correct, l.Stage, "%s %s %d %s %s: %v %v", l.Mode, l.Trace, l.Pair, l.Request, l.Reply, l.Diffs, l.Problems)
	}
	require.Len(t, s.Scores, 2)
	for _, m := range s.Scores {
		assert.Equal(t, 1.0, m.Score)
		assert.Equal(t, o.Traces[0].Steps+o.Traces[1].Steps, m.Steps)
	}
	assert.Equal(t, 1.0, s.Scores[1].Survived)
}

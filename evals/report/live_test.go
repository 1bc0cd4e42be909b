package report

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/evals"
)

// A scenario is right where all its commands are, in each trial; its lines are not
// taken for the steps of the trace of the same name.
func TestLive(t *testing.T) {
	r := NewRuns()
	r.Add(&evals.StepResult{Model: "m", Mode: evals.Forced, Trace: "a", Pair: 1, Op: "MKDIR", Stage: evals.Correct})
	line := func(trace string, trial, pair int, stage evals.Stage, infra string) {
		r.Add(&evals.StepResult{Model: "m", Mode: evals.Live, Trace: trace, Trial: trial, Pair: pair, Op: "cat", Stage: stage, Infra: infra, WantErrno: "0", HaveErrno: "0"})
	}
	for trial := range 2 {
		line("a", trial, 1, evals.Correct, "")
		line("a", trial, 2, evals.Correct, "")
	}
	line("b", 0, 1, evals.Correct, "")
	line("b", 0, 2, evals.Acceptable, "")
	line("b", 1, 1, evals.Correct, "")
	line("b", 1, 2, evals.Correct, "")
	line("c", 0, 1, evals.Correct, "")
	line("c", 0, 2, evals.Unanswered, "outage")

	rep := Build(r)
	require.Len(t, rep.Entries, 2)
	forced, live := rep.Entries[0], rep.Entries[1]
	assert.Nil(t, forced.Whole)
	assert.NotNil(t, forced.part("op", "MKDIR"))
	assert.Nil(t, live.part("op", "MKDIR"))
	assert.Equal(t, &Whole{Right: 3, Of: 4}, live.Whole)
	assert.Equal(t, 9, live.Steps)
	assert.Equal(t, 1, live.Infra)
	assert.Equal(t, []float64{0.75, 0.5}, live.Pass, "of the scenarios")
	assert.Nil(t, live.Survived)
	table := leaderboard(evals.Live, rep.in(evals.Live))
	assert.Contains(t, table.head, "whole scenarios")
	assert.Contains(t, table.rows[0], "3/4")
}

package kill_test

import (
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/evals/kill"
	"github.com/llmfs-raw/llmfs-raw/internal/model/faulty"
)

var few = []faulty.Mutant{{Name: "a", Bug: "does this"}, {Name: "b", Bug: "does that"}, {Name: "noise:1"}, {Name: "noise:5"}}

func steps(list ...*evals.StepResult) iter.Seq2[*evals.StepResult, error] {
	return func(yield func(*evals.StepResult, error) bool) {
		for _, s := range list {
			if !yield(s, nil) {
				return
			}
		}
	}
}

// step is one line; whatever is not "ok" names the field that differs.
func step(model string, tier evals.Tier, mode evals.Mode, trace string, pair int, came string) *evals.StepResult {
	s := &evals.StepResult{Model: model, Tier: tier, Mode: mode, Trace: trace, Pair: pair, Op: "READ", Stage: evals.Correct}
	if came != "ok" {
		s.Stage, s.Diffs = evals.Acceptable, []evals.Diff{{Path: came}}
	}
	return s
}

// perfect is a log in which the instrument holds.
func perfect() (list []*evals.StepResult) {
	for _, tier := range []evals.Tier{evals.Core, evals.Full} {
		for _, mode := range kill.Modes {
			add := func(model string, came ...string) {
				for i, c := range came {
					list = append(list, step(model, tier, mode, "t", i, c))
				}
			}
			add(kill.Reference, "ok", "ok", "ok")
			add("faulty:a", "ok", "Data", "Data")
			add("faulty:b", "ok", "Errno", "ok")
			add("faulty:noise:1", "ok", "ok", "Errno")
			add("faulty:noise:5", "ok", "Errno", "Errno")
		}
	}
	return list
}

func matrix(t *testing.T, tier evals.Tier, list []*evals.StepResult) *kill.Matrix {
	m := kill.New(few, tier)
	require.NoError(t, m.Add(steps(list...)))
	return m
}

func TestPerfectInstrument(t *testing.T) {
	m := matrix(t, evals.Full, perfect())
	assert.Empty(t, m.Check())
	assert.Equal(t, 1.0, m.Killed(evals.Core))
	core, full := m.Rows[0].Cells[kill.Column{Tier: evals.Core, Mode: evals.Forced}], m.Rows[0].Cells[kill.Column{Tier: evals.Full, Mode: evals.Forced}]
	assert.Equal(t, "2/3", core.String())
	assert.Equal(t, "4/6", full.String(), "full holds core")
	first, found := m.Rows[0].First(evals.Full)
	assert.True(t, found)
	assert.Equal(t, "t#1 READ Data", first.String())
}

func TestCheckFindsWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		name, want string
		change     func(*evals.StepResult)
	}{
		{"reference", "the reference has 1 of 6 steps wrong in full, rollout, the first t#2 READ", func(s *evals.StepResult) {
			if s.Model == kill.Reference && s.Tier == evals.Full && s.Mode == evals.Rollout && s.Pair == 2 {
				s.Stage = evals.Decodable
			}
		}},
		{"survivor", "full kills 75.0% of the mutants, want 100%: b survive", func(s *evals.StepResult) {
			if s.Model == "faulty:b" {
				s.Stage = evals.Correct
			}
		}},
		{"noise", "noise:5 has 1 steps wrong in core, noise:1 has 1: want more", func(s *evals.StepResult) {
			if s.Model == "faulty:noise:5" && s.Pair == 1 {
				s.Stage = evals.Correct
			}
		}},
		{"no steps", "the reference has no steps in core, forced", func(s *evals.StepResult) {
			if s.Model == kill.Reference {
				s.Model = "somebody else"
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			list := perfect()
			for _, s := range list {
				c.change(s)
			}
			assert.Contains(t, strings.Join(matrix(t, evals.Full, list).Check(), "\n"), c.want)
		})
	}
}

func TestCoreAlone(t *testing.T) {
	m := matrix(t, evals.Core, perfect())
	assert.Equal(t, []evals.Tier{evals.Core}, m.Tiers)
	assert.Empty(t, m.Check())
}

func TestInfrastructureIsNoKill(t *testing.T) {
	s := step("faulty:a", evals.Core, evals.Forced, "t", 0, "ok")
	s.Infra = "connection refused"
	assert.ErrorContains(t, kill.New(few, evals.Core).Add(steps(s)), "connection refused")
	broken := func(yield func(*evals.StepResult, error) bool) { yield(nil, errors.New("torn")) }
	assert.ErrorContains(t, kill.New(few, evals.Core).Add(broken), "torn")
}

func TestDocument(t *testing.T) {
	text := matrix(t, evals.Full, perfect()).Document("abc")
	assert.Equal(t, "abc", kill.HashOf(text))
	assert.Contains(t, text, "| a | does this | 2/3 | 2/3 | 4/6 | 4/6 | t#1 READ Data |")
	assert.Contains(t, text, "full: 4 of 4 mutants killed\n")
}

package run

// What a run came to, added up line by line.

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/llmfs-raw/llmfs-raw/evals"
)

type tally struct {
	mu   sync.Mutex
	sums map[tallyKey]*sums
	why  string // the last of the reasons by name, whatever came first
}

type tallyKey struct {
	model string
	mode  evals.Mode
}

type sums struct {
	evals.ModelSummary
	rollouts int
	survived float64
}

func newTally() *tally { return &tally{sums: map[tallyKey]*sums{}} }

func (t *tally) add(s *evals.StepResult) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := tallyKey{s.Model, s.Mode}
	m := t.sums[k]
	if m == nil {
		m = &sums{ModelSummary: evals.ModelSummary{Model: s.Model, Mode: s.Mode, Stages: map[evals.Stage]int{}}}
		t.sums[k] = m
	}
	m.Cost += s.Cost
	m.InputTokens += s.InputTokens
	m.CachedTokens += s.CachedTokens
	m.OutputTokens += s.OutputTokens
	if s.Infra != "" {
		m.Infra++
		t.why = max(t.why, s.Infra)
		return
	}
	m.Steps++
	m.Stages[s.Stage]++
	if s.Of > 0 {
		m.rollouts++
		m.survived += float64(s.Survived) / float64(s.Of)
	}
}

// summarize fills in the scores, by model and mode.
func (t *tally) summarize(s *evals.Summary) {
	s.Steps, s.Infra, s.Why, s.Scores = 0, 0, t.why, []evals.ModelSummary{}
	for _, m := range t.sums {
		m.Score = float64(m.Stages[evals.Correct]) / float64(max(m.Steps, 1))
		m.Survived = rounded(m.survived / float64(max(m.rollouts, 1)))
		m.Cost = rounded(m.Cost)
		s.Scores = append(s.Scores, m.ModelSummary)
		s.Steps += m.Steps
		s.Infra += m.Infra
	}
	slices.SortFunc(s.Scores, func(a, b evals.ModelSummary) int {
		return cmp.Or(strings.Compare(a.Model, b.Model), cmp.Compare(a.Mode, b.Mode))
	})
}

// rounded does not depend on the order of what was added up.
func rounded(x float64) float64 { return math.Round(x*1e9) / 1e9 }

package kill

// The matrix: mutant × tier × mode.

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/internal/model/faulty"
)

// Modes are those in which mutants are tried.
var Modes = []evals.Mode{evals.Forced, evals.Rollout}

// Matrix is what came of each mutant.
type Matrix struct {
	Tiers     []evals.Tier // those that were run, the cheapest first
	Reference Row
	Rows      []*Row // in the order of faulty.List
}

// Row is one mutant.
type Row struct {
	faulty.Mutant
	Cells map[Column]*Cell
}

// Column is where it was tried.
type Column struct {
	Tier evals.Tier
	Mode evals.Mode
}

// Cell is what came of it there.
type Cell struct {
	Steps  int // that were scored
	Wrong  int // of them not correct
	Traces int // traces with a wrong one
	First  Found

	traces map[string]bool
}

// Found is the first step that is wrong, in the order of trace and pair.
type Found struct {
	Trace string
	Pair  int
	Op    string
	Path  string // of the first field that differs, "" where there is none
}

// New makes an empty matrix. Tiers that hold others bring their columns along.
func New(mutants []faulty.Mutant, tiers ...evals.Tier) *Matrix {
	m := &Matrix{Tiers: held(tiers)}
	m.Reference = Row{Mutant: faulty.Mutant{Name: Reference}, Cells: map[Column]*Cell{}}
	for _, mutant := range mutants {
		m.Rows = append(m.Rows, &Row{mutant, map[Column]*Cell{}})
	}
	return m
}

// held are the tiers whose traces are all among those of some.
func held(some []evals.Tier) (list []evals.Tier) {
	for _, t := range evals.Tiers {
		if slices.ContainsFunc(some, func(s evals.Tier) bool { return s.Holds(t) }) {
			list = append(list, t)
		}
	}
	return list
}

// Add counts the steps of a log.
func (m *Matrix) Add(steps iter.Seq2[*evals.StepResult, error]) error {
	rows := map[string]*Row{Reference: &m.Reference}
	for _, r := range m.Rows {
		rows[Prefix+r.Name] = r
	}
	for s, err := range steps {
		if err != nil {
			return err
		}
		row := rows[s.Model]
		if row == nil || s.Skipped {
			continue
		}
		if s.Infra != "" {
			return fmt.Errorf("%s, %s, %s: %s", s.Model, s.Mode, s.Trace, s.Infra)
		}
		for _, t := range m.Tiers {
			if t.Holds(s.Tier) {
				row.cell(t, s.Mode).add(s)
			}
		}
	}
	return nil
}

func (r *Row) cell(t evals.Tier, mode evals.Mode) *Cell {
	at := Column{t, mode}
	if r.Cells[at] == nil {
		r.Cells[at] = &Cell{traces: map[string]bool{}}
	}
	return r.Cells[at]
}

func (c *Cell) add(s *evals.StepResult) {
	c.Steps++
	if s.Stage == evals.Correct {
		return
	}
	c.Wrong++
	c.traces[s.Trace] = true
	c.Traces = len(c.traces)
	found := Found{Trace: s.Trace, Pair: s.Pair, Op: s.Op}
	if len(s.Diffs) > 0 {
		found.Path = s.Diffs[0].Path
	}
	if c.First == (Found{}) || found.before(c.First) {
		c.First = found
	}
}

func (f Found) before(g Found) bool {
	return f.Trace < g.Trace || f.Trace == g.Trace && f.Pair < g.Pair
}

// Kills says whether a tier finds the mutant out in some mode.
func (m *Matrix) Kills(t evals.Tier, r *Row) bool {
	return slices.ContainsFunc(Modes, func(mode evals.Mode) bool { return m.killsIn(Column{t, mode}, r) })
}

// killsIn wants more to be wrong than with the reference: else it is the scores
// that are wrong.
func (m *Matrix) killsIn(at Column, r *Row) bool {
	c, right := r.Cells[at], m.Reference.Cells[at]
	return c != nil && right != nil && c.Wrong > right.Wrong
}

// First is the first step of a tier that finds the mutant out, in any mode.
func (r *Row) First(t evals.Tier) (first Found, found bool) {
	for _, mode := range Modes {
		c := r.Cells[Column{t, mode}]
		if c != nil && c.Wrong > 0 && (!found || c.First.before(first)) {
			first, found = c.First, true
		}
	}
	return first, found
}

// Survivors are the mutants that a tier does not find out.
func (m *Matrix) Survivors(t evals.Tier) (list []*Row) {
	for _, r := range m.Rows {
		if !m.Kills(t, r) {
			list = append(list, r)
		}
	}
	return list
}

// Killed is the share of the mutants that a tier finds out.
func (m *Matrix) Killed(t evals.Tier) float64 {
	return 1 - float64(len(m.Survivors(t)))/float64(max(len(m.Rows), 1))
}

// Least is the share of the mutants that a tier must find out. Long sessions are
// for what models forget, not for every bug.
var Least = map[evals.Tier]float64{evals.Core: 0.9, evals.Full: 1}

// Check is what is wrong with the instrument, one line each.
func (m *Matrix) Check() (wrong []string) {
	for _, t := range m.Tiers {
		wrong = append(wrong, m.checkReference(t)...)
		if share, least := m.Killed(t), Least[t]; share < least {
			wrong = append(wrong, fmt.Sprintf("%s kills %.1f%% of the mutants, want %.0f%%: %s survive", t, 100*share, 100*least, names(m.Survivors(t))))
		}
		wrong = append(wrong, m.checkNoise(t)...)
	}
	return wrong
}

func (m *Matrix) checkReference(t evals.Tier) (wrong []string) {
	for _, mode := range Modes {
		c := m.Reference.Cells[Column{t, mode}]
		switch {
		case c == nil || c.Steps == 0:
			wrong = append(wrong, fmt.Sprintf("the reference has no steps in %s, %s", t, mode))
		case c.Wrong > 0:
			wrong = append(wrong, fmt.Sprintf("the reference has %d of %d steps wrong in %s, %s, the first %s", c.Wrong, c.Steps, t, mode, c.First))
		}
	}
	return wrong
}

// checkNoise: the more of it, the more is wrong. Forced alone is held against
// that, as a rollout ends at the first.
func (m *Matrix) checkNoise(t evals.Tier) (wrong []string) {
	last, name := -1, ""
	for _, r := range m.Rows {
		c := r.Cells[Column{t, evals.Forced}]
		if !strings.HasPrefix(r.Name, "noise:") || c == nil {
			continue
		}
		if c.Wrong <= last {
			wrong = append(wrong, fmt.Sprintf("%s has %d steps wrong in %s, %s has %d: want more", r.Name, c.Wrong, t, name, last))
		}
		last, name = c.Wrong, r.Name
	}
	return wrong
}

func (f Found) String() string {
	s := fmt.Sprintf("%s#%d %s", f.Trace, f.Pair, f.Op)
	if f.Path != "" {
		s += " " + f.Path
	}
	return s
}

func names(rows []*Row) string {
	list := make([]string, len(rows))
	for i, r := range rows {
		list[i] = r.Name
	}
	return strings.Join(list, ", ")
}

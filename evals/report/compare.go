package report

// Two runs against each other, step by step.

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/llmfs-raw/llmfs-raw/evals"
)

// Comparison is B against A. Its JSON is what --format json prints.
type Comparison struct {
	Version int      `json:"version"` // of this form
	A       []Source `json:"a"`
	B       []Source `json:"b"`
	Notes   []string `json:"notes"`
	Pairs   []*Pair  `json:"pairs"`
}

// Pair is a model of A and one of B in the same mode, over the steps that both were asked.
type Pair struct {
	Mode   evals.Mode `json:"mode"`
	A      string     `json:"a"`
	B      string     `json:"b"`
	Steps  int        `json:"steps"` // that both were asked, counted once
	Traces int        `json:"traces"`
	ShareA float64    `json:"share_a"` // of those steps
	ShareB float64    `json:"share_b"`
	Diff   Difference `json:"difference"`

	BothRight  int     `json:"both_right"` // askings, trial by trial
	OnlyA      int     `json:"only_a"`
	OnlyB      int     `json:"only_b"`
	BothWrong  int     `json:"both_wrong"`
	McNemar    float64 `json:"mcnemar_p"` // exact, as if steps were independent
	Flips      []Flip  `json:"flips"`     // the greatest first
	AloneA     int     `json:"alone_a"`   // steps that only A was asked
	AloneB     int     `json:"alone_b"`
	clusters   map[string]*cluster
	perStep    map[int]*trials
	sumA, sumB float64
}

// Difference is B's share less A's, from -1 to 1, with its 95% interval.
type Difference struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Flip is a step that one answers right more often than the other.
type Flip struct {
	Trace string  `json:"trace"`
	Pair  int     `json:"pair"`
	Op    string  `json:"op"`
	A     float64 `json:"a"` // share of trials that were right
	B     float64 `json:"b"`
	Why   string  `json:"why"` // what was wrong with one that failed, "" where it is not in the sample
}

// trials are the outcomes of one step in A and in B, by trial.
type trials struct{ a, b map[int]Outcome }

// Choice names the models to compare; "" is all that A and B have in common, or
// the only one of each.
type Choice struct{ A, B string }

// Compare pairs the steps of two runs.
func Compare(a, b *Runs, choose Choice) (*Comparison, error) {
	c := &Comparison{Version: 1, A: a.Sources, B: b.Sources, Notes: slices.Concat(a.notes(), b.notes())}
	for _, mode := range modes {
		models, err := matched(a.models(mode), b.models(mode), choose)
		if err != nil {
			return nil, err
		}
		for _, m := range models {
			c.Pairs = append(c.Pairs, compare(a, b, a.groups[groupKey{m.A, mode}], b.groups[groupKey{m.B, mode}]))
		}
	}
	if len(c.Pairs) == 0 {
		return nil, fmt.Errorf("compare: no model and mode is in both; A has %v, B has %v", a.models(""), b.models(""))
	}
	return c, nil
}

// models lists those that were asked in a mode, or in any.
func (r *Runs) models(mode evals.Mode) []string {
	found := map[string]bool{}
	for key := range r.groups {
		if mode == "" || key.mode == mode {
			found[key.model] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// matched says which model of a is held against which of b.
func matched(a, b []string, choose Choice) (list []Choice, err error) {
	if len(a) == 0 || len(b) == 0 {
		return nil, nil
	}
	if choose.A == "" && choose.B == "" && len(a) == 1 && len(b) == 1 {
		return []Choice{{a[0], b[0]}}, nil
	}
	if choose != (Choice{}) {
		choose.A, choose.B = cmp.Or(choose.A, choose.B), cmp.Or(choose.B, choose.A)
		if !slices.Contains(a, choose.A) || !slices.Contains(b, choose.B) {
			return nil, fmt.Errorf("compare: have models %v and %v, want %q and %q", a, b, choose.A, choose.B)
		}
		return []Choice{choose}, nil
	}
	for _, m := range a {
		if slices.Contains(b, m) {
			list = append(list, Choice{m, m})
		}
	}
	return list, nil
}

func compare(a, b *Runs, ga, gb *group) *Pair {
	p := &Pair{Mode: ga.mode, A: ga.model, B: gb.model, perStep: map[int]*trials{}, clusters: map[string]*cluster{}, Flips: []Flip{}}
	for key, rec := range ga.records {
		if rec.scored() {
			p.of(key.step).a[key.trial] = rec.outcome
		}
	}
	for key, rec := range gb.records {
		s := &b.steps[key.step]
		if i, ok := a.known[s.key()]; ok && rec.scored() {
			p.of(i).b[key.trial] = rec.outcome
		} else if rec.scored() {
			p.AloneB++
		}
	}
	reasons := []map[stepKey]string{a.reasons(ga), b.reasons(gb)}
	for _, i := range slices.Sorted(maps.Keys(p.perStep)) {
		p.add(&a.steps[i], p.perStep[i], reasons)
	}
	p.finish()
	return p
}

func (p *Pair) of(step int) *trials {
	t := p.perStep[step]
	if t == nil {
		t = &trials{map[int]Outcome{}, map[int]Outcome{}}
		p.perStep[step] = t
	}
	return t
}

// add takes one step.
func (p *Pair) add(s *step, t *trials, reasons []map[stepKey]string) {
	if len(t.a) == 0 || len(t.b) == 0 {
		p.AloneA += min(1, len(t.a))
		p.AloneB += min(1, len(t.b))
		return
	}
	p.Steps++
	shareA, shareB := rightShare(t.a), rightShare(t.b)
	p.sumA += shareA
	p.sumB += shareB
	p.count(t)
	c := p.clusters[s.trace]
	if c == nil {
		c = &cluster{}
		p.clusters[s.trace] = c
	}
	c.n++
	c.sum += shareB - shareA
	if shareA != shareB {
		worse := 0 // whose failure explains it
		if shareB < shareA {
			worse = 1
		}
		p.Flips = append(p.Flips, Flip{s.trace, s.pair, s.op, shareA, shareB, reasons[worse][s.key()]})
	}
}

func rightShare(outcomes map[int]Outcome) float64 {
	right := 0
	for _, o := range outcomes {
		if o == Right {
			right++
		}
	}
	return float64(right) / float64(len(outcomes))
}

func (p *Pair) count(t *trials) {
	for trial, a := range t.a {
		b, ok := t.b[trial]
		switch {
		case !ok:
		case a == Right && b == Right:
			p.BothRight++
		case a == Right:
			p.OnlyA++
		case b == Right:
			p.OnlyB++
		default:
			p.BothWrong++
		}
	}
}

func (p *Pair) finish() {
	var list []cluster
	for _, trace := range slices.Sorted(maps.Keys(p.clusters)) {
		list = append(list, *p.clusters[trace])
	}
	p.Traces = len(list)
	if p.Steps > 0 {
		p.ShareA, p.ShareB = p.sumA/float64(p.Steps), p.sumB/float64(p.Steps)
	}
	p.Diff = difference(list)
	p.McNemar = mcNemar(p.OnlyA, p.OnlyB)
	slices.SortStableFunc(p.Flips, func(x, y Flip) int {
		return cmp.Or(cmp.Compare(math.Abs(y.B-y.A), math.Abs(x.B-x.A)), cmp.Compare(x.B-x.A, y.B-y.A), cmp.Compare(x.Trace, y.Trace), x.Pair-y.Pair)
	})
}

// difference is the mean of paired differences with an interval from the
// variance between traces. Two traces of one step are added to that variance, one
// won and one lost, so that few or no differences do not make a certainty.
func difference(clusters []cluster) Difference {
	all := total(clusters)
	if all.n == 0 || len(clusters) < 2 {
		mean := 0.0
		if all.n > 0 {
			mean = all.sum / all.n
		}
		return Difference{mean, -1, 1}
	}
	mean := all.sum / all.n
	residuals := make([]float64, len(clusters))
	for i, c := range clusters {
		residuals[i] = c.sum - mean*c.n
	}
	variance := (stat.Variance(residuals, nil)*float64(len(clusters)) + 2) / (all.n * all.n)
	half := student(len(clusters)) * math.Sqrt(variance)
	return Difference{mean, max(-1, mean-half), min(1, mean+half)}
}

// mcNemar is the exact two-sided probability of so uneven a split of the steps that differ.
func mcNemar(onlyA, onlyB int) float64 {
	n := onlyA + onlyB
	if n == 0 {
		return 1
	}
	return min(1, 2*distuv.Binomial{N: float64(n), P: 0.5}.CDF(float64(min(onlyA, onlyB))))
}

// reasons says of each step in the sample why it failed, in its first trial.
func (r *Runs) reasons(g *group) map[stepKey]string {
	why := map[stepKey]string{}
	for _, f := range g.sample.failures() {
		key := r.steps[f.Step].key()
		why[key] = cmp.Or(why[key], f.why())
	}
	return why
}

func (f *Failure) why() string {
	switch {
	case f.Outcome == WrongErrno:
		return fmt.Sprintf("want %s, have %s", f.Want, f.Have)
	case len(f.Diffs) > 0:
		return fmt.Sprintf("%s: want %s, have %s", f.Diffs[0].Path, f.Diffs[0].Want, f.Diffs[0].Have)
	case len(f.Problems) > 0:
		return f.Problems[0]
	}
	return OutcomeNames[f.Outcome]
}

package report

// From records to the report.

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"time"

	"github.com/llmfs-raw/llmfs-raw/evals"
)

// Report is what runs came to. Its JSON is what --format json prints.
type Report struct {
	Version int       `json:"version"` // of this form
	Created time.Time `json:"created"` // of the newest log
	Sources []Source  `json:"sources"`
	Notes   []string  `json:"notes"`
	Entries []*Entry  `json:"entries"` // by mode, the best first

	steps []step
}

// Entry is one model in one mode. Shares are of Steps, 0 to 1.
type Entry struct {
	Rank     int        `json:"rank"` // within the mode, from 1
	Model    string     `json:"model"`
	Mode     evals.Mode `json:"mode"`
	Steps    int        `json:"steps"`    // scored, all trials
	Distinct int        `json:"distinct"` // different steps among them
	Traces   int        `json:"traces"`
	Trials   int        `json:"trials"`
	Infra    int        `json:"infra"` // not among Steps

	Score    Interval           `json:"score"`
	Credit   float64            `json:"credit"`   // mean share of right fields
	Pass     []float64          `json:"pass"`     // pass^k for k = 1, 2 …; of whole rollouts and scenarios in those modes
	Reached  []float64          `json:"reached"`  // the funnel: share that reached each of evals.Stages
	Outcomes []float64          `json:"outcomes"` // share of each of OutcomeNames
	Refused  float64            `json:"refused"`
	Survived *Survival          `json:"survived,omitempty"` // rollouts
	Whole    *Whole             `json:"whole,omitempty"`    // live scenarios
	By       map[string][]*Part `json:"by"`                 // for each of Dimensions

	InputTokens  int     `json:"input_tokens"`
	CachedTokens int     `json:"cached_tokens"`
	OutputTokens int     `json:"output_tokens"`
	Cost         float64 `json:"cost"` // US dollars; 0 where the price is unknown
	P50          float64 `json:"p50_ms"`
	P95          float64 `json:"p95_ms"`

	group *group
	tasks map[int]*attempts
}

// Failures are a bounded sample of the failed steps.
func (e *Entry) Failures() []*Failure {
	list := e.group.sample.failures()
	return list[:min(len(list), sampleSize)]
}

func (e *Entry) right() (n int) {
	for _, t := range e.tasks {
		n += t.right
	}
	return n
}

// Survival is how far rollouts came.
type Survival struct {
	Rollouts  int          `json:"rollouts"`
	Completed int          `json:"completed"`
	Share     Interval     `json:"share"`               // of a trace's steps before the first divergence
	Mean      float64      `json:"mean_steps"`          // steps before it
	HalfLife  *int         `json:"half_life,omitempty"` // steps that half of the rollouts survive; none if most never diverge
	Curve     []CurvePoint `json:"curve"`
}

// Part is what remains of an entry with one value of a dimension.
type Part struct {
	Key   string   `json:"key"`
	Steps int      `json:"steps"`
	Score Interval `json:"score"`

	order    int
	clusters map[string]*cluster
	distinct map[int]bool
}

// dimension is something by which steps differ: its value, and where that stands in the order.
type dimension struct {
	name string
	of   func(*step) (key string, order int)
}

var dimensions = []dimension{
	{"area", func(s *step) (string, int) { return s.area, 0 }},
	{"op", func(s *step) (string, int) { return s.op, 0 }},
	{"kind", func(s *step) (string, int) { return kind(s.tags.Mutating) }},
	{"changed", func(s *step) (string, int) { return bin(s.tags.Changed) }},
	{"distance", func(s *step) (string, int) { return bin(s.tags.Distance) }},
	{"history", func(s *step) (string, int) { return bin(s.tags.History) }},
	{"dir", func(s *step) (string, int) { return bin(s.tags.Dir) }},
	{"bytes", func(s *step) (string, int) { return bin(s.tags.Bytes) }},
}

func kind(mutating bool) (string, int) {
	if mutating {
		return "mutating", 1
	}
	return "static", 0
}

// bin doubles in width: 0, 1, 2–3, 4–7 …
func bin(n int) (string, int) {
	b := bits.Len(uint(max(n, 0)))
	if b < 2 {
		return strconv.Itoa(b), b
	}
	return strconv.Itoa(1<<(b-1)) + "–" + strconv.Itoa(1<<b-1), b
}

// Build computes the report.
func Build(r *Runs) *Report {
	rep := &Report{Version: 1, Sources: r.Sources, Notes: r.notes(), steps: r.steps}
	for _, s := range r.Sources {
		if s.Created.After(rep.Created) {
			rep.Created = s.Created
		}
	}
	for _, g := range r.groups {
		rep.Entries = append(rep.Entries, r.entry(g))
	}
	rank(rep.Entries)
	return rep
}

var modes = []evals.Mode{evals.Forced, evals.Rollout, evals.Live}

func rank(entries []*Entry) {
	slices.SortFunc(entries, func(a, b *Entry) int {
		return cmp.Or(slices.Index(modes, a.Mode)-slices.Index(modes, b.Mode), cmp.Compare(b.headline().Share, a.headline().Share), cmp.Compare(a.Model, b.Model))
	})
	for i, e := range entries {
		e.Rank = 1
		if i > 0 && entries[i-1].Mode == e.Mode {
			e.Rank = entries[i-1].Rank + 1
		}
	}
}

// headline is what an entry is ranked by: a rollout that diverges early has few wrong steps.
func (e *Entry) headline() Interval {
	if e.Survived != nil {
		return e.Survived.Share
	}
	return e.Score
}

func (r *Runs) entry(g *group) *Entry {
	e := &Entry{Model: g.model, Mode: g.mode, group: g, By: map[string][]*Part{}, tasks: map[int]*attempts{}}
	e.Reached, e.Outcomes = make([]float64, len(evals.Stages)), make([]float64, len(OutcomeNames))
	all := newPart("", 0)
	parts := newParts()
	var fresh, cached []float64
	for _, key := range r.keys(g) {
		rec := g.records[key]
		e.count(key, &rec)
		if !rec.scored() {
			continue
		}
		all.add(key.step, &r.steps[key.step], rec.outcome)
		parts.add(key.step, &r.steps[key.step], rec.outcome)
		if rec.cached {
			cached = append(cached, rec.millis)
		} else {
			fresh = append(fresh, rec.millis)
		}
	}
	all.finish()
	e.Score, e.Distinct, e.Traces = all.Score, len(all.distinct), len(all.clusters)
	e.By = parts.finish()
	e.Survived, e.Whole = r.survived(g), r.whole(g)
	e.Pass = passAll(r.tasks(e))
	e.share()
	if len(fresh) == 0 { // what an earlier run measured is better than nothing
		fresh = cached
	}
	e.P50, e.P95 = quantile(0.5, fresh), quantile(0.95, fresh)
	return e
}

// count adds one record to the sums.
func (e *Entry) count(key recordKey, rec *record) {
	e.Trials = max(e.Trials, key.trial+1)
	e.InputTokens += rec.input
	e.CachedTokens += rec.inCache
	e.OutputTokens += rec.output
	e.Cost += rec.cost
	if rec.infra {
		e.Infra++
	}
	if !rec.scored() {
		return
	}
	e.Steps++
	e.Credit += rec.credit
	e.Outcomes[rec.outcome]++
	for s := range rec.stage + 1 {
		e.Reached[s]++
	}
	if rec.refused {
		e.Refused++
	}
	t := e.tasks[key.step]
	if t == nil {
		t = &attempts{}
		e.tasks[key.step] = t
	}
	t.n++
	if rec.outcome == Right {
		t.right++
	}
}

// share turns counts of steps into shares.
func (e *Entry) share() {
	n := max(float64(e.Steps), 1)
	e.Credit /= n
	e.Refused /= n
	for i := range e.Reached {
		e.Reached[i] /= n
	}
	for i := range e.Outcomes {
		e.Outcomes[i] /= n
	}
}

// tasks are what pass^k counts: steps, or whole traces in rollouts and live.
func (r *Runs) tasks(e *Entry) (list []attempts) {
	switch e.Mode {
	case evals.Live:
		for _, t := range r.scenarios(e.group) {
			list = append(list, *t)
		}
		return list
	case evals.Forced:
		for _, t := range e.tasks {
			list = append(list, *t)
		}
		return list
	}
	byTrace := map[string]*attempts{}
	for _, o := range r.rollouts(e.group) {
		if !o.finished() {
			continue
		}
		t := byTrace[o.trace]
		if t == nil {
			t = &attempts{}
			byTrace[o.trace] = t
		}
		t.n++
		if !o.diverged {
			t.right++
		}
	}
	for _, t := range byTrace {
		list = append(list, *t)
	}
	return list
}

func (r *Runs) notes() []string {
	notes := slices.Clone(r.Notes)
	if r.again > 0 {
		notes = append(notes, strconv.Itoa(r.again)+" steps stand in the logs more than once; the last line counts")
	}
	return notes
}

// parts are those of all dimensions.
type parts map[string]map[string]*Part

func newParts() parts {
	p := parts{}
	for _, d := range dimensions {
		p[d.name] = map[string]*Part{}
	}
	return p
}

func newPart(key string, order int) *Part {
	return &Part{Key: key, order: order, clusters: map[string]*cluster{}, distinct: map[int]bool{}}
}

func (p parts) add(index int, s *step, o Outcome) {
	for _, d := range dimensions {
		key, order := d.of(s)
		part := p[d.name][key]
		if part == nil {
			part = newPart(key, order)
			p[d.name][key] = part
		}
		part.add(index, s, o)
	}
}

func (p *Part) add(index int, s *step, o Outcome) {
	p.Steps++
	p.distinct[index] = true
	c := p.clusters[s.trace]
	if c == nil {
		c = &cluster{}
		p.clusters[s.trace] = c
	}
	c.n++
	if o == Right {
		c.sum++
	}
}

func (p *Part) finish() {
	var list []cluster
	for _, trace := range slices.Sorted(maps.Keys(p.clusters)) { // sorted: sums of floats depend on the order
		list = append(list, *p.clusters[trace])
	}
	p.Score = clustered(list, len(p.distinct))
}

func (p parts) finish() map[string][]*Part {
	by := map[string][]*Part{}
	for name, keyed := range p {
		by[name] = slices.SortedFunc(maps.Values(keyed), func(a, b *Part) int {
			return cmp.Or(a.order-b.order, cmp.Compare(a.Key, b.Key))
		})
		for _, part := range by[name] {
			part.finish()
		}
	}
	return by
}

func (e *Entry) part(dimension, key string) *Part {
	for _, p := range e.By[dimension] {
		if p.Key == key {
			return p
		}
	}
	return nil
}

// keysOf lists the values of a dimension that any entry has, in order.
func keysOf(entries []*Entry, dimension string) (keys []string) {
	orders := map[string]int{}
	for _, e := range entries {
		for _, p := range e.By[dimension] {
			orders[p.Key] = p.order
		}
	}
	return slices.SortedFunc(maps.Keys(orders), func(a, b string) int {
		return cmp.Or(orders[a]-orders[b], cmp.Compare(a, b))
	})
}

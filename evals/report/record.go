package report

// What is kept of a log's lines: a few numbers of each, and the texts of a
// bounded sample of those that failed.

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/llmfs-raw/llmfs-raw/evals"
)

// Outcome is what became of an asked step; each has exactly one.
type Outcome int

const (
	Right         Outcome = iota
	WrongData             // the errno was right, something else was not
	WrongErrno            // acceptable to the kernel, and the wrong errno
	KernelRefuses         // decodable, but the kernel would not take it
	Invalid               // not by the schema, or not decodable
	NoAnswer              // refused, cut off, empty
)

// OutcomeNames are the outcomes in words, in order.
var OutcomeNames = []string{"right", "wrong data", "wrong errno", "kernel refuses", "invalid", "no answer"}

func outcomeOf(s *evals.StepResult) Outcome {
	switch s.Stage {
	case evals.Correct:
		return Right
	case evals.Acceptable:
		if s.HaveErrno != s.WantErrno {
			return WrongErrno
		}
		return WrongData
	case evals.Decodable:
		return KernelRefuses
	case evals.Valid, evals.Answered:
		return Invalid
	}
	return NoAnswer
}

// step is one step of the corpus.
type step struct {
	trace, area, op string
	pair            int
	live            bool // a command of a script, by its line
	tags            evals.Tags
}

type stepKey struct {
	trace string
	pair  int
	live  bool
}

func (s *step) key() stepKey { return stepKey{s.trace, s.pair, s.live} }

// record is one line.
type record struct {
	outcome                Outcome
	stage                  int // in evals.Stages
	credit                 float64
	survived, of           int // of the whole rollout, in the line that says so
	refused, ended         bool
	skipped, infra, cached bool
	input, inCache, output int
	cost, millis           float64
}

func (r *record) scored() bool { return !r.infra && !r.skipped }

// recordKey is one asking of one step.
type recordKey struct{ step, trial int }

// group is one model in one mode.
type group struct {
	model   string
	mode    evals.Mode
	records map[recordKey]record
	sample  sample
}

type groupKey struct {
	model string
	mode  evals.Mode
}

// Source is a log that was read.
type Source struct {
	Dir string `json:"dir"`
	evals.LogHeader
}

// Runs is what one or more logs hold.
type Runs struct {
	Sources []Source
	Notes   []string // what a reader of the report has to know

	steps  []step
	known  map[stepKey]int
	groups map[groupKey]*group
	again  int // lines that took an earlier one's place
}

// NewRuns is empty.
func NewRuns() *Runs {
	return &Runs{known: map[stepKey]int{}, groups: map[groupKey]*group{}}
}

// Note adds a remark.
func (r *Runs) Note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// AddSource names the log that the next lines are from, and returns how its
// models are called: by the log's directory, too, where an earlier log asked the
// same model in another way.
func (r *Runs) AddSource(s Source) (name func(model string) string) {
	differs := map[string]bool{}
	for _, earlier := range r.Sources {
		for _, m := range s.Models {
			differs[m] = differs[m] || slices.Contains(earlier.Models, m) && asked(earlier) != asked(s)
		}
	}
	r.Sources = append(r.Sources, s)
	label := filepath.Base(filepath.Clean(s.Dir))
	return func(model string) string {
		if differs[model] {
			return model + "@" + label
		}
		return model
	}
}

// asked is all that decides what a model is told.
func asked(s Source) string {
	return fmt.Sprint(s.Context, s.Fields, s.Hashes, s.Settings)
}

// Add takes one line. A later line about the same asking takes the earlier's
// place, but an error of the infrastructure never that of an answer.
func (r *Runs) Add(s *evals.StepResult) {
	g := r.group(s.Model, s.Mode)
	key := recordKey{r.step(s), s.Trial}
	old, seen := g.records[key]
	if seen && s.Infra != "" && !old.infra {
		return
	}
	if seen && !old.infra {
		r.again++
	}
	rec := recordOf(s)
	g.records[key] = rec
	delete(g.sample, key)
	if rec.scored() && rec.outcome != Right {
		g.sample.add(key, s)
	}
}

func recordOf(s *evals.StepResult) record {
	return record{
		outcome: outcomeOf(s), stage: max(0, slices.Index(evals.Stages, s.Stage)), credit: s.Credit, survived: s.Survived, of: s.Of,
		refused: s.Refused, ended: s.Ended, skipped: s.Skipped, infra: s.Infra != "", cached: s.FromCache,
		input: s.InputTokens, inCache: s.CachedTokens, output: s.OutputTokens, cost: s.Cost, millis: s.Millis,
	}
}

func (r *Runs) group(model string, mode evals.Mode) *group {
	key := groupKey{model, mode}
	g := r.groups[key]
	if g == nil {
		g = &group{model: model, mode: mode, records: map[recordKey]record{}, sample: sample{}}
		r.groups[key] = g
	}
	return g
}

func (r *Runs) step(s *evals.StepResult) int {
	key := stepKey{s.Trace, s.Pair, s.Mode == evals.Live}
	i, ok := r.known[key]
	if !ok {
		i = len(r.steps)
		r.known[key] = i
		// Cloned: a decoded string may hold on to the whole line.
		r.steps = append(r.steps, step{strings.Clone(s.Trace), strings.Clone(s.Area), strings.Clone(s.Op), s.Pair, key.live, s.Tags})
	}
	return i
}

// keys are the group's askings in the order of traces, trials and pairs.
func (r *Runs) keys(g *group) []recordKey {
	keys := make([]recordKey, 0, len(g.records))
	for k := range g.records {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b recordKey) int {
		x, y := &r.steps[a.step], &r.steps[b.step]
		if c := strings.Compare(x.trace, y.trace); c != 0 {
			return c
		}
		if a.trial != b.trial {
			return a.trial - b.trial
		}
		return x.pair - y.pair
	})
	return keys
}

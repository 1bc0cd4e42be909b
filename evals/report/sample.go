package report

// The sample of failed steps whose texts are kept. Which ones is decided by a
// hash of the step alone, so that models are shown failing at the same steps,
// and any order of the lines keeps the same ones.

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/llmfs-raw/llmfs-raw/evals"
)

const (
	sampleSize = 250  // failed steps kept of a model in a mode
	textLimit  = 3000 // bytes kept of a request, a reply …
	diffLimit  = 12   // diffs and problems kept of a step
	valueLimit = 240  // bytes kept of a diff's value
)

// Failure is a step that was not answered right. Its texts are cut to a few kilobytes.
type Failure struct {
	Step     int
	Trial    int
	Outcome  Outcome
	Stage    evals.Stage
	Want     string // errno
	Have     string // errno, "" where none could be read
	Refused  bool
	Ended    bool
	Millis   float64
	Request  string
	Expected string
	Reply    string
	Diffs    []evals.Diff
	Problems []string

	rank uint64
}

type sample map[recordKey]*Failure

func (s sample) add(key recordKey, line *evals.StepResult) {
	if len(s) >= 2*sampleSize { // twice, so that thinning is rare
		for _, f := range s.failures()[sampleSize:] {
			delete(s, recordKey{f.Step, f.Trial})
		}
	}
	s[key] = failureOf(key, line)
}

// failures lists the kept, the most welcome first.
func (s sample) failures() []*Failure {
	return slices.SortedFunc(maps.Values(s), func(a, b *Failure) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), a.Trial-b.Trial, a.Step-b.Step)
	})
}

func failureOf(key recordKey, s *evals.StepResult) *Failure {
	return &Failure{
		Step: key.step, Trial: key.trial, Outcome: outcomeOf(s), Stage: s.Stage, Want: s.WantErrno, Have: clip(s.HaveErrno, valueLimit),
		Refused: s.Refused, Ended: s.Ended, Millis: s.Millis,
		Request: clipJSON(s.Request), Expected: clipJSON(s.Expected), Reply: clip(s.Reply, textLimit),
		Diffs: clipDiffs(s.Diffs), Problems: clipAll(s.Problems), rank: rankOf(s),
	}
}

func rankOf(s *evals.StepResult) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%d", s.Trace, s.Pair)
	return h.Sum64() * 0x9E3779B97F4A7C15 // FNV's high bits hardly see the last bytes
}

func clipJSON(raw json.RawMessage) string { return clip(string(raw), textLimit) }

// clip cuts s between characters and says so.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	end := limit
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return strings.ToValidUTF8(s[:end], "\uFFFD") + fmt.Sprintf("… [cut: %d of %d bytes]", end, len(s))
}

func clipAll(list []string) (clipped []string) {
	for _, s := range list[:min(len(list), diffLimit)] {
		clipped = append(clipped, clip(s, valueLimit))
	}
	if more := len(list) - diffLimit; more > 0 {
		clipped = append(clipped, fmt.Sprintf("… and %d more", more))
	}
	return clipped
}

func clipDiffs(diffs []evals.Diff) (clipped []evals.Diff) {
	for _, d := range diffs[:min(len(diffs), diffLimit)] {
		clipped = append(clipped, evals.Diff{Path: clip(d.Path, valueLimit), Class: d.Class, Want: clip(d.Want, valueLimit), Have: clip(d.Have, valueLimit)})
	}
	if more := len(diffs) - diffLimit; more > 0 {
		clipped = append(clipped, evals.Diff{Path: fmt.Sprintf("… and %d more", more)})
	}
	return clipped
}

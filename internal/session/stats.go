package session

// What a session has done, spent and failed at.

import (
	"fmt"
	"io"
	"maps"
	mathbits "math/bits"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// Stats counts what became of requests.
type Stats struct {
	Calls   uint64 // questions to the model, repairs included
	Failed  uint64 // requests that got no answer
	Invalid uint64 // answers that were no valid reply
	Repairs uint64 // questions that showed an invalid answer
}

// Totals is the account of a session.
type Totals struct {
	Stats
	Quiet    uint64            // requests that needed no answer
	Ended    uint64            // listings whose last page had announced their end
	Off      uint64            // requests of opcodes that had been answered ENOSYS
	Known    uint64            // questions for attributes that have not changed since they were told
	Lacking  uint64            // questions for extended attributes of nodes that have none
	Implied  uint64            // questions that what was said before has answered
	Failures map[string]uint64 // Failed, by name in FailureTable
	ByOpcode map[string]uint64 // Calls, by opcode
	Usage    model.Usage
	Cost     float64 // US dollars
	Priced   bool    // whether the model's price is known
	P50, P95 time.Duration
}

type counters struct {
	calls, failed, invalid, repairs atomic.Uint64
	quiet, ended, off               atomic.Uint64
	known, lacking, implied         atomic.Uint64
	ops                             [len(plans)]atomic.Uint64
	kinds                           [len(failures)]atomic.Uint64
	latency                         latencies
}

func (c *counters) call(op proto.Opcode) {
	c.calls.Add(1)
	c.ops[op].Add(1)
}

// fail counts a request without an answer. One whose last answer was invalid
// is counted as such, too.
func (c *counters) fail(f *failure) {
	c.failed.Add(1)
	for i := range failures {
		if &failures[i] == f {
			c.kinds[i].Add(1)
		}
	}
}

// Stats is a snapshot of the counters.
func (s *Session) Stats() Stats {
	c := &s.count
	return Stats{Calls: c.calls.Load(), Failed: c.failed.Load(), Invalid: c.invalid.Load(), Repairs: c.repairs.Load()}
}

// Totals is a snapshot of the account.
func (s *Session) Totals() Totals {
	c := &s.count
	t := Totals{
		Stats: s.Stats(), Quiet: c.quiet.Load(), Ended: c.ended.Load(), Off: c.off.Load(), Known: c.known.Load(), Lacking: c.lacking.Load(), Implied: c.implied.Load(),
		Failures: map[string]uint64{}, ByOpcode: map[string]uint64{},
		Priced: s.budget.price != nil, P50: c.latency.percentile(0.50), P95: c.latency.percentile(0.95),
	}
	t.Usage, t.Cost = s.budget.spent()
	for i := range c.kinds {
		if n := c.kinds[i].Load(); n > 0 {
			t.Failures[failures[i].name] = n
		}
	}
	for op := range c.ops {
		if n := c.ops[op].Load(); n > 0 {
			t.ByOpcode[proto.Opcode(op).String()] = n
		}
	}
	return t
}

// Line is the account in one line, for --verbose.
func (t Totals) Line() string {
	return fmt.Sprintf("%d calls, %d+%d tokens (%d cached), %s, p50 %v",
		t.Calls, t.Usage.InputTokens, t.Usage.OutputTokens, t.Usage.CachedTokens, t.cost(), t.P50)
}

func (t Totals) cost() string {
	if !t.Priced {
		return "price unknown"
	}
	return fmt.Sprintf("$%.4f", t.Cost)
}

// String is the account in several lines, for the end of a mount.
func (t Totals) String() string {
	var b strings.Builder
	_, _ = t.WriteTo(&b) // a builder takes everything
	return b.String()
}

// WriteTo writes what String returns.
func (t Totals) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "model: %d calls, p50 %v, p95 %v\n", t.Calls, t.P50, t.P95)
	if t.Usage != (model.Usage{}) {
		fmt.Fprintf(&b, "tokens: %d in (%d of them cached), %d out, %s\n", t.Usage.InputTokens, t.Usage.CachedTokens, t.Usage.OutputTokens, t.cost())
	}
	fmt.Fprintf(&b, "calls: %s\n", byCount(t.ByOpcode))
	if t.Quiet+t.Ended+t.Off+t.Known+t.Lacking+t.Implied > 0 {
		fmt.Fprintf(&b, "without a call: %d that needed no answer, %d ends of listings, %d of opcodes that are off, %d for known attributes, %d for xattrs that are not there, %d that follow from what was said\n",
			t.Quiet, t.Ended, t.Off, t.Known, t.Lacking, t.Implied)
	}
	if t.Repairs > 0 {
		fmt.Fprintf(&b, "repairs: %d\n", t.Repairs)
	}
	if t.Failed > 0 {
		fmt.Fprintf(&b, "without an answer: %s\n", byCount(t.Failures))
	}
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

// byCount lists names, the most frequent first.
func byCount(counts map[string]uint64) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		if counts[a] != counts[b] {
			return int(counts[b]) - int(counts[a])
		}
		return strings.Compare(a, b)
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, counts[name])
	}
	return strings.Join(names, ", ")
}

// latencies is a histogram with 8 buckets for each power of two nanoseconds.
type latencies struct {
	mu      sync.Mutex
	buckets [64 << octave]uint32
	n       uint64
}

const octave = 3 // as a power of two, the buckets of an octave

// bucketOf is the position of the highest bit, and the octave bits below it.
func bucketOf(d time.Duration) int {
	v := uint64(max(d, 1<<octave))
	top := mathbits.Len64(v) - 1
	return top<<octave | int(v>>(top-octave)&(1<<octave-1))
}

// middleOf is the middle of a bucket.
func middleOf(i int) time.Duration {
	width := time.Duration(1) << (i>>octave - octave)
	return time.Duration(1<<octave|i&(1<<octave-1))*width + width/2
}

func (l *latencies) add(d time.Duration) {
	i := bucketOf(d)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buckets[i]++
	l.n++
}

// percentile is exact to a tenth.
func (l *latencies) percentile(p float64) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	rank, seen := uint64(p*float64(l.n)), uint64(0)
	for i, n := range l.buckets {
		if seen += uint64(n); n > 0 && seen > min(rank, l.n-1) {
			return middleOf(i).Round(100 * time.Nanosecond)
		}
	}
	return 0
}

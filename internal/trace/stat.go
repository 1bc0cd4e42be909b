package trace

// Totals of a trace.

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// Stats adds up pairs. Its size does not grow with their number. It is not for
// parallel use.
type Stats struct {
	Pairs int
	Usage Usage
	Notes int // pairs in which the daemon did something by itself

	first, last proto.Time
	ops         map[proto.Opcode]*opStats
	buf         []byte
}

type opStats struct {
	count    int
	errnos   map[syscall.Errno]int
	req, rep int64 // bytes of JSON
	took     histogram
}

// Add counts p.
func (s *Stats) Add(p *Pair) error {
	if s.ops == nil {
		s.ops = map[proto.Opcode]*opStats{}
	}
	o := s.ops[p.Req.Op]
	if o == nil {
		o = &opStats{errnos: map[syscall.Errno]int{}}
		s.ops[p.Req.Op] = o
	}
	if err := s.addBytes(o, p); err != nil {
		return err
	}
	if p.Rep != nil && p.Rep.Errno != 0 {
		o.errnos[p.Rep.Errno]++
	}
	o.count++
	o.took.add(p.Took)
	s.Usage.Add(p.Usage)
	if p.Note != "" {
		s.Notes++
	}
	if s.Pairs++; s.Pairs == 1 {
		s.first = p.Req.Header.Now
	}
	s.last = p.Req.Header.Now
	return nil
}

// addBytes counts JSON, as it is what a model reads and writes.
func (s *Stats) addBytes(o *opStats, p *Pair) (err error) {
	if s.buf, err = proto.AppendRequestJSON(s.buf[:0], p.Req); err != nil {
		return err
	}
	o.req += int64(len(s.buf))
	if p.Rep == nil {
		return nil
	}
	if s.buf, err = proto.AppendReplyJSON(s.buf[:0], p.Req, p.Rep); err != nil {
		return err
	}
	o.rep += int64(len(s.buf))
	return nil
}

// Stat writes the totals of r as a table.
func Stat(w io.Writer, r *Reader) error {
	var s Stats
	for p, err := range r.Pairs() {
		if err != nil {
			return err
		}
		if err := s.Add(p); err != nil {
			return r.errorf("%w", err)
		}
	}
	return s.Write(w)
}

// Write writes a table with a row for each opcode, the most frequent first.
// in and out are bytes of JSON; p50 and p95 are off by 3 % at most.
func (s *Stats) Write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "op\tcount\tin\tout\tp50\tp95\terrnos")
	var sum opStats
	for _, op := range s.byCount() {
		o := s.ops[op]
		sum.count, sum.req, sum.rep = sum.count+o.count, sum.req+o.req, sum.rep+o.rep
		fmt.Fprintf(t, "%v\t%d\t%s\t%s\t%s\t%s\t%s\n", op, o.count, size(o.req), size(o.rep),
			took(o.took.quantile(0.5)), took(o.took.quantile(0.95)), errnos(o.errnos))
	}
	fmt.Fprintf(t, "total\t%d\t%s\t%s\n", sum.count, size(sum.req), size(sum.rep))
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, s.summary())
	return err
}

func (s *Stats) summary() string {
	span := time.Duration(s.last.Sec-s.first.Sec)*time.Second + time.Duration(int64(s.last.Nsec)-int64(s.first.Nsec))
	out := fmt.Sprintf("\n%d pairs in %v", s.Pairs, max(span, 0).Round(time.Millisecond))
	if s.Usage != (Usage{}) {
		out += fmt.Sprintf("; tokens: %s in (%s cached), %s out", humanize.Comma(int64(s.Usage.InputTokens)),
			humanize.Comma(int64(s.Usage.CachedTokens)), humanize.Comma(int64(s.Usage.OutputTokens)))
	}
	if s.Notes > 0 {
		out += fmt.Sprintf("; %d with a note", s.Notes)
	}
	return out + "\n"
}

func (s *Stats) byCount() []proto.Opcode {
	return slices.SortedFunc(maps.Keys(s.ops), func(a, b proto.Opcode) int {
		return cmp.Or(cmp.Compare(s.ops[b].count, s.ops[a].count), cmp.Compare(a, b))
	})
}

func errnos(counts map[syscall.Errno]int) string {
	var list []string
	for _, e := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, fmt.Sprintf("%s×%d", proto.ErrnoName(e), counts[e]))
	}
	return strings.Join(list, " ")
}

func size(n int64) string { return strings.ReplaceAll(humanize.IBytes(uint64(n)), " ", "") }

package trace

// Holding a trace against the codec: what was recorded must come back the same
// through structs and through the kernel's bytes.

import (
	"bytes"
	"fmt"
	"io"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// Problem is one thing that is wrong with a trace.
type Problem struct {
	Trace string
	Line  int // from 1
	Op    proto.Opcode
	What  string // "reply JSON through the wire: have …, want …"
}

func (p Problem) String() string {
	return fmt.Sprintf("trace %s:%d: %v: %s", p.Trace, p.Line, p.Op, p.What)
}

// Report is what Verify found.
type Report struct {
	Pairs     int
	Kernel    int // pairs with kernel bytes
	Unnamed   int // pairs without a unique number, as of version 0
	Truncated bool
	Problems  []Problem
}

// Write writes a line for each problem, and a summary.
func (r *Report) Write(w io.Writer) error {
	for _, p := range r.Problems {
		if _, err := fmt.Fprintln(w, p); err != nil {
			return err
		}
	}
	end := ""
	if r.Truncated {
		end = "; the last line is torn and was left out"
	}
	_, err := fmt.Fprintf(w, "%d pairs, %d with kernel bytes, %d without a unique number, %d problems%s\n",
		r.Pairs, r.Kernel, r.Unnamed, len(r.Problems), end)
	return err
}

// Verify reads the rest of r and checks each pair: JSON through structs and
// through wire bytes comes back the same, recorded kernel bytes are those that
// the codec makes, requests have replies where their row wants one, and no
// unique number is answered twice. The error is for a trace that can't be
// read on; the report is then about what came before. Memory grows by the
// unique numbers, 10 MB for a million.
func Verify(r *Reader) (*Report, error) {
	v := &verifier{r: r, report: &Report{}, answered: map[uint64]int{}}
	for p, err := range r.Pairs() {
		if err != nil {
			return v.report, err
		}
		v.pair(p)
	}
	v.report.Truncated = r.Truncated()
	return v.report, nil
}

type verifier struct {
	r        *Reader
	report   *Report
	answered map[uint64]int // the line of each unique number's reply
	p        *Pair
}

func (v *verifier) problem(format string, args ...any) {
	v.report.Problems = append(v.report.Problems,
		Problem{Trace: v.r.name, Line: v.r.Line(), Op: v.p.Req.Op, What: fmt.Sprintf(format, args...)})
}

func (v *verifier) pair(p *Pair) {
	v.p = p
	v.report.Pairs++
	v.line()
	v.shape()
	v.unique()
	v.wire()
}

// line checks JSON → structs → JSON, on the whole line. Version 0 has another
// form, so there the line made today is what must come back.
func (v *verifier) line() {
	have, err := AppendPair(nil, v.p)
	if err != nil {
		v.problem("%v", err)
		return
	}
	have = bytes.TrimSuffix(have, []byte("\n"))
	want := v.r.raw
	if v.r.header.Version != Version {
		if want, err = again(have); err != nil {
			v.problem("%v", err)
			return
		}
	}
	v.same("line", have, want)
}

func again(line []byte) ([]byte, error) {
	p, err := decodePair(line)
	if err != nil {
		return nil, err
	}
	line, err = AppendPair(nil, p)
	return bytes.TrimSuffix(line, []byte("\n")), err
}

func (v *verifier) shape() {
	row := v.p.Req.Op.Row()
	switch silent := row.Reply == proto.ReplyNone; {
	case silent && v.p.Rep != nil:
		v.problem("reply: have one, want none")
	case !silent && v.p.Rep == nil:
		v.problem("reply: have none, want one")
	}
}

func (v *verifier) unique() {
	unique := v.p.Req.Header.Unique
	if unique == 0 {
		v.report.Unnamed++
	}
	if unique == 0 || v.p.Rep == nil {
		return
	}
	if line, ok := v.answered[unique]; ok {
		v.problem("unique %d: answered on line %d already", unique, line)
	}
	v.answered[unique] = v.r.Line()
}

// wire checks JSON → wire bytes → JSON. Before INIT, and in traces without
// one, the bytes are those of the newest protocol.
func (v *verifier) wire() {
	wire, ok := v.r.Wire()
	if !ok {
		wire = proto.Wire{Minor: proto.Minor, SetxattrExt: true}
	}
	if v.p.Kernel != nil {
		v.report.Kernel++
	}
	if err := v.request(wire); err != nil {
		v.problem("request: %v", err)
		return
	}
	if v.p.Rep == nil {
		return
	}
	if err := v.reply(wire); err != nil {
		v.problem("reply: %v", err)
	}
}

func (v *verifier) request(wire proto.Wire) error {
	b, err := wire.AppendRequest(nil, v.p.Req)
	if err != nil {
		return err
	}
	if v.p.Kernel != nil {
		v.same("kernel request", b, v.p.Kernel.Req)
	}
	back, err := wire.DecodeRequest(b)
	if err != nil {
		return err
	}
	h := v.p.Req.Header
	back.Header.Comm, back.Header.Now, back.Header.Groups = h.Comm, h.Now, h.Groups // the daemon's
	want, err := proto.AppendRequestJSON(nil, v.p.Req)
	if err != nil {
		return err
	}
	have, err := proto.AppendRequestJSON(nil, back)
	v.same("request JSON through the wire", have, want)
	return err
}

func (v *verifier) reply(wire proto.Wire) error {
	b, err := wire.AppendReply(nil, v.p.Req, v.p.Rep)
	if err != nil {
		return err
	}
	if v.p.Kernel != nil {
		v.same("kernel reply", b, v.p.Kernel.Rep)
	}
	back, err := wire.DecodeReply(v.p.Req, b)
	if err != nil {
		return err
	}
	sent := *v.p.Rep
	sent.Entries = sent.Entries[:min(len(back.Entries), len(sent.Entries))] // what did not fit is not sent
	back.Notify = sent.Notify                                               // its own messages
	want, err := proto.AppendReplyJSON(nil, v.p.Req, &sent)
	if err != nil {
		return err
	}
	have, err := proto.AppendReplyJSON(nil, v.p.Req, back)
	v.same("reply JSON through the wire", have, want)
	return err
}

// same reports where two byte strings part.
func (v *verifier) same(what string, have, want []byte) {
	if bytes.Equal(have, want) {
		return
	}
	at := 0
	for at < min(len(have), len(want)) && have[at] == want[at] {
		at++
	}
	v.problem("%s: byte %d: have %q of %d bytes, want %q of %d", what, at, around(have, at), len(have), around(want, at), len(want))
}

// around is what stands at a byte, with a little before it.
func around(b []byte, at int) []byte {
	return b[max(at-20, 0):min(at+20, len(b))]
}

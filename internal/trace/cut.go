package trace

// The beginning of a trace as a trace.

import (
	"bytes"
	"io"
	"time"
)

// Limit says whether a pair still belongs to the beginning. It is asked about
// one pair after the other, until it says no.
type Limit func(*Pair) bool

// First keeps n pairs.
func First(n int) Limit {
	return func(*Pair) bool { n--; return n >= 0 }
}

// Through keeps all pairs up to the one that answers the request unique, and
// that one.
func Through(unique uint64) Limit {
	found := false
	return func(p *Pair) bool {
		keep := !found
		found = found || p.Req.Header.Unique == unique
		return keep
	}
}

// Before keeps all pairs up to the first one that was read at t or later.
func Before(t time.Time) Limit {
	return func(p *Pair) bool {
		now := p.Req.Header.Now
		return time.Unix(now.Sec, int64(now.Nsec)).Before(t)
	}
}

// Cut writes the header and the pairs within limit to w, and reports how many
// pairs these were. A nil limit keeps all. Lines of this version are copied
// byte for byte, keys of newer programs included; older ones are upgraded. A
// torn last line is left out.
func Cut(w io.Writer, r *Reader, limit Limit) (int, error) {
	if _, err := w.Write(r.headerLine()); err != nil {
		return 0, r.errorf("%w", err)
	}
	n := 0
	for p, err := range r.Pairs() {
		if err != nil {
			return n, err
		}
		if limit != nil && !limit(p) {
			return n, nil
		}
		line, err := r.pairLine(p)
		if err != nil {
			return n, r.errorf("%w", err)
		}
		if _, err := w.Write(line); err != nil {
			return n, r.errorf("%w", err)
		}
		n++
	}
	return n, nil
}

func (r *Reader) headerLine() []byte {
	if r.header.Version == Version {
		return r.rawHeader
	}
	return appendHeader(nil, r.header)
}

// pairLine is p's line as the current version has it. p came from r last.
func (r *Reader) pairLine(p *Pair) ([]byte, error) {
	if r.header.Version != Version {
		return AppendPair(nil, p)
	}
	return append(bytes.Clone(r.raw), '\n'), nil
}

package run

// Shards put together: their logs are in one order already, so memory holds a
// line of each.

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/llmfs-raw/llmfs-raw/evals"
)

// Merge makes one log of several, and its summary, in dir. All must be runs of
// the same traces in the same way; shards must be all there are.
func Merge(from []string, dir string) (*evals.Summary, error) {
	m := &merger{tally: newTally()}
	defer m.close()
	for _, path := range from {
		if err := m.open(path); err != nil {
			return nil, err
		}
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	s := &evals.Summary{LogHeader: m.header()}
	w, err := evals.CreateLog(filepath.Join(dir, evals.StepsFiles[0]), s.LogHeader)
	if err != nil {
		return nil, err
	}
	if err := w.Close(m.lines(w)); err != nil {
		return nil, err
	}
	m.tally.summarize(s)
	s.Finished = time.Now().UTC().Truncate(time.Second)
	return s, s.Write(dir)
}

type merger struct {
	parts []*part
	tally *tally
}

// part is one log and its next line.
type part struct {
	log  *evals.LogReader
	pull func() (*evals.StepResult, error, bool)
	stop func()
	next *evals.StepResult
}

func (m *merger) open(path string) error {
	log, err := evals.OpenLog(path)
	if err != nil {
		return err
	}
	p := &part{log: log}
	p.pull, p.stop = iter.Pull2(log.Steps())
	m.parts = append(m.parts, p)
	return p.advance()
}

func (m *merger) close() {
	for _, p := range m.parts {
		p.stop()
		_ = p.log.Close() // it was read only
	}
}

func (p *part) advance() error {
	s, err, ok := p.pull()
	if err != nil {
		return err
	}
	if p.next = s; !ok {
		p.next = nil
		if p.log.Torn() {
			return errors.New("merge: a log ends in the middle of a line")
		}
	}
	return nil
}

// check compares headers.
func (m *merger) check() error {
	first, shards, of := m.parts[0].log.Header, map[int]bool{}, 0
	for _, p := range m.parts {
		h := p.log.Header
		if have, want := way(&h), way(&first); !maps.Equal(have, want) {
			return fmt.Errorf("merge: the runs differ: have %v, want %v", have, want)
		}
		shard, err := ParseShard(h.Shard)
		if err != nil {
			return fmt.Errorf("merge: %w", err)
		}
		if shard.N > 0 && (of > 0 && of != shard.N || shards[shard.I]) {
			return fmt.Errorf("merge: shard %s does not go with the others", h.Shard)
		}
		shards[shard.I], of = true, max(of, shard.N)
	}
	if of > 0 && len(shards) != of {
		return fmt.Errorf("merge: have %d of %d shards", len(shards), of)
	}
	return nil
}

// way is what has to be the same.
func way(h *evals.LogHeader) map[string]string {
	w := map[string]string{
		"tier": string(h.Tier), "context": h.Context, "fields": h.Fields,
		"trials": fmt.Sprint(h.Trials), "seed": fmt.Sprint(h.Seed),
	}
	for k, v := range h.Hashes {
		w["hash of "+k] = v
	}
	return w
}

// header is the first one's, with the models and modes of all.
func (m *merger) header() evals.LogHeader {
	h := m.parts[0].log.Header
	h.Shard = ""
	for _, p := range m.parts[1:] {
		o := p.log.Header
		h.Models, h.Modes = append(h.Models, o.Models...), append(h.Modes, o.Modes...)
		if o.Created.Before(h.Created) {
			h.Created = o.Created
		}
	}
	slices.Sort(h.Models)
	slices.Sort(h.Modes)
	h.Models, h.Modes = slices.Compact(h.Models), slices.Compact(h.Modes)
	return h
}

// lines copies the lines of all in order.
func (m *merger) lines(w *evals.LogWriter) error {
	const enough = 1 << 20 // bytes of a frame
	var frame []byte
	var last *evals.StepResult
	for {
		p := m.least()
		if p == nil {
			return w.Write(frame)
		}
		if last != nil && compareLines(last, p.next) == 0 {
			return fmt.Errorf("merge: %s %s trial %d %s pair %d is there twice", last.Model, last.Mode, last.Trial, last.Trace, last.Pair)
		}
		m.tally.add(p.next)
		last = p.next
		var err error
		if frame, err = evals.AppendLine(frame, p.next); err == nil {
			err = p.advance()
		}
		if err == nil && len(frame) > enough {
			err = w.Write(frame)
			frame = frame[:0]
		}
		if err != nil {
			return err
		}
	}
}

func (m *merger) least() (least *part) {
	for _, p := range m.parts {
		if p.next != nil && (least == nil || compareLines(p.next, least.next) < 0) {
			least = p
		}
	}
	return least
}

func compareLines(a, b *evals.StepResult) int {
	x, y := key{a.Model, a.Mode, a.Trial, a.Trace}, key{b.Model, b.Mode, b.Trial, b.Trace}
	if c := x.compare(y); c != 0 {
		return c
	}
	return a.Pair - b.Pair
}

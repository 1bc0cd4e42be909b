package run

// The lines of jobs that are done, packed and in a file, until the log is put
// together in its own order: memory holds where they are, and no more.

import (
	"cmp"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/llmfs-raw/llmfs-raw/evals"
)

type spill struct {
	file *os.File

	mu     sync.Mutex
	end    int64
	places []place
}

type place struct {
	key      key
	off, len int64
}

// key is the place of a job's lines in a log.
type key struct {
	model string
	mode  evals.Mode
	trial int
	trace string
}

func (k key) compare(o key) int {
	return cmp.Or(strings.Compare(k.model, o.model), cmp.Compare(k.mode, o.mode), cmp.Compare(k.trial, o.trial), strings.Compare(k.trace, o.trace))
}

func newSpill(dir string) (*spill, error) {
	f, err := os.CreateTemp(dir, ".steps-*")
	return &spill{file: f}, err
}

func (s *spill) put(t task, frame []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.file.WriteAt(frame, s.end)
	s.places = append(s.places, place{key{t.contestant.Name, t.mode, t.trial, t.info.Name}, s.end, int64(n)})
	s.end += int64(n)
	return err
}

func (s *spill) copy(w *evals.LogWriter) error {
	slices.SortFunc(s.places, func(a, b place) int { return a.key.compare(b.key) })
	for _, p := range s.places {
		if err := w.Copy(io.NewSectionReader(s.file, p.off, p.len)); err != nil {
			return err
		}
	}
	return nil
}

func (s *spill) close() error { return errors.Join(s.file.Close(), os.Remove(s.file.Name())) }

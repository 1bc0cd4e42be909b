// Setting up, and taking turns in rounds.

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/llmfs-raw/llmfs-raw/internal/conformance/mounttest"
)

// A session is one run of this program.
type session struct {
	options
	dir   string // outside of all contestants
	work  work
	board board
}

func setUp(o options, dir string) (*session, error) {
	s := &session{options: o, dir: dir, work: work{files: 10_000, bytes: 256 * mib, ops: 16_384}}
	if o.quick {
		s.work = work{files: 1_000, bytes: 32 * mib, ops: 2_048}
	}
	var err error
	if s.bin == "" {
		if s.bin, err = mounttest.Build(dir, false); err != nil {
			return nil, err
		}
	}
	s.work.repo, err = makeRepo(dir)
	return s, err
}

func (s *session) runRounds() error {
	for n := range s.rounds {
		fmt.Fprintf(os.Stderr, "round %d of %d\n", n+1, s.rounds)
		profile := ""
		if n == s.rounds-1 {
			profile = s.cpuprofile
		}
		if err := s.round(ours(s.bin, profile), loopback(), tmpfs()); err != nil {
			return fmt.Errorf("round %d: %w", n+1, err)
		}
	}
	return nil
}

// round mounts all contestants afresh and runs each workload on one after the other.
func (s *session) round(contestants ...contestant) (err error) {
	mounts := map[string]*mounted{}
	defer func() { err = errors.Join(err, s.endRound(mounts)) }()
	for _, c := range contestants {
		if mounts[c.name], err = s.mount(c); err != nil {
			delete(mounts, c.name)
			return err
		}
	}
	for _, w := range workloads {
		if !s.only.MatchString(w.name) {
			continue
		}
		for _, c := range contestants {
			if err := s.runOne(c.name, w, mounts[c.name].dir); err != nil {
				return fmt.Errorf("%s on %s: %w", w.name, c.name, err)
			}
		}
	}
	return nil
}

func (s *session) mount(c contestant) (*mounted, error) {
	dir, err := os.MkdirTemp(s.dir, c.name)
	if err != nil {
		return nil, err
	}
	return c.mount(dir)
}

func (s *session) endRound(mounts map[string]*mounted) error {
	var errs []error
	for name, m := range mounts {
		errs = append(errs, m.umount())
		if name == loopbackName {
			s.board.count(m.daemon.Output())
		}
	}
	return errors.Join(errs...)
}

func (s *session) runOne(contestant string, w workload, mnt string) error {
	job := s.work
	job.dir = filepath.Join(mnt, "work")
	if err := os.Mkdir(job.dir, 0o755); err != nil {
		return err
	}
	samples, err := w.run(job)
	if err != nil {
		return err
	}
	s.board.add(contestant, samples)
	return os.RemoveAll(job.dir)
}

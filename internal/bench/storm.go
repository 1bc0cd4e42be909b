// Metadata storms: many empty files are created, looked up and unlinked.

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// storm divides the files among threads, each with a directory of its own: the
// kernel serialises the changes of one directory.
func storm(threads int) func(w work) ([]sample, error) {
	return func(w work) ([]sample, error) {
		if err := makeDirs(w, threads); err != nil {
			return nil, err
		}
		phases := []struct {
			name   string
			before func() error
			one    func(path string) error
		}{
			{"create", nothing, create},
			{"cold stat", dropDentries, stat},
			{"unlink", nothing, unix.Unlink},
		}
		var samples []sample
		for _, p := range phases {
			if err := p.before(); err != nil {
				return nil, err
			}
			rate, err := inThreads(w, threads, p.one)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.name, err)
			}
			samples = append(samples, sample{p.name + ", " + plural(threads), opsSec, rate})
		}
		return samples, nil
	}
}

func plural(threads int) string {
	if threads == 1 {
		return "1 thread"
	}
	return fmt.Sprintf("%d threads", threads)
}

func makeDirs(w work, threads int) error {
	for t := range threads {
		if err := os.Mkdir(w.path(fmt.Sprint(t)), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// inThreads calls one for each file and returns files per second.
func inThreads(w work, threads int, one func(path string) error) (float64, error) {
	var g errgroup.Group
	start := time.Now()
	for t := range threads {
		g.Go(func() error {
			dir := w.path(fmt.Sprint(t))
			for f := range w.files / threads {
				if err := one(filepath.Join(dir, fmt.Sprintf("file-%06d", f))); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := g.Wait()
	return float64(w.files/threads*threads) / time.Since(start).Seconds(), err
}

func nothing() error { return nil }

func create(path string) error {
	fd, err := unix.Open(path, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

func stat(path string) error {
	var st unix.Stat_t
	return unix.Lstat(path, &st)
}

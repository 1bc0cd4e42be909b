// Memory of the daemon per file.

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	memoryName    = "memory"
	memoryFiles   = 100_000
	memoryDirs    = 100
	memoryTarget  = kib // bytes per file, at most
	memorySettle  = 20 * time.Second
	memoryPoll    = time.Second
	memoryEnough  = 0.99 // of the last reading: no longer shrinking
	memoryAtLeast = 5    // readings
)

// memory prints how much the resident set of ours and of loopback grows by many
// empty files.
func (s *session) memory(out io.Writer) error {
	if !s.only.MatchString(memoryName) {
		return nil
	}
	files := memoryFiles
	if s.quick {
		files /= 10
	}
	for _, c := range []contestant{ours(s.bin, ""), loopback()} {
		if err := s.memoryOf(c, files, out); err != nil {
			return fmt.Errorf("%s of %s: %w", memoryName, c.name, err)
		}
	}
	fmt.Fprintln(out, "memory: Rss of /proc/PID/smaps_rollup, before the files and after; settled: once it shrank no more")
	return nil
}

func (s *session) memoryOf(c contestant, files int, out io.Writer) (err error) {
	m, err := s.mount(c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.umount()) }()
	before, err := rss(m.daemon.Pid())
	if err != nil {
		return err
	}
	if err := createMany(m.dir, files); err != nil {
		return err
	}
	peak, err := rss(m.daemon.Pid())
	if err != nil {
		return err
	}
	settled, err := settledRSS(m)
	if err != nil {
		return err
	}
	perFile := float64(settled-before) / float64(files)
	mark := ""
	if c.name == oursName {
		mark = fmt.Sprintf(", target ≤ %d: %s", memoryTarget, passMark(perFile <= memoryTarget))
	}
	_, err = fmt.Fprintf(out, "memory of %s with %d files: %d MiB before, %d MiB after, %d MiB settled: %.0f bytes a file%s\n",
		c.name, files, before/mib, peak/mib, settled/mib, perFile, mark)
	return err
}

func createMany(mnt string, files int) error {
	for d := range memoryDirs {
		dir := filepath.Join(mnt, fmt.Sprint("dir", d))
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		for f := range files / memoryDirs {
			if err := create(filepath.Join(dir, fmt.Sprintf("file-%06d", f))); err != nil {
				return err
			}
		}
	}
	return nil
}

// settledRSS waits while the daemon's runtime gives memory back. Requests for an
// unknown name keep its collector going, as an idle one collects every 2 minutes.
func settledRSS(m *mounted) (int64, error) {
	last, err := rss(m.daemon.Pid())
	for n := 0; err == nil && n < int(memorySettle/memoryPoll); n++ {
		for i := range 2000 {
			_, _ = os.Lstat(filepath.Join(m.dir, fmt.Sprintf("unknown-%d-%d", n, i)))
		}
		time.Sleep(memoryPoll)
		now, rssErr := rss(m.daemon.Pid())
		if n >= memoryAtLeast && float64(now) > memoryEnough*float64(last) {
			return now, rssErr
		}
		last, err = now, rssErr
	}
	return last, err
}

// rss is the resident set in bytes.
func rss(pid int) (int64, error) {
	path := fmt.Sprintf("/proc/%d/smaps_rollup", pid)
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), "Rss:"); ok {
			var n int64
			_, err := fmt.Sscanf(value, "%d kB", &n)
			return n * kib, err
		}
	}
	return 0, fmt.Errorf("%s: no Rss line", path)
}

func passMark(ok bool) string {
	if ok {
		return "pass"
	}
	return "MISS"
}

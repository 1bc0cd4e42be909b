// What a language model's mount costs: calls, tokens and time, against a mount
// that works as llmfs did (--baseline). The model is `llmfs-raw serve`, which
// answers from the conversation alone.

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/llmfs-raw/llmfs-raw/internal/conformance/mounttest"
)

// modelWork is a script of sh in an empty directory of the mount, $M; $OUT is
// outside. Files that the kernel has never seen lie in $M/seed.
type modelWork struct {
	name, script string
	less         float64 // calls of the baseline for each of ours, at least
	faster       float64 // time of the baseline for each of ours, at least
}

var modelWorks = []modelWork{
	{name: "hello", script: "mkdir $M/d; echo hello > $M/d/f; cat $M/d/f; ls -l $M/d; mv $M/d/f $M/d/g; rm $M/d/g; rmdir $M/d"},
	{name: "cat-new", script: "cat $M/seed/file7; cat $M/seed/file7"},
	{name: "ls -l of 30", script: "ls -l $M/seed; ls -l $M/seed"},
	{name: "git init+commit", script: gitCommit, less: 5, faster: 10},
	{name: "tar of 50 files", script: "tar xf $OUT/50.tar -C $M; tar df $OUT/50.tar -C $M", less: 5, faster: 10},
	{name: "sqlite", script: `sqlite3 $M/t.db 'create table t(a, b); insert into t values (1, 2), (3, 4); update t set b = 5 where a = 1; select * from t'`},
}

const gitCommit = `
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
cd $M
git init -q repo && cd repo
for name in a b c; do echo $name > $name.txt; done
git add .
git -c user.name=n -c user.email=e commit -q -m first
git status --short`

// Simulated latency of a model's answer.
const (
	firstToken = 300 * time.Millisecond
	tokenRate  = 80 // tokens/s after the first
)

// models prints what each work costs both ways.
func (s *session) models(out io.Writer) error {
	var works []modelWork
	for _, w := range modelWorks {
		if s.only.MatchString("models: " + w.name) {
			works = append(works, w)
		}
	}
	if len(works) == 0 {
		return nil
	}
	if err := s.prepareModels(); err != nil {
		return err
	}
	ours, err := mounttest.StartServer(s.bin, "--cache", "aggressive")
	if err != nil {
		return err
	}
	defer ours.Stop()
	base, err := mounttest.StartServer(s.bin)
	if err != nil {
		return err
	}
	defer base.Stop()
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "language model\tcalls\tbaseline\tratio\t\ttokens in\t(cached)\tout\tbaseline in\t(cached)\tout\ttime\tbaseline\tratio\t\t\n")
	for _, w := range works {
		if err := s.modelRow(t, w, ours.URL, base.URL); err != nil {
			return fmt.Errorf("models: %s: %w", w.name, err)
		}
	}
	t.Flush()
	fmt.Fprintf(out, "time: measured without latency, and for each call %v to the first token and %d tokens a second, as if no two calls overlapped\n", firstToken, tokenRate)
	return nil
}

func (s *session) modelRow(out io.Writer, w modelWork, oursURL, baseURL string) error {
	ours, err := s.modelCost(w, oursURL)
	if err != nil {
		return err
	}
	base, err := s.modelCost(w, baseURL, "--baseline")
	if err != nil {
		return fmt.Errorf("baseline: %w", err)
	}
	fewer, faster := ratio(base.Calls, ours.Calls), base.wall.Seconds()/ours.wall.Seconds()
	fmt.Fprintf(out, "%s\t%d\t%d\t%.1f\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%.1f s\t%.1f s\t%.1f\t%s\t\n", w.name,
		ours.Calls, base.Calls, fewer, atLeast(fewer, w.less),
		ours.In, ours.Cached, ours.Out, base.In, base.Cached, base.Out,
		ours.wall.Seconds(), base.wall.Seconds(), faster, atLeast(faster, w.faster))
	return nil
}

func ratio(a, b int) float64 { return float64(a) / max(1, float64(b)) }

// atLeast is the target and whether it was met; "" where there is none.
func atLeast(have, want float64) string {
	if want == 0 {
		return ""
	}
	return fmt.Sprintf("≥ %.0f %s", want, passMark(have >= want))
}

// cost is what a script has cost a mount.
type cost struct {
	mounttest.Account
	wall time.Duration
}

// modelCost runs a script on a fresh mount that has been warmed up: what is off
// is said once a mount.
func (s *session) modelCost(w modelWork, url string, flags ...string) (c cost, err error) {
	d, err := s.mountModel(url, append(flags, "--seed", s.seedDir())...)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, d.Stop()) }()
	if _, err := s.modelScript("mkdir $M/w; echo x > $M/w/f; cat $M/w/f; ls -l $M/w; rm -r $M/w", d); err != nil {
		return c, err
	}
	return s.modelScript(w.script, d)
}

func (s *session) mountModel(url string, flags ...string) (*mounttest.Daemon, error) {
	dir, err := os.MkdirTemp(s.dir, "model")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(s.bin, append([]string{"mount", "--model", "gpt-test", "--base-url", url, "--warm=false"}, append(flags, dir)...)...)
	cmd.Env = append(os.Environ(), "OPENAI_API_KEY=bench")
	return mounttest.StartDaemon(cmd, dir)
}

func (s *session) modelScript(script string, d *mounttest.Daemon) (c cost, err error) {
	before, err := d.Account()
	if err != nil {
		return c, err
	}
	cmd := exec.Command("sh", "-ec", script)
	cmd.Env = append(os.Environ(), "M="+d.Dir, "OUT="+s.dir)
	start := time.Now()
	if said, err := cmd.CombinedOutput(); err != nil {
		return c, fmt.Errorf("%s: %w: %s", script, err, said)
	}
	took := time.Since(start)
	after, err := d.Account()
	c.Account = after.Less(before)
	c.wall = took + time.Duration(c.Calls)*firstToken + time.Duration(float64(c.Out)/tokenRate*float64(time.Second))
	return c, err
}

func (s *session) seedDir() string { return filepath.Join(s.dir, "seeds") }

// prepareModels makes the tree that mounts begin with, and an archive.
func (s *session) prepareModels() error {
	seeds, tree := filepath.Join(s.seedDir(), "seed"), filepath.Join(s.dir, "t")
	if err := errors.Join(os.MkdirAll(seeds, 0o755), os.Mkdir(tree, 0o755)); err != nil {
		return err
	}
	for i := range 50 {
		text := []byte(strings.Repeat(fmt.Sprintf("this is file %d\n", i), 20))
		if err := os.WriteFile(filepath.Join(tree, fmt.Sprint("file", i)), text, 0o644); err != nil {
			return err
		}
		if i >= 30 {
			continue
		}
		if err := os.WriteFile(filepath.Join(seeds, fmt.Sprint("file", i)), text[:16], 0o644); err != nil {
			return err
		}
	}
	return exec.Command("tar", "cf", filepath.Join(s.dir, "50.tar"), "-C", s.dir, "t").Run()
}

// git clone of a repository made on the spot.

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

const (
	repoDirs    = 20
	repoFiles   = 25 // in each directory
	repoCommits = 5
)

// makeRepo commits a few hundred files of about 5 KiB a few times.
func makeRepo(dir string) (string, error) {
	repo := filepath.Join(dir, "repo")
	if err := git("init", "-q", "-b", "main", repo); err != nil {
		return "", err
	}
	rng := rand.New(rand.NewPCG(seed, seed))
	for n := range repoCommits {
		if err := writeTree(repo, rng); err != nil {
			return "", err
		}
		if err := git("-C", repo, "add", "-A"); err != nil {
			return "", err
		}
		if err := git("-C", repo, "commit", "-q", "-m", fmt.Sprint("commit ", n)); err != nil {
			return "", err
		}
	}
	return repo, git("-C", repo, "gc", "-q")
}

func writeTree(repo string, rng *rand.Rand) error {
	for d := range repoDirs {
		dir := filepath.Join(repo, fmt.Sprint("dir", d))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		for f := range repoFiles {
			var text bytes.Buffer
			for range 100 {
				fmt.Fprintf(&text, "%d %d %d\n", d, f, rng.Int64())
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("file", f)), text.Bytes(), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// clone copies the objects, as from another machine, and checks the tree out.
func clone(w work) ([]sample, error) {
	start := time.Now()
	if err := git("clone", "-q", "--no-local", w.repo, w.path("clone")); err != nil {
		return nil, err
	}
	return []sample{{"git clone", "clones/s", 1 / time.Since(start).Seconds()}}, nil
}

func git(args ...string) error {
	cmd := exec.Command("git", args...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %v: %w\n%s", args, err, out)
	}
	return nil
}

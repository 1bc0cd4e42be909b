package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/evals/sample"
	"github.com/llmfs-raw/llmfs-raw/internal/serve"
)

const atOnce = 4

// program is a command line of this program. TestMain sees by the name that it
// is to be the program, not its test.
func program(t *testing.T, args ...string) *exec.Cmd {
	self, err := os.Executable()
	require.NoError(t, err)
	link := filepath.Join(t.TempDir(), "llmfs-raw")
	require.NoError(t, os.Symlink(self, link))
	c := exec.Command(link, args...)
	c.Env = append(os.Environ(), "OPENAI_API_KEY=sk-test-0123456789")
	return c
}

// A run that is killed again and again asks no question twice that was answered,
// and ends in the log of one that was left alone.
func TestEvalsRunSurvivesKills(t *testing.T) {
	corpus := t.TempDir()
	_, err := sample.Corpus(corpus, sample.Files().Trace("files"), sample.Names().Trace("names"))
	require.NoError(t, err)
	const steps = 50
	server := serve.New(serve.Options{Latency: serve.Latency{FirstToken: 2 * time.Millisecond}})
	var answered atomic.Int64
	progress := make(chan struct{}, 1000)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		server.ServeHTTP(w, r)
		answered.Add(1)
		progress <- struct{}{}
	}))
	defer web.Close()
	defer server.Close()
	run := func(out string) *exec.Cmd {
		return program(t, "evals", "run", "--models", serve.DefaultModel, "--base-url", web.URL+"/v1", "--corpus", corpus,
			"--out", out, "--concurrency", fmt.Sprint(atOnce), "--context", "full")
	}

	killed, kills := t.TempDir(), 0
	for ; kills < 4; kills++ {
		c := run(killed)
		require.NoError(t, c.Start())
		for range 4 + kills { // then in the middle of whatever it does
			<-progress
		}
		require.NoError(t, c.Process.Kill())
		_ = c.Wait()
		for len(progress) > 0 {
			<-progress
		}
	}
	out, err := run(killed).CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.LessOrEqual(t, answered.Load(), int64(steps+kills*atOnce), "no more is paid twice than was on its way at each kill")

	alone := t.TempDir()
	out, err = run(alone).CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Equal(t, scored(t, alone), scored(t, killed))
	before := answered.Load()
	out, err = run(killed).CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Equal(t, before, answered.Load(), "what is done asks nothing")
}

// The forced steps as a batch: exported, answered in the background, imported;
// the run then needs no server.
func TestEvalsBatch(t *testing.T) {
	corpus, out := t.TempDir(), t.TempDir()
	_, err := sample.Corpus(corpus, sample.Files().Trace("files"), sample.Names().Trace("names"))
	require.NoError(t, err)
	server := serve.New(serve.Options{})
	web := httptest.NewServer(server)
	defer web.Close()
	defer server.Close()
	do := func(args ...string) string {
		text, err := program(t, append(append([]string{"evals"}, args...), "--models", serve.DefaultModel, "--base-url", web.URL+"/v1",
			"--corpus", corpus, "--out", out, "--context", "full")...).CombinedOutput()
		require.NoError(t, err, "%s", text)
		return string(text)
	}
	assert.Contains(t, do("batch", "export"), "in 1 files")
	questions, err := os.ReadFile(filepath.Join(out, "questions-001.jsonl"))
	require.NoError(t, err)
	assert.Contains(t, do("batch", "submit"), "batch_")
	assert.NotContains(t, do("batch", "submit"), "batch_", "what is on its way is not sent again")
	require.Eventually(t, func() bool { return strings.Contains(do("batch", "status"), "completed") }, 20*time.Second, 50*time.Millisecond)
	n := strings.Count(string(questions), "\n")
	assert.Contains(t, do("batch", "import"), fmt.Sprintf("%d answers, 0 failed", n))
	assert.Contains(t, do("batch", "import"), "0 answers, 0 failed", "an import is done once")
	assert.Contains(t, do("batch", "export"), "0 questions in 0 files")
	web.Close()
	assert.Contains(t, do("run"), "100.00%")

	byHand := filepath.Join(t.TempDir(), "answers.jsonl")
	require.NoError(t, os.Remove(filepath.Join(out, "answers.jsonl")))
	require.NoError(t, os.WriteFile(byHand, []byte(`{"custom_id":`+strings.SplitN(string(questions), `"custom_id":`, 2)[1][:66]+
		`,"response":{"body":{"choices":[{"message":{"content":"{}"},"finish_reason":"stop"}]}}}`+"\n"), 0o644))
	assert.Contains(t, do("batch", "import", byHand), "1 answers, 0 failed")
}

// scored are the lines of a log, less what depends on clock, cache and the
// numbers that a server gives to parallel questions.
func scored(t *testing.T, dir string) (list []string) {
	log, err := evals.OpenLog(dir)
	require.NoError(t, err)
	for s, err := range log.Steps() {
		require.NoError(t, err)
		s.Millis, s.FromCache, s.Reply = 0, false, ""
		s.InputTokens, s.CachedTokens, s.OutputTokens, s.Cost = 0, 0, 0, 0
		text, err := json.Marshal(s)
		require.NoError(t, err)
		list = append(list, string(text))
	}
	require.Len(t, list, 50)
	return list
}

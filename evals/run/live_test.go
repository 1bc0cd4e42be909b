package run_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/evals/run"
	"github.com/llmfs-raw/llmfs-raw/evals/scenario"
	"github.com/llmfs-raw/llmfs-raw/internal/model/faulty"
	"github.com/llmfs-raw/llmfs-raw/internal/model/reference"
	"github.com/llmfs-raw/llmfs-raw/internal/serve"
	"github.com/llmfs-raw/llmfs-raw/internal/session"
)

// child is how the test binary is told to be one of a live run's processes.
const child = "live-child"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == child {
		if err := scenario.Main(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// live are the options of live runs of some scenarios of the corpus.
func live(t *testing.T, scenarios []string, c ...*run.Contestant) run.Options {
	require.Zero(t, os.Geteuid(), "this test mounts: run it as root")
	all, err := evals.Embedded()
	require.NoError(t, err)
	o := forced(t, nil)
	o.Corpus, o.Contestants, o.Modes, o.Traces = all, c, []evals.Mode{evals.Live}, nil
	for _, info := range all.Manifest.Traces {
		if slices.Contains(scenarios, info.Name) {
			o.Traces = append(o.Traces, info)
		}
	}
	require.Len(t, o.Traces, len(scenarios))
	work := t.TempDir()
	require.NoError(t, os.Chmod(work, 0o755))
	o.Live = &scenario.Player{Self: []string{os.Args[0], child}, Work: work}
	return o
}

func TestLiveReferenceAndMutant(t *testing.T) {
	mutant := &run.Contestant{Name: "faulty:append-ignored", World: func(settings map[string]string) (run.World, error) {
		o, err := reference.FromSettings(settings)
		require.NoError(t, err)
		return faulty.New("append-ignored", o)
	}}
	// names/race has no mount, and is left out.
	o := live(t, []string{"files/basic", "links/basic", "names/race", "programs/shell"}, referee, mutant)
	s, err := run.Run(context.Background(), o)
	require.NoError(t, err)
	require.Len(t, s.Scores, 2)
	assert.Equal(t, 1.0, s.Scores[1].Score)
	assert.Equal(t, 1.0, s.Scores[1].Survived)
	assert.Zero(t, s.Infra)
	var wrong []string
	for _, l := range lines(t, o.Dir) {
		if l.Stage != evals.Correct {
			assert.Equal(t, evals.Acceptable, l.Stage)
			wrong = append(wrong, fmt.Sprint(l.Model, " ", l.Trace, " ", l.Pair, " ", l.Op, " ", l.Survived, " of ", l.Of))
		}
	}
	assert.Equal(t, []string{
		"faulty:append-ignored files/basic 18 pread 15 of 27",
		"faulty:append-ignored programs/shell 16 sh 11 of 18",
	}, wrong)
}

// What a served model gets wrong is its score, and is paid once.
func TestLiveLanguageModel(t *testing.T) {
	c, asked := served(t, serve.Options{Faults: faults(t, "rules: [{do: refuse, op: SYMLINK}]")})
	o := live(t, []string{"files/basic", "links/basic"}, c)
	o.Session.Context = session.Context{Kind: session.Ledger, Pairs: 8}
	s, err := run.Run(context.Background(), o)
	require.NoError(t, err)
	assert.Zero(t, s.Infra)
	assert.Positive(t, s.Scores[0].Cost)
	before, first := asked.Load(), lines(t, o.Dir)
	refused := 0
	for _, l := range first {
		var have evals.Outcome
		require.NoError(t, json.Unmarshal([]byte(l.Reply), &have))
		switch {
		case l.Op == "symlink" && l.WantErrno == "0":
			refused++
			assert.True(t, l.Refused)
			assert.Equal(t, "EACCES", l.HaveErrno)
			assert.Contains(t, l.Problems, "refusal")
		case l.Trace == "files/basic":
			assert.Equal(t, evals.Correct, l.Stage, "%s: %v", l.Request, l.Diffs)
		}
	}
	assert.Positive(t, refused)

	_, err = run.Run(context.Background(), o)
	require.NoError(t, err)
	assert.Equal(t, before, asked.Load(), "what is done asks nothing")
	again := lines(t, o.Dir)
	for _, l := range again {
		assert.True(t, l.FromCache)
		l.FromCache = false
	}
	assert.Equal(t, first, again)
}

// What fails outside of the model ends its scenario, is no score, and is asked again.
func TestLiveInfrastructure(t *testing.T) {
	for _, c := range []struct{ name, script, why string }{
		{"an outage in the middle", "rules: [{do: error, status: 502, from: 20}]", "502"},
		{"no access", "rules: [{do: error, status: 401, from: 20}]", "401"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			broken, _ := served(t, serve.Options{Faults: faults(t, c.script)})
			o := live(t, []string{"files/basic"}, broken)
			s, err := run.Run(context.Background(), o)
			require.NoError(t, err)
			assert.Contains(t, s.Why, c.why)
			assert.NotContains(t, s.Why, "runner")
			require.Equal(t, 27, s.Steps+s.Infra)
			assert.Greater(t, s.Steps, 5)
			assert.Equal(t, 1.0, s.Scores[0].Score)
			assert.Positive(t, s.Infra)

			sound, _ := served(t, serve.Options{})
			o.Contestants = []*run.Contestant{sound}
			s, err = run.Run(context.Background(), o)
			require.NoError(t, err)
			assert.Equal(t, 27, s.Steps)
			assert.Equal(t, 1.0, s.Scores[0].Score)
		})
	}
}

func TestLiveKeepsTheBudget(t *testing.T) {
	c, _ := served(t, serve.Options{})
	o := live(t, []string{"files/basic"}, c)
	o.MaxCost = 0.05
	s, err := run.Run(context.Background(), o)
	require.NoError(t, err)
	assert.Contains(t, s.Why, "budget")
	assert.Less(t, s.Scores[0].Cost, 0.06)
	assert.Positive(t, s.Infra)
	assert.Positive(t, s.Steps)
}

// A run that is interrupted leaves no mount behind.
func TestLiveIsInterrupted(t *testing.T) {
	slow := &run.Contestant{Name: "reference", World: referenceWorld}
	o := live(t, []string{"programs/python", "files/basic", "links/basic"}, slow)
	ctx, stop := context.WithCancel(context.Background())
	o.Report = func(p run.Progress) {
		if p.Done == 5 {
			stop()
		}
	}
	_, err := run.Run(ctx, o)
	require.ErrorIs(t, err, context.Canceled)
	mounts, err := os.ReadFile("/proc/self/mounts")
	require.NoError(t, err)
	assert.NotContains(t, string(mounts), o.Live.(*scenario.Player).Work)
	assert.False(t, strings.Contains(string(mounts), o.Dir))
}

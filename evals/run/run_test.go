package run_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/evals/run"
	"github.com/llmfs-raw/llmfs-raw/evals/sample"
	"github.com/llmfs-raw/llmfs-raw/evals/score"
	"github.com/llmfs-raw/llmfs-raw/internal/model/reference"
	"github.com/llmfs-raw/llmfs-raw/internal/trace"
)

func referenceWorld(settings map[string]string) (run.World, error) {
	o, err := reference.FromSettings(settings)
	return reference.New(o), err
}

var referee = &run.Contestant{Name: "reference", World: referenceWorld}

func corpus(t testing.TB) *evals.Corpus {
	c, err := sample.Corpus(t.TempDir(), sample.Files().Trace("files"), sample.Names().Trace("names"))
	require.NoError(t, err)
	return c
}

func options(t testing.TB, c ...*run.Contestant) run.Options {
	all := corpus(t)
	return run.Options{
		Corpus: all, Traces: all.Traces(evals.Core), Contestants: c, Modes: []evals.Mode{evals.Forced, evals.Rollout}, Dir: t.TempDir(),
	}
}

// lines are those of a run's log.
func lines(t testing.TB, dir string) (list []*evals.StepResult) {
	r, err := evals.OpenLog(dir)
	require.NoError(t, err)
	for s, err := range r.Steps() {
		require.NoError(t, err)
		list = append(list, s)
	}
	require.NoError(t, r.Close())
	return list
}

func TestReferenceIsRight(t *testing.T) {
	o := options(t, referee)
	allRight(t, o, 2)
	s, err := evals.ReadSummary(o.Dir)
	require.NoError(t, err)
	assert.Equal(t, 2*(o.Traces[0].Steps+o.Traces[1].Steps), s.Steps)
}

// permuted is a trace under other numbers: a reference that gives out these is as right.
func permuted(t testing.TB, tr *evals.Trace, by uint64) *evals.Trace {
	g := score.NewGold(tr)
	s := g.Rollout()
	s.Number = func(kind score.Kind, n uint64) uint64 { return 1000 + by*n%997 }
	out := &evals.Trace{TraceInfo: tr.TraceInfo, Header: tr.Header}
	for i, p := range tr.Pairs {
		q := &trace.Pair{Req: s.Request(i), Note: p.Note}
		if p.Rep != nil {
			q.Rep = s.Adopt(i)
		} else {
			s.Pass(i)
		}
		out.Pairs = append(out.Pairs, q)
	}
	return out
}

func TestReferenceIsRightUnderOtherNumbers(t *testing.T) {
	files, names := sample.Files().Trace("files"), sample.Names().Trace("names")
	all, err := sample.Corpus(t.TempDir(), permuted(t, files, 7), permuted(t, names, 11))
	require.NoError(t, err)
	o := options(t, referee)
	o.Corpus, o.Traces = all, all.Traces(evals.Core)
	allRight(t, o, 2)
}

func BenchmarkForced(b *testing.B) { benchmark(b, evals.Forced) }

func BenchmarkRollout(b *testing.B) { benchmark(b, evals.Rollout) }

// benchmark runs the embedded corpus, as 'evals run' does.
func benchmark(b *testing.B, mode evals.Mode) {
	all, err := evals.Embedded()
	require.NoError(b, err)
	o := run.Options{Corpus: all, Traces: all.Traces(evals.Full), Contestants: []*run.Contestant{referee}, Modes: []evals.Mode{mode}, Dir: b.TempDir()}
	steps := 0
	for b.Loop() {
		s, err := run.Run(context.Background(), o)
		require.NoError(b, err)
		steps += s.Steps
	}
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
}

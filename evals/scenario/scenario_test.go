package scenario

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/internal/trace"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// child is how the test binary is told to be one of the recorder's processes.
const child = "scenario-child"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == child {
		if err := Main(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func corpus(t *testing.T) *evals.Corpus {
	c, err := evals.Embedded()
	require.NoError(t, err)
	require.NotEmpty(t, c.Manifest.Traces)
	return c
}

// Every trace is what the codec makes of it, and what a fresh filesystem says.
func TestTracesAreGold(t *testing.T) {
	c := corpus(t)
	for _, info := range c.Manifest.Traces {
		t.Run(info.Name, func(t *testing.T) {
			t.Parallel()
			tr, err := c.Trace(info)
			require.NoError(t, err)
			require.Equal(t, proto.OpInit, tr.Pairs[0].Req.Op)
			verify(t, tr)
			steps := 0
			err = Replay(tr.Header.Options, tr.Pairs, func(p *trace.Pair, rep *proto.Reply) error {
				if evals.Asked(p) {
					steps++
				}
				return Same(p, rep)
			})
			require.NoError(t, err)
			assert.Equal(t, info.Steps, steps)
			assert.Len(t, tr.Pairs, info.Pairs)
		})
	}
}

func verify(t *testing.T, tr *evals.Trace) {
	var b bytes.Buffer
	w, err := trace.NewWriter(&b, tr.Header)
	require.NoError(t, err)
	for _, p := range tr.Pairs {
		require.NoError(t, w.Write(p))
	}
	r, err := trace.NewReader(&b, tr.Name)
	require.NoError(t, err)
	report, err := trace.Verify(r)
	require.NoError(t, err)
	assert.Empty(t, report.Problems)
}

// The corpus has a trace of each scenario, in its tier, and no other.
func TestScenariosAreRecorded(t *testing.T) {
	list, err := Load(evals.Scenarios())
	require.NoError(t, err)
	var want, have []string
	for _, s := range list {
		want = append(want, fmt.Sprintf("%s %s %s %v", s.Name, s.Area, s.Tier, s.Mount.options()))
	}
	c := corpus(t)
	for _, info := range c.Manifest.Traces {
		tr, err := c.Trace(info)
		require.NoError(t, err)
		have = append(have, fmt.Sprintf("%s %s %s %v", info.Name, info.Area, info.Tier, tr.Header.Options))
	}
	assert.Equal(t, want, have)
}

// What is promised of the corpus.
func TestCoverage(t *testing.T) {
	v, err := corpus(t).Cover()
	require.NoError(t, err)
	assert.Len(t, v.Opcodes(), 45, "all that a plain mount can send")
	pairs := 0
	for _, tiers := range v.Cells {
		if tiers[evals.Full] > 0 {
			pairs++
		}
	}
	assert.GreaterOrEqual(t, pairs, 120)
	assert.InDelta(t, 500, v.Steps[evals.Core], 150, "core is for cents")
	assert.Greater(t, v.Steps[evals.Full], 3000)
}

// The same scenarios give the same bytes, which are those of the corpus.
func TestRecordingAgain(t *testing.T) {
	require.Zero(t, os.Geteuid(), "this test mounts: run it as root")
	list, err := Load(evals.Scenarios())
	require.NoError(t, err)
	again := []string{"files/basic", "locks/posix", "rename/stranger", "permissions/denied", "directories/pages"}
	c := corpus(t)
	for _, s := range list {
		if !slices.Contains(again, s.Name) {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			r := &Recorder{Self: []string{os.Args[0], child}, Work: t.TempDir(), Log: testLog{t}}
			require.NoError(t, os.Chmod(r.Work, 0o755))
			pairs, text, err := r.Record(t.Context(), s)
			require.NoError(t, err)
			i := slices.IndexFunc(c.Manifest.Traces, func(info evals.TraceInfo) bool { return info.Name == s.Name })
			require.GreaterOrEqual(t, i, 0)
			tr, err := c.Trace(c.Manifest.Traces[i])
			require.NoError(t, err)
			info, err := write(t.TempDir(), s, pairs, text)
			require.NoError(t, err)
			// INIT is what this kernel offers; all else is the scenario's.
			require.Equal(t, lines(t, tr.Pairs[1:]), lines(t, pairs[1:]))
			if same := lines(t, tr.Pairs[:1]) == lines(t, pairs[:1]); same {
				assert.Equal(t, tr.SHA256, info.SHA256)
			}
		})
	}
}

func lines(t *testing.T, pairs []*trace.Pair) string {
	var b []byte
	for _, p := range pairs {
		var err error
		b, err = trace.AppendPair(b, p)
		require.NoError(t, err)
	}
	return string(b)
}

type testLog struct{ *testing.T }

func (l testLog) Write(b []byte) (int, error) { l.Logf("%s", b); return len(b), nil }

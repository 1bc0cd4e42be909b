package kill_test

// The real thing: the mutants on the corpus, and the document that says what
// came of it.

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/evals/kill"
	"github.com/llmfs-raw/llmfs-raw/evals/run"
	"github.com/llmfs-raw/llmfs-raw/internal/model/faulty"
)

const document = "../KILLS.md"

// play has the mutants answer a tier of the built-in corpus.
func play(t *testing.T, tier evals.Tier) *kill.Matrix {
	c, err := evals.Embedded()
	require.NoError(t, err)
	dir, mutants := t.TempDir(), faulty.List()
	_, err = run.Run(context.Background(), run.Options{
		Corpus: c, Traces: c.Traces(tier), Contestants: kill.Contestants(mutants), Modes: kill.Modes, Dir: dir,
	})
	require.NoError(t, err)
	log, err := evals.OpenLog(dir)
	require.NoError(t, err)
	m := kill.New(mutants, tier)
	require.NoError(t, m.Add(log.Steps()))
	require.NoError(t, log.Close())
	return m
}

// core is run here; what the document says of full is held against the hash of
// its traces, and its own summary must meet the target.
func TestInstrumentHolds(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 15 seconds")
	}
	m := play(t, evals.Core)
	assert.Empty(t, m.Check())
	text, err := os.ReadFile(document)
	require.NoError(t, err)
	for _, line := range strings.Split(strings.TrimSpace(m.Summary()), "\n") {
		assert.Contains(t, string(text), line, "%s is stale: make kills", document)
	}
	for _, r := range m.Rows {
		row := "| " + r.Name + " | " + r.Bug + " |"
		for _, mode := range kill.Modes {
			row += " " + r.Cells[kill.Column{Tier: evals.Core, Mode: mode}].String() + " |"
		}
		assert.Contains(t, string(text), row, "%s is stale: make kills", document)
	}
}

func TestDocumentIsOfThisCorpus(t *testing.T) {
	c, err := evals.Embedded()
	require.NoError(t, err)
	text, err := os.ReadFile(document)
	require.NoError(t, err)
	traces := slices.Concat(c.Traces(evals.Full), c.Traces(evals.Long))
	assert.Equal(t, kill.Hash(traces), kill.HashOf(string(text)), "%s is stale: make kills", document)
	assert.NotRegexp(t, `full: .*, not `, string(text), "full kills every mutant")
}

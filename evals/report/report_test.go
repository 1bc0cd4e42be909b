package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/llmfs-raw/llmfs-raw/evals"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name string, write func(io.Writer) error) {
	t.Helper()
	var have bytes.Buffer
	require.NoError(t, write(&have))
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, have.Bytes(), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), have.String(), "go test ./evals/report -update")
}

func TestForms(t *testing.T) {
	rep := Build(runsOf(fakeRun(fakes[:4], 120, 3, evals.Forced, evals.Rollout)))
	golden(t, "report.txt", rep.WriteTable)
	golden(t, "report.md", rep.WriteMarkdown)
	golden(t, "report.csv", rep.WriteCSV)
}

func TestCompareForms(t *testing.T) {
	c, err := Compare(runsOf(fakeRun(fakes[1:3], 120, 2, evals.Forced)), runsOf(fakeRun(fakes[2:4], 120, 2, evals.Forced)), Choice{A: "large-2", B: "medium"})
	require.NoError(t, err)
	golden(t, "compare.txt", c.WriteTable)
	golden(t, "compare.md", c.WriteMarkdown)
}

func TestCSVIsRectangular(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, Build(runsOf(fakeRun(fakes, 60, 1, evals.Forced, evals.Rollout))).WriteCSV(&b))
	rows, err := csv.NewReader(&b).ReadAll() // an error where a row differs in length
	require.NoError(t, err)
	assert.Equal(t, csvHead, rows[0])
}

func TestJSONIsWhole(t *testing.T) {
	b, err := json.Marshal(Build(runsOf(fakeRun(fakes, 60, 2, evals.Forced, evals.Rollout))))
	require.NoError(t, err)
	var back Report
	require.NoError(t, json.Unmarshal(b, &back))
	require.Len(t, back.Entries, 2*len(fakes))
	assert.Equal(t, 1.0, back.Entries[0].Score.Share)
	assert.NotNil(t, back.Entries[len(fakes)].Survived)
}

// What models write must not move the cursor of who reads a table.
func TestTablesHoldNoControls(t *testing.T) {
	h, lines := fakeRun([]fake{{"evil\x1b[2J\u202e|`", 0.9, 0, 1}}, 40, 1, evals.Forced)
	for i := range lines {
		lines[i].Diffs = []evals.Diff{{Path: "Data", Want: "\x1b]0;owned\a", Have: "a\nb"}}
	}
	_, good := fakeRun([]fake{{"good", 0, 0, 1}}, 40, 1, evals.Forced)
	c, err := Compare(runsOf(h, good), runsOf(h, lines), Choice{})
	require.NoError(t, err)
	rep := Build(runsOf(h, lines))
	for _, write := range []func(io.Writer) error{rep.WriteTable, rep.WriteMarkdown, rep.WriteCSV, c.WriteTable, c.WriteMarkdown} {
		var b bytes.Buffer
		require.NoError(t, write(&b))
		assert.NotContains(t, b.String(), "\x1b")
		assert.NotContains(t, b.String(), "\u202e")
		assert.NotContains(t, b.String(), "\a")
	}
	var b bytes.Buffer
	lines[0].Diffs[0].Path = "<img src=x>"
	c, err = Compare(runsOf(h, good), runsOf(h, lines), Choice{})
	require.NoError(t, err)
	require.NoError(t, c.WriteMarkdown(&b))
	assert.NotContains(t, b.String(), "<img")
}

func one(t *testing.T, lines ...evals.StepResult) *Entry {
	t.Helper()
	rep := Build(runsOf(evals.LogHeader{}, lines))
	require.Len(t, rep.Entries, 1)
	return rep.Entries[0]
}

func line(pair int, stage evals.Stage, change func(*evals.StepResult)) evals.StepResult {
	s := evals.StepResult{Model: "m", Mode: evals.Forced, Trace: "t", Pair: pair, Op: "LOOKUP", Stage: stage, WantErrno: "OK", HaveErrno: "OK"}
	if change != nil {
		change(&s)
	}
	return s
}

func TestOutcomes(t *testing.T) {
	e := one(t,
		line(0, evals.Correct, func(s *evals.StepResult) { s.HaveErrno = "ENOENT" }), // POSIX allows several
		line(1, evals.Acceptable, nil),
		line(2, evals.Acceptable, func(s *evals.StepResult) { s.HaveErrno = "EIO" }),
		line(3, evals.Decodable, nil), line(4, evals.Valid, nil), line(5, evals.Answered, nil),
		line(6, evals.Unanswered, func(s *evals.StepResult) { s.Refused = true }),
		line(7, evals.Unanswered, func(s *evals.StepResult) { s.Infra = "503" }),
		line(8, evals.Correct, nil))
	assert.Equal(t, 8, e.Steps, "an error of the infrastructure is no step")
	assert.Equal(t, 1, e.Infra)
	assert.InDeltaSlice(t, []float64{2. / 8, 1. / 8, 1. / 8, 1. / 8, 2. / 8, 1. / 8}, e.Outcomes, 1e-12)
	assert.InDeltaSlice(t, []float64{1, 7. / 8, 6. / 8, 5. / 8, 4. / 8, 2. / 8}, e.Reached, 1e-12)
	assert.InDelta(t, 1./8, e.Refused, 1e-12)
}

func TestLaterLinesCount(t *testing.T) {
	infra := func(s *evals.StepResult) { s.Infra = "503" }
	wrong, right := line(0, evals.Acceptable, nil), line(0, evals.Correct, nil)
	failed := line(0, evals.Unanswered, infra)
	assert.Equal(t, 1.0, one(t, failed, right).Score.Share, "retried")
	assert.Equal(t, 1.0, one(t, right, failed).Score.Share, "an error takes no answer's place")
	e := one(t, wrong, right)
	assert.Equal(t, 1, e.Steps)
	assert.Equal(t, 1.0, e.Score.Share)
	assert.Empty(t, e.Failures(), "the failed line is gone from the sample, too")
	assert.Len(t, Build(runsOf(evals.LogHeader{}, []evals.StepResult{wrong, right})).Notes, 1)
}

// Rollouts: 3 of 4 steps, all of 4, cut off by an error after 2.
func TestRollouts(t *testing.T) {
	var lines []evals.StepResult
	add := func(trial, pair int, stage evals.Stage, survived, of int, infra string) {
		lines = append(lines, line(pair, stage, func(s *evals.StepResult) {
			s.Mode, s.Trial, s.Survived, s.Of, s.Infra, s.Ended = evals.Rollout, trial, survived, of, infra, of > survived
		}))
	}
	for pair := range 3 {
		add(0, pair, evals.Correct, 0, 0, "")
		add(1, pair, evals.Correct, 0, 0, "")
	}
	add(0, 3, evals.Acceptable, 3, 4, "")
	add(1, 3, evals.Correct, 4, 4, "")
	add(2, 0, evals.Correct, 0, 0, "")
	add(2, 1, evals.Correct, 0, 0, "")
	add(2, 2, evals.Unanswered, 0, 0, "503")
	s := one(t, lines...).Survived
	assert.Equal(t, 2, s.Rollouts)
	assert.Equal(t, 1, s.Completed)
	assert.Equal(t, 3.5, s.Mean)
	assert.Equal(t, 0.875, s.Share.Share)
	assert.Equal(t, []CurvePoint{{0, 1}, {3, 0.5}, {4, 0.5}}, s.Curve)
	assert.Equal(t, []float64{0.5, 0}, one(t, lines...).Pass)
}

// A report is the same whatever order parallel work left the lines in.
func TestOrderOfLinesDoesNotMatter(t *testing.T) {
	h, lines := fakeRun(fakes[2:5], 80, 2, evals.Forced, evals.Rollout)
	var want, have bytes.Buffer
	require.NoError(t, Build(runsOf(h, lines)).WriteCSV(&want))
	rnd := rand.New(rand.NewPCG(7, 8))
	rnd.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	require.NoError(t, Build(runsOf(h, lines)).WriteCSV(&have))
	assert.Equal(t, want.String(), have.String())
}

func TestLoad(t *testing.T) {
	h, lines := fakeRun(fakes[:2], 40, 1, evals.Forced)
	half := len(lines) / 2
	a := writeRun(t, t.TempDir()+"/a", true, h, lines[:half])
	b := writeRun(t, t.TempDir()+"/b", false, h, lines[half:])
	r, err := Load(a, b)
	require.NoError(t, err)
	rep := Build(r)
	assert.Len(t, rep.Entries, 2)
	assert.Equal(t, 40, rep.Entries[0].Steps, "shards are read as one")

	h.Context = "full"
	other := writeRun(t, t.TempDir()+"/other", true, h, lines)
	r, err = Load(a, b, other)
	require.NoError(t, err)
	assert.Equal(t, []string{"large-2", "large-2@other", "reference", "reference@other"}, r.models(""), "asked in another way")

	_, err = Load(t.TempDir())
	assert.ErrorContains(t, err, "steps.jsonl")
}

func TestLoadOfATornLog(t *testing.T) {
	h, lines := fakeRun(fakes[:1], 40, 1, evals.Forced)
	dir := writeRun(t, t.TempDir(), false, h, lines)
	path := filepath.Join(dir, "steps.jsonl")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text[:len(text)-100], 0o644))
	r, err := Load(dir)
	require.NoError(t, err)
	assert.Equal(t, 39, Build(r).Entries[0].Steps)
	assert.Contains(t, strings.Join(r.Notes, " "), "torn")

	require.NoError(t, os.WriteFile(path, []byte("{\"hello\":1}\n"), 0o644))
	_, err = Load(dir)
	assert.ErrorContains(t, err, "no header")
}

// A killed run leaves a compressed log that ends anywhere.
func TestLoadOfACutCompressedLog(t *testing.T) {
	h, lines := fakeRun(fakes[:1], 3000, 1, evals.Forced)
	dir := writeRun(t, t.TempDir(), true, h, lines)
	path := filepath.Join(dir, "steps.jsonl.zst")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text[:len(text)*3/4], 0o644))
	r, err := Load(dir)
	require.NoError(t, err)
	steps := Build(r).Entries[0].Steps
	assert.Greater(t, steps, 100)
	assert.Less(t, steps, 3000)
	assert.Contains(t, strings.Join(r.Notes, " "), "torn")
}

func TestLoadOfAFutureLog(t *testing.T) {
	h, lines := fakeRun(fakes[:1], 5, 1, evals.Forced)
	h.Version = evals.LogVersion + 1
	_, err := Load(writeRun(t, t.TempDir(), true, h, lines))
	assert.ErrorContains(t, err, "have version 2, want 1")
}

// A comparison with oneself has no difference and no certainty; swapped, it is the other way round.
func TestCompareIsAntisymmetric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.IntRange(0, 6).Draw(t, "model")
		a, b := runsOf(fakeRun(fakes[seed:seed+1], 60, 2, evals.Forced)), runsOf(fakeRun(fakes[seed+1:seed+2], 60, 2, evals.Forced))
		there, err := Compare(a, b, Choice{})
		require.NoError(t, err)
		back, err := Compare(b, a, Choice{})
		require.NoError(t, err)
		p, q := there.Pairs[0], back.Pairs[0]
		require.InDelta(t, p.Diff.Mean, -q.Diff.Mean, 1e-12)
		require.InDelta(t, p.Diff.Low, -q.Diff.High, 1e-12)
		require.Equal(t, p.OnlyA, q.OnlyB)
		require.Equal(t, len(p.Flips), len(q.Flips))
		require.LessOrEqual(t, p.Diff.Low, p.Diff.Mean)
		require.LessOrEqual(t, p.Diff.Mean, p.Diff.High)
		require.InDelta(t, p.ShareB-p.ShareA, p.Diff.Mean, 1e-12)
		require.Equal(t, 120, p.BothRight+p.OnlyA+p.OnlyB+p.BothWrong)
	})
}

func TestCompareOfTheSame(t *testing.T) {
	a := runsOf(fakeRun(fakes, 100, 1, evals.Forced))
	c, err := Compare(a, a, Choice{})
	require.NoError(t, err)
	require.Len(t, c.Pairs, len(fakes))
	for _, p := range c.Pairs {
		assert.Zero(t, p.Diff.Mean)
		assert.Negative(t, p.Diff.Low)
		assert.Empty(t, p.Flips)
	}
	_, err = Compare(a, a, Choice{A: "nobody"})
	assert.ErrorContains(t, err, "nobody")
	_, err = Compare(runsOf(fakeRun(fakes[:2], 20, 1, evals.Forced)), runsOf(fakeRun(fakes[4:6], 20, 1, evals.Forced)), Choice{})
	assert.ErrorContains(t, err, "no model")
}

func TestSampleIsBoundedAndShared(t *testing.T) {
	h, lines := fakeRun([]fake{{"a", 0.95, 0, 1}, {"b", 0.95, 0, 1}}, 3000, 1, evals.Forced)
	for i := range lines {
		lines[i].Reply = strings.Repeat("é", 1<<14)
	}
	rep := Build(runsOf(h, lines))
	var steps [2][]int
	for i, e := range rep.Entries {
		failures := e.Failures()
		require.Len(t, failures, sampleSize)
		for _, f := range failures {
			require.LessOrEqual(t, len(f.Reply), textLimit+40)
			require.Contains(t, f.Reply, "[cut: ")
			steps[i] = append(steps[i], f.Step)
		}
	}
	shared := 0
	for _, s := range steps[0] {
		if slices.Contains(steps[1], s) {
			shared++
		}
	}
	assert.Greater(t, shared, sampleSize*3/4)
	var page bytes.Buffer
	require.NoError(t, rep.WriteHTML(&page))
	assert.Less(t, page.Len(), 10<<20)
}

// The budget holds where every step of many models fails with long replies.
func TestPageIsBounded(t *testing.T) {
	models := manyFakes(40)
	for i := range models {
		models[i].err = 0.97
	}
	h, lines := fakeRun(models, 400, 1, evals.Forced)
	for i := range lines {
		lines[i].Reply = strings.Repeat("<script>", 300) + lines[i].Model
	}
	var page bytes.Buffer
	require.NoError(t, Build(runsOf(h, lines)).WriteHTML(&page))
	assert.Less(t, page.Len(), 10<<20)
	assert.NotContains(t, page.String(), "<script><script>")
}

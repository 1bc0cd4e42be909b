package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

func TestContexts(t *testing.T) {
	for text, want := range map[string]Context{
		"none": {}, "full": {Kind: Full}, "window:3": {Window, 3}, "window": {Window, 8}, "ledger": {Ledger, 8}, "ledger:1": {Ledger, 1},
	} {
		c, err := ParseContext(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, c, text)
		again, err := ParseContext(c.String())
		require.NoError(t, err)
		assert.Equal(t, c, again)
	}
	for _, text := range []string{"", "all", "full:3", "window:0", "window:x", "ledger:-1", "ledger:"} {
		_, err := ParseContext(text)
		assert.ErrorContains(t, err, "want", text)
	}
}

func TestPersonas(t *testing.T) {
	file := filepath.Join(t.TempDir(), "library")
	require.NoError(t, os.WriteFile(file, []byte("A library.\n"), 0o644))
	for given, want := range map[string]string{file: "A library.", "A museum of clocks.": "A museum of clocks.", "two\nlines": "two\nlines"} {
		text, err := ReadPersona(given)
		require.NoError(t, err)
		assert.Equal(t, want, text)
		assert.Contains(t, SystemMessage(&Options{Persona: text}), "# This world\n\n"+want)
	}
	_, err := ReadPersona(t.TempDir())
	assert.Error(t, err)
}

func TestPrices(t *testing.T) {
	file := filepath.Join(t.TempDir(), "prices.json")
	require.NoError(t, os.WriteFile(file, []byte(`[{"Model":"gpt-4o","Input":1,"Output":2},{"Model":"local/*"}]`), 0o644))
	own, err := LoadPrices(file)
	require.NoError(t, err)
	assert.Equal(t, 1.0, own.Find("gpt-4o").Input, "the file comes first")
	assert.NotNil(t, own.Find("local/llama"))
	assert.NotNil(t, own.Find("gpt-4.1-mini-2025-04-14"))
	assert.Nil(t, own.Find("gpt-4o-of-tomorrow"), "no price is invented")
	listed, err := LoadPrices("")
	require.NoError(t, err)
	for _, p := range listed {
		_, err := time.Parse(time.DateOnly, p.Date)
		assert.NoError(t, err, p.Model)
		assert.NotEmpty(t, p.Source, p.Model)
		assert.Less(t, p.Cached, p.Input, p.Model)
		assert.Less(t, p.Input, p.Output, p.Model)
	}
	for _, text := range []string{`[{"Model":"[","Input":1}]`, `[{"Input":1}]`, `[{"Model":"x","Input":-1}]`, `{`} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		_, err := LoadPrices(file)
		assert.Error(t, err, text)
	}
	_, err = LoadPrices(file + ".none")
	assert.Error(t, err)
	p := &Price{Input: 2, Cached: 1, Output: 8}
	assert.InDelta(t, 2+1+8, p.Cost(model.Usage{InputTokens: 2e6, CachedTokens: 1e6, OutputTokens: 1e6}), 1e-9)
}

func TestLatencies(t *testing.T) {
	var l latencies
	assert.Zero(t, l.percentile(0.5))
	for i := range 100 {
		l.add(time.Duration(i+1) * time.Millisecond)
	}
	assert.InEpsilon(t, float64(50*time.Millisecond), float64(l.percentile(0.50)), 0.1)
	assert.InEpsilon(t, float64(95*time.Millisecond), float64(l.percentile(0.95)), 0.1)
	l.add(24 * time.Hour)
}

// tree is a directory with a bit of everything.
func tree(t *testing.T) string {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "d/e"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "d/hello.txt"), []byte("hello\n"), 0o640))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "d/empty"), nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "large"), []byte(strings.Repeat("text ", 2000)), 0o644))
	require.NoError(t, os.Symlink("d/hello.txt", filepath.Join(dir, "link")))
	require.NoError(t, os.Link(filepath.Join(dir, "d/hello.txt"), filepath.Join(dir, "again")))
	return dir
}

func TestASeedIsKnownFromTheStart(t *testing.T) {
	seed, err := ReadSeed(tree(t))
	require.NoError(t, err)
	assert.Equal(t, 8, seed.Files)
	assert.EqualValues(t, 10006, seed.Bytes, "a second link is no second content")
	o := conversation(Ledger, 8)
	o.Seed = seed
	m := &script{lines: []string{missing}}
	c := callerOf(t, New(m, o))
	c.lookup(1, "link")
	text := m.prompts[0].Messages[1].Content
	assert.Contains(t, text, `"Target":"d/hello.txt"`)
	assert.Contains(t, text, `"Complete":true,"Count":4,"Entries":[{"Name":"link","NodeId":`)
	id := New(m, o).memory.ledger.nodes[1].entries["again"].node
	c.do(proto.OpRead, id, &fuse.ReadIn{Size: 4096}, "")
	text = m.prompts[1].Messages[3].Content
	assert.Contains(t, text, `"Content":[{"Offset":0,"Data":"hello\n"}]`)
	assert.Contains(t, text, `"Nlink":2`)
}

func TestASeedInTheSystemMessage(t *testing.T) {
	seed, err := ReadSeed(tree(t))
	require.NoError(t, err)
	o := conversation(Full, 0)
	o.Seed = seed
	text := SystemMessage(&o)
	assert.Contains(t, text, `"Data":"hello\n"`)
	assert.Contains(t, text, "text text text")
	o.SeedTokens = 1500
	text = SystemMessage(&o)
	assert.NotContains(t, text, "text text text")
	assert.Contains(t, text, "Not shown: 0 entries, 10000 bytes of content.")
	o.Context.Kind = Ledger
	assert.NotContains(t, SystemMessage(&o), "hello.txt")
}

func TestSeedsThatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	_, err := ReadSeed(file)
	assert.ErrorContains(t, err, "seed: ")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	_, err = ReadSeed(file)
	assert.ErrorContains(t, err, "want a directory")
	require.NoError(t, os.Truncate(file, MaxSeed+1))
	_, err = ReadSeed(filepath.Dir(file))
	assert.ErrorContains(t, err, "over 64 MiB")
}

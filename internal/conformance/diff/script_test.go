// Scripts: those in testdata are run on every mode, and their text is read back as it was written.

package diff

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestScripts runs the named scripts, each of which is a former failure headed by its reason.
func TestScripts(t *testing.T) {
	requireMounting(t)
	paths, err := filepath.Glob("testdata/*.script")
	require.NoError(t, err)
	for _, mode := range modes {
		t.Run(mode.Name, func(t *testing.T) {
			w := newWorld(t, &mode.Mode)
			for _, path := range paths {
				name := strings.TrimSuffix(filepath.Base(path), ".script")
				t.Run(name, func(t *testing.T) { runScript(t, w, path) })
			}
		})
	}
}

func runScript(t *testing.T, w *World, path string) {
	script := readScript(t, path)
	if failure := w.Run(script); failure != nil {
		t.Fatalf("%s", failure)
	}
}

func readScript(t *testing.T, path string) Script {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(text), "# "), "%s: want the reason in a comment at the head", path)
	script, err := ParseScript(strings.NewReader(string(text)))
	require.NoError(t, err, path)
	return script
}

func TestScriptText(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		script := Scripts.Draw(rt, "script")
		again, err := ParseScript(strings.NewReader(script.String()))
		require.NoError(rt, err)
		require.Equal(rt, script.String(), again.String())
		require.Len(rt, again.Ops, len(script.Ops))
	})
}

func TestScriptErrors(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"p9 mkdir a 0", `line 1: process "p9": want p0 to p3`},
		{"p0 mkdri a 0", `line 1: call "mkdri" is not in the table`},
		{"p0 mkdir a", "line 1: mkdir: have 1 arguments, want 2"},
		{"p0 mkdir a x", `line 1: mkdir: argument 2: number "x": "x" is neither a number nor a constant`},
		{"p0 open a 0 0", `line 1: open: result goes to ""`},
		{"p0 mkdir a 0 -> f0", `line 1: mkdir: result goes to "f0"`},
		{"p0 read x 1", `line 1: read: argument 1: descriptor slot "x": want one of [f0 f1 f2]`},
		{`p0 write f0 "x"2`, `line 1: write: argument 2: data "\"x\"2": "2" follows the quotes`},
	} {
		_, err := ParseScript(strings.NewReader(c.line))
		require.EqualError(t, err, c.want)
	}
}

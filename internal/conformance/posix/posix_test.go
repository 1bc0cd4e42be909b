// Package posix runs go-fuse's POSIX conformance tests through a real mount.
package posix

import (
	"maps"
	"slices"
	"testing"

	"github.com/hanwen/go-fuse/v2/posixtest"

	"github.com/llmfs-raw/llmfs-raw/internal/conformance/mounttest"
)

// modes are the mount's ways to do file I/O: through the page cache or around it.
var modes = []struct {
	name  string
	flags []string
}{
	{"cached", nil},
	{"direct-io", []string{"--direct-io"}},
}

// excluded are tests that no filesystem passes.
var excluded = map[string]string{
	"FcntlFlockLocksFile": "wants record locks of one process to conflict; posixtest's own TestAll skips it, too",
}

func TestMain(m *testing.M) { mounttest.Main(m) }

// TestPosix gives each test a fresh mount. One that skips itself fails here: the
// skips are for filesystems that lack a feature, and this one has all of them.
func TestPosix(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.name, func(t *testing.T) {
			passed, names := 0, runnable()
			for _, name := range names {
				if runOne(t, name, mode.flags) {
					passed++
				}
			}
			t.Logf("%s: %d of %d tests passed", mode.name, passed, len(names))
		})
	}
}

func runnable() []string {
	names := slices.Sorted(maps.Keys(posixtest.All))
	return slices.DeleteFunc(names, func(name string) bool {
		_, skip := excluded[name]
		return skip
	})
}

func runOne(t *testing.T, name string, flags []string) bool {
	return t.Run(name, func(t *testing.T) {
		t.Cleanup(func() {
			if t.Skipped() {
				t.Error("the test skipped itself")
			}
		})
		posixtest.All[name](t, mounttest.Mount(t, flags...))
	})
}

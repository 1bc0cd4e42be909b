// Package programs runs real programs through a real mount: one script for each
// in testdata, whose first comment says what it proves.
package programs

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/internal/conformance/mounttest"
)

var dirFlag = flag.String("dir", "", "run the scripts in this directory, for instance on tmpfs, instead of a mount for each")

var cacheFlag = flag.String("cache", "normal", "the mode of the mounts")

// needed is the Debian package of each program that a script calls.
var needed = map[string]string{
	"dbench":    "dbench",
	"diff":      "diffutils",
	"fio":       "fio",
	"flock":     "util-linux",
	"gcc":       "gcc",
	"getfacl":   "acl",
	"getfattr":  "attr",
	"git":       "git",
	"make":      "make",
	"postmark":  "postmark",
	"python3":   "python3",
	"rsync":     "rsync",
	"sqlite3":   "sqlite3",
	"stress-ng": "stress-ng",
	"tar":       "tar",
	"vim":       "vim",
}

func TestMain(m *testing.M) { mounttest.Main(m) }

func TestPrograms(t *testing.T) { runAll(t, *cacheFlag) }

// TestProgramsWithoutOpen runs some of them where most requests never happen.
func TestProgramsWithoutOpen(t *testing.T) {
	if *dirFlag == "" && *cacheFlag == "normal" {
		runAll(t, "aggressive", "git", "locks", "sqlite", "tar")
	}
}

// runAll runs the scripts of these names, or all.
func runAll(t *testing.T, cache string, names ...string) {
	mounttest.NeedPrograms(t, needed)
	scripts, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, scripts)
	for _, script := range scripts {
		name := strings.TrimSuffix(filepath.Base(script), ".txtar")
		if len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, script, cache)
		})
	}
}

func run(t *testing.T, script, cache string) {
	deadline, _ := t.Deadline()
	testscript.RunT(inline{t}, testscript.Params{
		Files:       []string{script},
		WorkdirRoot: workdir(t, cache),
		Condition:   condition,
		Setup:       func(env *testscript.Env) error { return setup(t, env) },
		Deadline:    deadline,
	})
}

// workdir is where the script's $WORK is made: everything it writes there, its
// own files included, goes through the mount.
func workdir(t *testing.T, cache string) string {
	if *dirFlag == "" {
		return mounttest.Mount(t, "--allow-other", "--dev", "--suid", "--cache", cache)
	}
	dir, err := os.MkdirTemp(*dirFlag, "programs")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// setup gives the script a home on the mount and $OUTSIDE, a directory that is not.
func setup(t *testing.T, env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	env.Setenv("HOME", home)
	env.Setenv("OUTSIDE", t.TempDir())
	env.Setenv("LC_ALL", "C")
	env.Setenv("TZ", "UTC")
	return os.Mkdir(home, 0o755)
}

// inline is a testscript.T that runs its one script in the test itself.
type inline struct{ *testing.T }

func (t inline) Run(_ string, f func(testscript.T)) { f(t) }
func (t inline) Parallel()                          {}
func (t inline) Verbose() bool                      { return testing.Verbose() }

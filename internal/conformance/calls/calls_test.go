// Package calls counts what reaches the model: with --cache aggressive, most
// requests never happen. The daemon itself says how many it has answered; files
// that the kernel has never seen come from --seed.
package calls

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/internal/conformance/mounttest"
)

func TestMain(m *testing.M) { mounttest.Main(m) }

// step is a script of sh, where $M is the mount, and how many requests it may cost.
type step struct {
	script string
	calls  int
}

var workloads = []struct {
	name  string
	steps []step
}{
	{"a small file never seen", []step{{"cat $M/file1", 1}, {"cat $M/file1", 0}}},
	// stat(1) also wants the birth time, which no LOOKUP tells: STATX.
	{"a known file", []step{{"stat $M/file1", 2}, {"stat $M/file1", 0}, {"cat $M/file1", 0}}},
	{"a root never listed", []step{{"ls -l $M", 1}, {"ls -l $M", 0}, {"cat $M/file1 $M/file2 $M/file3", 0}}},
	{"a missing name", []step{{"! cat $M/missing 2>&-", 1}, {"! cat $M/missing 2>&-", 0}}},
	// The kernel forgets a directory's attributes at each change of it.
	{"a new file", []step{{"echo x > $M/new", 3}, {"echo x > $M/new2", 4}}},
	// LOOKUP, SETATTR and WRITE; then the attributes, and a page that was written in part.
	{"a file overwritten", []step{{"echo x > $M/file1", 3}, {"read x < $M/file1; test $x = x", 2}}},
	{"a file appended to", []step{{"cat $M/file1", 1}, {"echo y >> $M/file1", 1}}},
}

// warmUp has the kernel find out, on other files, what it need not ask: what is
// off is said once a mount.
const warmUp = "cat $M/warm/file; ls -l $M/warm; echo x > $M/warm/new; stat $M"

func TestRequestsThatNeverHappen(t *testing.T) {
	seed := seedDir(t)
	for _, w := range workloads {
		t.Run(w.name, func(t *testing.T) {
			d := mounttest.Start(t, "--cache", "aggressive", "--seed", seed)
			count(t, d, warmUp)
			for _, s := range w.steps {
				n := count(t, d, s.script)
				fmt.Printf("%-40s %d requests, at most %d\n", s.script, n, s.calls)
				assert.LessOrEqual(t, n, s.calls, s.script)
			}
		})
	}
}

// commit is git's first commit of three files.
const commit = `
cd $M
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
git init -q repo && cd repo
for name in a b c; do echo $name > $name.txt; done
git add .
git -c user.name=n -c user.email=e commit -q -m first
git status --short`

func TestGit(t *testing.T) {
	mounttest.NeedPrograms(t, map[string]string{"git": "git"})
	counts := map[string]int{}
	for _, cache := range []string{"none", "normal", "aggressive"} {
		t.Run(cache, func(t *testing.T) { counts[cache] = count(t, mounttest.Start(t, "--cache", cache), commit) })
	}
	ratio := float64(counts["aggressive"]) / float64(counts["none"])
	fmt.Printf("git init, add, commit: %d requests uncached, %d normally, %d aggressively: %.2f of uncached\n",
		counts["none"], counts["normal"], counts["aggressive"], ratio)
	assert.LessOrEqual(t, ratio, 0.5)
}

// seedDir has thirty small files, and a directory to warm up with.
func seedDir(t *testing.T) string {
	dir := t.TempDir()
	for i := range 30 {
		text := fmt.Sprintf("this is file %d\n", i)
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("file%d", i)), []byte(text), 0o644))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "warm"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "warm", "file"), []byte("warm\n"), 0o644))
	return dir
}

// count runs a script and tells how many requests reached the model.
func count(t *testing.T, d *mounttest.Daemon, script string) int {
	t.Helper()
	before, err := d.Answered()
	require.NoError(t, err)
	cmd := exec.Command("sh", "-ec", script)
	cmd.Env = append(os.Environ(), "M="+d.Dir)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s: %s", script, out)
	after, err := d.Answered()
	require.NoError(t, err)
	return after - before
}

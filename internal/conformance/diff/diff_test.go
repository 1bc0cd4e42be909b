// The property: no sequence of system calls tells the mount from a tmpfs.

package diff

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) {
	RunWorker()
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	var err error
	if scratch, err = os.MkdirTemp("", "diff"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(scratch)
	return m.Run()
}

// modes are the ways to mount, with their share of the sequences.
var modes = []struct {
	Mode
	share float64
}{
	{Mode{Name: "default", Target: Command{}}, 0.4},
	{Mode{Name: "uncached", Target: Command{[]string{"--cache", "none", "--readdirplus=false"}}, Uncached: true}, 0.2},
	{Mode{Name: "direct-io", Target: Command{[]string{"--direct-io"}}, Direct: true}, 0.2},
	{Mode{Name: "own-permissions", Target: Command{[]string{"--own-permissions", "--cache", "none"}}, Uncached: true, OwnPermissions: true}, 0.2},
	{Mode{Name: "aggressive", Target: Command{[]string{"--cache", "aggressive"}}, Aggressive: true}, 0.2},
	{Mode{Name: "remounted", Target: Command{}, Fresh: true}, 0.01},
}

// defaultSequences run in about a minute on two cores.
const defaultSequences = 2500

// sequences is how many sequences to run: the number in DIFF_SEQUENCES, or a share of the default.
func sequences(t *testing.T, share float64) int {
	if text := os.Getenv("DIFF_SEQUENCES"); text != "" {
		n, err := strconv.Atoi(text)
		require.NoError(t, err, "DIFF_SEQUENCES")
		return n
	}
	n := defaultSequences * share
	if testing.Short() {
		n /= 4 // and rapid divides by five again
	}
	return max(1, int(n))
}

func TestMountIsLikeTmpfs(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.Name, func(t *testing.T) {
			requireMounting(t)
			explore(t, &mode.Mode, sequences(t, mode.share))
		})
	}
}

// TestTmpfsIsLikeTmpfs proves that sequences and comparison are deterministic.
func TestTmpfsIsLikeTmpfs(t *testing.T) {
	requireMounting(t)
	explore(t, &Mode{Name: "tmpfs", Target: Tmpfs{}, Direct: true, Twin: true}, sequences(t, 0.2))
}

func requireMounting(t *testing.T) {
	t.Helper()
	require.Zero(t, os.Getuid(), "mounting and the actors' identities need root")
	_, err := os.Stat("/dev/fuse")
	require.NoError(t, err)
}

// newWorld mounts both sides for the time of the test.
func newWorld(t *testing.T, mode *Mode) *World {
	t.Helper()
	w, err := NewWorld(mode)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	return w
}

// explore runs random sequences and says how many.
func explore(t *testing.T, mode *Mode, n int) {
	w := newWorld(t, mode)
	setChecks(t, n)
	var last *Failure
	defer func() {
		if last != nil {
			t.Errorf("shortest:\n%s", w.Shrink(last))
		}
	}()
	start := time.Now()
	defer func() {
		took := time.Since(start).Round(time.Millisecond)
		fmt.Printf("%s: %d sequences, %d calls on each side, %v\n", mode.Name, w.Sequences, w.Calls, took)
	}()
	rapid.Check(t, func(rt *rapid.T) {
		if failure := w.Run(Scripts.Draw(rt, "script")); failure != nil {
			last = failure
			rt.Fatal("the mount differs from tmpfs")
		}
	})
}

// setChecks tells rapid the number of sequences, unless the command line did, to write no files
// and to leave most of the shrinking to Shrink.
func setChecks(t *testing.T, n int) {
	byHand := false
	flag.Visit(func(f *flag.Flag) { byHand = byHand || f.Name == "rapid.checks" })
	require.NoError(t, flag.Set("rapid.nofailfile", "true"))
	require.NoError(t, flag.Set("rapid.shrinktime", "5s"))
	if !byHand {
		require.NoError(t, flag.Lookup("rapid.checks").Value.Set(strconv.Itoa(n)))
	}
}

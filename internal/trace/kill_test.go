package trace

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// recordForever is the child of TestKill: it records pairs without end, and
// prints each number once its pair is recorded.
func recordForever(path string) error {
	w, err := Create(path, testHeader, Options{})
	if err != nil {
		return err
	}
	for u := uint64(2); ; u += 2 {
		if err := w.Write(lookup(u)); err != nil {
			return err
		}
		fmt.Println(u)
	}
}

func TestMain(m *testing.M) {
	if path := os.Getenv("TRACE_RECORD_FOREVER"); path != "" {
		fmt.Fprintln(os.Stderr, recordForever(path))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// A recording daemon killed at any moment loses nothing that it acknowledged.
func TestKill(t *testing.T) {
	for _, ext := range []string{".jsonl", ".jsonl.zst"} {
		for i := range 8 {
			path := filepath.Join(t.TempDir(), strconv.Itoa(i)+ext)
			last := recordAndKill(t, path)
			r, err := Open(path)
			require.NoError(t, err)
			var read uint64
			for p, err := range r.Pairs() {
				require.NoError(t, err)
				requireLookup(t, read+2, p)
				read += 2
			}
			require.GreaterOrEqual(t, read, last)
			require.NoError(t, r.Close())
		}
	}
}

// recordAndKill returns the last number that the child printed.
func recordAndKill(t *testing.T, path string) (last uint64) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "TRACE_RECORD_FOREVER="+path)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())
	time.AfterFunc(rand.N(30*time.Millisecond), func() { cmd.Process.Kill() })
	for ok := true; ok; ok = lines.Scan() {
		if n, err := strconv.ParseUint(lines.Text(), 10, 64); err == nil && n > last {
			last = n
		}
	}
	require.Error(t, cmd.Wait())
	return last
}

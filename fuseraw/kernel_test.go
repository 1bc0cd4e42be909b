package fuseraw

// Tests with the kernel: they need root and /dev/fuse, and fail without.

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// serve mounts h for the length of the test.
func serve(t testing.TB, o Options, h Handler) (c *Conn, dir string) {
	t.Helper()
	requireKernel(t)
	dir = t.TempDir()
	c, err := Mount(dir, o)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Serve(ctx, h) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-done:
			require.NoError(t, err)
		case <-time.After(10 * time.Second):
			t.Fatal("Serve does not return")
		}
		require.NoError(t, os.Remove(dir), "the mount is still there")
	})
	return c, dir
}

// requireKernel skips on a developer's machine without FUSE, never in CI.
func requireKernel(t testing.TB) {
	t.Helper()
	f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err == nil {
		f.Close()
		return
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("the tests of this package need /dev/fuse: %v", err)
	}
	t.Skipf("no /dev/fuse: %v", err)
}

func TestMountServesAFile(t *testing.T) {
	_, dir := serve(t, Options{}, hello{})
	b, err := os.ReadFile(filepath.Join(dir, helloName))
	require.NoError(t, err)
	require.Equal(t, helloText, string(b))
	names, err := filepath.Glob(dir + "/*")
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(dir, helloName)}, names)
	_, err = os.Stat(filepath.Join(dir, "missing"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

package fuseraw

// The ways in which a mount ends, with the kernel.

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/llmfs-raw/llmfs-raw/proto"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// holder is a program that holds a file open.
type holder struct {
	stdin io.Writer
	out   *bufio.Reader
	wait  func() error
}

func hold(t *testing.T, path string) holder {
	t.Helper()
	cmd := helper("hold", path)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	h := holder{stdin: in, out: bufio.NewReader(out), wait: cmd.Wait}
	require.Equal(t, "open\n", h.line(t))
	return h
}

func (h holder) line(t *testing.T) string {
	t.Helper()
	line, err := h.out.ReadString('\n')
	require.NoError(t, err)
	return line
}

func TestUnmount(t *testing.T) {
	_, dir := serve(t, Options{}, hello{})
	lazy, err := Unmount(dir)
	require.NoError(t, err)
	assert.False(t, lazy)
	_, err = Unmount(dir)
	assert.EqualError(t, err, "unmount "+dir+": have no mount there, want fuse.llmfs-raw")
	_, err = Unmount("/proc")
	assert.EqualError(t, err, "unmount /proc: have proc there, want fuse.llmfs-raw")
}

func TestUnmountOfAConnection(t *testing.T) {
	t.Run("served", func(t *testing.T) {
		c, _ := serve(t, Options{}, hello{})
		require.NoError(t, c.Unmount())
		<-c.ended
	})
	t.Run("busy", func(t *testing.T) {
		c, dir := serve(t, Options{}, hello{})
		h := hold(t, filepath.Join(dir, helloName))
		require.NoError(t, c.Unmount())
		h.stdin.Write([]byte("\n"))
		assert.Equal(t, helloText, h.line(t))
		require.NoError(t, h.wait())
		<-c.ended
	})
	t.Run("never served", func(t *testing.T) {
		requireKernel(t)
		dir := t.TempDir()
		c, err := Mount(dir, Options{})
		require.NoError(t, err)
		require.NoError(t, c.Unmount())
		require.NoError(t, os.Remove(dir))
		assert.True(t, c.dev.closed)
	})
	t.Run("without a mount point", func(t *testing.T) {
		k := booted(t, Options{}, hello{})
		require.NoError(t, k.conn.Unmount())
		require.NoError(t, <-k.done)
	})
}

// A busy mount is gone from the tree at once, and works for whoever is in it.
func TestUnmountOfABusyMountIsLazy(t *testing.T) {
	c, dir := serve(t, Options{}, hello{})
	h := hold(t, filepath.Join(dir, helloName))
	lazy, err := Unmount(dir)
	require.NoError(t, err)
	assert.True(t, lazy)
	_, err = findMount(dir)
	require.Error(t, err)
	h.stdin.Write([]byte("\n"))
	assert.Equal(t, helloText, h.line(t))
	require.NoError(t, h.wait())
	select {
	case <-c.ended:
	case <-time.After(5 * time.Second):
		t.Fatal("Serve goes on although the last program is gone")
	}
}

func TestUnmountByAnotherName(t *testing.T) {
	_, dir := serve(t, Options{}, hello{})
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	_, err := Unmount(link)
	require.NoError(t, err)
}

// Serve's context ends a mount whatever goes on in it.
func TestCancelOfABusyMount(t *testing.T) {
	requireKernel(t)
	dir := t.TempDir()
	c, err := Mount(dir, Options{})
	require.NoError(t, err)
	hook, began := once(sleeps(time.Second))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Serve(ctx, hooked(proto.OpOpendir, hook)) }()
	h := hold(t, filepath.Join(dir, helloName))
	cmd := start(t, began, "ls", dir)
	cancelled := time.Now()
	cancel()
	cmd.Wait()
	assert.Less(t, time.Since(cancelled), 500*time.Millisecond, "the caller in flight is answered")
	require.NoError(t, <-done)
	assert.Less(t, time.Since(cancelled), 3*time.Second)
	requireNoGoroutines(t)
	require.NoError(t, os.Remove(dir))
	h.stdin.Write([]byte("\n"))
	assert.Contains(t, h.line(t), "transport endpoint is not connected")
	h.wait()
}

func TestKilledDaemonIsClearedAway(t *testing.T) {
	requireKernel(t)
	dir := t.TempDir()
	daemon := helper("daemon", dir)
	out, err := daemon.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, daemon.Start())
	_, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	h := hold(t, filepath.Join(dir, helloName))
	require.NoError(t, daemon.Process.Kill())
	daemon.Wait()
	_, err = os.Stat(dir)
	require.ErrorIs(t, err, syscall.ENOTCONN)
	_, err = Unmount(dir)
	require.NoError(t, err)
	require.NoError(t, os.Remove(dir))
	h.stdin.Write([]byte("\n"))
	h.wait()
}

// A descriptor that somebody else has mounted: there is no mount point to
// unmount, so the end is that of the connection.
func TestMountedDescriptor(t *testing.T) {
	requireKernel(t)
	dir := t.TempDir()
	fd, err := mountDirect(dir, Options{FsName: "test"}.withDefaults())
	require.NoError(t, err)
	c, err := Mount("/dev/fd/"+strconv.Itoa(fd), Options{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Serve(ctx, hello{}) }()
	text, err := run("cat", filepath.Join(dir, helloName))
	require.NoError(t, err)
	assert.Equal(t, helloText, text)
	h := hold(t, filepath.Join(dir, helloName))
	cancel()
	require.NoError(t, <-done)
	requireNoGoroutines(t)
	var st unix.Stat_t
	assert.ErrorIs(t, unix.Stat(dir, &st), unix.ENOTCONN, "the kernel has ended the connection")
	_, err = Unmount(dir)
	require.NoError(t, err)
	h.stdin.Write([]byte("\n"))
	h.wait()
}

// The descriptor is given back, and those of callers.
func TestNoDescriptorsAreLeft(t *testing.T) {
	requireKernel(t)
	count := func() int {
		fds, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		return len(fds)
	}
	var before int
	for round := range 5 {
		dir := t.TempDir()
		c, err := Mount(dir, Options{Init: proto.InitOptions{OwnPermissions: true}})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- c.Serve(ctx, hello{}) }()
		_, err = run("cat", filepath.Join(dir, helloName))
		require.NoError(t, err)
		cancel()
		require.NoError(t, <-done)
		if round == 0 {
			before = count()
		}
	}
	assert.LessOrEqual(t, count(), before)
}

// Package faults has a model server do everything wrong that its scripts know,
// behind a kernel mount: every caller gets the errno of session's table, none
// hangs, what was accepted before stays, and the mount goes away at once.
package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/llmfs-raw/llmfs-raw/internal/conformance/mounttest"
)

func TestMain(m *testing.M) {
	os.Setenv("OPENAI_API_KEY", "test")
	mounttest.Main(m)
}

const none = syscall.Errno(0)

// The rules hit MKDIR alone, and every one of them, retries included.
var faults = []struct {
	do   string
	want syscall.Errno
}{
	{"latency, first_token: 300ms, tokens_per_second: 2000", none},
	{"error, status: 500", syscall.EIO},
	{"error, status: 503", syscall.EIO},
	{"error, status: 429, retry_after: 10ms", syscall.EBUSY},
	{"error, status: 429, retry_after: 1h", syscall.EBUSY},
	{"error, status: 400, message: no", syscall.EINVAL},
	{"error, status: 401", syscall.EPERM},
	{"error, status: 404", syscall.EPERM},
	{"reset", syscall.EIO},
	{"reset, after: 100", syscall.EIO},
	{"hang", syscall.ETIMEDOUT},
	{"hang, for: 200ms", none},
	{"trickle, bytes: 200, pause: 1ms", none},
	{"trickle, pause: 1s", syscall.ETIMEDOUT},
	{"truncate", syscall.EFBIG},
	{"refuse, text: never", syscall.EACCES},
	{"content_filter", syscall.EACCES},
	{"empty_choices", syscall.EIO},
	{"null_content", syscall.EIO},
	{"garbage", syscall.EIO},
	{`garbage, text: "[]"`, syscall.EIO},
	{"fence", none},
	{"whitespace", syscall.EFBIG},
	{"wrong, field: Out.Attr.Uid", none}, // valid: nobody but a scorer can tell
	{"invalid", syscall.EIO},
	{"reasoning", none},
}

const (
	deadline = 8 * time.Second // of a request; the client's retries end before
	hung     = 30 * time.Second
	gone     = 5 * time.Second // to be unmounted: a second, and a slow machine's share
)

func TestFaultsThroughTheKernel(t *testing.T) {
	for _, context := range []string{"ledger", "full"} {
		for _, f := range faults {
			t.Run(context+" "+f.do, func(t *testing.T) {
				t.Parallel()
				d := mountWith(t, f.do, "--context", context)
				try(t, d, f.want)
				start := time.Now()
				require.NoError(t, d.Stop())
				assert.Less(t, time.Since(start), gone, "unmounted")
			})
		}
	}
}

// mountWith serves a mount from a server with that fault.
func mountWith(t *testing.T, do string, flags ...string) *mounttest.Daemon {
	script := filepath.Join(t.TempDir(), "faults")
	require.NoError(t, os.WriteFile(script, []byte("rules: [{op: MKDIR, do: "+do+"}]"), 0o644))
	server := mounttest.Serve(t, "--faults", script)
	return mounttest.Start(t, append([]string{"--model", "gpt-test", "--base-url", server.URL, "--warm=false", "--deadline", fmt.Sprint(deadline)}, flags...)...)
}

// try makes a file, meets the fault, and finds the file as it was.
func try(t *testing.T, d *mounttest.Daemon, want syscall.Errno) {
	kept := filepath.Join(d.Dir, "kept")
	require.NoError(t, within(t, func() error { return write(kept, "what was accepted\n") }))
	err := within(t, func() error { return unix.Mkdir(filepath.Join(d.Dir, "dir"), 0o755) })
	if want == none {
		assert.NoError(t, err)
	} else {
		assert.Equal(t, want, err, "%v", err)
	}
	text, err := "", error(nil)
	require.NoError(t, within(t, func() error { text, err = read(kept); return err }))
	assert.Equal(t, "what was accepted\n", text)
	var names []string
	require.NoError(t, within(t, func() error { names, err = list(d.Dir); return err }))
	assert.Contains(t, names, "kept")
}

// within fails where a call hangs.
func within(t *testing.T, call func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- call() }()
	select {
	case err := <-done:
		return err
	case <-time.After(hung):
		require.Fail(t, "a caller hangs")
		return nil
	}
}

func write(path, text string) error {
	fd, err := unix.Open(path, unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return err
	}
	_, err = unix.Write(fd, []byte(text))
	if e := unix.Close(fd); err == nil {
		err = e
	}
	return err
}

func read(path string) (string, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	buf := make([]byte, 100)
	n, err := unix.Read(fd, buf)
	return string(buf[:max(n, 0)]), err
}

func list(dir string) ([]string, error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	buf := make([]byte, 64<<10)
	n, err := unix.ReadDirent(fd, buf)
	if err != nil {
		return nil, err
	}
	_, _, names := unix.ParseDirent(buf[:n], -1, nil)
	return names, nil
}

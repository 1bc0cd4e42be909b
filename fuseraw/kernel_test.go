package fuseraw

// Tests with the kernel: they need root and /dev/fuse, and fail without in CI.

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/llmfs-raw/llmfs-raw/proto"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// serve mounts h for the length of the test.
func serve(t testing.TB, o Options, h Handler) (c *Conn, dir string) {
	t.Helper()
	requireKernel(t)
	dir = t.TempDir()
	c, err := Mount(dir, o)
	require.NoError(t, err)
	serveUntilEnd(t, c, h)
	return c, dir
}

// serveUntilEnd serves on c, and at the test's end makes sure that it ends.
func serveUntilEnd(t testing.TB, c *Conn, h Handler) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Serve(ctx, h) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-done:
			require.NoError(t, err)
		case <-time.After(10 * time.Second):
			t.Error("Serve does not return")
		}
		requireNoGoroutines(t)
		if c.mount != nil {
			require.NoError(t, os.Remove(c.mount.dir), "the mount is still there")
		}
	})
}

// requireKernel skips on a developer's machine without FUSE, never in CI.
func requireKernel(t testing.TB) {
	t.Helper()
	f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err == nil && os.Geteuid() == 0 {
		f.Close()
		return
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("have user %d and /dev/fuse: %v, want root and the device", os.Geteuid(), err)
	}
	t.Skipf("have user %d and /dev/fuse: %v, want root and the device", os.Geteuid(), err)
}

// once is a hook that closes began at its first call and then is h.
func once(h handlerFunc) (hook handlerFunc, began chan struct{}) {
	began = make(chan struct{})
	var o sync.Once
	return func(ctx context.Context, req *proto.Request) *proto.Reply {
		o.Do(func() { close(began) })
		return h(ctx, req)
	}, began
}

func hooked(op proto.Opcode, h handlerFunc) hello {
	return hello{hooks: map[proto.Opcode]handlerFunc{op: h}}
}

func TestMountServesAFile(t *testing.T) {
	_, dir := serve(t, Options{}, hello{})
	text, err := run("cat", filepath.Join(dir, helloName))
	require.NoError(t, err)
	require.Equal(t, helloText, text)
	names, err := run("ls", dir)
	require.NoError(t, err)
	require.Equal(t, helloName+"\n", names)
	_, err = run("cat", filepath.Join(dir, "missing"))
	require.ErrorContains(t, err, "no such file or directory")
}

func TestCommOfACallerRightAfterExec(t *testing.T) {
	comms := make(chan string, 10)
	_, dir := serve(t, Options{}, hooked(proto.OpOpen, func(_ context.Context, req *proto.Request) *proto.Reply {
		comms <- req.Header.Comm
		return nil
	}))
	_, err := run("cat", filepath.Join(dir, helloName))
	require.NoError(t, err)
	assert.Equal(t, "exe", <-comms)
}

// The caller's death must not wait for a handler that takes no notice.
func TestKillOfACallerDuringASlowReply(t *testing.T) {
	for name, h := range map[string]handlerFunc{"ignored": sleeps(2 * time.Second), "obeyed": obeys} {
		t.Run(name, func(t *testing.T) {
			hook, began := once(h)
			c, dir := serve(t, Options{}, hooked(proto.OpOpen, hook))
			cmd := start(t, began, "cat", filepath.Join(dir, helloName))
			killed := time.Now()
			require.NoError(t, cmd.Process.Kill())
			cmd.Wait()
			assert.Less(t, time.Since(killed), 500*time.Millisecond)
			assert.EqualValues(t, 1, c.Stats().Interrupted)
			t.Logf("kill -9 took %v", time.Since(killed))
		})
	}
}

func TestSignals(t *testing.T) {
	t.Run("one that asks to stop", func(t *testing.T) {
		callers := make(chan int, 1)
		_, dir := serve(t, Options{}, hooked(proto.OpLookup, func(ctx context.Context, req *proto.Request) *proto.Reply {
			callers <- int(req.Header.Pid)
			return obeys(ctx, req)
		}))
		var out bytes.Buffer
		cmd := helper("interrupt", filepath.Join(dir, helloName))
		cmd.Stdout = &out
		require.NoError(t, cmd.Start())
		thread := <-callers
		require.NoError(t, unix.Tgkill(cmd.Process.Pid, thread, unix.SIGUSR1))
		require.NoError(t, cmd.Wait())
		assert.Equal(t, "interrupted system call\n", out.String())
	})
	t.Run("a timer", func(t *testing.T) {
		c, dir := serve(t, Options{}, hooked(proto.OpLookup, sleeps(300*time.Millisecond)))
		out, err := run("timer", filepath.Join(dir, helloName))
		require.NoError(t, err)
		assert.Equal(t, "<nil>\n", out)
		assert.NotZero(t, c.Stats().Ignored)
	})
	t.Run("kill after a timer", func(t *testing.T) {
		c, dir := serve(t, Options{}, hooked(proto.OpLookup, sleeps(3*time.Second)))
		cmd := helper("timer", filepath.Join(dir, helloName))
		require.NoError(t, cmd.Start())
		require.Eventually(t, func() bool { return c.Stats().Ignored > 0 }, 2*time.Second, time.Millisecond)
		killed := time.Now()
		require.NoError(t, cmd.Process.Kill())
		cmd.Wait()
		assert.Less(t, time.Since(killed), 500*time.Millisecond)
	})
}

func TestDeadlineReachesTheCaller(t *testing.T) {
	c, dir := serve(t, Options{Deadline: 50 * time.Millisecond}, hooked(proto.OpOpen, sleeps(time.Second)))
	_, err := run("cat", filepath.Join(dir, helloName))
	require.ErrorContains(t, err, "connection timed out")
	assert.EqualValues(t, 1, c.Stats().Timeouts)
}

// A symbolic link's target of more than a page is refused by write(2).
func TestReplyThatTheKernelRefuses(t *testing.T) {
	c, dir := serve(t, Options{Log: quiet}, hello{hooks: map[proto.Opcode]handlerFunc{
		proto.OpLookup: func(context.Context, *proto.Request) *proto.Reply {
			return &proto.Reply{Out: &fuse.EntryOut{NodeId: 3, Attr: fuse.Attr{Mode: syscall.S_IFLNK | 0o777, Nlink: 1}}}
		},
		proto.OpReadlink: func(context.Context, *proto.Request) *proto.Reply {
			return &proto.Reply{Data: bytes.Repeat([]byte("x"), 5000)}
		},
	}})
	_, err := os.Readlink(filepath.Join(dir, "link"))
	require.ErrorIs(t, err, syscall.EIO)
	require.Eventually(t, func() bool { return c.Stats().Refused == 1 }, time.Second, time.Millisecond)
}

// cat of a file whose content came with its LOOKUP asks the handler for nothing.
func TestStoreFillsThePageCache(t *testing.T) {
	var reads atomic.Int64
	c, dir := serve(t, Options{}, storing(&reads, storeOf(helloNode, 0, helloText)))
	for range 20 {
		text, err := run("cat", filepath.Join(dir, helloName))
		require.NoError(t, err)
		require.Equal(t, helloText, text)
	}
	assert.Zero(t, reads.Load())
	assert.NotZero(t, c.Stats().Notified)
	t.Logf("%d of 20 were read while the bytes were in flight", c.Stats().StoreReads)
}

// INVAL_ENTRY waits for the directory's lock, which each mkdir(2) holds over
// its requests. Here every reply brings one, from several programs at once.
func TestInvalidationsDoNotDeadlock(t *testing.T) {
	made := &fuse.EntryOut{NodeId: 9, Attr: fuse.Attr{Mode: syscall.S_IFDIR | 0o755, Nlink: 2}}
	inval := func(req *proto.Request) []proto.Notification {
		return []proto.Notification{
			{Code: proto.NotifyInvalEntry, Out: &fuse.NotifyInvalEntryOut{Parent: 1}, Name: req.Names[0]},
			{Code: proto.NotifyInvalInode, Out: &fuse.NotifyInvalInodeOut{Ino: 1, Length: -1}},
		}
	}
	var node atomic.Uint64
	c, dir := serve(t, Options{}, hello{hooks: map[proto.Opcode]handlerFunc{
		proto.OpLookup: func(_ context.Context, req *proto.Request) *proto.Reply {
			return &proto.Reply{Out: &fuse.EntryOut{}, Notify: inval(req)}
		},
		proto.OpMkdir: func(_ context.Context, req *proto.Request) *proto.Reply {
			out := *made
			out.NodeId = 10 + node.Add(1)
			return &proto.Reply{Out: &out, Notify: inval(req)}
		},
	}})
	var callers sync.WaitGroup
	for caller := range 4 {
		var names []string
		for i := range 100 {
			names = append(names, filepath.Join(dir, fmt.Sprintf("%d-%d", caller, i)))
		}
		callers.Go(func() {
			_, err := run("create", names...)
			assert.NoError(t, err)
		})
	}
	done := make(chan struct{})
	go func() { callers.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("deadlock")
	}
	require.Eventually(t, func() bool { s := c.Stats(); return s.Notified+s.NotifyUnknown >= 1600 }, 5*time.Second, time.Millisecond)
	assert.Zero(t, c.Stats().NotifyRefused)
}

func TestSmallestRequests(t *testing.T) {
	content := strings.Repeat("0123456789abcdef", 1024)
	var largest atomic.Int64
	attr := helloAttr(helloNode)
	attr.Size = uint64(len(content))
	_, dir := serve(t, Options{Init: proto.InitOptions{MaxWrite: 4096, MaxReadahead: 1 << 20}}, hello{hooks: map[proto.Opcode]handlerFunc{
		proto.OpLookup: func(context.Context, *proto.Request) *proto.Reply {
			return &proto.Reply{Out: &fuse.EntryOut{NodeId: helloNode, Attr: attr}}
		},
		proto.OpGetattr: func(_ context.Context, req *proto.Request) *proto.Reply {
			if req.Header.NodeId != helloNode {
				return nil
			}
			return &proto.Reply{Out: &fuse.AttrOut{Attr: attr}}
		},
		proto.OpRead: func(_ context.Context, req *proto.Request) *proto.Reply {
			in := req.In.(*fuse.ReadIn)
			largest.Store(max(largest.Load(), int64(in.Size)))
			return &proto.Reply{Data: []byte(content[in.Offset:min(in.Offset+uint64(in.Size), attr.Size)])}
		},
	}})
	text, err := run("cat", filepath.Join(dir, helloName))
	require.NoError(t, err)
	assert.Equal(t, content, text)
	assert.EqualValues(t, 4096, largest.Load())
}

func TestMountOptions(t *testing.T) {
	for name, test := range map[string]struct {
		o    Options
		want string
	}{
		"default": {Options{}, "rw,nosuid,nodev,relatime rw,user_id=0,group_id=0,default_permissions,max_read=131072"},
		"open":    {Options{Dev: true, Suid: true, AllowOther: true}, "rw,relatime rw,user_id=0,group_id=0,default_permissions,allow_other,max_read=131072"},
		"closed":  {Options{ReadOnly: true, Init: proto.InitOptions{MaxWrite: 8192, OwnPermissions: true}}, "ro,nosuid,nodev,relatime ro,user_id=0,group_id=0,max_read=8192"},
	} {
		t.Run(name, func(t *testing.T) {
			_, dir := serve(t, test.o, hello{})
			b, err := os.ReadFile("/proc/self/mountinfo")
			require.NoError(t, err)
			for line := range strings.Lines(string(b)) {
				if fields := strings.Fields(line); fields[4] == dir {
					assert.Equal(t, test.want, fields[5]+" "+fields[len(fields)-1])
				}
			}
		})
	}
}

func TestMountRefuses(t *testing.T) {
	requireKernel(t)
	_, err := Mount("/nowhere", Options{})
	assert.EqualError(t, err, "mount /nowhere: lstat /nowhere: no such file or directory")
	_, err = Mount("/tmp", Options{Init: proto.InitOptions{MaxWrite: 100}})
	assert.ErrorContains(t, err, "mount /tmp: request size 100, want 4096 to")
}

package fuseraw

// A kernel for tests: the other end of a socketpair, as strict as
// fuse_dev_do_write is.

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/llmfs-raw/llmfs-raw/proto"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// fakeKernel sends requests and takes each reply once.
type fakeKernel struct {
	t    require.TestingT
	fd   int
	conn *Conn
	wire proto.Wire
	done chan error // Serve's result
	stop context.CancelFunc

	mu      sync.Mutex
	next    uint64
	pending map[uint64]*question
	notes   [][]byte
	faults  []string
}

// question is a request that has been sent.
type question struct {
	req   *proto.Request
	reply chan *proto.Reply
}

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// tester is what *testing.T and *rapid.T have in common.
type tester interface {
	require.TestingT
	Cleanup(func())
	Helper()
}

// startKernel serves h behind a fake kernel; prepare may change the Conn.
func startKernel(t tester, o Options, h Handler, prepare ...func(*Conn)) *fakeKernel {
	t.Helper()
	if o.Log == nil {
		o.Log = quiet
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	c, err := NewConn(pair[0], o)
	require.NoError(t, err)
	c.urgent = func(uint32) bool { return true }
	for _, f := range prepare {
		f(c)
	}
	ctx, cancel := context.WithCancel(context.Background())
	k := &fakeKernel{t: t, fd: pair[1], conn: c, done: make(chan error, 1), stop: cancel, next: 2, pending: map[uint64]*question{}}
	go func() { k.done <- c.Serve(ctx, h) }()
	received := make(chan struct{})
	go func() { k.receive(); close(received) }()
	t.Cleanup(func() {
		cancel()
		unix.Shutdown(k.fd, unix.SHUT_RDWR)
		<-received
		unix.Close(k.fd)
		require.Empty(t, k.faults)
		requireNoGoroutines(t)
	})
	return k
}

// booted is startKernel after INIT.
func booted(t tester, o Options, h Handler, prepare ...func(*Conn)) *fakeKernel {
	t.Helper()
	k := startKernel(t, o, h, prepare...)
	r := k.wait(k.send(&proto.Request{Op: proto.OpInit, In: &fuse.InitIn{Major: 7, Minor: 45, MaxReadAhead: 131072, Flags: ^uint32(0), Flags2: ^uint32(0)}}))
	require.Zero(t, r.Errno)
	k.wire = proto.WireOf(r.Out.(*fuse.InitOut))
	return k
}

// number gives a request its unique; the kernel's are even.
func (k *fakeKernel) number() uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.next += 2
	return k.next
}

// send sends a request, numbered if it is not yet.
func (k *fakeKernel) send(req *proto.Request) *question {
	if req.Header.Unique == 0 {
		req.Header.Unique = k.number()
	}
	b, err := k.wire.AppendRequest(nil, req)
	require.NoError(k.t, err)
	q := &question{req: req, reply: make(chan *proto.Reply, 1)}
	if req.Op.Row().Reply != proto.ReplyNone {
		k.mu.Lock()
		k.pending[req.Header.Unique] = q
		k.mu.Unlock()
	}
	_, err = unix.Write(k.fd, b)
	require.NoError(k.t, err)
	return q
}

func (k *fakeKernel) interrupt(unique uint64) {
	k.send(&proto.Request{Op: proto.OpInterrupt, Header: proto.Header{Unique: unique | 1}, In: &fuse.InterruptIn{Unique: unique}})
}

// wait takes a reply, which has to come within seconds.
func (k *fakeKernel) wait(q *question) *proto.Reply {
	select {
	case r := <-q.reply:
		return r
	case <-time.After(5 * time.Second):
		require.FailNow(k.t, "no reply", "%v %d", q.req.Op, q.req.Header.Unique)
		return nil
	}
}

func (k *fakeKernel) receive() {
	buf := make([]byte, 1<<20)
	for {
		n, err := unix.Read(k.fd, buf)
		if err == unix.EINTR {
			continue
		}
		if n <= 0 || err != nil {
			return
		}
		k.take(append([]byte(nil), buf[:n]...))
	}
}

// take is fuse_dev_do_write.
func (k *fakeKernel) take(b []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(b) < 16 {
		k.faults = append(k.faults, fmt.Sprintf("message of %d bytes", len(b)))
		return
	}
	unique := binary.NativeEndian.Uint64(b[8:])
	if unique == 0 {
		k.notes = append(k.notes, b)
		return
	}
	q := k.pending[unique]
	if q == nil {
		k.faults = append(k.faults, fmt.Sprintf("reply to %d, which is unknown or answered", unique))
		return
	}
	delete(k.pending, unique)
	r, err := k.wire.DecodeReply(q.req, b)
	if err != nil {
		k.faults = append(k.faults, err.Error())
		r = &proto.Reply{Errno: unix.EIO}
	}
	q.reply <- r
}

func (k *fakeKernel) notifications() []proto.NotifyCode {
	k.mu.Lock()
	defer k.mu.Unlock()
	var codes []proto.NotifyCode
	for _, b := range k.notes {
		codes = append(codes, proto.NotifyCode(binary.NativeEndian.Uint32(b[4:])))
	}
	return codes
}

// requireNoGoroutines waits until nothing of a Conn runs any more.
func requireNoGoroutines(t require.TestingT) {
	var stacks string
	for range 2000 {
		buf := make([]byte, 1<<20)
		stacks = string(buf[:runtime.Stack(buf, true)])
		if !strings.Contains(stacks, "fuseraw.(*Conn)") && !strings.Contains(stacks, "fuseraw.(*notifier)") {
			return
		}
		time.Sleep(time.Millisecond)
	}
	require.FailNow(t, "goroutines left", stacks)
}

var _ tester = (*testing.T)(nil)

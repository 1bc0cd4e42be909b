package fuseraw

// The loop behind a fake kernel: who answers, when, and how often.

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/llmfs-raw/llmfs-raw/proto"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func getattr() *proto.Request {
	return &proto.Request{Op: proto.OpGetattr, Header: proto.Header{NodeId: 1}, In: &fuse.GetAttrIn{}}
}

func release() *proto.Request {
	return &proto.Request{Op: proto.OpRelease, Header: proto.Header{NodeId: 2}, In: &fuse.ReleaseIn{Fh: 1}}
}

func forget() *proto.Request {
	return &proto.Request{Op: proto.OpForget, Header: proto.Header{NodeId: 2}, In: &fuse.ForgetIn{Nlookup: 1}}
}

func read(off uint64, size uint32) *proto.Request {
	return &proto.Request{Op: proto.OpRead, Header: proto.Header{NodeId: helloNode}, In: &fuse.ReadIn{Fh: 1, Offset: off, Size: size}}
}

// obeys waits for the end of its context.
func obeys(ctx context.Context, _ *proto.Request) *proto.Reply {
	<-ctx.Done()
	return &proto.Reply{Errno: syscall.EIO}
}

// stuck takes no notice of its context; it succeeds after release.
func stuck() (h handlerFunc, release func()) {
	gate := make(chan struct{})
	h = func(_ context.Context, req *proto.Request) *proto.Reply {
		<-gate
		return &proto.Reply{Out: req.Op.Row().NewOut()}
	}
	return h, func() { close(gate) }
}

func quick(c *Conn) { c.limits.grace = 2 * time.Millisecond }

// behaviours are what handlers do in the property test.
var behaviours = map[string]handlerFunc{
	"answers": hello{}.Handle,
	"obeys":   obeys,
	"panics":  func(context.Context, *proto.Request) *proto.Reply { panic("on purpose") },
	"nothing": func(context.Context, *proto.Request) *proto.Reply { return nil },
	"wrong":   func(context.Context, *proto.Request) *proto.Reply { return &proto.Reply{Out: &fuse.WriteOut{}} },
	"errno":   func(context.Context, *proto.Request) *proto.Reply { return &proto.Reply{Errno: 5000} },
	"denies":  func(context.Context, *proto.Request) *proto.Reply { return &proto.Reply{Errno: syscall.EACCES} },
}

// plan is one request of the property test.
type plan struct {
	make      func() *proto.Request
	behaviour string
	delay     time.Duration // of the handler, whatever its context says
	interrupt int           // before the request, after it, or not
}

func drawPlan(t *rapid.T) plan {
	return plan{
		make:      rapid.SampledFrom([]func() *proto.Request{getattr, release, forget, func() *proto.Request { return read(0, 4096) }}).Draw(t, "op"),
		behaviour: rapid.SampledFrom([]string{"answers", "obeys", "panics", "nothing", "wrong", "errno", "denies"}).Draw(t, "behaviour"),
		delay:     time.Duration(rapid.SampledFrom([]int{0, 0, 100, 1000, 6000}).Draw(t, "delay")) * time.Microsecond,
		interrupt: rapid.IntRange(-1, 1).Draw(t, "interrupt"),
	}
}

// TestEachRequestGetsOneReply: the fake kernel refuses a second reply, one
// that nobody waits for, and one of the wrong shape.
func TestEachRequestGetsOneReply(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plans := rapid.SliceOfN(rapid.Custom(drawPlan), 1, 30).Draw(t, "plans")
		var recorded sync.Map
		o := Options{
			Deadline: 10 * time.Millisecond,
			Readers:  rapid.IntRange(1, 4).Draw(t, "readers"),
			Record: func(x Exchange) {
				if _, twice := recorded.LoadOrStore(x.Req.Header.Unique, true); twice {
					t.Errorf("%v %d recorded twice", x.Req.Op, x.Req.Header.Unique)
				}
			},
		}
		byUnique := map[uint64]plan{}
		var mu sync.Mutex
		k := booted(t, o, handlerFunc(func(ctx context.Context, req *proto.Request) *proto.Reply {
			mu.Lock()
			p := byUnique[req.Header.Unique]
			mu.Unlock()
			time.Sleep(p.delay)
			return behaviours[p.behaviour](ctx, req)
		}), quick)
		var asked []*question
		for _, p := range plans {
			req := p.make()
			req.Header.Unique = k.number()
			mu.Lock()
			byUnique[req.Header.Unique] = p
			mu.Unlock()
			if p.interrupt < 0 {
				k.interrupt(req.Header.Unique)
			}
			asked = append(asked, k.send(req))
			if p.interrupt > 0 {
				k.interrupt(req.Header.Unique)
			}
		}
		for _, q := range asked {
			if q.req.Op.Row().Reply != proto.ReplyNone {
				k.wait(q)
			}
		}
		for _, q := range asked { // nobody waits for a FORGET, so it may still be on its way
			isRecorded := func() bool { _, ok := recorded.Load(q.req.Header.Unique); return ok }
			assert.Eventually(t, isRecorded, 5*time.Second, time.Millisecond, "%v %d not recorded", q.req.Op, q.req.Header.Unique)
		}
		k.stop()
		require.NoError(t, <-k.done)
	})
}

func TestRepliesByTheLoop(t *testing.T) {
	for _, test := range []struct {
		name  string
		h     handlerFunc
		errno syscall.Errno
		count func(Stats) uint64
	}{
		{"panic", behaviours["panics"], syscall.EIO, func(s Stats) uint64 { return s.Panics }},
		{"no reply", behaviours["nothing"], syscall.EIO, func(s Stats) uint64 { return s.Empty }},
		{"wrong shape", behaviours["wrong"], syscall.EIO, func(s Stats) uint64 { return s.Unencodable }},
		{"errno out of range", behaviours["errno"], syscall.EIO, func(s Stats) uint64 { return s.Clamped }},
		{"deadline obeyed", obeys, syscall.ETIMEDOUT, func(s Stats) uint64 { return s.Timeouts }},
		{"deadline ignored", nil, syscall.ETIMEDOUT, func(s Stats) uint64 { return s.Timeouts }},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.h == nil {
				h, release := stuck()
				defer release()
				test.h = h
			}
			k := booted(t, Options{Deadline: 20 * time.Millisecond}, handlerFunc(func(ctx context.Context, req *proto.Request) *proto.Reply {
				if req.Op == proto.OpGetattr {
					return test.h(ctx, req)
				}
				return hello{}.Handle(ctx, req)
			}))
			assert.Equal(t, test.errno, k.wait(k.send(getattr())).Errno)
			assert.EqualValues(t, 1, test.count(k.conn.Stats()))
			assert.Zero(t, k.wait(k.send(read(0, 4096))).Errno, "the mount lives on")
		})
	}
}

func TestLateResultIsDropped(t *testing.T) {
	h, release := stuck()
	k := booted(t, Options{Deadline: 5 * time.Millisecond}, h, quick)
	assert.Equal(t, syscall.ETIMEDOUT, k.wait(k.send(getattr())).Errno)
	release()
	require.Eventually(t, func() bool { return k.conn.Stats().Late == 1 }, time.Second, time.Millisecond)
}

// A handler that has done its work within the grace still says so.
func TestSuccessWithinTheGraceCounts(t *testing.T) {
	started := make(chan struct{})
	k := booted(t, Options{}, handlerFunc(func(ctx context.Context, _ *proto.Request) *proto.Reply {
		close(started)
		<-ctx.Done()
		return &proto.Reply{Out: &fuse.AttrOut{AttrValid: 7}}
	}), func(c *Conn) { c.limits.grace = 5 * time.Second })
	q := k.send(getattr())
	<-started
	k.interrupt(q.req.Header.Unique)
	r := k.wait(q)
	assert.Zero(t, r.Errno)
	assert.EqualValues(t, 7, r.Out.(*fuse.AttrOut).AttrValid)
}

func TestBlockingRequestsHaveNoDeadline(t *testing.T) {
	k := booted(t, Options{Deadline: time.Millisecond}, handlerFunc(func(ctx context.Context, _ *proto.Request) *proto.Reply {
		_, limited := ctx.Deadline()
		assert.False(t, limited)
		return obeys(ctx, nil)
	}), quick)
	q := k.send(&proto.Request{Op: proto.OpSetlkw, Header: proto.Header{NodeId: 2}, In: &fuse.LkIn{}})
	time.Sleep(50 * time.Millisecond)
	assert.Empty(t, q.reply)
	k.interrupt(q.req.Header.Unique)
	assert.Equal(t, syscall.EINTR, k.wait(q).Errno)
}

func TestInterrupt(t *testing.T) {
	for name, h := range map[string]handlerFunc{"obeyed": obeys, "ignored": nil} {
		for _, early := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				h := h
				if h == nil {
					never, release := stuck()
					defer release()
					h = never
				}
				k := booted(t, Options{}, hello{hooks: map[proto.Opcode]handlerFunc{proto.OpGetattr: h}}, quick)
				req := getattr()
				req.Header.Unique = k.number()
				if early {
					k.interrupt(req.Header.Unique)
				}
				q := k.send(req)
				if !early {
					k.interrupt(req.Header.Unique)
				}
				assert.Equal(t, syscall.EINTR, k.wait(q).Errno)
				assert.EqualValues(t, 1, k.conn.Stats().Interrupted)
				assert.Zero(t, k.wait(k.send(read(0, 1))).Errno)
			})
		}
	}
}

func TestCauseOfTheContext(t *testing.T) {
	causes := make(chan error, 1)
	k := booted(t, Options{Deadline: time.Minute}, handlerFunc(func(ctx context.Context, _ *proto.Request) *proto.Reply {
		child, cancel := context.WithTimeout(ctx, time.Hour)
		defer cancel()
		deadline, _ := child.Deadline()
		assert.WithinDuration(t, time.Now().Add(time.Minute), deadline, time.Second)
		<-child.Done()
		causes <- context.Cause(child)
		return nil
	}), quick)
	k.interrupt(k.send(getattr()).req.Header.Unique)
	assert.ErrorIs(t, <-causes, ErrInterrupted)
}

// An INTERRUPT whose caller has no urgent signal is looked at again.
func TestInterruptThatIsNotUrgent(t *testing.T) {
	var urgent atomic.Bool
	k := booted(t, Options{}, handlerFunc(obeys), quick, func(c *Conn) { c.urgent = func(uint32) bool { return urgent.Load() } })
	q := k.send(getattr())
	k.interrupt(q.req.Header.Unique)
	require.Eventually(t, func() bool { return k.conn.Stats().Ignored > 0 }, time.Second, time.Millisecond)
	assert.Empty(t, q.reply)
	urgent.Store(true)
	assert.Equal(t, syscall.EINTR, k.wait(q).Errno)
}

// `flock --timeout` and alarm(2) end the wait for a lock by SIGALRM.
func TestAnySignalEndsTheWaitForALock(t *testing.T) {
	k := booted(t, Options{}, handlerFunc(obeys), quick, func(c *Conn) { c.urgent = func(uint32) bool { return false } })
	q := k.send(&proto.Request{Op: proto.OpSetlkw, Header: proto.Header{NodeId: 2}, In: &fuse.LkIn{}})
	k.interrupt(q.req.Header.Unique)
	assert.Equal(t, syscall.EINTR, k.wait(q).Errno)
}

func TestEarlyInterruptsAreBounded(t *testing.T) {
	var e earlyInterrupts
	for u := uint64(1); u <= 1000; u++ {
		e.put(u)
	}
	assert.Len(t, e.set, len(e.ring))
	assert.False(t, e.take(1000-256), "the oldest go first")
	assert.True(t, e.take(1000))
	assert.False(t, e.take(1000))
}

// What the kernel does not wait for never waits for the handler.
func TestNobodyWaitsForForgetAndRelease(t *testing.T) {
	gate := make(chan struct{})
	var asked atomic.Int64
	hold := func(context.Context, *proto.Request) *proto.Reply {
		asked.Add(1)
		<-gate
		return &proto.Reply{Errno: syscall.EIO}
	}
	k := booted(t, Options{}, hello{hooks: map[proto.Opcode]handlerFunc{proto.OpRelease: hold, proto.OpForget: hold}})
	defer close(gate)
	for range 20 {
		assert.Zero(t, k.wait(k.send(release())).Errno)
		k.send(forget())
	}
	assert.Zero(t, k.wait(k.send(getattr())).Errno)
	require.Eventually(t, func() bool { return asked.Load() == 40 }, time.Second, time.Millisecond, "the handler gets them all the same")
}

func TestRecordComesBeforeTheReply(t *testing.T) {
	type entry struct {
		op    proto.Opcode
		errno syscall.Errno
	}
	var mu sync.Mutex
	var log []entry
	var bytes []Exchange
	o := Options{Record: func(x Exchange) {
		mu.Lock()
		defer mu.Unlock()
		log = append(log, entry{x.Req.Op, x.Reply.Errno})
		x.ReqBytes = slices.Clone(x.ReqBytes)
		x.ReplyBytes[0] = slices.Concat(x.ReplyBytes[0], x.ReplyBytes[1])
		bytes = append(bytes, x)
	}}
	k := booted(t, o, hello{})
	for i, q := range []*proto.Request{getattr(), release(), {Op: proto.OpStatfs, Header: proto.Header{NodeId: 1}}} {
		k.wait(k.send(q))
		mu.Lock()
		assert.Len(t, log, i+2)
		mu.Unlock()
	}
	k.interrupt(4)
	require.Eventually(t, func() bool { mu.Lock(); defer mu.Unlock(); return len(log) == 5 }, time.Second, time.Millisecond)
	assert.Equal(t, []entry{{proto.OpInit, 0}, {proto.OpGetattr, 0}, {proto.OpRelease, 0}, {proto.OpStatfs, syscall.ENOSYS}, {proto.OpInterrupt, 0}}, log)
	for _, x := range bytes { // the bytes are those of the pair
		req, err := k.wire.DecodeRequest(x.ReqBytes)
		require.NoError(t, err)
		assert.Equal(t, x.Req.In, req.In)
		assert.Equal(t, x.Req.Op == proto.OpInterrupt, len(x.ReplyBytes[0]) == 0)
		if len(x.ReplyBytes[0]) > 0 {
			reply, err := k.wire.DecodeReply(req, x.ReplyBytes[0])
			require.NoError(t, err)
			assert.Equal(t, x.Reply, reply)
		}
	}
}

func TestUndecodableRequests(t *testing.T) {
	k := booted(t, Options{}, hello{})
	raw := func(op uint32, unique uint64, size int) []byte {
		b, err := k.wire.AppendRequest(nil, &proto.Request{Op: proto.OpReadlink, Header: proto.Header{Unique: unique, NodeId: 1}})
		require.NoError(t, err)
		b[4], b[0] = byte(op), byte(size)
		return append(b, make([]byte, size-len(b))...)
	}
	for _, test := range []struct {
		op    uint32
		size  int
		errno syscall.Errno
	}{{99, 40, syscall.ENOSYS}, {uint32(proto.OpWrite), 44, syscall.EIO}} {
		unique := k.number()
		q := &question{req: &proto.Request{Op: proto.OpReadlink, Header: proto.Header{Unique: unique}}, reply: make(chan *proto.Reply, 1)}
		k.mu.Lock()
		k.pending[unique] = q
		k.mu.Unlock()
		_, err := syscall.Write(k.fd, raw(test.op, unique, test.size))
		require.NoError(t, err)
		assert.Equal(t, test.errno, k.wait(q).Errno)
	}
	assert.EqualValues(t, 2, k.conn.Stats().Undecodable)
}

func TestInitRefused(t *testing.T) {
	k := startKernel(t, Options{}, hello{})
	r := k.wait(k.send(&proto.Request{Op: proto.OpInit, In: &fuse.InitIn{Major: 7, Minor: 12}}))
	assert.Equal(t, syscall.EPROTO, r.Errno)
	assert.EqualError(t, <-k.done, "serve: INIT: kernel offers FUSE 7.12, want 7.31 to 7.45")
}

func TestFirstRequestHasToBeInit(t *testing.T) {
	k := startKernel(t, Options{}, hello{})
	k.send(getattr())
	assert.EqualError(t, <-k.done, "serve: first request: have GETATTR, want INIT")
}

func TestNegotiated(t *testing.T) {
	k := startKernel(t, Options{}, hello{})
	out, _ := k.conn.Negotiated()
	assert.Nil(t, out)
	k.wait(k.send(&proto.Request{Op: proto.OpInit, In: &fuse.InitIn{Major: 7, Minor: 45}}))
	<-k.conn.Ready()
	out, _ = k.conn.Negotiated()
	assert.EqualValues(t, 45, out.Minor)
}

func TestHeaderIsCompleted(t *testing.T) {
	headers := make(chan proto.Header, 1)
	o := Options{
		Init:   proto.InitOptions{OwnPermissions: true},
		Now:    func() time.Time { return time.Unix(1767322445, 6) },
		Groups: func(uint32) []uint32 { return []uint32{7, 8} },
	}
	k := booted(t, o, handlerFunc(func(_ context.Context, req *proto.Request) *proto.Reply {
		headers <- req.Header
		return &proto.Reply{Errno: syscall.EIO}
	}))
	req := getattr()
	req.Header.Pid = uint32(os.Getpid())
	k.wait(k.send(req))
	h := <-headers
	assert.Equal(t, proto.Time{Sec: 1767322445, Nsec: 6}, h.Now)
	comm, err := os.ReadFile("/proc/self/comm")
	require.NoError(t, err)
	assert.Equal(t, string(comm), h.Comm+"\n")
	assert.Equal(t, []uint32{7, 8}, h.Groups)
}

// Whoever is in flight at the unmount is answered, by the handler or for it.
func TestUnmountWithRequestsInFlight(t *testing.T) {
	for name, h := range map[string]handlerFunc{"obeyed": obeys, "ignored": nil} {
		t.Run(name, func(t *testing.T) {
			release := func() {}
			if h == nil {
				h, release = stuck()
			}
			k := booted(t, Options{}, h, quick)
			var asked []*question
			for range 50 {
				asked = append(asked, k.send(getattr()))
			}
			require.Eventually(t, func() bool { return k.conn.Stats().InFlight == 50 }, time.Second, time.Millisecond)
			k.stop()
			for _, q := range asked {
				assert.Equal(t, syscall.ECONNABORTED, k.wait(q).Errno)
			}
			release()
			assert.NoError(t, <-k.done)
			assert.EqualValues(t, 50, k.conn.Stats().Aborted)
		})
	}
}

func TestHandlersThatNeverReturnAreNamed(t *testing.T) {
	gate := make(chan struct{})
	k := booted(t, Options{}, handlerFunc(func(context.Context, *proto.Request) *proto.Reply { <-gate; return nil }), quick, func(c *Conn) {
		c.limits.lingering = 10 * time.Millisecond
	})
	q := k.send(getattr())
	require.Eventually(t, func() bool { return k.conn.Stats().InFlight == 1 }, time.Second, time.Millisecond)
	k.stop()
	assert.Equal(t, syscall.ECONNABORTED, k.wait(q).Errno)
	assert.EqualError(t, <-k.done, "serve: 1 handlers still running 10ms after the unmount")
	close(gate)
}

// The far end going away is how an unmount looks.
func TestServeEndsWithTheDevice(t *testing.T) {
	k := booted(t, Options{}, handlerFunc(obeys))
	k.send(getattr())
	require.Eventually(t, func() bool { return k.conn.Stats().InFlight == 1 }, time.Second, time.Millisecond)
	require.NoError(t, syscall.Shutdown(k.fd, syscall.SHUT_RDWR))
	assert.NoError(t, <-k.done)
}

// Data is the read buffer's: it must not change while the handler looks at it,
// also when the loop has answered long ago.
func TestDataStaysUntilTheHandlerReturns(t *testing.T) {
	var wrong atomic.Int64
	write := func(fill byte) *proto.Request {
		data := make([]byte, 4096)
		for i := range data {
			data[i] = fill
		}
		return &proto.Request{Op: proto.OpWrite, Header: proto.Header{NodeId: 2}, In: &fuse.WriteIn{Size: 4096}, Data: data}
	}
	k := booted(t, Options{Deadline: time.Millisecond}, handlerFunc(func(_ context.Context, req *proto.Request) *proto.Reply {
		first := req.Data[0]
		time.Sleep(20 * time.Millisecond)
		for _, b := range req.Data {
			if b != first {
				wrong.Add(1)
				return nil
			}
		}
		return &proto.Reply{Out: &fuse.WriteOut{Size: 4096}}
	}), quick)
	for round := range 5 {
		var asked []*question
		for i := range 10 {
			asked = append(asked, k.send(write(byte(10*round+i))))
		}
		for _, q := range asked {
			k.wait(q)
		}
	}
	require.Eventually(t, func() bool { return k.conn.Stats().InFlight == 0 }, time.Second, time.Millisecond)
	assert.Zero(t, wrong.Load())
}

func TestErrorsOfHandlersThatWereEnded(t *testing.T) {
	over, cancel := context.WithCancel(context.Background())
	assert.False(t, ended(over, syscall.EIO))
	cancel()
	assert.True(t, ended(over, syscall.EIO))
	assert.False(t, ended(over, syscall.ENOENT), "an answer of its own")
	assert.False(t, ended(over, 0))
	assert.False(t, errors.Is(ErrDeadline, ErrInterrupted))
}

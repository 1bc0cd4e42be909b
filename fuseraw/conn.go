package fuseraw

// A connection to the kernel: what it consists of.

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// Conn is one mounted filesystem. Its methods may be called at any time from
// any goroutine, but Serve only once.
type Conn struct {
	opts    Options
	dev     *device
	mount   *mountPoint // nil where the descriptor was mounted by someone else
	handler Handler
	wire    proto.Wire // set before the second request is read

	inflight inflight
	notify   *notifier
	nodes    nodes
	callers  *callers
	urgent   func(pid uint32) bool
	buffers  sync.Pool // of *[]byte, for requests
	heads    sync.Pool // of *[]byte, for replies
	count    counters
	limits   limits

	idle       *idlers
	readers    sync.WaitGroup
	life       context.Context // ends with ErrUnmounted
	die        context.CancelCauseFunc
	unanswered atomic.Int64  // requests whose reply has not been written
	serving    atomic.Bool   // Serve has been called
	ending     atomic.Bool   // nothing new goes to the handler
	watching   atomic.Bool   // a timer looks after deadlines
	ended      chan struct{} // closed when a reader has found the end
	end        sync.Once
	endErr     error

	ready chan struct{} // closed when INIT has been answered
	out   *fuse.InitOut
	flags []proto.FlagChoice
}

// limits are the times that bound an ending.
type limits struct {
	grace     time.Duration // from the end of a request's context to the loop's answer
	patience  time.Duration // each step of an unmount
	lingering time.Duration // Serve's wait for handlers that ignore their context
}

var defaultLimits = limits{grace: Grace, patience: time.Second, lingering: 5 * time.Second}

// NewConn serves on a descriptor of /dev/fuse that is mounted, or on one end of
// a SOCK_SEQPACKET socketpair that speaks the same bytes. It owns fd from here.
func NewConn(fd int, o Options) (*Conn, error) {
	dev, err := newDevice(fd)
	if err != nil {
		return nil, fmt.Errorf("descriptor %d: %w", fd, err)
	}
	c := &Conn{
		opts: o.withDefaults(), dev: dev, limits: defaultLimits, urgent: urgentSignal,
		ready: make(chan struct{}), ended: make(chan struct{}), idle: newIdlers(),
	}
	c.life, c.die = context.WithCancelCause(context.Background())
	size := readBuffer(c.opts)
	c.buffers.New = func() any { b := make([]byte, size); return &b }
	c.heads.New = func() any { b := make([]byte, 0, 512); return &b }
	c.notify = newNotifier(c)
	c.callers = newCallers(c.opts)
	return c, nil
}

// readBuffer is the size in bytes of a buffer that any request fits in: WRITE's
// payload and room for its header. The kernel wants 8,192 at least.
func readBuffer(o Options) int {
	return int(maxWrite(o)) + 4096
}

// Ready is closed when INIT has been answered; the filesystem then works.
func (c *Conn) Ready() <-chan struct{} { return c.ready }

// Negotiated is what INIT was answered with, and why each flag was taken or
// not. It is nil until Ready is closed.
func (c *Conn) Negotiated() (*fuse.InitOut, []proto.FlagChoice) {
	select {
	case <-c.ready:
		return c.out, c.flags
	default:
		return nil, nil
	}
}

// Waiting reports whether the kernel has sent something that no reader has taken
// yet. What programs wait for is read at once; FORGETs and RELEASEs come later
// than the system calls that caused them.
func (c *Conn) Waiting() bool { return c.dev.waiting() }

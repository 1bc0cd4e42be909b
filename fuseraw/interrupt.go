package fuseraw

// What ends a request before its handler is done: INTERRUPT, the deadline, the
// unmount.

import (
	"context"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// relook is how long after an INTERRUPT that was not urgent its caller's
// signals are looked at again. The kernel sends one INTERRUPT a request, so a
// later SIGKILL has to be noticed from here.
const relook = 50 * time.Millisecond

// interrupted takes an INTERRUPT. It is never replied to: the answer is the
// target's EINTR. (EAGAIN would have the kernel send it again at once.)
func (c *Conn) interrupted(in *fuse.InterruptIn) {
	c.count.interrupts.Add(1)
	if cl := c.inflight.target(in.Unique); cl != nil {
		c.interrupt(cl)
	}
}

// interrupt ends cl if its caller's signals ask for it, now or later. Waiting for
// a lock ends by any signal, on disks, too: alarm(2) is how programs limit it.
func (c *Conn) interrupt(cl *call) {
	if cl.answered.Load() {
		return
	}
	if cl.req.Op.Row().Blocking || c.urgent(cl.req.Header.Pid) {
		c.stop(cl, ErrInterrupted)
		return
	}
	c.count.ignored.Add(1)
	time.AfterFunc(relook, func() { c.interrupt(cl) })
}

// stop ends the call's context; its first cause counts. The handler has [Grace]
// from here.
func (c *Conn) stop(cl *call, cause error) {
	cl.ctx.end(cause)
	time.AfterFunc(c.limits.grace, func() {
		if cl.claim() {
			c.answer(cl, &proto.Reply{Errno: c.verdict(cl)}, noteOf(&cl.ctx))
		}
	})
}

// verdict is the errno, and the count, of a request that ended by its context.
func (c *Conn) verdict(cl *call) syscall.Errno {
	switch context.Cause(&cl.ctx) {
	case ErrInterrupted:
		c.count.interrupted.Add(1)
		return syscall.EINTR
	case ErrDeadline:
		c.count.timeouts.Add(1)
		return syscall.ETIMEDOUT
	}
	c.count.aborted.Add(1)
	return syscall.ECONNABORTED
}

// ended tells whether a handler's errno is but the end of its context.
func ended(ctx context.Context, errno syscall.Errno) bool {
	if ctx.Err() == nil {
		return false
	}
	switch errno {
	case syscall.EIO, syscall.EINTR, syscall.ECANCELED, syscall.ETIMEDOUT, syscall.ECONNABORTED:
		return true
	}
	return false
}

package fuseraw

// The readers: each reads a request, handles it itself and reads on, while
// others take over where that takes long. Requests in flight are thus unlimited,
// and a short request costs no switch between goroutines.

import (
	"context"
	"errors"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// read is one reader; it has been counted as idle. It ends with the device, or
// when enough others wait.
func (c *Conn) read() {
	buf := c.buffers.Get().(*[]byte)
	defer func() { c.buffers.Put(buf) }()
	for {
		n, err := c.dev.read(*buf)
		if err != nil {
			c.finish(endError(err))
			return
		}
		c.idle.busy()
		if !c.serve((*buf)[:n]) {
			buf = c.buffers.Get().(*[]byte) // the old one may still be looked at
		}
		if !c.idle.back(int64(c.opts.Readers)) {
			return
		}
	}
}

// serve answers the request in b, and tells whether b may be used again.
func (c *Conn) serve(b []byte) (reusable bool) {
	start := c.opts.Now()
	c.count.requests.Add(1)
	req, err := c.wire.DecodeRequest(b)
	if err != nil {
		c.undecodable(req, len(b), err)
		return true
	}
	c.complete(req, start)
	if in, ok := req.In.(*fuse.InterruptIn); ok {
		c.record(&call{req: req, raw: b, start: start}, &proto.Reply{}, "", nil, nil)
		c.interrupted(in)
		return true
	}
	if unwaited(req) {
		c.pass(&call{req: req, raw: b, start: start})
		return true
	}
	cl := c.begin(req, b, start)
	defer c.done(cl)
	r, note := c.unasked(req)
	if r == nil {
		r, note = c.ask(&cl.ctx, cl)
	}
	defer giveBack(r)
	if !cl.claim() {
		c.count.late.Add(1)
		return false
	}
	if ended(&cl.ctx, r.Errno) {
		r, note = &proto.Reply{Errno: c.verdict(cl)}, noteOf(&cl.ctx)
	}
	c.answer(cl, r, note)
	return true
}

// pass answers a request at once and hands it to the handler afterwards. There
// is nothing to interrupt in it, and nobody to wait for it longer than a
// deadline; its context is the connection's.
func (c *Conn) pass(cl *call) {
	c.unanswered.Add(1)
	c.nodes.forgotten(cl.req)
	c.answer(cl, &proto.Reply{}, "")
	c.ask(c.life, cl)
}

// unasked answers what follows from a reply that has been given already; nil
// is anything else.
func (c *Conn) unasked(req *proto.Request) (r *proto.Reply, note string) {
	if r := c.heldReply(req); r != nil {
		return r, NoteHeld
	}
	return c.storedRead(req), NoteStored
}

// giveBack gives back what a reply has borrowed.
func giveBack(r *proto.Reply) {
	if r.Release != nil {
		r.Release()
	}
}

// unwaited tells whether the caller goes on without the handler's reply.
func unwaited(req *proto.Request) bool {
	kind := req.Op.Row().Reply
	return kind == proto.ReplyNone || kind == proto.ReplyIgnored
}

// begin registers a request.
func (c *Conn) begin(req *proto.Request, raw []byte, start time.Time) *call {
	limit := c.opts.Deadline
	if req.Op.Row().Blocking {
		limit = 0
	}
	cl := newCall(req, raw, start, limit)
	c.unanswered.Add(1)
	if c.inflight.add(cl) {
		c.interrupt(cl)
	}
	if limit > 0 {
		c.watch(limit)
	}
	if c.ending.Load() {
		cl.ctx.end(ErrUnmounted)
	}
	return cl
}

// done ends what begin began, after the handler.
func (c *Conn) done(cl *call) {
	c.inflight.remove(cl)
	cl.ctx.end(context.Canceled)
}

// undecodable answers a request of which at most the header could be read.
func (c *Conn) undecodable(req *proto.Request, size int, err error) {
	c.count.undecodable.Add(1)
	c.opts.Log.Error("undecodable request", "bytes", size, "err", err)
	if req == nil {
		return
	}
	errno := syscall.EIO
	if errors.Is(err, syscall.ENOSYS) {
		errno = syscall.ENOSYS
	}
	c.write(req, &proto.Reply{Errno: errno})
}

// ask calls the handler, which may panic. At the end it is not called any more.
func (c *Conn) ask(ctx context.Context, cl *call) (r *proto.Reply, note string) {
	if c.ending.Load() {
		return &proto.Reply{Errno: syscall.ECONNABORTED}, NoteUnmounted
	}
	defer func() {
		if p := recover(); p != nil {
			c.count.panics.Add(1)
			c.opts.Log.Error("handler panicked", "op", cl.req.Op, "unique", cl.req.Header.Unique, "panic", p, "stack", string(debug.Stack()))
			r, note = &proto.Reply{Errno: syscall.EIO}, NotePanic
		}
	}()
	r = c.handler.Handle(ctx, cl.req)
	if r == nil {
		c.count.empty.Add(1)
		c.opts.Log.Error("handler returned no reply", "op", cl.req.Op, "unique", cl.req.Header.Unique)
		return &proto.Reply{Errno: syscall.EIO}, NoteEmpty
	}
	return r, ""
}

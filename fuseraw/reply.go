package fuseraw

// Replies: recorded, then written, each once.

import (
	"errors"
	"syscall"

	"github.com/llmfs-raw/llmfs-raw/proto"
	"golang.org/x/sys/unix"
)

// answer records r, with a note on what the loop did by itself, and sends it.
// The caller has claimed cl.
func (c *Conn) answer(cl *call, r *proto.Reply, note string) {
	defer c.unanswered.Add(-1)
	if e := proto.ClampErrno(r.Errno); e != r.Errno {
		c.count.clamped.Add(1)
		c.opts.Log.Error("reply's errno is none", "op", cl.req.Op, "have", int(r.Errno), "instead", e)
		r, note = &proto.Reply{Errno: e}, NoteErrno
	}
	if cl.req.Op.Row().Reply == proto.ReplyNone {
		c.record(cl, r, note, nil, nil)
		return
	}
	notes := c.tell(r)
	scratch := c.heads.Get().(*[]byte)
	defer c.heads.Put(scratch)
	head, tail, err := c.wire.EncodeReply((*scratch)[:0], cl.req, r)
	if err != nil {
		c.count.unencodable.Add(1)
		c.opts.Log.Error("reply has the wrong shape", "op", cl.req.Op, "unique", cl.req.Header.Unique, "err", err)
		c.untell(r)
		notes = nil
		r, note = &proto.Reply{Errno: syscall.EIO}, NoteShape
		head, tail, _ = c.wire.EncodeReply((*scratch)[:0], cl.req, r)
	}
	*scratch = head
	c.record(cl, r, note, head, tail)
	// Before the write, because the caller may READ what is to be STOREd at once.
	stores := c.notify.announce(cl.req, r, notes)
	c.notify.attributes(notes)
	if !c.send(cl.req, head, tail) {
		c.untell(r)
	}
	c.notify.queue(notes, stores)
}

// write sends a reply that is neither recorded nor followed by notifications.
func (c *Conn) write(req *proto.Request, r *proto.Reply) {
	head, tail, err := c.wire.EncodeReply(nil, req, r)
	if err == nil {
		c.send(req, head, tail)
	}
}

// send writes an encoded reply. One that the kernel refuses is replaced by
// EIO, unless the refusal itself has ended the request: then that is ENOENT.
func (c *Conn) send(req *proto.Request, head, tail []byte) (taken bool) {
	err := c.dev.write(head, tail)
	switch {
	case err == nil:
		c.count.replies.Add(1)
		return true
	case errors.Is(err, unix.ENOENT), errors.Is(err, errGone):
		c.count.gone.Add(1)
	default:
		c.count.refused.Add(1)
		c.opts.Log.Error("the kernel refused a reply", "op", req.Op, "unique", req.Header.Unique, "bytes", len(head)+len(tail), "err", err)
		eio, _, _ := c.wire.EncodeReply(nil, req, &proto.Reply{Errno: syscall.EIO})
		_ = c.dev.write(eio, nil) // if that is refused, too, the caller was answered by the refusal
	}
	return false
}

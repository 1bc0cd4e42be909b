package fuseraw

// What is recorded.

import (
	"context"
	"time"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// Exchange is one request and what is about to answer it. Its bytes, those of
// Req.Data and of Req.Ext are valid until Record returns.
type Exchange struct {
	Req   *proto.Request
	Reply *proto.Reply  // empty where the kernel takes none
	Took  time.Duration // since the request was read
	Note  string        // what the loop did by itself, "" where nothing

	ReqBytes   []byte    // the message as it was read
	ReplyBytes [2][]byte // the message that will be written, in two parts; both empty where the kernel takes none
}

// The notes of requests that the loop answered, or changed the answer of.
const (
	NoteInterrupted = "interrupted"
	NoteDeadline    = "deadline"
	NoteUnmounted   = "unmounted"
	NotePanic       = "handler panicked"
	NoteEmpty       = "handler returned no reply"
	NoteErrno       = "reply's errno is none"
	NoteShape       = "reply has the wrong shape"
	NoteStored      = "answered from a STORE in flight"
	NoteHeld        = "answered from the entry"
)

// noteOf tells why a context ended.
func noteOf(ctx context.Context) string {
	switch context.Cause(ctx) {
	case ErrInterrupted:
		return NoteInterrupted
	case ErrDeadline:
		return NoteDeadline
	}
	return NoteUnmounted
}

func (c *Conn) record(cl *call, r *proto.Reply, note string, head, tail []byte) {
	if c.opts.Record == nil {
		return
	}
	c.opts.Record(Exchange{
		Req: cl.req, Reply: r, Took: c.opts.Now().Sub(cl.start), Note: note,
		ReqBytes: cl.raw, ReplyBytes: [2][]byte{head, tail},
	})
}

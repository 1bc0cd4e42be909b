package session

// The baseline that measurements compare with: a mount as llmfs had it, the demo
// that came before. One request at a time, each a question to the model; and the
// kernel remembers nothing.

import (
	"context"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

func (s *Session) oneByOne(ctx context.Context, req *proto.Request) (*proto.Reply, error) {
	if unread(req.Op) {
		s.memory.quiet(req)
		s.count.quiet.Add(1)
		return &proto.Reply{}, nil
	}
	s.turn.Lock()
	defer s.turn.Unlock()
	reply, err := s.converse(ctx, req)
	if err == nil {
		reply = forgetful(reply)
	}
	return reply, err
}

// forgetful is a reply of which the kernel is to keep nothing.
func forgetful(r *proto.Reply) *proto.Reply {
	r.Notify = nil
	switch out := r.Out.(type) {
	case *fuse.EntryOut:
		fleeting(out)
	case *fuse.CreateOut:
		fleeting(&out.EntryOut)
		out.OpenFlags &^= keeps
	case *fuse.AttrOut:
		out.AttrValid, out.AttrValidNsec = 0, 0
	case *fuse.StatxOut:
		out.AttrValid, out.AttrValidNsec = 0, 0
	case *fuse.OpenOut:
		out.OpenFlags &^= keeps
	}
	for i := range r.Entries {
		fleeting(&r.Entries[i].Entry)
	}
	return r
}

const keeps = fuse.FOPEN_KEEP_CACHE | fuse.FOPEN_CACHE_DIR | fuse.FOPEN_NOFLUSH

func fleeting(e *fuse.EntryOut) {
	e.EntryValid, e.EntryValidNsec, e.AttrValid, e.AttrValidNsec = 0, 0, 0, 0
}

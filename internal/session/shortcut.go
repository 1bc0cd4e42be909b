package session

// What the daemon knows without asking: requests whose reply nobody reads, the
// end of a directory that its last page announced, opcodes that were answered
// ENOSYS, attributes that nothing has changed, extended ones that a node can't
// have, and what follows from the rest (implied.go).

import (
	"slices"
	"syscall"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// turnsOff are the opcodes that the kernel does not send again once they have
// been answered ENOSYS; requests that were on their way by then get the same.
var turnsOff = map[proto.Opcode]bool{
	proto.OpOpen: true, proto.OpOpendir: true, proto.OpFlush: true, proto.OpFsync: true, proto.OpFsyncdir: true,
	proto.OpSetxattr: true, proto.OpGetxattr: true, proto.OpListxattr: true, proto.OpRemovexattr: true,
	proto.OpAccess: true, proto.OpCreate: true, proto.OpTmpfile: true, proto.OpPoll: true, proto.OpBmap: true,
	proto.OpFallocate: true, proto.OpRename2: true, proto.OpLseek: true, proto.OpStatx: true, proto.OpSyncfs: true,
	proto.OpCopyFileRange: true, proto.OpCopyFileRange64: true,
}

// turnOff notes an opcode answered ENOSYS.
func (l *ledger) turnOff(name string) {
	if i, found := slices.BinarySearch(l.off, name); !found {
		l.off = slices.Insert(l.off, i, name)
	}
}

func (l *ledger) isOff(op proto.Opcode) bool {
	if !turnsOff[op] {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, found := slices.BinarySearch(l.off, op.String())
	return found
}

// unread tells whether nobody reads the reply to an opcode.
func unread(op proto.Opcode) bool {
	kind := op.Row().Reply
	return kind == proto.ReplyNone || kind == proto.ReplyIgnored
}

// shortcut is the reply that needs no model, nil where one is needed.
func (s *Session) shortcut(req *proto.Request) *proto.Reply {
	if reply := s.attrs.known(req); reply != nil {
		s.count.known.Add(1)
		return reply
	}
	switch {
	case listsFrom(req) == proto.EndCookie:
		s.count.ended.Add(1)
		return &proto.Reply{Entries: []proto.Dirent{}}
	case s.lacksXattr(req):
		s.count.lacking.Add(1)
		return noXattr(req)
	case s.memory == nil: // an embedded model does its own bookkeeping
		return nil
	case unread(req.Op):
		s.memory.quiet(req)
		s.count.quiet.Add(1)
		return &proto.Reply{}
	case s.memory.ledger.isOff(req.Op):
		s.count.off.Add(1)
		return &proto.Reply{Errno: syscall.ENOSYS}
	case s.attrs != nil:
		return s.implied(req)
	}
	return nil
}

// implied is what the ledger has for a request.
func (s *Session) implied(req *proto.Request) *proto.Reply {
	reply := s.memory.ledger.implied(req)
	if reply != nil {
		s.count.implied.Add(1)
	}
	return reply
}

// listsFrom is the cookie that a listing goes on from, 0 for other requests.
func listsFrom(req *proto.Request) uint64 {
	p := plans[req.Op]
	if kind := p.row.Reply; kind != proto.ReplyEntries && kind != proto.ReplyEntriesPlus {
		return 0
	}
	return p.uint(req, "Offset")
}

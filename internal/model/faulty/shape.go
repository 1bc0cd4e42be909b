package faulty

// Faults of common shapes, made from the part that differs.

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// asking asks the reference for something else than the caller did.
func asking[In any](change func(*In)) func(*call) *proto.Reply {
	return func(c *call) *proto.Reply { return nextWith(c, change) }
}

// saying says something else than the reference did, where it succeeds.
func saying(change func(*call, *proto.Reply)) func(*call) *proto.Reply {
	return func(c *call) *proto.Reply {
		r := c.next()
		if r.Errno == 0 {
			change(c, r)
		}
		return r
	}
}

// always replies without asking.
func always(reply func(*call) *proto.Reply) func(*call) *proto.Reply { return reply }

// mistaking has one errno for another.
func mistaking(from, to syscall.Errno) func(*call) *proto.Reply {
	return func(c *call) *proto.Reply {
		r := c.next()
		if r.Errno == from {
			return fail(to)
		}
		return r
	}
}

// attrs tells lies about attributes, wherever a reply has some.
func attrs(change func(*fuse.Attr)) func(*call) *proto.Reply {
	return saying(func(_ *call, r *proto.Reply) { eachAttr(r, change) })
}

// eachAttr visits the attributes in a reply.
func eachAttr(r *proto.Reply, visit func(*fuse.Attr)) {
	switch out := r.Out.(type) {
	case *fuse.AttrOut:
		visit(&out.Attr)
	case *fuse.EntryOut:
		known(out, visit)
	case *fuse.CreateOut:
		known(&out.EntryOut, visit)
	}
	for i := range r.Entries {
		known(&r.Entries[i].Entry, visit)
	}
}

func known(e *fuse.EntryOut, visit func(*fuse.Attr)) {
	if e.NodeId != 0 {
		visit(&e.Attr)
	}
}

// node is the node that a reply makes known, 0 where it does not.
func node(r *proto.Reply) uint64 {
	switch out := r.Out.(type) {
	case *fuse.EntryOut:
		return out.NodeId
	case *fuse.CreateOut:
		return out.NodeId
	}
	return 0
}

func isDir(mode uint32) bool { return mode&syscall.S_IFMT == syscall.S_IFDIR }
func isReg(mode uint32) bool { return mode&syscall.S_IFMT == syscall.S_IFREG }

// attrOps are the opcodes whose replies have attributes.
var attrOps = []proto.Opcode{
	proto.OpLookup, proto.OpGetattr, proto.OpSetattr, proto.OpSymlink, proto.OpMknod, proto.OpMkdir,
	proto.OpLink, proto.OpCreate, proto.OpTmpfile, proto.OpReaddirplus,
}

// on is a list of opcodes.
func on(ops ...proto.Opcode) []proto.Opcode { return ops }

// and is a list of opcodes with more of them.
func and(ops []proto.Opcode, more ...proto.Opcode) []proto.Opcode {
	return append(append([]proto.Opcode{}, ops...), more...)
}

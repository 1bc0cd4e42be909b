package session

// What follows from accepted pairs and the rules that the prompt states, so that
// there is nothing to ask: names that a directory known whole does not have, the
// attributes of a directory whose names have changed, bytes that were read or
// written.

import (
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

const (
	impliedValid = 3600 // seconds, as the prompt asks for
	maxImplied   = 1 << 20
)

// implied is the reply that the ledger has for a request; nil where it has none.
func (l *ledger) implied(req *proto.Request) *proto.Reply {
	l.mu.Lock()
	defer l.mu.Unlock()
	p, n := plans[req.Op], l.nodes[req.Header.NodeId]
	switch {
	case n == nil || !n.told:
		return nil
	case p.asksName():
		return n.impliesMissing(req.Names[0])
	case p.asksAttrs() && n.isDir():
		return &proto.Reply{Out: &fuse.AttrOut{AttrValid: impliedValid, Attr: n.attr}}
	case p.row.Reply == proto.ReplyBytes && p.has("Offset", "Size"):
		return n.impliesBytes(p.uint(req, "Offset"), p.uint(req, "Size"))
	}
	return nil
}

// impliesMissing: a directory that is known whole holds exactly that.
func (n *node) impliesMissing(name string) *proto.Reply {
	e := n.entries[name]
	if !n.isDir() || !n.complete || len(name) > maxName || e != nil && !e.missing {
		return nil
	}
	return &proto.Reply{Out: &fuse.EntryOut{EntryValid: impliedValid}}
}

const maxName = 255 // bytes

// impliesBytes: what was written, or read before, is what there is.
func (n *node) impliesBytes(off, size uint64) *proto.Reply {
	if n.kind() != fuse.S_IFREG || size > maxImplied {
		return nil
	}
	end := max(off, min(off+size, n.attr.Size))
	data := make([]byte, 0, end-off)
	for _, k := range n.content.within(off, end) {
		if k.off != off+uint64(len(data)) {
			return nil
		}
		if k.data == nil {
			data = data[:uint64(len(data))+k.len()] // zeros, as made
			continue
		}
		data = append(data, k.data...)
	}
	if uint64(len(data)) != end-off {
		return nil
	}
	return &proto.Reply{Data: data}
}

package fuseraw

// STOREs in flight: those of nodes that were known, or that are open already.
// (hold.go has those of entries.) A caller may ask for the
// bytes before their STORE is in the page cache, or change them. So a READ is
// answered from the bytes in flight, and a change takes them out of flight.
// (An OPEN that is answered without FOPEN_KEEP_CACHE drops what has arrived.)

import (
	"sync/atomic"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// store is one STORE between its announcement and its arrival.
type store struct {
	node      uint64
	off       uint64 // of data in the file, bytes
	data      []byte
	toEOF     bool // data reaches the file's end
	fresh     bool // the node came with the same reply
	overtaken bool // a change of the node came first; under the notifier's lock
}

// stores holds them by node id, under the notifier's lock but for the count.
type stores struct {
	byNode map[uint64][]*store
	count  atomic.Int64 // lets a request pass without the lock where there are none
}

func (s *stores) add(st *store) {
	if s.byNode == nil {
		s.byNode = map[uint64][]*store{}
	}
	s.byNode[st.node] = append(s.byNode[st.node], st)
	s.count.Add(1)
}

func (s *stores) remove(st *store) {
	if st == nil {
		return
	}
	list := s.byNode[st.node]
	for i, other := range list {
		if other == st {
			s.count.Add(-1)
			list = append(list[:i:i], list[i+1:]...)
			break
		}
	}
	if len(list) == 0 {
		delete(s.byNode, st.node)
	} else {
		s.byNode[st.node] = list
	}
}

// announce registers the STOREs that will follow a reply to req. The result has
// an element for each notification, nil where it is no STORE.
func (n *notifier) announce(req *proto.Request, r *proto.Reply, notes []proto.Notification) []*store {
	if len(notes) == 0 {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	list := make([]*store, len(notes))
	for i, note := range notes {
		out, ok := note.Out.(*fuse.NotifyStoreOut)
		if !ok {
			continue
		}
		size, known := sizeIn(req, r, out.Nodeid)
		list[i] = &store{
			node: out.Nodeid, off: out.Offset, data: note.Data, fresh: known,
			toEOF: known && out.Offset+uint64(len(note.Data)) >= size,
		}
		n.stores.add(list[i])
	}
	return list
}

// sizeIn is the size in bytes that a reply says node has.
func sizeIn(req *proto.Request, r *proto.Reply, node uint64) (uint64, bool) {
	switch out := r.Out.(type) {
	case *fuse.CreateOut:
		return out.EntryOut.Attr.Size, out.EntryOut.NodeId == node
	case *fuse.AttrOut:
		return out.Attr.Size, req.Header.NodeId == node
	}
	return 0, false
}

// read is the part of the file at off, at most size bytes, if data has it.
func (st *store) read(off, size uint64) ([]byte, bool) {
	end := st.off + uint64(len(st.data))
	if off < st.off || off+size > end && !st.toEOF {
		return nil, false
	}
	return st.data[min(off, end)-st.off : min(off+size, end)-st.off], true
}

// undo is the notification that takes back what st put into the page cache.
func (st *store) undo() *proto.Notification {
	return &proto.Notification{
		Code: proto.NotifyInvalInode,
		Out:  &fuse.NotifyInvalInodeOut{Ino: st.node, Off: int64(st.off), Length: int64(len(st.data))},
	}
}

// storedRead answers a READ from bytes in flight; nil is anything else. A
// request that changes a file's content takes them out of flight.
func (c *Conn) storedRead(req *proto.Request) *proto.Reply {
	if c.notify.stores.count.Load() == 0 {
		return nil
	}
	if node, ok := changed(req); ok {
		c.notify.overtake(node)
	}
	in, ok := req.In.(*fuse.ReadIn)
	if !ok || req.Op.Row().Reply != proto.ReplyBytes {
		return nil
	}
	data, ok := c.notify.inFlight(req.Header.NodeId, in.Offset, uint64(in.Size))
	if !ok {
		return nil
	}
	c.count.reads.Add(1)
	return &proto.Reply{Data: data}
}

// changed is the node whose content a request changes.
func changed(req *proto.Request) (node uint64, ok bool) {
	switch in := req.In.(type) {
	case *fuse.WriteIn, *fuse.SetAttrIn, *fuse.FallocateIn:
		return req.Header.NodeId, true
	case *fuse.CopyFileRangeIn:
		return in.NodeIdOut, true
	case *fuse.OpenIn:
		return req.Header.NodeId, in.Flags&syscall.O_TRUNC != 0
	}
	return 0, false
}

func (n *notifier) overtake(node uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, st := range n.stores.byNode[node] {
		st.overtaken = true
	}
}

// inFlight finds bytes of a node; the last STORE counts.
func (n *notifier) inFlight(node, off, size uint64) ([]byte, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := n.stores.byNode[node]
	for i := len(list) - 1; i >= 0; i-- {
		if data, ok := list[i].read(off, size); ok && !list[i].overtaken {
			return data, true
		}
	}
	return nil, false
}

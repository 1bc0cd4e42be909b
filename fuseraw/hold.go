package fuseraw

// Content that comes with a node. To STORE it after the reply would race with
// a caller who changes the file at once: old bytes over new ones. So the reply
// says that the node's attributes are no longer valid. Whoever is about to open
// the file then asks for them first, and while it waits the bytes are stored.
// Nobody can have had a page of the file by then, because only nodes that the
// kernel did not know are held so.

import (
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// held is a node with content that waits to be asked for.
type held struct {
	out    fuse.AttrOut // what the reply said of the node
	stores []*proto.Notification
	size   int           // bytes, about
	stored chan struct{} // closed once the content is in the page cache, or never will be
	taken  bool          // somebody is storing it
	moves  uint64        // nodes.moves when the reply was written
	until  time.Time     // the end of its validity
}

// Content is held for as long as the attributes that came with it are valid, but
// for a caller who has just been told of the file in any case.
const (
	shortestHold = time.Second
	longestHold  = 24 * time.Hour
)

// nodes are those that the kernel knows, as far as replies and FORGETs tell.
// The lock is a leaf.
type nodes struct {
	mu    sync.Mutex
	known map[uint64]uint64 // references that the kernel was given and has not forgotten
	held  map[uint64]*held
	bytes int
	moves uint64       // requests that may have changed attributes of nodes they do not name
	count atomic.Int64 // of held: lets a request pass without the lock
}

// told are the entries of a reply by which the kernel gets to know nodes;
// opened are those of files that the same reply opens.
func told(r *proto.Reply, f func(e *fuse.EntryOut, opened bool)) {
	switch out := r.Out.(type) {
	case *fuse.EntryOut:
		if out.NodeId != 0 {
			f(out, false)
		}
	case *fuse.CreateOut:
		f(&out.EntryOut, true)
	}
	for i := range r.Entries {
		if e := &r.Entries[i]; e.Entry.NodeId != 0 && e.Name != "." && e.Name != ".." {
			f(&e.Entry, false)
		}
	}
}

// tell takes note of a reply that is about to be written. It keeps the STOREs
// of nodes that are new to the kernel, drops those of nodes that are not, and
// returns the notifications that are left to be sent after the reply.
func (c *Conn) tell(r *proto.Reply) (left []proto.Notification) {
	if r.Errno != 0 {
		return nil
	}
	stores := storesOf(r.Notify)
	all := len(stores)
	told(r, func(e *fuse.EntryOut, opened bool) {
		fresh := c.nodes.meet(e.NodeId)
		if list := stores[e.NodeId]; len(list) > 0 && !opened {
			c.keep(e, list, fresh)
			delete(stores, e.NodeId)
		}
	})
	if len(stores) == all {
		return r.Notify
	}
	return slices.DeleteFunc(slices.Clone(r.Notify), func(note proto.Notification) bool {
		out, ok := note.Out.(*fuse.NotifyStoreOut)
		return ok && stores[out.Nodeid] == nil
	})
}

// keep holds the STOREs of an entry, or drops them: the kernel may have pages
// of what it knew before, and writers of them.
func (c *Conn) keep(e *fuse.EntryOut, stores []*proto.Notification, fresh bool) {
	valid := min(max(time.Duration(e.AttrValid)*time.Second, shortestHold), longestHold)
	switch {
	case !fresh:
		c.count.storeKnown.Add(uint64(len(stores)))
	case !c.nodes.hold(e, stores, c.opts.NotifyQueue, c.opts.Now().Add(valid)):
		c.count.notifyDropped.Add(uint64(len(stores)))
	}
}

// storesOf are the STOREs by node.
func storesOf(notes []proto.Notification) (byNode map[uint64][]*proto.Notification) {
	for i := range notes {
		if out, ok := notes[i].Out.(*fuse.NotifyStoreOut); ok {
			if byNode == nil {
				byNode = map[uint64][]*proto.Notification{}
			}
			byNode[out.Nodeid] = append(byNode[out.Nodeid], &notes[i])
		}
	}
	return byNode
}

// untell takes back a reply that the kernel did not take.
func (c *Conn) untell(r *proto.Reply) {
	if r.Errno == 0 {
		told(r, func(e *fuse.EntryOut, _ bool) { c.nodes.forget(e.NodeId, 1) })
	}
}

// meet counts a reference, and says whether it is the first. A second one makes
// the attributes of a held node valid: it must not be stored from then on.
func (n *nodes) meet(node uint64) (fresh bool) {
	n.mu.Lock()
	if n.known == nil {
		n.known, n.held = map[uint64]uint64{}, map[uint64]*held{}
	}
	n.known[node]++
	fresh = n.known[node] == 1
	n.mu.Unlock()
	if !fresh {
		n.drop(node)
	}
	return fresh
}

// hold keeps content until the node's attributes are asked for.
func (n *nodes) hold(e *fuse.EntryOut, stores []*proto.Notification, limit int, until time.Time) bool {
	h := &held{
		out:    fuse.AttrOut{AttrValid: e.AttrValid, AttrValidNsec: e.AttrValidNsec, Attr: e.Attr},
		stores: stores, stored: make(chan struct{}), until: until,
	}
	for _, note := range stores {
		h.size += 256 + len(note.Data)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	h.moves = n.moves
	if n.bytes+h.size > limit {
		return false
	}
	e.AttrValid, e.AttrValidNsec = 0, 0
	n.held[e.NodeId] = h
	n.bytes += h.size
	n.count.Add(1)
	return true
}

// remove ends what hold began. The lock is held.
func (n *nodes) remove(node uint64, h *held) {
	if n.held[node] == h {
		delete(n.held, node)
		n.bytes -= h.size
		n.count.Add(-1)
	}
}

// drop gives up the content of a node; one that is being stored is waited for.
func (n *nodes) drop(node uint64) {
	if n.count.Load() == 0 {
		return
	}
	n.mu.Lock()
	h := n.held[node]
	if h == nil {
		n.mu.Unlock()
		return
	}
	taken := h.taken
	if !taken {
		n.remove(node, h)
	}
	n.mu.Unlock()
	if taken {
		<-h.stored
	}
}

// forget is the kernel's FORGET.
func (n *nodes) forget(node, references uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.known[node] > references {
		n.known[node] -= references
		return
	}
	delete(n.known, node)
	if h := n.held[node]; h != nil && !h.taken {
		n.remove(node, h)
	}
}

func (n *nodes) forgotten(req *proto.Request) {
	if in, ok := req.In.(*fuse.ForgetIn); ok {
		n.forget(req.Header.NodeId, in.Nlookup)
	}
	list, _ := req.List.([]proto.ForgetOne)
	for _, one := range list {
		n.forget(one.NodeId, one.Nlookup)
	}
}

// heldReply deals with the content of the node that a request is about, and
// answers it where it only asks for attributes that are known; nil is anything else.
func (c *Conn) heldReply(req *proto.Request) *proto.Reply {
	n := &c.nodes
	if n.count.Load() == 0 {
		return nil
	}
	if movesNames(req) {
		n.age()
	}
	if in, ok := req.In.(*fuse.LinkIn); ok {
		n.drop(in.Oldnodeid)
	}
	if !opening(req) {
		n.drop(req.Header.NodeId)
		return nil
	}
	h, mine := n.take(req.Header.NodeId, c.opts.Now())
	if h == nil {
		return nil
	}
	if mine {
		c.storeHeld(h)
	}
	<-h.stored
	stale := n.finish(req.Header.NodeId, h)
	if _, ok := req.In.(*fuse.GetAttrIn); !ok || stale {
		return nil
	}
	c.count.heldAttrs.Add(1)
	out := h.out
	return &proto.Reply{Out: &out}
}

func movesNames(req *proto.Request) bool {
	row := req.Op.Row()
	for i := range row.Names {
		if role := row.Role(i); role == proto.RoleRemoved || role == proto.RoleMoved {
			return true
		}
	}
	return false
}

// opening tells requests that come before any page of a file is touched, and
// during which the kernel holds none locked: the caller has just been told of
// the node, and wants its attributes, or to open it.
func opening(req *proto.Request) bool {
	switch in := req.In.(type) {
	case *fuse.GetAttrIn:
		return in.Flags_&fuse.FUSE_GETATTR_FH == 0
	case *fuse.StatxIn:
		return in.GetattrFlags&fuse.FUSE_GETATTR_FH == 0
	case *fuse.OpenIn:
		return in.Flags&syscall.O_TRUNC == 0
	}
	return false
}

// age notes that attributes of held nodes may have changed.
func (n *nodes) age() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.moves++
}

// take finds content that is held; mine is the one who has to store it.
func (n *nodes) take(node uint64, now time.Time) (h *held, mine bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	h = n.held[node]
	if h == nil {
		return nil, false
	}
	if mine = !h.taken; mine && now.After(h.until) {
		n.remove(node, h)
		return nil, false
	}
	h.taken = true
	return h, mine
}

func (c *Conn) storeHeld(h *held) {
	defer close(h.stored)
	for _, note := range h.stores {
		c.notify.send(message{note: note})
	}
}

// finish ends the holding, and says whether the attributes may have changed.
func (n *nodes) finish(node uint64, h *held) (stale bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.remove(node, h)
	return h.moves != n.moves
}

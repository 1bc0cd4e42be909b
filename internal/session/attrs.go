package session

// Attributes as they were last told. The kernel forgets them where only the
// access time may have changed, by a listing say, and asks again.

import (
	"sync"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// maxAttrs bounds how many nodes are remembered.
const maxAttrs = 1 << 15

// attributes are those of nodes that no request has changed since.
type attributes struct {
	mu      sync.Mutex
	told    map[uint64]believed
	changes uint64 // how many changes have begun or ended
}

// believed are attributes for as long as they were said to be valid.
type believed struct {
	attr  fuse.Attr
	until uint64 // seconds since the epoch, by the clock of requests
}

func newAttributes() *attributes { return &attributes{told: map[uint64]believed{}} }

// asks tells whether requests of a row change nothing: those that are answered
// with data, with attributes that they do not set, or with a name's node.
func (p *plan) asks() bool {
	switch p.row.Reply {
	case proto.ReplyBytes, proto.ReplySizeOrBytes, proto.ReplyEntries, proto.ReplyEntriesPlus:
		return true
	}
	return p.asksName() || p.asksAttrs() || p.out.statx != nil || p.out.statfs != nil
}

func (p *plan) asksName() bool  { return p.out.entry != nil && p.row.Names == 1 && p.row.In == nil }
func (p *plan) asksAttrs() bool { return p.out.attr != nil && !p.has("Valid") }

// known is the reply to a question for attributes, nil where they are not known.
func (a *attributes) known(req *proto.Request) *proto.Reply {
	if a == nil || !plans[req.Op].asksAttrs() {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	b, ok := a.told[req.Header.NodeId]
	now := uint64(req.Header.Now.Sec)
	if !ok || now >= b.until {
		return nil
	}
	return &proto.Reply{Out: &fuse.AttrOut{AttrValid: b.until - now, Attr: b.attr}}
}

// begin comes before a request is answered; end takes its result.
func (a *attributes) begin(req *proto.Request) (changes uint64) {
	if a == nil {
		return 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !plans[req.Op].asks() {
		a.forget(req)
		a.changes++
	}
	return a.changes
}

// end takes in what a reply tells, unless a change came in between. reply is
// nil where there is none.
func (a *attributes) end(req *proto.Request, reply *proto.Reply, began uint64) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	alone := a.changes == began
	if !plans[req.Op].asks() {
		a.forget(req)
		a.changes++
	}
	if reply == nil || reply.Errno != 0 {
		return
	}
	for _, note := range reply.Notify {
		if note.Code != proto.NotifyStore { // a change that no request made
			clear(a.told)
			return
		}
	}
	a.tell(req, reply, alone)
}

// forget drops the nodes that a request may change: all, where it takes a name
// away from a node that it does not tell.
func (a *attributes) forget(req *proto.Request) {
	p := plans[req.Op]
	if p.hasRole(proto.RoleRemoved) || p.hasRole(proto.RoleMoved) {
		clear(a.told)
		return
	}
	delete(a.told, req.Header.NodeId)
	for _, field := range []string{"Oldnodeid", "NodeIdOut"} {
		if p.has(field) {
			delete(a.told, p.uint(req, field))
		}
	}
}

// tell remembers the attributes in a reply, or that those of its node are not
// known where it may be out of date.
func (a *attributes) tell(req *proto.Request, reply *proto.Reply, alone bool) {
	p := plans[req.Op]
	remember := func(node uint64, attr fuse.Attr, valid uint64) {
		delete(a.told, node)
		if alone && node != 0 && valid > 0 && len(a.told) < maxAttrs {
			a.told[node] = believed{attr, uint64(req.Header.Now.Sec) + valid}
		}
	}
	if out, ok := reply.Out.(*fuse.AttrOut); ok {
		remember(req.Header.NodeId, out.Attr, out.AttrValid)
	}
	entry := func(e *fuse.EntryOut) { remember(e.NodeId, e.Attr, e.AttrValid) }
	if e := part[fuse.EntryOut](reply.Out, p.out.entry); e != nil {
		entry(e)
	}
	for i := range reply.Entries {
		if reply.Entries[i].Entry.NodeId != 0 {
			entry(&reply.Entries[i].Entry)
		}
	}
}

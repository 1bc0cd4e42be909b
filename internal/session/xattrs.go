package session

// Extended attributes that a node can't have. The kernel looks for
// security.capability before the first write to each file, and ls -l for a label
// and an ACL of each that it lists.

import (
	"strings"
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

const (
	accessACL  = "system.posix_acl_access"
	defaultACL = "system.posix_acl_default"
)

// isXattr tells whether an attribute may have this name: others are refused
// for what they are, not because they are missing.
func isXattr(name string) bool {
	space, rest, _ := strings.Cut(name, ".")
	return name == accessACL || name == defaultACL ||
		rest != "" && (space == "user" || space == "trusted" || space == "security")
}

// maxBearers bounds what is remembered: beyond it every question is passed on.
const maxBearers = 1 << 16

// bearers are the nodes that may have extended attributes: those that were
// given some, and what was made under them, which may have inherited ACLs.
type bearers struct {
	mu    sync.RWMutex
	nodes map[uint64]bool
	full  bool
}

func newBearers() *bearers { return &bearers{nodes: map[uint64]bool{}} }

func (b *bearers) has(node uint64) bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.full || b.nodes[node]
}

func (b *bearers) add(node uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.full = b.full || len(b.nodes) >= maxBearers; b.full {
		b.nodes = nil
		return
	}
	b.nodes[node] = true
}

// before takes note of a request that sets an attribute, ahead of its answer,
// so that nobody is told of none once it is there.
func (b *bearers) before(req *proto.Request) {
	if p := plans[req.Op]; b != nil && p.hasRole(proto.RoleXattr) && p.row.Size != "" {
		b.add(req.Header.NodeId)
	}
}

// after takes note of nodes of a directory that may have a default ACL.
func (b *bearers) after(req *proto.Request, reply *proto.Reply) {
	if b == nil || reply == nil || plans[req.Op].out.entry == nil || !b.has(req.Header.NodeId) {
		return
	}
	if out := part[fuse.EntryOut](reply.Out, plans[req.Op].out.entry); out != nil && out.NodeId != 0 {
		b.add(out.NodeId)
	}
}

// lacksXattr tells whether a request asks for an attribute, or for a list of
// them, of a node that is known to have none of it.
func (s *Session) lacksXattr(req *proto.Request) bool {
	p := plans[req.Op]
	if p.row.Reply != proto.ReplySizeOrBytes || s.memory == nil && s.xattrs == nil {
		return false
	}
	name, listed := "", true
	if i := p.name(proto.RoleXattr); i >= 0 {
		name, listed = req.Names[i], false
	}
	if s.memory != nil {
		return s.memory.ledger.lacksXattr(req.Header.NodeId, name)
	}
	return (listed || isXattr(name)) && !s.xattrs.has(req.Header.NodeId)
}

// lacksXattr: the name "" is all of them.
func (l *ledger) lacksXattr(id uint64, name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.nodes[id]
	if n == nil {
		return false
	}
	if name == "" {
		return n.xattrsComplete && len(n.xattrs) == 0
	}
	x, told := n.xattrs[name]
	return told && x.missing || !told && n.xattrsComplete && isXattr(name)
}

// noXattr is ENODATA, or an empty list in either of its forms.
func noXattr(req *proto.Request) *proto.Reply {
	p := plans[req.Op]
	switch {
	case p.hasRole(proto.RoleXattr):
		return &proto.Reply{Errno: syscall.ENODATA}
	case p.uint(req, "Size") == 0:
		return &proto.Reply{Out: p.row.NewOut()}
	}
	return &proto.Reply{Data: []byte{}}
}

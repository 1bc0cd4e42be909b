package session

// The projection: from a request and its accepted reply to facts. Each rule
// says by the shape of a row where it applies; no opcode is named.

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// rule is one sort of fact.
type rule struct {
	what  string
	when  func(*plan) bool
	apply func(*step)
}

// step is one pair on its way into the ledger.
type step struct {
	l     *ledger
	p     *plan
	req   *proto.Request
	reply *proto.Reply
	node  *node // Header.NodeId's
	child *node // the one that the reply's EntryOut is about
}

func (s *step) in(name string) uint64 { return s.p.uint(s.req, name) }
func (s *step) now() proto.Time       { return s.req.Header.Now }

// rules are applied in order to a pair that succeeded.
var rules = []rule{
	{"a name's node and attributes", func(p *plan) bool { return p.out.entry != nil }, (*step).told},
	{"a node's attributes", func(p *plan) bool { return p.out.attr != nil || p.out.statx != nil }, (*step).attributes},
	{"an open handle", func(p *plan) bool { return p.out.open != nil }, (*step).opened},
	{"a directory's entries", func(p *plan) bool {
		return p.row.Reply == proto.ReplyEntries || p.row.Reply == proto.ReplyEntriesPlus
	}, (*step).entries},
	{"bytes read", func(p *plan) bool { return p.row.Reply == proto.ReplyBytes && p.has("Offset", "Size") }, (*step).read},
	{"what a link says, read", func(p *plan) bool { return p.row.Reply == proto.ReplyBytes && p.row.In == nil }, (*step).pointsTo},
	{"what a link says, given", func(p *plan) bool { return p.hasRole(proto.RoleTarget) }, (*step).pointed},
	{"bytes written", func(p *plan) bool { return p.row.Size != "" && p.has("Offset") }, (*step).written},
	{"bytes copied", func(p *plan) bool { return p.has("NodeIdOut", "OffIn", "OffOut") }, (*step).copied},
	{"a range made, freed or shifted", func(p *plan) bool { return p.has("Offset", "Length", "Mode") }, (*step).allocated},
	{"a name gone", func(p *plan) bool { return p.hasRole(proto.RoleRemoved) }, (*step).removed},
	{"a name moved", func(p *plan) bool { return p.hasRole(proto.RoleMoved) && p.hasRole(proto.RoleNew) }, (*step).moved},
	{"an extended attribute", func(p *plan) bool { return p.hasRole(proto.RoleXattr) }, (*step).xattr},
	{"the list of extended attributes", func(p *plan) bool { return p.row.Reply == proto.ReplySizeOrBytes && p.row.Names == 0 }, (*step).xattrList},
	{"a lock", func(p *plan) bool { return p.lk != nil && p.row.Out == nil }, (*step).locked},
	{"locks gone with their owner", func(p *plan) bool { return p.has("Fh", "LockOwner") && !p.has("Size") }, (*step).dropped},
	{"a handle closed", func(p *plan) bool { return p.row.Reply == proto.ReplyIgnored && p.has("Fh") }, (*step).closed},
	{"a node forgotten", func(p *plan) bool { return p.row.Reply == proto.ReplyNone && (p.has("Nlookup") || p.row.List != nil) }, (*step).forgotten},
	{"the filesystem's size", func(p *plan) bool { return p.out.statfs != nil }, (*step).sized},
	{"what came along", func(*plan) bool { return true }, (*step).notified},
}

// apply takes an accepted pair into the table.
func (l *ledger) apply(req *proto.Request, reply *proto.Reply) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &step{l: l, p: plans[req.Op], req: req, reply: reply}
	if reply.Errno != 0 {
		s.failed()
		return
	}
	if s.p.row.Reply != proto.ReplyNone {
		s.node = l.node(req.Header.NodeId)
	}
	for _, r := range s.p.rules {
		r.apply(s)
	}
}

// failed takes from an errno what it says about a name or an opcode.
func (s *step) failed() {
	switch {
	case s.reply.Errno == syscall.ENOSYS && turnsOff[s.req.Op]:
		s.l.turnOff(s.p.row.Name)
	case s.reply.Errno == syscall.ENOENT && s.p.asksName():
		s.l.unlink(s.l.node(s.req.Header.NodeId), s.req.Names[0])
	case s.reply.Errno == syscall.ENODATA && s.p.hasRole(proto.RoleXattr):
		s.l.node(s.req.Header.NodeId).setXattr(s.req.Names[0], xattr{known: true, missing: true})
	}
}

// told: an EntryOut is about the name of RoleEntry, if there is one.
func (s *step) told() {
	out := part[fuse.EntryOut](s.reply.Out, s.p.out.entry)
	named := s.p.name(proto.RoleEntry)
	if out.NodeId == 0 {
		if named >= 0 {
			s.l.unlink(s.node, s.req.Names[named])
		}
		return
	}
	fresh := s.p.makes || named < 0
	if named >= 0 && s.known(s.req.Names[named], out.NodeId) {
		fresh = false
	}
	if fresh && !s.p.has("Oldnodeid") {
		s.l.renew(out.NodeId)
	}
	s.child = s.l.take(out)
	if fresh && named >= 0 {
		s.born()
	}
	if named >= 0 {
		s.l.link(s.node, s.req.Names[named], s.child)
	}
}

// known tells whether the name already led to that node.
func (s *step) known(name string, id uint64) bool {
	e := s.node.entries[name]
	return e != nil && e.node == id
}

// born: a new name changes its directory. A new directory is empty, and a new
// node has no extended attributes but the ACL that a directory may give.
func (s *step) born() {
	s.node.touch(s.now(), true)
	if acl, ok := s.node.xattrs[defaultACL]; !ok || acl.missing {
		s.child.xattrsComplete = true
	}
	if s.child.isDir() {
		s.child.complete = true
		s.node.change(func(a *fuse.Attr) { a.Nlink++ })
	}
}

// renew forgets what an id meant before it was given to a new node.
func (l *ledger) renew(id uint64) {
	if old := l.nodes[id]; old != nil && id != proto.RootID {
		for _, k := range old.links {
			*k.dir.entry(k.name) = entry{name: k.name, missing: true}
		}
		delete(l.nodes, id)
	}
}

// take notes a node and its attributes.
func (l *ledger) take(out *fuse.EntryOut) *node {
	n := l.node(out.NodeId)
	if n.generation != out.Generation {
		n.generation = out.Generation
	}
	n.tell(&out.Attr)
	n.met = true
	return n
}

func (s *step) attributes() {
	if s.p.has("Valid", "Size") && s.in("Valid")&fuse.FATTR_SIZE != 0 {
		s.node.resize(s.in("Size"))
	}
	if a := part[fuse.Attr](s.reply.Out, s.p.out.attr); a != nil {
		s.node.tell(a)
	}
	if x := part[fuse.Statx](s.reply.Out, s.p.out.statx); x != nil && x.Mask&basicStats == basicStats {
		a := attrOf(x)
		a.Flags, a.Rdev = s.node.attr.Flags, s.node.attr.Rdev
		s.node.tell(&a)
	}
}

const basicStats = 0x7ff // STATX_BASIC_STATS

func attrOf(x *fuse.Statx) fuse.Attr {
	return fuse.Attr{
		Ino: x.Ino, Size: x.Size, Blocks: x.Blocks, Blksize: x.Blksize,
		Atime: x.Atime.Sec, Mtime: x.Mtime.Sec, Ctime: x.Ctime.Sec,
		Atimensec: x.Atime.Nsec, Mtimensec: x.Mtime.Nsec, Ctimensec: x.Ctime.Nsec,
		Mode: uint32(x.Mode), Nlink: x.Nlink, Owner: fuse.Owner{Uid: x.Uid, Gid: x.Gid},
	}
}

// opened: the handle is of the node just made, or of the request's.
func (s *step) opened() {
	out := part[fuse.OpenOut](s.reply.Out, s.p.out.open)
	n := s.node
	if s.child != nil {
		n = s.child
	} else if s.in("Flags")&syscall.O_TRUNC != 0 && n.kind() == fuse.S_IFREG {
		n.resize(0)
		n.touch(s.now(), true)
		s.killed(n, s.in("Mode")&fuse.OPEN_KILL_SUIDGID != 0)
	}
	key := handleKey{n.id, out.Fh}
	h := s.l.handles[key]
	if h == nil {
		h = &handle{}
		s.l.handles[key] = h
	}
	h.flags, h.openFlags, h.opens = uint32(s.in("Flags")), out.OpenFlags, h.opens+1
	s.l.last.handle = max(s.l.last.handle, out.Fh)
}

// killed clears the bits that a write by others clears.
func (s *step) killed(n *node, kill bool) {
	if !kill {
		return
	}
	n.change(func(a *fuse.Attr) {
		a.Mode &^= sISUID
		if a.Mode&sIXGRP != 0 {
			a.Mode &^= sISGID
		}
	})
}

func (s *step) pointsTo() {
	target := string(s.reply.Data)
	s.node.target = &target
	s.accessed()
}

func (s *step) pointed() {
	if s.child != nil {
		target := s.req.Names[s.p.name(proto.RoleTarget)]
		s.child.target = &target
	}
}

func (s *step) removed() {
	child := s.l.unlink(s.node, s.req.Names[s.p.name(proto.RoleRemoved)])
	s.unlinked(s.node, child)
	s.node.touch(s.now(), true)
}

// unlinked takes a link off the node that lost a name of dir.
func (s *step) unlinked(dir, child *node) {
	if child == nil {
		return
	}
	if child.isDir() {
		child.change(func(a *fuse.Attr) { a.Nlink = 0 })
		dir.change(func(a *fuse.Attr) { a.Nlink-- })
	} else {
		child.change(func(a *fuse.Attr) { a.Nlink-- })
	}
	child.touch(s.now(), false)
}

func (s *step) closed() {
	key := handleKey{s.req.Header.NodeId, s.in("Fh")}
	if h := s.l.handles[key]; h != nil {
		if h.opens--; h.opens <= 0 {
			delete(s.l.handles, key)
		}
	}
}

func (s *step) forgotten() {
	if s.p.row.List == nil {
		s.l.reclaim(s.req.Header.NodeId)
		return
	}
	list, _ := s.req.List.([]proto.ForgetOne)
	for _, one := range list {
		s.l.reclaim(one.NodeId)
	}
}

func (s *step) sized() {
	copied := *part[fuse.StatfsOut](s.reply.Out, s.p.out.statfs)
	s.l.statfs = &copied
}

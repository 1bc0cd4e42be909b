package session

// Projection of content, extended attributes and locks.

import (
	"reflect"
	"strings"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

func (s *step) read() {
	s.node.content.fill(chunk{off: s.in("Offset"), data: present(s.reply.Data)})
	s.accessed()
}

// present is b, but nil where it is empty: a chunk without data is zeros.
func present(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}

func (s *step) written() {
	off, n := s.in("Offset"), min(s.p.count(s.reply.Out), uint64(len(s.req.Data)))
	if n == 0 {
		return
	}
	s.grow(s.node, off+n)
	s.node.content.put(chunk{off: off, data: present(s.req.Data[:n])})
	s.node.touch(s.now(), true)
	s.killed(s.node, s.in("WriteFlags")&fuse.WRITE_KILL_SUIDGID != 0)
}

// grow makes a file at least size bytes long.
func (s *step) grow(n *node, size uint64) {
	if size > n.attr.Size {
		n.resize(size)
	}
}

func (s *step) copied() {
	to := s.l.node(s.in("NodeIdOut"))
	from, off, n := s.in("OffIn"), s.in("OffOut"), s.p.count(s.reply.Out)
	if n == 0 {
		return
	}
	source := s.node.content.within(from, from+n)
	s.grow(to, off+n)
	to.content.forget(off, off+n)
	for _, k := range source {
		k.off = k.off - from + off
		to.content.put(k)
	}
	s.accessed()
	to.touch(s.now(), true)
	s.killed(to, s.req.Header.Uid != 0)
}

// The modes of fallocate(2), from linux/falloc.h.
const (
	fallocKeepSize = 0x01
	fallocPunch    = 0x02
	fallocCollapse = 0x08
	fallocZero     = 0x10
	fallocInsert   = 0x20
)

func (s *step) allocated() {
	off, n, mode := s.in("Offset"), s.in("Length"), s.in("Mode")
	switch {
	case mode&fallocCollapse != 0:
		s.node.content.forget(off, off+n)
		s.node.content.shift(off, -int64(n))
		s.node.change(func(a *fuse.Attr) { a.Size -= n })
	case mode&fallocInsert != 0:
		s.node.content.split(off)
		s.node.content.shift(off, int64(n))
		s.node.content.put(chunk{off: off, zeros: n})
		s.node.change(func(a *fuse.Attr) { a.Size += n })
	default:
		if mode&fallocKeepSize == 0 {
			s.grow(s.node, off+n)
		}
		if end := min(off+n, s.node.attr.Size); mode&(fallocPunch|fallocZero) != 0 && end > off {
			s.node.content.put(chunk{off: off, zeros: end - off})
		}
	}
	s.node.touch(s.now(), true)
	s.killed(s.node, s.req.Header.Uid != 0)
}

// split makes no chunk reach over off.
func (c *content) split(off uint64) {
	i := c.first(off)
	if i < len(*c) && (*c)[i].off < off {
		k := (*c)[i]
		c.forget(off, k.end())
		c.insert(k.slice(off, k.end()))
	}
}

// xattr: a value set or read, or, where the request has nothing but the name, removed.
func (s *step) xattr() {
	name := s.req.Names[s.p.name(proto.RoleXattr)]
	switch {
	case s.p.row.Size != "":
		s.node.setXattr(name, xattr{value: string(s.req.Data), known: true})
		s.node.touch(s.now(), false)
		s.acl(name)
	case s.p.row.In == nil:
		s.node.setXattr(name, xattr{known: true, missing: true})
		s.node.touch(s.now(), false)
	case s.in("Size") != 0:
		s.node.setXattr(name, xattr{value: string(s.reply.Data), known: true})
	}
}

func (n *node) setXattr(name string, x xattr) {
	if n.xattrs == nil {
		n.xattrs = map[string]xattr{}
	}
	n.xattrs[name] = x
}

// xattrList: each name ends with a NUL.
func (s *step) xattrList() {
	if s.in("Size") == 0 {
		if s.p.count(s.reply.Out) == 0 {
			s.node.onlyXattrs(nil, s.req.Header.Uid)
		}
		return
	}
	s.node.onlyXattrs(strings.FieldsFunc(string(s.reply.Data), func(r rune) bool { return r == 0 }), s.req.Header.Uid)
}

// onlyXattrs: the list is whole, but that root alone is shown the trusted ones.
func (n *node) onlyXattrs(names []string, uid uint32) {
	old := n.xattrs
	n.xattrs, n.xattrsComplete = nil, n.xattrsComplete || uid == 0
	for name, x := range old {
		if uid != 0 && strings.HasPrefix(name, "trusted.") {
			n.setXattr(name, x)
		}
	}
	for _, name := range names {
		if x := old[name]; !x.missing {
			n.setXattr(name, x)
		} else {
			n.setXattr(name, xattr{})
		}
	}
}

func (s *step) locked() {
	lk := reflect.ValueOf(s.req.In).Elem().FieldByIndex(s.p.lk).Interface().(fuse.FileLock)
	s.node.setLock(lock{FileLock: lk, owner: s.in("Owner"), flock: s.in("LkFlags")&fuse.LK_FLOCK != 0})
}

const releaseFlockUnlock = 2 // FUSE_RELEASE_FLOCK_UNLOCK

// dropped: close(2) ends fcntl(2) locks, the last one flock(2) locks.
func (s *step) dropped() {
	owner := s.in("LockOwner")
	if s.p.row.Reply != proto.ReplyIgnored {
		s.node.dropLocks(owner, false)
	} else if s.in("ReleaseFlags")&releaseFlockUnlock != 0 {
		s.node.dropLocks(owner, true)
	}
}

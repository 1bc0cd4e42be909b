package session

// Projection of moved names and of directory listings.

import (
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// The flags of RENAME2, from linux/fs.h.
const (
	renameExchange = 2
	renameWhiteout = 4
)

func (s *step) moved() {
	to := s.l.node(s.in("Newdir"))
	from, name, newName := s.node, s.req.Names[s.p.name(proto.RoleMoved)], s.req.Names[s.p.name(proto.RoleNew)]
	flags := s.in("Flags")
	if same(from.entries[name], to.entries[newName]) {
		return // both names are links of one node, and stay
	}
	if flags&renameExchange != 0 {
		s.exchanged(from, name, to, newName)
	} else {
		s.renamed(from, name, to, newName, flags&renameWhiteout != 0)
	}
	from.touch(s.now(), true)
	to.touch(s.now(), true)
}

func same(a, b *entry) bool { return a != nil && b != nil && a.node != 0 && a.node == b.node }

func (s *step) renamed(from *node, name string, to *node, newName string, whiteout bool) {
	moving := s.l.unlink(from, name)
	if whiteout { // what stands there now has not been told
		from.forget(name)
	}
	s.unlinked(to, s.l.unlink(to, newName))
	if moving == nil {
		to.forget(newName)
		return
	}
	s.l.link(to, newName, moving)
	moving.touch(s.now(), false)
	if moving.isDir() {
		moveLink(from, to)
	}
}

func (s *step) exchanged(from *node, name string, to *node, newName string) {
	a, b := s.l.unlink(from, name), s.l.unlink(to, newName)
	s.arrived(to, newName, from, a)
	s.arrived(from, name, to, b)
}

// arrived: n, which may be unknown, has come from one directory to another.
func (s *step) arrived(to *node, name string, from, n *node) {
	if n == nil {
		to.forget(name)
		return
	}
	s.l.link(to, name, n)
	n.touch(s.now(), false)
	if n.isDir() {
		moveLink(from, to)
	}
}

// moveLink: the .. of a directory has changed.
func moveLink(from, to *node) {
	from.change(func(a *fuse.Attr) { a.Nlink-- })
	to.change(func(a *fuse.Attr) { a.Nlink++ })
}

// forget makes a name unknown, so that its directory is not known whole.
func (n *node) forget(name string) {
	e := n.entries[name]
	if e == nil {
		return
	}
	delete(n.entries, name)
	for i, other := range n.order {
		if other == e {
			n.order = append(n.order[:i:i], n.order[i+1:]...)
			break
		}
	}
	n.complete, n.listed = false, 0
}

// entries: a page of a listing. Pages without a gap from the start to an empty
// one, or to the end cookie, are the whole directory.
func (s *step) entries() {
	start, page := s.in("Offset"), s.reply.Entries
	contiguous := start <= s.node.listed
	if len(page) == 0 {
		s.node.complete = s.node.complete || contiguous
		return
	}
	for i := range page {
		s.listedEntry(&page[i])
	}
	last := page[len(page)-1].Off
	if last == EndCookie {
		s.node.complete = s.node.complete || contiguous
	} else {
		s.l.last.cookie = max(s.l.last.cookie, last)
	}
	if contiguous {
		s.node.listed = max(s.node.listed, last)
	}
}

func (s *step) listedEntry(d *proto.Dirent) {
	if d.Name == "." || d.Name == ".." {
		return
	}
	var e *entry
	if d.Entry.NodeId != 0 {
		e = s.l.link(s.node, d.Name, s.l.take(&d.Entry))
	} else if e = s.node.entry(d.Name); e.missing {
		*e = entry{name: d.Name}
	}
	e.typ, e.off = d.Type, d.Off
}

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
	n.complete, n.listed, n.places = false, 0, nil
}

// entries: a page of a listing. Pages without a gap from the start to an empty
// one, or to the end cookie, are the whole directory. Cookies need not rise:
// what a cookie means is the place after the entry that it was told with.
func (s *step) entries() {
	s.accessed()
	page := s.reply.Entries
	start, known := s.node.places[s.in("Offset")]
	contiguous := s.in("Offset") == 0 || known && start <= s.node.listed
	for i := range page {
		s.listedEntry(&page[i], start+uint64(i)+1)
	}
	if contiguous {
		s.node.listed = max(s.node.listed, start+uint64(len(page)))
		ended := len(page) == 0 || page[len(page)-1].Off == proto.EndCookie
		s.node.complete = s.node.complete || ended
	}
}

func (s *step) listedEntry(d *proto.Dirent, place uint64) {
	if s.node.places == nil {
		s.node.places = map[uint64]uint64{}
	}
	s.node.places[d.Off] = place
	if d.Off != proto.EndCookie {
		s.l.last.cookie = max(s.l.last.cookie, d.Off)
	}
	if d.Name == "." || d.Name == ".." {
		return
	}
	var e *entry
	if d.Entry.NodeId != 0 {
		e = s.l.link(s.node, d.Name, s.l.take(&d.Entry))
	} else if e = s.node.entry(d.Name); e.missing {
		*e = entry{name: d.Name}
	}
	e.typ, e.off, e.place = d.Type, d.Off, place
}

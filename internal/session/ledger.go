package session

// The ledger: what accepted replies and their requests have said so far, as a
// table of facts. doc.go has the form in which a model sees it.

import (
	"slices"
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// ledger is safe for parallel use; its lock is held for microseconds.
type ledger struct {
	mu      sync.Mutex
	nodes   map[uint64]*node
	handles map[handleKey]*handle
	statfs  *fuse.StatfsOut // as last told
	off     []string        // opcodes answered ENOSYS for good, sorted
	last    highest
	atime   bool // reading sets it
}

// highest are the largest numbers that a model has given out.
type highest struct{ node, handle, cookie uint64 }

// node is what is known of one NodeId.
type node struct {
	id         uint64
	attr       fuse.Attr
	told       bool // attr has been told; until then only its type is known
	generation uint64
	met        bool // the kernel has been told of it

	links    []link            // the names it has
	entries  map[string]*entry // of a directory: the names in it
	order    []*entry          // the same, as they became known
	places   map[uint64]uint64 // of a directory: how far into its listing a cookie leads
	listed   uint64            // of a directory: told without a gap up to this place
	complete bool              // of a directory: entries are all there are

	content        content
	target         *string // of a symbolic link
	xattrs         map[string]xattr
	xattrsComplete bool // xattrs are all there are
	locks          []lock

	json []byte // attr as JSON, until it changes
}

// link is a name that leads to a node.
type link struct {
	dir  *node
	name string
}

// entry is a name of a directory: of a node, or known to be missing.
type entry struct {
	name    string
	node    uint64 // 0 where only the name and the type have been told
	typ     uint32 // DT_*
	off     uint64 // the cookie after it; 0 where it has not been listed
	place   uint64 // its place in the listing, from 1 on
	missing bool
}

// xattr is the value of an extended attribute, or that there is none, or only
// that there is one.
type xattr struct {
	value   string
	known   bool
	missing bool
}

// handleKey tells handles by their node, because a model may number them so.
type handleKey struct{ node, fh uint64 }

type handle struct {
	flags     uint32 // O_*
	openFlags uint32 // FOPEN_*
	opens     int    // how many times the same number was given out
}

func newLedger() *ledger {
	l := &ledger{nodes: map[uint64]*node{}, handles: map[handleKey]*handle{}}
	l.node(proto.RootID)
	return l
}

// node finds a node or begins to know it.
func (l *ledger) node(id uint64) *node {
	n := l.nodes[id]
	if n == nil {
		n = &node{id: id}
		l.nodes[id] = n
		l.last.node = max(l.last.node, id)
	}
	return n
}

// kind is the S_IFMT bits of a node's mode, 0 where they are unknown.
func (n *node) kind() uint32 { return n.attr.Mode & sIFMT }

func (n *node) isDir() bool { return n.kind() == fuse.S_IFDIR }

const (
	sIFMT  = 0o170000
	sISUID = 0o4000
	sISGID = 0o2000
	sIXGRP = 0o010
)

// tell takes the attributes over as they were told. What is known of the
// content beyond a smaller size is gone.
func (n *node) tell(a *fuse.Attr) {
	if n.told && *a == n.attr {
		return
	}
	if n.told && a.Size < n.attr.Size {
		n.content.cut(a.Size)
	}
	n.attr, n.told, n.json = *a, true, nil
}

// change brings told attributes forward; what was never told stays so.
func (n *node) change(f func(a *fuse.Attr)) {
	if n.told {
		f(&n.attr)
		n.json = nil
	}
}

// touch sets ctime, and mtime where the content changed.
func (n *node) touch(now proto.Time, modified bool) {
	n.change(func(a *fuse.Attr) {
		a.Ctime, a.Ctimensec = uint64(now.Sec), now.Nsec
		if modified {
			a.Mtime, a.Mtimensec = uint64(now.Sec), now.Nsec
		}
	})
}

// accessed sets atime, where reading does.
func (s *step) accessed() {
	if !s.l.atime || s.in("Flags")&syscall.O_NOATIME != 0 {
		return
	}
	now := s.now()
	s.node.change(func(a *fuse.Attr) { a.Atime, a.Atimensec = uint64(now.Sec), now.Nsec })
}

// resize sets the size; new bytes are zeros, and blocks beyond it are freed.
func (n *node) resize(size uint64) {
	if !n.told {
		return
	}
	if old := n.attr.Size; size > old {
		n.content.put(chunk{off: old, zeros: size - old})
	} else {
		n.content.cut(size)
	}
	const page, sectors = 4096, 8
	n.change(func(a *fuse.Attr) {
		if size < a.Size {
			a.Blocks = min(a.Blocks, (size+page-1)/page*sectors)
		}
		a.Size = size
	})
}

// link notes that a name leads to child.
func (l *ledger) link(dir *node, name string, child *node) *entry {
	e := dir.entry(name)
	if old := l.nodes[e.node]; e.node != child.id && old != nil {
		old.drop(dir, name)
	}
	if e.missing {
		e.off, e.missing = 0, false
	}
	e.typ = child.kind() >> 12
	if e.node != child.id {
		e.node = child.id
		child.links = append(child.links, link{dir, name})
	}
	return e
}

// unlink notes that a name is missing and returns the node that it led to, or nil.
func (l *ledger) unlink(dir *node, name string) *node {
	e := dir.entry(name)
	old := l.nodes[e.node]
	if old != nil {
		old.drop(dir, name)
	}
	*e = entry{name: name, missing: true}
	return old
}

// entry finds what is known of a name or begins to know it.
func (n *node) entry(name string) *entry {
	e := n.entries[name]
	if e == nil {
		if n.entries == nil {
			n.entries = map[string]*entry{}
		}
		e = &entry{name: name}
		n.entries[name] = e
		n.order = append(n.order, e)
	}
	return e
}

// drop forgets one of a node's names.
func (n *node) drop(dir *node, name string) {
	n.links = slices.DeleteFunc(n.links, func(k link) bool { return k.dir == dir && k.name == name })
}

// reclaim forgets a node without names and handles, once the kernel has.
func (l *ledger) reclaim(id uint64) {
	n := l.nodes[id]
	if n == nil || id == proto.RootID || len(n.links) > 0 || !n.told || n.attr.Nlink > 0 && !n.isDir() {
		return
	}
	for key := range l.handles {
		if key.node == id {
			return
		}
	}
	delete(l.nodes, id)
}

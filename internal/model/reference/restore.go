package reference

// A filesystem from what has been told of one.

import (
	"cmp"
	"slices"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// State is what is known of a filesystem. It need not be everything: what it
// leaves out is as New makes it. Birth times, the flags of chattr(1), blocks
// that were reserved and not written, and whether a file without names may get
// one are no part of it.
type State struct {
	Nodes   []NodeState
	Handles []HandleState
	Statfs  *fuse.StatfsOut // nil where the limits are those of the options

	Last       Numbers
	LastCookie uint64

	// Page says that entries are only those that the next request needs, so that
	// a listing has just them, in their order, from whatever cookie it goes on.
	Page bool
	// End says that a page reaches the end of the listing, where its directory is
	// known whole.
	End bool
}

// NodeState is what is known of one node.
type NodeState struct {
	ID      uint64
	Attr    *fuse.Attr // nil where only the type is known; Ino and a directory's Size are not looked at
	Target  string     // of a symbolic link
	Dir     bool       // it is a directory, with the next three
	Whole   bool       // no name is missing but those of a page
	Count   int        // names that there are
	Entries []EntryState
	Content []RangeState
	Xattrs  []XattrState
	Locks   []LockState
}

// EntryState is one name of a directory, in the order of a listing.
type EntryState struct {
	Name string
	Node uint64 // 0 where only the name is known
	Type uint32 // DT_*
	Off  uint64 // the cookie after it; 0 where it has none yet
}

// RangeState is what is known of some bytes: the data, or how many zeros, or
// how many bytes of unknown data.
type RangeState struct {
	Off    uint64
	Data   []byte
	Zeros  uint64
	Hidden uint64
}

// XattrState is an extended attribute; an ACL is one, too.
type XattrState struct {
	Name  string
	Value []byte
}

// LockState is a lock that is held.
type LockState struct {
	Owner, Start, End uint64
	Typ, Pid          uint32
	Flock             bool
}

// HandleState is an open file or directory.
type HandleState struct {
	Fh, Node uint64
	Flags    uint32 // O_*
}

// Restore makes a filesystem that goes on from a state.
func Restore(o Options, s *State) *FS {
	f := New(o)
	f.lastIno = max(f.lastIno, s.Last.Node)
	f.files.last = s.Last.Fh
	for i := range s.Nodes {
		f.lastIno = max(f.lastIno, s.Nodes[i].ID)
		f.restoreNode(&s.Nodes[i])
	}
	for i := range s.Nodes {
		if s.Nodes[i].Dir {
			f.restoreEntries(&s.Nodes[i], s)
		}
	}
	for _, h := range s.Handles {
		f.restoreHandle(h)
	}
	if s.Statfs != nil {
		f.space.restore(s.Statfs)
	}
	return f
}

// known finds an inode or makes an empty one of that type.
func (f *FS) known(id uint64, format uint32) *inode {
	n := f.inodes[id]
	if n == nil {
		n = &inode{ino: id, format: format, mode: format | 0o644, nlink: 1}
		n.lookups.Store(1)
		f.inodes[id] = n
		f.space.takeInode()
	}
	if format == sIFDIR && n.dir == nil {
		n.mode, n.nlink = sIFDIR|0o755, 2
		n.dir = newDirectory(f.inodes[rootIno])
	}
	return n
}

func (f *FS) restoreNode(s *NodeState) {
	n := f.known(s.ID, s.format())
	n.target = s.Target
	n.size = int64(len(s.Target))
	if s.Attr != nil {
		n.told(s.Attr)
		if n.ino == rootIno {
			f.rooted.Store(true)
		}
	}
	for _, x := range s.Xattrs {
		f.restoreXattr(n, x)
	}
	for _, r := range s.Content {
		f.restoreRange(n, r)
	}
	if s.along() {
		n.lookups.Store(0) // it is shown because the kernel is to hear of it first now
	}
	if s.Attr != nil {
		n.data.reserveMore(&f.space, int64(s.Attr.Blocks*512/pageSize))
	}
	for _, l := range s.Locks {
		n.restoreLock(l)
	}
}

// along says that the whole content is there.
func (s *NodeState) along() bool {
	if s.Attr == nil || s.Attr.Size == 0 {
		return false
	}
	end := uint64(0)
	for _, r := range s.Content {
		if r.Off != end || r.Hidden > 0 {
			return false
		}
		end += uint64(len(r.Data)) + r.Zeros
	}
	return end >= s.Attr.Size
}

// format is the type of a node, as far as it is known.
func (s *NodeState) format() uint32 {
	switch {
	case s.Attr != nil && s.Attr.Mode&sIFMT != 0:
		return s.Attr.Mode & sIFMT
	case s.Dir:
		return sIFDIR
	case s.Target != "":
		return sIFLNK
	}
	return sIFREG
}

// told takes attributes over. A file without names may get one: the kernel
// knows of which that is true.
func (n *inode) told(a *fuse.Attr) {
	n.mode, n.uid, n.gid, n.rdev = n.format|a.Mode&permBits, a.Uid, a.Gid, a.Rdev
	n.nlink, n.linkable = a.Nlink, a.Nlink == 0
	n.size = int64(a.Size & uint64(maxBytes))
	n.atime = proto.Time{Sec: int64(a.Atime), Nsec: a.Atimensec}
	n.mtime = proto.Time{Sec: int64(a.Mtime), Nsec: a.Mtimensec}
	n.ctime = proto.Time{Sec: int64(a.Ctime), Nsec: a.Ctimensec}
	n.btime = earliest(n.atime, n.mtime, n.ctime)
}

func earliest(first proto.Time, more ...proto.Time) proto.Time {
	for _, t := range more {
		if cmp.Or(cmp.Compare(t.Sec, first.Sec), cmp.Compare(t.Nsec, first.Nsec)) < 0 {
			first = t
		}
	}
	return first
}

// restoreXattr brings an access ACL to what the mode says by now.
func (f *FS) restoreXattr(n *inode, x XattrState) {
	if !isACL(x.Name) {
		all := n.ensureXattrs()
		if k, found := all.find(x.Name); !found {
			all.list = slices.Insert(all.list, k, xattr{x.Name, x.Value})
			f.space.takeBytes(all.list[k].space())
		}
		return
	}
	a, e := parseACL(x.Value)
	if e != 0 || a == nil || !a.valid() {
		return
	}
	if x.Name == defaultACL {
		n.ensureXattrs().def = a
	} else if _, equivalent := a.mode(); !equivalent {
		n.ensureXattrs().access = a.chmod(n.mode)
	}
}

// restoreRange makes data of a range; zeros need nothing.
func (f *FS) restoreRange(n *inode, r RangeState) {
	if r.Off > uint64(maxBytes) {
		return
	}
	off := int64(r.Off)
	if len(r.Data) > 0 {
		n.data.writeAt(&f.space, r.Data, off)
	}
	if r.Hidden > 0 {
		first, end := off/pageSize, pagesOf(off+int64(min(r.Hidden, uint64(maxBytes-off))))
		n.data.allocate(&f.space, first, end)
		n.data.allocate(&f.space, first, end) // what is allocated twice is data
	}
}

// mostReserved bounds the memory that reserving blocks takes.
const mostReserved = 1 << 16

// reserveMore makes a file have that many blocks, so that truncation frees what
// it should.
func (p *pages) reserveMore(s *space, blocks int64) {
	for pg := int64(0); pg < mostReserved && p.blocks < blocks; pg++ {
		if !p.reserve(s, p.chunk(pg), pg%chunkPages) {
			return
		}
	}
	p.blocks = blocks
}

func (n *inode) restoreLock(s LockState) {
	if n.locks == nil {
		n.locks = new(fileLocks)
	}
	l := lock{owner: s.Owner, start: s.Start, end: min(s.End, uint64(maxBytes)), typ: s.Typ, pid: s.Pid}
	if s.Flock {
		l.start, l.end = 0, uint64(maxBytes)
	}
	n.locks.set(l, s.Flock)
}

// restoreEntries fills a directory. Newest come first in a listing, so the
// first name of the state gets the highest number.
func (f *FS) restoreEntries(s *NodeState, all *State) {
	n := f.inodes[s.ID]
	if n.dir == nil {
		return
	}
	d := n.dir
	d.page, d.unseen = all.Page, max(0, s.Count-len(s.Entries))
	d.ends = s.Whole && all.End
	d.byName = make(map[string]*dirent, len(s.Entries))
	d.order = make([]*dirent, len(s.Entries))
	d.last = max(d.last, all.LastCookie)
	fresh := d.last
	for i := range s.Entries {
		e := &s.Entries[i]
		child := f.restoreChild(n, e, s.Attr == nil)
		seq := e.Off
		switch {
		case !all.Page:
			seq = d.last + uint64(len(s.Entries)-i)
		case seq == 0 || seq >= endCookie:
			fresh++
			seq = fresh
		}
		entry := &dirent{e.Name, child, seq}
		d.byName[e.Name] = entry
		d.order[len(d.order)-1-i] = entry
	}
	d.last += uint64(len(s.Entries))
}

// endCookie is the cookie by which a conversation says that a listing has
// ended: it leads nowhere.
const endCookie = 1<<31 - 1

// restoreChild is the node of an entry; counted says that its directory's link
// count has to be found by counting.
func (f *FS) restoreChild(dir *inode, e *EntryState, counted bool) *inode {
	id := e.Node
	if id == 0 {
		f.lastIno++
		id = f.lastIno
	}
	n := f.known(id, cmp.Or(e.Type<<12&sIFMT, sIFREG))
	if n.dir != nil {
		n.dir.parent = dir
		if counted {
			dir.nlink++
		}
	}
	return n
}

func (f *FS) restoreHandle(s HandleState) {
	n := f.inodes[s.Node]
	if n == nil {
		n = f.known(s.Node, sIFREG)
	}
	n.opens.Add(1)
	f.files.open[s.Fh] = &handle{n, s.Flags}
	f.files.last = max(f.files.last, s.Fh)
}

// restore makes the space as full as it was told to be.
func (s *space) restore(told *fuse.StatfsOut) {
	s.maxBlocks, s.maxInodes = int64(told.Blocks), int64(told.Files)
	s.usedBlocks.Store(int64(told.Blocks - min(told.Bfree, told.Blocks)))
	s.usedInodes.Store(int64(told.Files-min(told.Ffree, told.Files)) * bogoInodeSize)
}

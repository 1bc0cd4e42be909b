package reference

// Taking over what somebody else has answered.

import (
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// Adopt makes what a reply says to a request part of the filesystem, as far as
// that is new to it: nodes, names, handles, and bytes of files where they have
// holes. What the filesystem knows itself stays: among requests that were
// answered in parallel, a reply may be older than its place says.
func (f *FS) Adopt(req *proto.Request, reply *proto.Reply) {
	if reply.Errno != 0 {
		return
	}
	f.ns.Lock()
	defer f.ns.Unlock()
	a := adoption{f, req}
	a.out(reply.Out)
	for i := range reply.Entries {
		a.dirent(&reply.Entries[i])
	}
	if n := f.inodes[req.Header.NodeId]; n != nil && len(reply.Data) > 0 {
		a.data(n, reply.Data)
	}
}

type adoption struct {
	fs  *FS
	req *proto.Request
}

func (a *adoption) out(out any) {
	switch out := out.(type) {
	case *fuse.EntryOut:
		a.entry(a.name(), out)
	case *fuse.CreateOut:
		a.entry(a.name(), &out.EntryOut)
		a.handle(out.NodeId, &out.OpenOut)
	case *fuse.AttrOut:
		a.node(a.req.Header.NodeId, &out.Attr)
	case *fuse.OpenOut:
		a.handle(a.req.Header.NodeId, out)
	}
}

// name is the name that an entry is of, "" where there is none.
func (a *adoption) name() string {
	if row := a.req.Op.Row(); len(a.req.Names) > 0 && row.Role(0) == proto.RoleEntry {
		return a.req.Names[0]
	}
	return ""
}

// node is the inode with that number, made where there is none.
func (a *adoption) node(id uint64, attr *fuse.Attr) *inode {
	if n := a.fs.inodes[id]; n != nil || id == 0 {
		return n
	}
	a.fs.lastIno = max(a.fs.lastIno, id)
	n := a.fs.known(id, attr.Mode&sIFMT)
	n.told(attr)
	if len(a.req.Names) == 2 && n.is(sIFLNK) {
		n.target = a.req.Names[1]
	}
	return n
}

// entry gives a name of the request's directory to a node.
func (a *adoption) entry(name string, out *fuse.EntryOut) {
	n := a.node(out.NodeId, &out.Attr)
	if n == nil || name == "" || name == "." || name == ".." {
		return
	}
	dir := a.fs.inodes[a.req.Header.NodeId]
	if dir == nil { // it has names, so it is a directory
		dir = a.fs.known(a.req.Header.NodeId, sIFDIR)
	}
	if dir.dir == nil {
		return
	}
	if old := dir.dir.byName[name]; old != nil {
		if old.node == n {
			return
		}
		dir.dir.remove(old)
	}
	dir.dir.add(dir, name, n)
}

func (a *adoption) dirent(d *proto.Dirent) {
	if d.Entry.NodeId != 0 {
		a.entry(d.Name, &d.Entry)
	}
}

func (a *adoption) handle(id uint64, out *fuse.OpenOut) {
	files := &a.fs.files
	if n := a.fs.inodes[id]; n != nil && files.open[out.Fh] == nil {
		n.opens.Add(1)
		files.open[out.Fh] = &handle{n, a.flags()}
		files.last = max(files.last, out.Fh)
	}
}

func (a *adoption) flags() uint32 {
	switch in := a.req.In.(type) {
	case *fuse.OpenIn:
		return in.Flags
	case *fuse.CreateIn:
		return in.Flags
	}
	return 0
}

func (a *adoption) data(n *inode, b []byte) {
	switch in := a.req.In.(type) {
	case nil:
		if n.is(sIFLNK) && n.target == "" {
			n.target = string(b)
		}
	case *fuse.ReadIn:
		if n.is(sIFREG) && in.Offset < uint64(maxBytes) {
			n.fillHoles(&a.fs.space, b, int64(in.Offset))
		}
	case *fuse.GetXAttrIn:
		if len(a.req.Names) == 1 {
			a.fs.restoreXattr(n, XattrState{a.req.Names[0], b})
		}
	}
}

// fillHoles writes those bytes that fall on pages without data.
func (n *inode) fillHoles(s *space, b []byte, off int64) {
	pieces(off, len(b), func(pg int64, _, from, to int) bool {
		if n.data.nextData(pg) != pg {
			n.data.writeAt(s, b[from:to], off+int64(from))
		}
		return true
	})
}

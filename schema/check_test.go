package schema

import (
	"strings"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// nodes is what is known: node id → type bits.
type nodes map[uint64]uint32

func (n nodes) Type(id uint64) (uint32, bool) { bits, ok := n[id]; return bits, ok }

var known = nodes{1: syscall.S_IFDIR, 5: syscall.S_IFREG, 6: syscall.S_IFLNK}

func entryWith(change func(*fuse.EntryOut)) *fuse.EntryOut {
	e := entryOut(7, 12)
	change(&e)
	return &e
}

func attrWith(change func(*fuse.Attr)) *fuse.AttrOut {
	out := &fuse.AttrOut{AttrValid: 1, Attr: attr(5, 12)}
	change(&out.Attr)
	return out
}

func statxWith(change func(*fuse.StatxOut)) *fuse.StatxOut {
	out := &fuse.StatxOut{Statx: fuse.Statx{Mask: statxAll, Mode: 0o100644}}
	change(out)
	return out
}

func dirents(list ...proto.Dirent) *proto.Reply { return &proto.Reply{Entries: list} }

func inDir(op proto.Opcode, in any) *proto.Request {
	return &proto.Request{Op: op, Header: proto.Header{NodeId: 1}, In: in}
}

func onFile(op proto.Opcode, in any) *proto.Request {
	return &proto.Request{Op: op, Header: proto.Header{NodeId: 5}, In: in}
}

var (
	lookup  = inDir(proto.OpLookup, nil)
	mkdir   = inDir(proto.OpMkdir, &fuse.MkdirIn{})
	getattr = onFile(proto.OpGetattr, &fuse.GetAttrIn{})
	statx   = onFile(proto.OpStatx, &fuse.StatxIn{})
	readdir = inDir(proto.OpReaddir, &fuse.ReadIn{Offset: 9, Size: 4096})
	plus    = inDir(proto.OpReaddirplus, &fuse.ReadIn{Size: 4096})
)

func dirent(change func(*proto.Dirent)) proto.Dirent {
	e := proto.Dirent{Ino: 7, Off: 1, Type: 8, Name: "a"}
	change(&e)
	return e
}

func plusDirent(change func(*proto.Dirent)) proto.Dirent {
	e := proto.Dirent{Entry: entryOut(7, 12), Ino: 7, Off: 1, Type: 8, Name: "a"}
	change(&e)
	return e
}

func store(node, offset uint64, data string) []proto.Notification {
	return []proto.Notification{{Code: proto.NotifyStore, Out: &fuse.NotifyStoreOut{Nodeid: node, Offset: offset}, Data: []byte(data)}}
}

var refused = []struct {
	rule  string
	req   *proto.Request
	reply *proto.Reply
	want  string
}{
	{"entry has a node", mkdir, &proto.Reply{Out: &fuse.EntryOut{}}, "Out.NodeId: have 0, want the id of the new node ("},
	{"entry has a node", inDir(proto.OpCreate, &fuse.CreateIn{}), &proto.Reply{Out: &fuse.CreateOut{}}, "Out.EntryOut.NodeId: have 0"},
	{"entry is not the root", lookup, &proto.Reply{Out: entryWith(func(e *fuse.EntryOut) { e.NodeId, e.Mode = 1, 0o40755 })}, "Out.NodeId: have 1"},
	{"entry is not its directory", onFile(proto.OpLookup, nil), &proto.Reply{Out: entryWith(func(e *fuse.EntryOut) { e.NodeId = 5 })}, "Out.NodeId: have 5, want another id"},
	{"type of a mode", getattr, &proto.Reply{Out: attrWith(func(a *fuse.Attr) { a.Mode = 0o644 })}, "Out.Attr.Mode: have 420, want permission bits plus one of S_IFIFO 4096"},
	{"type of a mode", lookup, &proto.Reply{Out: entryWith(func(e *fuse.EntryOut) { e.Mode = 0 })}, "Out.Attr.Mode: have 0"},
	{"type of a mode", statx, &proto.Reply{Out: statxWith(func(o *fuse.StatxOut) { o.Mode = 0o644 })}, "Out.Statx.Mode: have 420"},
	{"type that was asked for", mkdir, &proto.Reply{Out: entryWith(func(*fuse.EntryOut) {})}, "Out.Attr.Mode: have 33188, want the type asked for: 16804 (S_IFDIR|0644)"},
	{"type that was asked for", inDir(proto.OpMknod, &fuse.MknodIn{Mode: 0o010644}), &proto.Reply{Out: entryWith(func(*fuse.EntryOut) {})}, "4516 (S_IFIFO|0644)"},
	{"type that was asked for", inDir(proto.OpLink, &fuse.LinkIn{Oldnodeid: 6}), &proto.Reply{Out: entryWith(func(*fuse.EntryOut) {})}, "S_IFLNK"},
	{"type of a node stays", getattr, &proto.Reply{Out: attrWith(func(a *fuse.Attr) { a.Mode = 0o40755 })}, "Out.Attr.Mode: have 16877, want the type that node 5 has: 33261 (S_IFREG|0755)"},
	{"type of a node stays", lookup, &proto.Reply{Out: entryWith(func(e *fuse.EntryOut) { e.NodeId = 6 })}, "node 6 has"},
	{"type of a node stays", plus, dirents(plusDirent(func(e *proto.Dirent) { e.Entry.NodeId = 6 })), "Entries[0].Entry.Attr.Mode: have 33188"},
	{"type of a node stays", statx, &proto.Reply{Out: statxWith(func(o *fuse.StatxOut) { o.Mode = 0o120777 })}, "Out.Statx.Mode: have 41471"},
	{"size of a file", getattr, &proto.Reply{Out: attrWith(func(a *fuse.Attr) { a.Size = 1 << 63 })}, "Out.Attr.Size: have 9223372036854775808, want at most 9223372036854775807"},
	{"size of a file", statx, &proto.Reply{Out: statxWith(func(o *fuse.StatxOut) { o.Size = 1 << 63 })}, "Out.Statx.Size"},
	{"nanoseconds", getattr, &proto.Reply{Out: attrWith(func(a *fuse.Attr) { a.Atimensec = 1e9 })}, "Out.Attr.Atimensec: have 1000000000, want less than 1000000000 (fuse_change"},
	{"nanoseconds", getattr, &proto.Reply{Out: attrWith(func(a *fuse.Attr) { a.Mtimensec = 1e9 })}, "Out.Attr.Mtimensec"},
	{"nanoseconds", getattr, &proto.Reply{Out: attrWith(func(a *fuse.Attr) { a.Ctimensec = 1e9 })}, "Out.Attr.Ctimensec"},
	{"nanoseconds", getattr, &proto.Reply{Out: &fuse.AttrOut{AttrValidNsec: 1e9, Attr: attr(5, 1)}}, "Out.AttrValidNsec"},
	{"nanoseconds", lookup, &proto.Reply{Out: entryWith(func(e *fuse.EntryOut) { e.EntryValidNsec = 1e9 })}, "Out.EntryValidNsec"},
	{"nanoseconds", lookup, &proto.Reply{Out: &fuse.EntryOut{AttrValidNsec: 1e9}}, "Out.AttrValidNsec"},
	{"nanoseconds", statx, &proto.Reply{Out: statxWith(func(o *fuse.StatxOut) { o.AttrValidNsec = 1e9 })}, "Out.AttrValidNsec"},
	{"nanoseconds", statx, &proto.Reply{Out: statxWith(func(o *fuse.StatxOut) { o.Btime.Nsec = 1e9 })}, "Out.Statx.Btime.Nsec"},
	{"name", readdir, dirents(dirent(func(e *proto.Dirent) { e.Name = "" })), `Entries[0].Name: have "", want a name`},
	{"name", readdir, dirents(dirent(func(e *proto.Dirent) { e.Name = "a/b" })), `Entries[0].Name: have "a/b", want a name without '/' and NUL`},
	{"name", readdir, dirents(dirent(func(e *proto.Dirent) { e.Name = "a\x00b" })), `have "a\x00b"`},
	{"name", plus, dirents(plusDirent(func(e *proto.Dirent) { e.Name = strings.Repeat("é", 128) })), "have 256 bytes, want at most 255 bytes"},
	{"name", lookup, &proto.Reply{Out: entryWith(func(*fuse.EntryOut) {}), Notify: []proto.Notification{{Code: proto.NotifyDelete, Out: &fuse.NotifyInvalDeleteOut{}, Name: "a/b"}}}, "Notify[0].Name"},
	{"cookie", readdir, dirents(dirent(func(e *proto.Dirent) { e.Off = 0 })), "Entries[0].Off: have 0, want a cookie other than 0 and In.Offset"},
	{"cookie", readdir, dirents(dirent(func(e *proto.Dirent) { e.Off = 9 })), "Entries[0].Off: have 9"},
	{"cookie", readdir, dirents(dirent(func(e *proto.Dirent) { e.Off = 1 << 63 })), "Entries[0].Off: have 9223372036854775808"},
	{"cookie", readdir, dirents(dirent(func(*proto.Dirent) {}), dirent(func(e *proto.Dirent) { e.Name = "b" })), "Entries[1].Off: have 1, want a cookie that no other entry has"},
	{"inode number of an entry", readdir, dirents(dirent(func(e *proto.Dirent) { e.Ino = 0 })), "Entries[0].Ino: have 0"},
	{"type of an entry", readdir, dirents(dirent(func(e *proto.Dirent) { e.Type = 0o100000 })), "Entries[0].Type: have 32768, want DT_UNKNOWN 0"},
	{"type of an entry", plus, dirents(plusDirent(func(e *proto.Dirent) { e.Type = 4 })), "Entries[0].Type: have 4, want 8, the type in Entry.Attr.Mode"},
	{"first entry fits", inDir(proto.OpReaddirplus, &fuse.ReadIn{Size: 100}), dirents(plusDirent(func(*proto.Dirent) {})), "Entries[0].Name: have 160 bytes on the wire, want at most In.Size, 100"},
	{"no more data than asked", onFile(proto.OpRead, &fuse.ReadIn{Size: 4}), &proto.Reply{Data: []byte("12345")}, "Data: have 5, want at most In.Size, 4"},
	{"no more data than asked", onFile(proto.OpGetxattr, &fuse.GetXAttrIn{Size: 4}), &proto.Reply{Data: []byte("12345")}, "Data: have 5"},
	{"no more data than asked", onFile(proto.OpIoctl, &fuse.IoctlIn{}), &proto.Reply{Out: &fuse.IoctlOut{}, Data: []byte("1")}, "Data: have 1, want at most In.OutSize, 0"},
	{"target of a link", onFile(proto.OpReadlink, nil), &proto.Reply{}, "Data: have 0 bytes, want 1 to 4095 bytes"},
	{"target of a link", onFile(proto.OpReadlink, nil), &proto.Reply{Data: make([]byte, 4096)}, "Data: have 4096 bytes"},
	{"target of a link", onFile(proto.OpReadlink, nil), &proto.Reply{Data: []byte("a\x00")}, "want a path without NUL"},
	{"list of attributes", onFile(proto.OpListxattr, &fuse.GetXAttrIn{Size: 99}), &proto.Reply{Data: []byte("user.a")}, "Data: have user.a, want names that each end in a NUL"},
	{"list of attributes", onFile(proto.OpListxattr, &fuse.GetXAttrIn{Size: 99}), &proto.Reply{Data: []byte("user.a\x00\x00")}, "names that each end"},
	{"size of an attribute", onFile(proto.OpGetxattr, &fuse.GetXAttrIn{}), &proto.Reply{Out: &fuse.GetXAttrOut{Size: 65537}}, "Out.Size: have 65537"},
	{"no more written than sent", onFile(proto.OpWrite, &fuse.WriteIn{Size: 4}), &proto.Reply{Out: &fuse.WriteOut{Size: 5}}, "Out.Size: have 5, want at most In.Size, 4"},
	{"no more copied than asked", onFile(proto.OpCopyFileRange, &fuse.CopyFileRangeIn{Len: 4}), &proto.Reply{Out: &fuse.WriteOut{Size: 5}}, "Out.Size: have 5, want at most In.Len, 4"},
	{"no more copied than asked", onFile(proto.OpCopyFileRange64, &fuse.CopyFileRangeIn{Len: 4}), &proto.Reply{Out: &fuse.CopyFileRangeOut{BytesCopied: 5}}, "Out.BytesCopied: have 5"},
	{"offset of a file", onFile(proto.OpLseek, &fuse.LseekIn{}), &proto.Reply{Out: &fuse.LseekOut{Offset: 1 << 63}}, "Out.Offset"},
	{"kind of a lock", onFile(proto.OpGetlk, &fuse.LkIn{}), &proto.Reply{Out: &fuse.LkOut{Lk: fuse.FileLock{Typ: 3}}}, "Out.Lk.Typ: have 3, want F_RDLCK 0"},
	{"range of a lock", onFile(proto.OpGetlk, &fuse.LkIn{}), &proto.Reply{Out: &fuse.LkOut{Lk: fuse.FileLock{Start: 2, End: 1}}}, "Out.Lk.End: have 1"},
	{"range of a lock", onFile(proto.OpGetlk, &fuse.LkIn{}), &proto.Reply{Out: &fuse.LkOut{Lk: fuse.FileLock{End: 1 << 63}}}, "Out.Lk.End"},
	{"no passthrough", onFile(proto.OpOpen, &fuse.OpenIn{}), &proto.Reply{Out: &fuse.OpenOut{OpenFlags: 0x82}}, "Out.OpenFlags: have 130, want no FOPEN_PASSTHROUGH 128"},
	{"no retry", onFile(proto.OpIoctl, &fuse.IoctlIn{}), &proto.Reply{Out: &fuse.IoctlOut{Flags: 4}}, "Out.Flags: have 4"},
	{"content within the size", lookup, &proto.Reply{Out: entryWith(func(*fuse.EntryOut) {}), Notify: store(7, 10, "abc")}, "Notify[0].Out.Offset: have content up to byte 13, want no more than the entry's Size, 12"},
	{"content within the size", plus, &proto.Reply{Entries: []proto.Dirent{plusDirent(func(*proto.Dirent) {})}, Notify: store(7, 0, "0123456789abc")}, "Notify[0].Out.Offset"},
}

func TestCheckNamesWhatTheKernelRefuses(t *testing.T) {
	tested := map[string]bool{}
	for _, c := range refused {
		found := Check(c.req, c.reply, known)
		require.Len(t, found, 1, "%s: %s", c.want, Lines(found))
		assert.Contains(t, found[0].String(), c.want)
		assert.Equal(t, c.rule, found[0].Rule)
		assert.NotEmpty(t, found[0].Reason)
		tested[c.rule] = true
	}
	for _, r := range Rules() {
		assert.True(t, tested[r.Name], "no test breaks the rule %q of %s.%s", r.Name, r.Of, r.Field)
		assert.NotEmpty(t, r.Reason)
	}
}

func TestCheckPassesWhatTheKernelTakes(t *testing.T) {
	for _, c := range []struct {
		req   *proto.Request
		reply *proto.Reply
	}{
		{lookup, &proto.Reply{Errno: syscall.ENOENT}},
		{lookup, &proto.Reply{Out: &fuse.EntryOut{EntryValid: 60}}}, // there is no such name
		{lookup, &proto.Reply{Out: entryWith(func(*fuse.EntryOut) {}), Notify: store(7, 0, "hello world\n")}},
		{lookup, &proto.Reply{Out: entryWith(func(e *fuse.EntryOut) { e.NodeId = 5 })}},
		{inDir(proto.OpLink, &fuse.LinkIn{Oldnodeid: 5}), &proto.Reply{Out: entryWith(func(e *fuse.EntryOut) { e.NodeId = 5 })}},
		{inDir(proto.OpMknod, &fuse.MknodIn{Mode: 0o644}), &proto.Reply{Out: entryWith(func(*fuse.EntryOut) {})}},
		{mkdir, &proto.Reply{Out: entryWith(func(e *fuse.EntryOut) { e.Mode = 0o40755 })}},
		{getattr, &proto.Reply{Out: attrWith(func(a *fuse.Attr) { a.Nlink = 0 })}},
		{statx, &proto.Reply{Out: &fuse.StatxOut{Statx: fuse.Statx{Mask: 2, Mode: 0o100644}}}},
		{readdir, dirents()},
		{plus, dirents(
			proto.Dirent{Entry: fuse.EntryOut{NodeId: 1, Attr: fuse.Attr{Mode: 0o40755}}, Ino: 1, Off: 1, Type: 4, Name: ".."}, // read by no one
			proto.Dirent{Ino: 7, Off: 2, Type: 8, Name: "a"},
		)},
		{onFile(proto.OpRead, &fuse.ReadIn{Size: 4}), &proto.Reply{Data: []byte("1234")}},
		{onFile(proto.OpGetxattr, &fuse.GetXAttrIn{}), &proto.Reply{Out: &fuse.GetXAttrOut{Size: 9}}},
		{onFile(proto.OpListxattr, &fuse.GetXAttrIn{Size: 99}), &proto.Reply{Data: []byte("user.a\x00user.b\x00")}},
		{onFile(proto.OpListxattr, &fuse.GetXAttrIn{Size: 99}), &proto.Reply{}},
		{onFile(proto.OpGetlk, &fuse.LkIn{}), &proto.Reply{Out: &fuse.LkOut{Lk: fuse.FileLock{Typ: 2, Start: 9}}}},
	} {
		assert.Empty(t, Check(c.req, c.reply, known), "%v %+v", c.req.Op, c.reply)
	}
	assert.Empty(t, Check(getattr, &proto.Reply{Out: attrWith(func(a *fuse.Attr) { a.Mode = 0o40755 })}, nil), "nothing is known")
	assert.Nil(t, Check(&proto.Request{Op: 4096}, &proto.Reply{}, nil))
}

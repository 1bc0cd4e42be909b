package reference

import (
	"encoding/json"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// busy is a filesystem with a bit of everything.
func busy(t testing.TB) (u *user, file, fh, dir uint64) {
	u = mounted(t, Options{})
	dir = u.mkdir(1, "d", 0o755)
	file, fh = u.create(dir, "f")
	u.mustWrite(file, fh, 0, "hello")
	u.mustWrite(file, fh, 3*pageSize, "far")
	u.symlink(1, "l", "d/f")
	require.Equal(t, OK, u.link(file, 1, "g"))
	require.Equal(t, OK, u.setxattr(file, "user.a", []byte("v"), 0))
	return u, file, fh, dir
}

// Two clones go their own ways.
func TestClone(t *testing.T) {
	u, file, fh, dir := busy(t)
	v := *u
	v.fs = u.fs.Clone()
	v.now = new(int64)
	*v.now = *u.now
	assert.Equal(t, u.fs.Numbers(), v.fs.Numbers())
	for _, w := range []*user{u, &v} {
		assert.Equal(t, "hello", w.read(file, fh, 0, 5))
		assert.Equal(t, []string{".", "..", "f"}, w.list(dir, w.opendir(dir), 4096))
	}
	v.mustWrite(file, fh, 0, "HELLO")
	assert.Equal(t, OK, v.unlink(1, "g"))
	v.mkdir(dir, "sub", 0o700)
	assert.Equal(t, "hello", u.read(file, fh, 0, 5))
	assert.NotZero(t, u.lookup(1, "g"))
	assert.EqualValues(t, 2, u.stat(file).Nlink)
	assert.EqualValues(t, 1, v.stat(file).Nlink)
	assert.EqualValues(t, 2, u.stat(dir).Nlink)
	assert.Positive(t, u.fs.Footprint())
	before := u.statfs().Bfree
	v.mustWrite(file, fh, 1<<20, "more")
	assert.Equal(t, before, u.statfs().Bfree)
}

// What the state says is what is answered.
func TestRestore(t *testing.T) {
	attr := func(mode, nlink uint32, size uint64) *fuse.Attr {
		return &fuse.Attr{Mode: mode, Nlink: nlink, Size: size, Blocks: (size + 4095) / 4096 * 8, Mtime: 7, Owner: fuse.Owner{Uid: 1, Gid: 2}}
	}
	fs := Restore(Options{}, &State{
		Page: true, Last: Numbers{40, 9}, LastCookie: 30,
		Nodes: []NodeState{
			{ID: 1, Dir: true, Count: 5, Attr: attr(sIFDIR|0o755, 3, 0), Entries: []EntryState{
				{Name: "d", Node: 5, Type: 4, Off: 12}, {Name: "f", Node: 7, Type: 8, Off: 20}, {Name: "new", Node: 8, Type: 10}, {Name: "?", Type: 8}}},
			{ID: 7, Attr: attr(sIFREG|0o4755, 1, 5000), Content: []RangeState{{Off: 0, Data: []byte("hello")}, {Off: 4096, Hidden: 904}},
				Xattrs: []XattrState{{Name: "user.b"}, {Name: "user.a", Value: []byte("x")}}, Locks: []LockState{{Owner: 3, End: 10, Typ: 1, Pid: 77}}},
			{ID: 8, Attr: attr(sIFLNK|0o777, 1, 3), Target: "d/f"},
		},
		Handles: []HandleState{{Fh: 4, Node: 1}, {Fh: 6, Node: 7, Flags: rdwr}},
		Statfs:  &fuse.StatfsOut{Blocks: 100, Bfree: 60, Files: 50, Ffree: 20},
	})
	u := &user{t: t, fs: fs, now: new(int64)}
	assert.Equal(t, []string{".", "..", "d", "f", "new", "?"}, u.list(1, 4, 4096))
	page := u.do(proto.OpReaddir, 1, &fuse.ReadIn{Fh: 4, Offset: 2, Size: 4096}, nil).Entries
	assert.Equal(t, []uint64{12, 20, 31, 32}, []uint64{page[0].Off, page[1].Off, page[2].Off, page[3].Off})
	assert.EqualValues(t, 7*bogoDirentSize, u.stat(1).Size, "one name is not shown")
	assert.EqualValues(t, 60, u.statfs().Bfree)
	assert.Equal(t, "hello\x00", u.read(7, 6, 0, 6))
	assert.EqualValues(t, 16, u.stat(7).Blocks)
	hole, _ := u.lseek(7, 6, 0, 4)
	assert.EqualValues(t, 5000, hole)
	require.Equal(t, OK, u.truncate(7, 0))
	assert.Zero(t, u.stat(7).Blocks)
	value, e := u.getxattr(7, "user.a")
	assert.Equal(t, OK, e)
	assert.Equal(t, "x", string(value))
	got := u.do(proto.OpGetlk, 7, &fuse.LkIn{Fh: 6, Owner: 4, Lk: fuse.FileLock{Start: 5, End: 5, Typ: 0}}, nil)
	assert.EqualValues(t, 77, got.Out.(*fuse.LkOut).Lk.Pid)
	assert.Equal(t, "d/f", string(u.do(proto.OpReadlink, 8, nil, nil).Data))
	made, opened := u.create(1, "next")
	assert.Equal(t, []uint64{42, 10}, []uint64{made, opened}, "41 is the name without a node")
	assert.Equal(t, OK, u.rmdir(1, "d"))
}

// An access ACL follows the mode that chmod(2) has given since.
func TestRestoreACL(t *testing.T) {
	named := acl{{aclUserObj, 7, aclUndefinedID}, {aclUser, 7, 5}, {aclGroupObj, 5, aclUndefinedID}, {aclMask, 7, aclUndefinedID}, {aclOther, 5, aclUndefinedID}}
	fs := Restore(Options{}, &State{Nodes: []NodeState{{ID: 3, Attr: &fuse.Attr{Mode: sIFREG | 0o610, Nlink: 1}, Xattrs: []XattrState{
		{Name: accessACL, Value: named.xattr()}, {Name: defaultACL, Value: []byte("?")}}}}})
	u := &user{t: t, fs: fs, now: new(int64)}
	value, e := u.getxattr(3, accessACL)
	require.Equal(t, OK, e)
	a, e := parseACL(value)
	require.Equal(t, OK, e)
	assert.Equal(t, []uint16{6, 7, 5, 1, 0}, []uint16{a[0].perm, a[1].perm, a[2].perm, a[3].perm, a[4].perm})
}

// Replies of a world that another model has made up.
func TestAdopt(t *testing.T) {
	fs := New(Options{})
	u := &user{t: t, fs: fs, now: new(int64)}
	adopt := func(op proto.Opcode, node uint64, in any, reply string, names ...string) {
		req := u.request(op, node, in, nil, names...)
		r, err := proto.ParseReplyJSON(req, []byte(reply))
		require.NoError(t, err)
		fs.Adopt(req, r)
	}
	entry := func(id uint64, mode, nlink uint32, size uint64) string {
		b, err := json.Marshal(id)
		require.NoError(t, err)
		return `{"NodeId":` + string(b) + `,"Generation":0,"EntryValid":1,"AttrValid":1,"EntryValidNsec":0,"AttrValidNsec":0,"Attr":` + attrText(id, mode, nlink, size) + `}`
	}
	adopt(proto.OpLookup, 1, nil, `{"Errno":0,"Out":`+entry(20, sIFDIR|0o755, 2, 40)+`}`, "docs")
	adopt(proto.OpLookup, 20, nil, `{"Errno":0,"Out":`+entry(31, sIFREG|0o644, 1, 5)+`}`, "a.txt")
	adopt(proto.OpLookup, 20, nil, `{"Errno":2}`, "b.txt")
	adopt(proto.OpSymlink, 1, nil, `{"Errno":0,"Out":`+entry(32, sIFLNK|0o777, 1, 4)+`}`, "l", "docs")
	adopt(proto.OpOpen, 31, &fuse.OpenIn{Flags: rdwr}, `{"Errno":0,"Out":{"Fh":8,"OpenFlags":0,"BackingID":0}}`)
	adopt(proto.OpRead, 31, &fuse.ReadIn{Fh: 8, Size: 10}, `{"Errno":0,"Data":"hello"}`)
	adopt(proto.OpRead, 31, &fuse.ReadIn{Fh: 8, Size: 10}, `{"Errno":0,"Data":"other"}`)
	adopt(proto.OpGetxattr, 31, &fuse.GetXAttrIn{Size: 10}, `{"Errno":0,"Data":"v"}`, "user.a")
	adopt(proto.OpGetattr, 50, &fuse.GetAttrIn{}, `{"Errno":0,"Out":{"AttrValid":1,"AttrValidNsec":0,"Attr":`+attrText(50, sIFREG|0o600, 1, 9)+`}}`)
	adopt(proto.OpReaddirplus, 20, &fuse.ReadIn{Size: 4096}, `{"Errno":0,"Entries":[{"Entry":`+entry(33, sIFLNK|0o777, 1, 2)+`,"Ino":33,"Off":3,"Type":10,"Name":"ln"}]}`)
	adopt(proto.OpReadlink, 33, nil, `{"Errno":0,"Data":"to"}`)
	assert.EqualValues(t, 31, u.lookup(u.lookup(1, "docs"), "a.txt"))
	assert.Equal(t, "hello", u.read(31, 8, 0, 10), "bytes that are known stay")
	assert.EqualValues(t, 9, u.stat(50).Size)
	assert.Equal(t, "docs", string(u.do(proto.OpReadlink, 32, nil, nil).Data))
	assert.Equal(t, "to", string(u.do(proto.OpReadlink, 33, nil, nil).Data))
	value, _ := u.getxattr(31, "user.a")
	assert.Equal(t, "v", string(value))
	made, fh := u.create(20, "new")
	assert.Equal(t, []uint64{51, 9}, []uint64{made, fh})
	assert.True(t, fs.Free(Numbers{52, 10}))
	assert.False(t, fs.Free(Numbers{51, 10}))
	fs.SetNumbers(Numbers{60, 20})
	made, fh = u.create(20, "newer")
	assert.Equal(t, []uint64{61, 21}, []uint64{made, fh})
}

func attrText(id uint64, mode, nlink uint32, size uint64) string {
	req := &proto.Request{Op: proto.OpGetattr, In: &fuse.GetAttrIn{}}
	b, _ := proto.AppendReplyJSON(nil, req, &proto.Reply{Out: &fuse.AttrOut{Attr: fuse.Attr{Ino: id, Mode: mode, Nlink: nlink, Size: size}}})
	text := string(b)
	at := len(`{"Errno":0,"Out":{"AttrValid":0,"AttrValidNsec":0,"Attr":`)
	return text[at : len(text)-2]
}

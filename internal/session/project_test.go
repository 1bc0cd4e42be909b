package session

import (
	"encoding/binary"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/assert"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// facts is a ledger that is told pairs by hand.
type facts struct {
	*caller
	l *ledger
}

func newFacts(t *testing.T) *facts {
	l := newLedger()
	l.seed(&Seed{files: []seedFile{
		{id: 1, attr: exampleAttr(1, 0o40755, 2, 0)},
		{id: 2, parent: 1, name: "f", attr: exampleAttr(2, 0o106755, 1, 6), data: []byte("hello\n")},
	}})
	return &facts{caller: &caller{t: t, now: 1767322000}, l: l}
}

// tell takes a pair in and returns what is shown for the request after it.
func (f *facts) tell(reply *proto.Reply, op proto.Opcode, node uint64, in any, data string, names ...string) string {
	req := f.request(op, node, in, data, names...)
	f.l.apply(req, reply)
	return string(f.l.choose(req, defaultPromptTokens).json())
}

func TestNotificationsAreFacts(t *testing.T) {
	f := newFacts(t)
	with := func(n proto.Notification) *proto.Reply {
		r := attrReply(1, 0o40755, 0)
		r.Notify = []proto.Notification{n}
		return &r
	}
	f.tell(with(proto.Notification{Out: &fuse.NotifyStoreOut{Nodeid: 2, Offset: 6}, Data: []byte("more")}), proto.OpGetattr, 1, nil, "")
	assert.Equal(t, "hello\nmore", string(f.l.nodes[2].content[0].data))
	f.tell(with(proto.Notification{Out: &fuse.NotifyInvalInodeOut{Ino: 2, Off: 2, Length: 3}}), proto.OpGetattr, 1, nil, "")
	assert.Len(t, f.l.nodes[2].content, 2)
	assert.False(t, f.l.nodes[2].told)
	f.tell(with(proto.Notification{Out: &fuse.NotifyInvalInodeOut{Ino: 2, Off: 5}}), proto.OpGetattr, 1, nil, "")
	assert.Len(t, f.l.nodes[2].content, 1)
	f.tell(with(proto.Notification{Out: &fuse.NotifyInvalInodeOut{Ino: 2, Off: -1}}), proto.OpGetattr, 1, nil, "")
	assert.Len(t, f.l.nodes[2].content, 1)
	f.tell(with(proto.Notification{Out: &fuse.NotifyInvalEntryOut{Parent: 1}, Name: "f"}), proto.OpGetattr, 1, nil, "")
	assert.Empty(t, f.l.nodes[1].entries)
	assert.Empty(t, f.l.nodes[2].links)
	f.tell(with(proto.Notification{Out: &fuse.NotifyInvalDeleteOut{Parent: 1}, Name: "g"}), proto.OpGetattr, 1, nil, "")
	assert.True(t, f.l.nodes[1].entries["g"].missing)
}

func TestLocksAreFacts(t *testing.T) {
	f := newFacts(t)
	lk := func(owner, start, end uint64, typ uint32) *fuse.LkIn {
		return &fuse.LkIn{Owner: owner, Lk: fuse.FileLock{Start: start, End: end, Typ: typ, Pid: 9}}
	}
	f.tell(&proto.Reply{}, proto.OpSetlk, 2, lk(7, 0, 99, 1), "")
	f.tell(&proto.Reply{Errno: syscall.EAGAIN}, proto.OpSetlk, 2, lk(8, 0, 9, 1), "")
	shown := f.tell(&proto.Reply{}, proto.OpSetlkw, 2, lk(7, 10, 19, 2), "")
	assert.Contains(t, shown, `"Locks":[{"Owner":7,"Start":0,"End":9,"Typ":1,"Pid":9,"Flock":false},{"Owner":7,"Start":20,"End":99,"Typ":1,"Pid":9,"Flock":false}]`)
	assert.NotContains(t, f.tell(&proto.Reply{}, proto.OpFlush, 2, &fuse.FlushIn{LockOwner: 8}, ""), "Locks")
	assert.Len(t, f.l.nodes[2].locks, 2)
	f.tell(&proto.Reply{}, proto.OpFlush, 2, &fuse.FlushIn{LockOwner: 7}, "")
	assert.Empty(t, f.l.nodes[2].locks)
	flock := lk(7, 0, 1<<62, 0)
	flock.LkFlags = fuse.LK_FLOCK
	f.tell(&proto.Reply{}, proto.OpSetlk, 2, flock, "")
	f.tell(&proto.Reply{}, proto.OpFlush, 2, &fuse.FlushIn{LockOwner: 7}, "")
	assert.Len(t, f.l.nodes[2].locks, 1, "flock(2) locks outlive a close(2) of another descriptor")
	f.tell(&proto.Reply{}, proto.OpRelease, 2, &fuse.ReleaseIn{LockOwner: 7, ReleaseFlags: releaseFlockUnlock}, "")
	assert.Empty(t, f.l.nodes[2].locks)
}

func TestWhatElseIsAFact(t *testing.T) {
	f := newFacts(t)
	statfs := &fuse.StatfsOut{Blocks: 5}
	assert.Contains(t, f.tell(&proto.Reply{Out: statfs}, proto.OpStatfs, 1, nil, ""), `"Statfs":{"Blocks":5,`)
	assert.Contains(t, f.tell(&proto.Reply{Errno: syscall.ENOSYS}, proto.OpStatx, 1, nil, ""), `"Off":["STATX"]`)
	assert.Contains(t, f.tell(&proto.Reply{Errno: syscall.ENODATA}, proto.OpGetxattr, 2, &fuse.GetXAttrIn{Size: 9}, "", "user.a"), `"Xattrs":[{"Name":"user.a","Missing":true}]`)
	assert.Contains(t, f.tell(&proto.Reply{Errno: syscall.ENOENT}, proto.OpLookup, 1, nil, "", "no"), `{"Name":"no","Missing":true}`)
	assert.Contains(t, f.tell(&proto.Reply{Data: []byte{0xff, 0}}, proto.OpGetxattr, 2, &fuse.GetXAttrIn{Size: 9}, "", "user.b"), `{"Name":"user.b","Data":{"base64":"/wA="}}`)
	list := f.request(proto.OpListxattr, 2, &fuse.GetXAttrIn{Size: 99}, "")
	list.Header.Uid = 0
	f.l.apply(list, &proto.Reply{Data: []byte("user.b\x00user.c\x00")})
	shown := string(f.l.choose(list, defaultPromptTokens).json())
	assert.Contains(t, shown, `{"Name":"user.c"}],"XattrsComplete":true`)
	insert := &fuse.FallocateIn{Offset: 2, Length: 4, Mode: fallocInsert}
	f.tell(&proto.Reply{}, proto.OpFallocate, 2, insert, "")
	shown = f.tell(&proto.Reply{Data: []byte("he")}, proto.OpRead, 2, &fuse.ReadIn{Size: 2}, "")
	assert.Contains(t, shown, `"Content":[{"Offset":0,"Data":"he"}]`)
	f.tell(&proto.Reply{}, proto.OpFallocate, 2, &fuse.FallocateIn{Offset: 2, Length: 4, Mode: fallocCollapse}, "")
	assert.EqualValues(t, 6, f.l.nodes[2].attr.Size)
	assert.EqualValues(t, 0o100755, f.l.nodes[2].attr.Mode, "and the setuid bits are gone")
	seek := f.tell(&proto.Reply{Out: &fuse.LseekOut{}}, proto.OpLseek, 2, &fuse.LseekIn{Whence: 4}, "")
	assert.Contains(t, seek, `"Content":[{"Offset":0,"Length":2},{"Offset":2,"Length":4}]`, "where data is, not what")
}

func TestAccessListsAreModes(t *testing.T) {
	acl := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range [][2]uint16{{aclUserObj, 7}, {aclGroupObj, 5}, {aclMask, 4}, {aclOther, 1}} {
		acl = binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(acl, e[0]), e[1])
		acl = binary.LittleEndian.AppendUint32(acl, ^uint32(0))
	}
	f := newFacts(t)
	f.tell(&proto.Reply{}, proto.OpSetxattr, 2, &fuse.SetXAttrIn{Size: uint32(len(acl)), SetXAttrFlags: fuse.SETXATTR_ACL_KILL_SGID}, string(acl), aclAccess)
	assert.EqualValues(t, 0o104741, f.l.nodes[2].attr.Mode)
}

func TestNodesThatAreGoneAreForgotten(t *testing.T) {
	f := newFacts(t)
	f.tell(&proto.Reply{Out: &fuse.OpenOut{Fh: 3}}, proto.OpOpen, 2, nil, "")
	f.tell(&proto.Reply{}, proto.OpForget, 2, nil, "")
	assert.Contains(t, f.l.nodes, uint64(2), "it has a name")
	f.tell(&proto.Reply{}, proto.OpUnlink, 1, nil, "", "f")
	f.tell(&proto.Reply{}, proto.OpForget, 2, nil, "")
	assert.Contains(t, f.l.nodes, uint64(2), "it is open")
	f.tell(&proto.Reply{}, proto.OpRelease, 2, &fuse.ReleaseIn{Fh: 3}, "")
	req := f.request(proto.OpBatchForget, 0, &proto.BatchForgetIn{Count: 1}, "")
	req.List = []proto.ForgetOne{{NodeId: 2}}
	f.l.apply(req, &proto.Reply{})
	assert.NotContains(t, f.l.nodes, uint64(2))
	assert.Empty(t, f.l.handles)
}

func TestListingsInPages(t *testing.T) {
	f := newFacts(t)
	page := func(entries ...proto.Dirent) *proto.Reply { return &proto.Reply{Entries: entries} }
	named := func(name string, off uint64) proto.Dirent { return proto.Dirent{Ino: 9, Type: 8, Name: name, Off: off} }
	f.l.nodes[1].complete = false
	f.tell(page(named(".", 9), named("..", 8), named("a", 7)), proto.OpReaddir, 1, &fuse.ReadIn{Size: 4096}, "")
	f.tell(page(), proto.OpReaddir, 1, &fuse.ReadIn{Size: 4096, Offset: 3}, "")
	assert.False(t, f.l.nodes[1].complete, "cookie 3 was never told")
	f.tell(page(named("b", 5), named("c", 4)), proto.OpReaddir, 1, &fuse.ReadIn{Size: 4096, Offset: 7}, "")
	shown := f.tell(page(), proto.OpReaddir, 1, &fuse.ReadIn{Size: 4096, Offset: 4}, "")
	assert.True(t, f.l.nodes[1].complete)
	assert.Contains(t, shown, `"Count":4,"Entries":[{"Name":"f","NodeId":2,"Type":8}]`, "what was never listed comes last")
	req := f.request(proto.OpReaddir, 1, &fuse.ReadIn{Size: 4096, Offset: 7}, "")
	assert.Contains(t, string(f.l.choose(req, defaultPromptTokens).json()), `"Entries":[{"Name":"b","Type":8,"Off":5},{"Name":"c","Type":8,"Off":4},{"Name":"f"`)
}

// Root alone is shown trusted attributes: a list that someone else got leaves them,
// and says nothing about those that were not known.
func TestListsOfAttributesAreOfTheirReader(t *testing.T) {
	f := newFacts(t)
	list := func(uid uint32, names string) *node {
		req := f.request(proto.OpListxattr, 2, &fuse.GetXAttrIn{Size: 99}, "")
		req.Header.Uid = uid
		f.l.apply(req, &proto.Reply{Data: []byte(names)})
		return f.l.nodes[2]
	}
	assert.False(t, list(1000, "user.a\x00").xattrsComplete)
	list(0, "user.a\x00trusted.t\x00user.b\x00")
	n := list(1000, "user.a\x00")
	assert.True(t, n.xattrsComplete)
	assert.Contains(t, n.xattrs, "trusted.t")
	assert.NotContains(t, n.xattrs, "user.b")
}

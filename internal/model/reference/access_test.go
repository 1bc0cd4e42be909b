package reference

// Who may do what: xattrs, ACLs, permissions, inode flags.

import (
	"encoding/binary"
	"strings"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

func TestXattrs(t *testing.T) {
	tests := []struct {
		node, name string
		value      []byte
		flags      uint32
		set, get   syscall.Errno
	}{
		{"file", "user.a", []byte("v"), 0, OK, OK},
		{"file", "user.a", []byte("v"), unix.XATTR_REPLACE, syscall.ENODATA, syscall.ENODATA},
		{"file", "user.a", []byte("v"), unix.XATTR_CREATE, OK, OK},
		{"file", "user.a", nil, 4, syscall.EINVAL, syscall.ENODATA},
		{"file", "user.", nil, 0, syscall.EINVAL, syscall.EINVAL},
		{"file", "user", nil, 0, syscall.EOPNOTSUPP, syscall.EOPNOTSUPP},
		{"file", "foo.x", nil, 0, syscall.EOPNOTSUPP, syscall.EOPNOTSUPP},
		{"file", "system.foo", nil, 0, syscall.EOPNOTSUPP, syscall.EOPNOTSUPP},
		{"file", "", nil, 0, syscall.ERANGE, syscall.ERANGE},
		{"file", "user." + strings.Repeat("n", 250), nil, 0, OK, OK},
		{"file", "user." + strings.Repeat("n", 251), nil, 0, syscall.ERANGE, syscall.ERANGE},
		{"file", "user.big", make([]byte, 1<<16), 0, OK, OK},
		{"file", "user.big", make([]byte, 1<<16+1), 0, syscall.E2BIG, syscall.ENODATA},
		{"file", "security.capability", []byte("abc"), 0, syscall.EINVAL, syscall.ENODATA},
		{"symlink", "user.a", nil, 0, syscall.EPERM, syscall.ENODATA},
		{"symlink", "trusted.a", nil, 0, OK, OK},
		{"symlink", "security.a", nil, 0, OK, OK},
		{"symlink", accessACL, nil, 0, syscall.EOPNOTSUPP, syscall.EOPNOTSUPP},
	}
	for _, test := range tests {
		u := mounted(t, Options{})
		nodes := map[string]uint64{"file": u.mknod(rootIno, "f", sIFREG|0o644), "symlink": u.symlink(rootIno, "s", "f")}
		n := nodes[test.node]
		assert.Equal(t, test.set, u.setxattr(n, test.name, test.value, test.flags), "set %s", test.name)
		value, e := u.getxattr(n, test.name)
		assert.Equal(t, test.get, e, "get %s", test.name)
		if e == 0 {
			assert.Equal(t, string(test.value), string(value))
			assert.Equal(t, syscall.EEXIST, u.setxattr(n, test.name, nil, unix.XATTR_CREATE))
			require.Equal(t, OK, u.errno(proto.OpRemovexattr, n, nil, test.name))
			assert.Equal(t, syscall.ENODATA, u.errno(proto.OpRemovexattr, n, nil, test.name))
		}
		checkTree(t, u.fs)
	}
}

func TestListxattr(t *testing.T) {
	u := mounted(t, Options{})
	n := u.mknod(rootIno, "f", sIFREG|0o644)
	for _, name := range []string{"user.a", "trusted.t", "user.b", "security.s"} {
		require.Equal(t, OK, u.setxattr(n, name, []byte("v"), 0))
	}
	require.Equal(t, OK, u.setxattr(n, accessACL, aclBytes(namedACL), 0))
	list := func(u *user, size uint32) *proto.Reply {
		return u.do(proto.OpListxattr, n, &fuse.GetXAttrIn{Size: size}, nil)
	}
	const all = accessACL + "\x00user.b\x00user.a\x00trusted.t\x00security.s\x00"
	assert.Equal(t, all, string(list(u, 1000).Data))
	assert.Equal(t, &fuse.GetXAttrOut{Size: uint32(len(all))}, list(u, 0).Out)
	assert.Equal(t, syscall.ERANGE, list(u, 10).Errno)
	assert.NotContains(t, string(list(u.as(1000, 1000), 1000).Data), "trusted")
}

func TestXattrsOfOthers(t *testing.T) {
	u := mounted(t, Options{})
	n := u.mknod(rootIno, "f", sIFREG|0o644)
	require.Equal(t, OK, u.setxattr(n, "trusted.t", []byte("v"), 0))
	other := u.as(1000, 1000)
	_, e := other.getxattr(n, "trusted.t")
	assert.Equal(t, syscall.ENODATA, e)
	assert.Equal(t, syscall.EPERM, other.setxattr(n, "trusted.t", nil, 0))
	assert.Equal(t, syscall.EPERM, other.setxattr(n, "security.s", nil, 0))
	assert.Equal(t, OK, other.setxattr(n, "user.u", nil, 0), "the kernel has checked")
}

func TestWritesDropCapabilities(t *testing.T) {
	value := make([]byte, 20)
	binary.LittleEndian.PutUint32(value, 0x02000001)
	u := mounted(t, Options{})
	n, fh := u.create(rootIno, "f")
	for name, do := range map[string]func() syscall.Errno{
		"write":    func() syscall.Errno { _, e := u.write(n, fh, 0, "x"); return e },
		"truncate": func() syscall.Errno { return u.truncate(n, 0) },
		"chown":    func() syscall.Errno { return u.setattr(n, fuse.SetAttrInCommon{Valid: fuse.FATTR_UID}) },
	} {
		require.Equal(t, OK, u.setxattr(n, capability, value, 0))
		require.Equal(t, OK, do(), name)
		_, e := u.getxattr(n, capability)
		assert.Equal(t, syscall.ENODATA, e, name)
	}
	checkTree(t, u.fs)
}

// namedACL is u::rw-,u:5:r--,g::r--,m::rw-,o::r--
var namedACL = acl{{aclUserObj, 6, aclUndefinedID}, {aclUser, 4, 5}, {aclGroupObj, 4, aclUndefinedID},
	{aclMask, 6, aclUndefinedID}, {aclOther, 4, aclUndefinedID}}

func aclBytes(a acl) []byte { return a.xattr() }

func TestACLsAreChecked(t *testing.T) {
	entry := func(tag, perm uint16, id uint32) aclEntry { return aclEntry{tag, perm, id} }
	u, g, o := entry(aclUserObj, 7, 0), entry(aclGroupObj, 5, 0), entry(aclOther, 5, 0)
	m, user, group := entry(aclMask, 7, 0), entry(aclUser, 7, 5), entry(aclGroup, 7, 5)
	tests := []struct {
		name  string
		value []byte
		want  syscall.Errno
	}{
		{"minimal", aclBytes(acl{u, g, o}), OK},
		{"named", aclBytes(acl{u, user, user, g, group, m, o}), OK},
		{"nothing removes", nil, OK},
		{"no entries remove", aclBytes(nil), OK},
		{"short", []byte("abc"), syscall.EINVAL},
		{"version", []byte{3, 0, 0, 0}, syscall.EOPNOTSUPP},
		{"half an entry", append(aclBytes(nil), 1, 2, 3, 4), syscall.EINVAL},
		{"order", aclBytes(acl{g, u, o}), syscall.EINVAL},
		{"no other", aclBytes(acl{u, g}), syscall.EINVAL},
		{"no mask", aclBytes(acl{u, user, g, o}), syscall.EINVAL},
		{"two masks", aclBytes(acl{u, g, m, m, o}), syscall.EINVAL},
		{"permission", aclBytes(acl{entry(aclUserObj, 8, 0), g, o}), syscall.EINVAL},
		{"tag", aclBytes(acl{u, entry(0x40, 7, 0), g, o}), syscall.EINVAL},
		{"user -1", aclBytes(acl{u, entry(aclUser, 7, aclUndefinedID), g, m, o}), syscall.EINVAL},
	}
	for _, test := range tests {
		fs := mounted(t, Options{})
		d := fs.mkdir(rootIno, "d", 0o755)
		assert.Equal(t, test.want, fs.setxattr(d, defaultACL, test.value, 0), test.name)
		assert.Equal(t, test.want, fs.setxattr(d, accessACL, test.value, 0), test.name)
	}
}

func TestACLAndMode(t *testing.T) {
	u := mounted(t, Options{})
	n := u.mknod(rootIno, "f", sIFREG|0o600)
	require.Equal(t, OK, u.setxattr(n, accessACL, aclBytes(namedACL), 0))
	assert.Equal(t, uint32(sIFREG|0o664), u.stat(n).Mode)
	require.Equal(t, OK, u.chmod(n, 0o750))
	value, e := u.getxattr(n, accessACL)
	require.Equal(t, OK, e)
	want := acl{{aclUserObj, 7, aclUndefinedID}, {aclUser, 4, 5}, {aclGroupObj, 4, aclUndefinedID},
		{aclMask, 5, aclUndefinedID}, {aclOther, 0, aclUndefinedID}}
	assert.Equal(t, aclBytes(want), value)
	minimal := acl{{aclUserObj, 6, 0}, {aclGroupObj, 4, 0}, {aclOther, 0, 0}}
	require.Equal(t, OK, u.setxattr(n, accessACL, aclBytes(minimal), 0))
	assert.Equal(t, uint32(sIFREG|0o640), u.stat(n).Mode)
	_, e = u.getxattr(n, accessACL)
	assert.Equal(t, syscall.ENODATA, e, "the mode says all")
	assert.Equal(t, OK, u.errno(proto.OpRemovexattr, n, nil, accessACL))
	assert.Equal(t, syscall.EACCES, u.setxattr(n, defaultACL, aclBytes(minimal), 0), "no directory")
	require.Equal(t, OK, u.chmod(n, 0o2755))
	in := &fuse.SetXAttrIn{Size: 28, SetXAttrFlags: fuse.SETXATTR_ACL_KILL_SGID}
	require.Equal(t, OK, u.do(proto.OpSetxattr, n, in, aclBytes(minimal), accessACL).Errno)
	assert.Equal(t, uint32(sIFREG|0o640), u.stat(n).Mode)
	assert.Zero(t, u.fs.space.usedACLs.Load())
}

func TestDefaultACLs(t *testing.T) {
	def := acl{{aclUserObj, 7, aclUndefinedID}, {aclUser, 7, 5}, {aclGroupObj, 5, aclUndefinedID},
		{aclMask, 7, aclUndefinedID}, {aclOther, 5, aclUndefinedID}}
	u := mounted(t, Options{})
	d := u.mkdir(rootIno, "d", 0o755)
	require.Equal(t, OK, u.setxattr(d, defaultACL, aclBytes(def), 0))
	f := u.entry(u.do(proto.OpMknod, d, &fuse.MknodIn{Mode: 0o666, Umask: 0o077}, nil, "f"))
	assert.Equal(t, uint32(sIFREG|0o664), u.stat(f).Mode, "no umask")
	value, _ := u.getxattr(f, accessACL)
	assert.Equal(t, aclBytes(acl{{aclUserObj, 6, aclUndefinedID}, {aclUser, 7, 5}, {aclGroupObj, 5, aclUndefinedID},
		{aclMask, 6, aclUndefinedID}, {aclOther, 4, aclUndefinedID}}), value)
	e := u.mkdir(d, "e", 0o777)
	assert.Equal(t, uint32(sIFDIR|0o775), u.stat(e).Mode)
	value, _ = u.getxattr(e, defaultACL)
	assert.Equal(t, aclBytes(def), value)
}

func TestSetgidDirectories(t *testing.T) {
	u := mounted(t, Options{CheckPermissions: true})
	d := u.mkdir(rootIno, "d", 0o777)
	require.Equal(t, OK, u.setattr(d, fuse.SetAttrInCommon{Valid: fuse.FATTR_GID, Owner: fuse.Owner{Gid: 7}}))
	require.Equal(t, OK, u.chmod(d, 0o2777))
	stranger, member := u.as(1000, 1000), u.as(1000, 1000, 7)
	e := u.stat(stranger.mkdir(d, "e", 0o755))
	assert.Equal(t, []uint32{sIFDIR | 0o2755, 7}, []uint32{e.Mode, e.Gid})
	f := u.stat(stranger.mknod(d, "f", sIFREG|0o2755))
	assert.Equal(t, []uint32{sIFREG | 0o755, 7}, []uint32{f.Mode, f.Gid})
	g := u.stat(member.mknod(d, "g", sIFREG|0o2755))
	assert.Equal(t, uint32(sIFREG|0o2755), g.Mode)
	require.Equal(t, OK, stranger.chmod(g.Ino, 0o2755))
	assert.Equal(t, uint32(sIFREG|0o755), u.stat(g.Ino).Mode, "who is not of the group can't set it")
}

// TestPermissions has a directory d of uid 1 and gid 10, mode 01775, with
// files of it in every relation to the caller.
func TestPermissions(t *testing.T) {
	type env struct {
		*user
		d, own, other, dir uint64
	}
	openAs := func(flags uint32) func(env) syscall.Errno {
		return func(e env) syscall.Errno { return e.errno(proto.OpOpen, e.other, &fuse.OpenIn{Flags: flags}) }
	}
	set := func(in fuse.SetAttrInCommon) func(env) syscall.Errno {
		return func(e env) syscall.Errno { return e.setattr(e.other, in) }
	}
	const touch = fattrTimes | fattrNow
	tests := []struct {
		name string
		do   func(env) syscall.Errno
		want [4]syscall.Errno // of root, the owner 1, the member of 10, a stranger
	}{
		{"search", func(e env) syscall.Errno { return e.errno(proto.OpLookup, e.dir, nil, "x") },
			[4]syscall.Errno{syscall.ENOENT, syscall.ENOENT, syscall.EACCES, syscall.EACCES}},
		{"create", func(e env) syscall.Errno { return e.errno(proto.OpMkdir, e.d, &fuse.MkdirIn{}, "new") },
			[4]syscall.Errno{OK, OK, OK, syscall.EACCES}},
		{"unlink in a sticky directory", func(e env) syscall.Errno { return e.unlink(e.d, "other") },
			[4]syscall.Errno{OK, OK, syscall.EPERM, syscall.EACCES}},
		{"rename in a sticky directory", func(e env) syscall.Errno { return e.rename(e.d, "other", e.d, "x", 0) },
			[4]syscall.Errno{OK, OK, syscall.EPERM, syscall.EACCES}},
		{"read 0640", openAs(rdonly), [4]syscall.Errno{OK, OK, OK, syscall.EACCES}},
		{"write 0640", openAs(wronly), [4]syscall.Errno{OK, OK, syscall.EACCES, syscall.EACCES}},
		{"truncating open 0640", openAs(syscall.O_TRUNC), [4]syscall.Errno{OK, OK, syscall.EACCES, syscall.EACCES}},
		{"execute 0640", openAs(fmodeExec), [4]syscall.Errno{syscall.EACCES, syscall.EACCES, syscall.EACCES, syscall.EACCES}},
		{"O_NOATIME", openAs(syscall.O_NOATIME), [4]syscall.Errno{OK, OK, syscall.EPERM, syscall.EACCES}},
		{"chmod", set(fuse.SetAttrInCommon{Valid: fuse.FATTR_MODE, Mode: 0o600}), [4]syscall.Errno{OK, OK, syscall.EPERM, syscall.EPERM}},
		{"give away", set(fuse.SetAttrInCommon{Valid: fuse.FATTR_UID, Owner: fuse.Owner{Uid: 3}}),
			[4]syscall.Errno{OK, syscall.EPERM, syscall.EPERM, syscall.EPERM}},
		{"give to an own group", set(fuse.SetAttrInCommon{Valid: fuse.FATTR_GID, Owner: fuse.Owner{Gid: 10}}),
			[4]syscall.Errno{OK, OK, syscall.EPERM, syscall.EPERM}},
		{"truncate", set(fuse.SetAttrInCommon{Valid: fuse.FATTR_SIZE}), [4]syscall.Errno{OK, OK, syscall.EACCES, syscall.EACCES}},
		{"touch", set(fuse.SetAttrInCommon{Valid: touch}), [4]syscall.Errno{OK, OK, syscall.EACCES, syscall.EACCES}},
		{"set times", set(fuse.SetAttrInCommon{Valid: fattrTimes}), [4]syscall.Errno{OK, OK, syscall.EPERM, syscall.EPERM}},
		{"set an ACL", func(e env) syscall.Errno { return e.setxattr(e.other, accessACL, aclBytes(namedACL), 0) },
			[4]syscall.Errno{OK, OK, syscall.EPERM, syscall.EPERM}},
		{"set user.x", func(e env) syscall.Errno { return e.setxattr(e.other, "user.x", nil, 0) },
			[4]syscall.Errno{OK, OK, syscall.EACCES, syscall.EACCES}},
		{"get user.x", func(e env) syscall.Errno { _, errno := e.getxattr(e.other, "user.x"); return errno },
			[4]syscall.Errno{syscall.ENODATA, syscall.ENODATA, syscall.ENODATA, syscall.EACCES}},
		{"access", func(e env) syscall.Errno { return e.errno(proto.OpAccess, e.other, &fuse.AccessIn{Mask: 6}) },
			[4]syscall.Errno{OK, OK, syscall.EACCES, syscall.EACCES}},
		{"access of bits that are none", func(e env) syscall.Errno { return e.errno(proto.OpAccess, e.other, &fuse.AccessIn{Mask: 8}) },
			[4]syscall.Errno{syscall.EINVAL, syscall.EINVAL, syscall.EINVAL, syscall.EINVAL}},
		{"make a device", func(e env) syscall.Errno {
			return e.errno(proto.OpMknod, e.d, &fuse.MknodIn{Mode: sIFCHR, Rdev: 1}, "c")
		},
			[4]syscall.Errno{OK, syscall.EPERM, syscall.EPERM, syscall.EACCES}},
	}
	for _, test := range tests {
		for i, want := range test.want {
			u := mounted(t, Options{CheckPermissions: true, TTL: -1})
			owner := u.as(1, 1, 10)
			d := owner.mkdir(rootIno, "d", 0o775)
			require.Equal(t, OK, owner.setattr(d, fuse.SetAttrInCommon{Valid: fuse.FATTR_GID, Owner: fuse.Owner{Gid: 10}}))
			require.Equal(t, OK, owner.chmod(d, 0o1775))
			other := owner.mknod(d, "other", sIFREG|0o640)
			require.Equal(t, OK, owner.setattr(other, fuse.SetAttrInCommon{Valid: fuse.FATTR_GID, Owner: fuse.Owner{Gid: 10}}))
			caller := [4]*user{u, owner, u.as(2, 2, 10), u.as(3, 3)}[i]
			e := env{caller, d, 0, other, owner.mkdir(d, "dir", 0o700)}
			if test.name == "make a device" && i == 3 {
				want = syscall.EPERM // before anything else is looked at
			}
			assert.Equal(t, want, test.do(e), "%s by %d", test.name, caller.uid)
		}
	}
}

func TestPermissionsByACL(t *testing.T) {
	u := mounted(t, Options{CheckPermissions: true})
	n := u.mknod(rootIno, "f", sIFREG|0o600)
	a := acl{{aclUserObj, 6, 0}, {aclUser, 6, 5}, {aclGroupObj, 4, 0}, {aclGroup, 6, 20}, {aclMask, 4, 0}, {aclOther, 2, 0}}
	require.Equal(t, OK, u.setxattr(n, accessACL, aclBytes(a), 0))
	open := func(u *user, flags uint32) syscall.Errno { return u.errno(proto.OpOpen, n, &fuse.OpenIn{Flags: flags}) }
	tests := []struct {
		u           *user
		read, write syscall.Errno
	}{
		{u.as(5, 5), OK, syscall.EACCES},     // masked
		{u.as(6, 20), OK, syscall.EACCES},    // masked
		{u.as(6, 6, 20), OK, syscall.EACCES}, // by a supplementary group
		{u.as(6, 0), OK, syscall.EACCES},     // the owning group
		{u.as(6, 6), syscall.EACCES, OK},     // other
		{u.as(0, 0), OK, OK},
	}
	for _, test := range tests {
		assert.Equal(t, test.read, open(test.u, rdonly), "%d:%d", test.u.uid, test.u.gid)
		assert.Equal(t, test.write, open(test.u, wronly), "%d:%d", test.u.uid, test.u.gid)
	}
}

func (u *user) setFlags(n, fh uint64, flags uint32) syscall.Errno {
	data := binary.LittleEndian.AppendUint32(nil, flags)
	return u.do(proto.OpIoctl, n, &fuse.IoctlIn{Fh: fh, Cmd: unix.FS_IOC_SETFLAGS, InSize: 4}, data).Errno
}

func TestInodeFlags(t *testing.T) {
	u := mounted(t, Options{})
	n, fh := u.create(rootIno, "f")
	u.mustWrite(n, fh, 0, "content")
	get := func() uint32 {
		r := u.do(proto.OpIoctl, n, &fuse.IoctlIn{Fh: fh, Cmd: unix.FS_IOC_GETFLAGS, OutSize: 4}, nil)
		require.Equal(t, OK, r.Errno)
		return binary.LittleEndian.Uint32(r.Data)
	}
	for flags, want := range map[uint32]syscall.Errno{flNodump: OK, flNoatime | flAppend: OK, 0x8: syscall.EOPNOTSUPP, 0x1: syscall.EOPNOTSUPP} {
		require.Equal(t, OK, u.setFlags(n, fh, 0))
		require.Equal(t, want, u.setFlags(n, fh, flags))
		if want == 0 {
			assert.Equal(t, flags, get())
		}
	}
	assert.Equal(t, syscall.EPERM, u.as(1, 1).setFlags(n, fh, flImmutable))
	require.Equal(t, OK, u.setFlags(n, fh, flAppend))
	assert.Equal(t, syscall.EPERM, u.errno(proto.OpOpen, n, &fuse.OpenIn{Flags: wronly}))
	assert.Equal(t, OK, u.errno(proto.OpOpen, n, &fuse.OpenIn{Flags: wronly | syscall.O_APPEND}))
	assert.Equal(t, syscall.EPERM, u.truncate(n, 0))
	require.Equal(t, OK, u.setFlags(n, fh, flImmutable))
	for name, e := range map[string]syscall.Errno{
		"open":     u.errno(proto.OpOpen, n, &fuse.OpenIn{Flags: wronly | syscall.O_APPEND}),
		"chmod":    u.chmod(n, 0o600),
		"truncate": u.truncate(n, 0),
		"unlink":   u.unlink(rootIno, "f"),
		"rename":   u.rename(rootIno, "f", rootIno, "g", 0),
		"link":     u.link(n, rootIno, "g"),
		"setxattr": u.setxattr(n, "user.x", nil, 0),
		"falloc":   u.fallocate(n, fh, 0, 0, 1),
	} {
		assert.Equal(t, syscall.EPERM, e, name)
	}
	r := u.do(proto.OpIoctl, n, &fuse.IoctlIn{Fh: fh, Cmd: getFsxattr, OutSize: 28}, nil)
	assert.Equal(t, uint32(0x08), binary.LittleEndian.Uint32(r.Data))
	set := func(x, extsize uint32) syscall.Errno {
		data := make([]byte, 28)
		binary.LittleEndian.PutUint32(data, x)
		binary.LittleEndian.PutUint32(data[4:], extsize)
		return u.do(proto.OpIoctl, n, &fuse.IoctlIn{Fh: fh, Cmd: setFsxattr, InSize: 28}, data).Errno
	}
	assert.Equal(t, OK, set(0x80, 0))
	assert.Equal(t, uint32(flNodump), get())
	assert.Equal(t, []syscall.Errno{syscall.EOPNOTSUPP, syscall.EOPNOTSUPP}, []syscall.Errno{set(0x1, 0), set(0, 1)})
	assert.Equal(t, syscall.ENOTTY, u.errno(proto.OpIoctl, n, &fuse.IoctlIn{Fh: fh, Cmd: 0x5413}))
}

package reference

// What the tests of this package share: a filesystem, and calls to it that
// read like the system calls behind them.

import (
	"context"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

const (
	OK     = syscall.Errno(0)
	rdonly = uint32(syscall.O_RDONLY)
	wronly = uint32(syscall.O_WRONLY)
	rdwr   = uint32(syscall.O_RDWR)
)

// user makes requests. Every request is a second later than the last.
type user struct {
	t      testing.TB
	fs     *FS
	uid    uint32
	gid    uint32
	groups []uint32
	now    *int64
}

func mounted(t testing.TB, o Options) *user {
	if o.Size == 0 {
		o.Size = 1 << 24
	}
	if o.Inodes == 0 {
		o.Inodes = 1000
	}
	return &user{t: t, fs: New(o), now: new(int64)}
}

// as is another user of the same filesystem.
func (u *user) as(uid, gid uint32, groups ...uint32) *user {
	return &user{t: u.t, fs: u.fs, uid: uid, gid: gid, groups: groups, now: u.now}
}

func (u *user) request(op proto.Opcode, nodeid uint64, in any, data []byte, names ...string) *proto.Request {
	*u.now++
	return &proto.Request{
		Op: op, In: in, Names: names, Data: data,
		Header: proto.Header{Unique: uint64(*u.now), NodeId: nodeid, Uid: u.uid, Gid: u.gid,
			Groups: u.groups, Now: proto.Time{Sec: *u.now}},
	}
}

func (f *FS) serve(ctx context.Context, r *proto.Request) *proto.Reply {
	c := newCall(ctx, f, r)
	c.serve()
	return &c.reply
}

func (u *user) do(op proto.Opcode, nodeid uint64, in any, data []byte, names ...string) *proto.Reply {
	return u.fs.serve(context.Background(), u.request(op, nodeid, in, data, names...))
}

func (u *user) errno(op proto.Opcode, nodeid uint64, in any, names ...string) syscall.Errno {
	return u.do(op, nodeid, in, nil, names...).Errno
}

// entry is the node of a reply that must be a success.
func (u *user) entry(r *proto.Reply) uint64 {
	u.t.Helper()
	require.Equal(u.t, OK, r.Errno)
	return r.Out.(*fuse.EntryOut).NodeId
}

func (u *user) mkdir(dir uint64, name string, mode uint32) uint64 {
	u.t.Helper()
	return u.entry(u.do(proto.OpMkdir, dir, &fuse.MkdirIn{Mode: mode}, nil, name))
}

func (u *user) mknod(dir uint64, name string, mode uint32) uint64 {
	u.t.Helper()
	return u.entry(u.do(proto.OpMknod, dir, &fuse.MknodIn{Mode: mode}, nil, name))
}

func (u *user) symlink(dir uint64, name, target string) uint64 {
	u.t.Helper()
	return u.entry(u.do(proto.OpSymlink, dir, nil, nil, name, target))
}

func (u *user) link(old, dir uint64, name string) syscall.Errno {
	return u.errno(proto.OpLink, dir, &fuse.LinkIn{Oldnodeid: old}, name)
}

// create makes a file and opens it for reading and writing.
func (u *user) create(dir uint64, name string) (nodeid, fh uint64) {
	u.t.Helper()
	return u.createMode(dir, name, 0o644)
}

func (u *user) createMode(dir uint64, name string, mode uint32) (nodeid, fh uint64) {
	u.t.Helper()
	r := u.do(proto.OpCreate, dir, &fuse.CreateIn{Flags: rdwr | syscall.O_CREAT, Mode: mode}, nil, name)
	require.Equal(u.t, OK, r.Errno)
	out := r.Out.(*fuse.CreateOut)
	return out.NodeId, out.Fh
}

func (u *user) open(nodeid uint64, flags uint32) uint64 {
	u.t.Helper()
	r := u.do(proto.OpOpen, nodeid, &fuse.OpenIn{Flags: flags}, nil)
	require.Equal(u.t, OK, r.Errno)
	return r.Out.(*fuse.OpenOut).Fh
}

func (u *user) opendir(nodeid uint64) uint64 {
	u.t.Helper()
	r := u.do(proto.OpOpendir, nodeid, &fuse.OpenIn{}, nil)
	require.Equal(u.t, OK, r.Errno)
	return r.Out.(*fuse.OpenOut).Fh
}

// lookup is 0 where there is no such name.
func (u *user) lookup(dir uint64, name string) uint64 {
	r := u.do(proto.OpLookup, dir, nil, nil, name)
	if r.Errno != 0 {
		return 0
	}
	return r.Out.(*fuse.EntryOut).NodeId
}

func (u *user) stat(nodeid uint64) fuse.Attr {
	u.t.Helper()
	r := u.do(proto.OpGetattr, nodeid, &fuse.GetAttrIn{}, nil)
	require.Equal(u.t, OK, r.Errno)
	return r.Out.(*fuse.AttrOut).Attr
}

func (u *user) setattr(nodeid uint64, in fuse.SetAttrInCommon) syscall.Errno {
	return u.errno(proto.OpSetattr, nodeid, &fuse.SetAttrIn{SetAttrInCommon: in})
}

func (u *user) truncate(nodeid, size uint64) syscall.Errno {
	return u.setattr(nodeid, fuse.SetAttrInCommon{Valid: fuse.FATTR_SIZE, Size: size})
}

func (u *user) chmod(nodeid uint64, mode uint32) syscall.Errno {
	return u.setattr(nodeid, fuse.SetAttrInCommon{Valid: fuse.FATTR_MODE, Mode: mode})
}

func (u *user) write(nodeid, fh, off uint64, data string) (int, syscall.Errno) {
	in := &fuse.WriteIn{Fh: fh, Offset: off, Size: uint32(len(data))}
	r := u.do(proto.OpWrite, nodeid, in, []byte(data))
	if r.Errno != 0 {
		return 0, r.Errno
	}
	return int(r.Out.(*fuse.WriteOut).Size), 0
}

func (u *user) mustWrite(nodeid, fh, off uint64, data string) {
	u.t.Helper()
	n, e := u.write(nodeid, fh, off, data)
	require.Equal(u.t, OK, e)
	require.Equal(u.t, len(data), n)
}

func (u *user) read(nodeid, fh, off uint64, size int) string {
	u.t.Helper()
	r := u.do(proto.OpRead, nodeid, &fuse.ReadIn{Fh: fh, Offset: off, Size: uint32(size)}, nil)
	require.Equal(u.t, OK, r.Errno)
	return string(r.Data)
}

func (u *user) fallocate(nodeid, fh uint64, mode uint32, off, length uint64) syscall.Errno {
	return u.errno(proto.OpFallocate, nodeid, &fuse.FallocateIn{Fh: fh, Mode: mode, Offset: off, Length: length})
}

func (u *user) lseek(nodeid, fh, off uint64, whence uint32) (uint64, syscall.Errno) {
	r := u.do(proto.OpLseek, nodeid, &fuse.LseekIn{Fh: fh, Offset: off, Whence: whence}, nil)
	if r.Errno != 0 {
		return 0, r.Errno
	}
	return r.Out.(*fuse.LseekOut).Offset, 0
}

func (u *user) unlink(dir uint64, name string) syscall.Errno {
	return u.errno(proto.OpUnlink, dir, nil, name)
}

func (u *user) rmdir(dir uint64, name string) syscall.Errno {
	return u.errno(proto.OpRmdir, dir, nil, name)
}

func (u *user) rename(dir uint64, name string, newdir uint64, newname string, flags uint32) syscall.Errno {
	return u.errno(proto.OpRename2, dir, &fuse.RenameIn{Newdir: newdir, Flags: flags}, name, newname)
}

func (u *user) release(nodeid, fh uint64) {
	u.t.Helper()
	require.Equal(u.t, OK, u.errno(proto.OpRelease, nodeid, &fuse.ReleaseIn{Fh: fh}))
}

func (u *user) forget(nodeid, n uint64) {
	u.do(proto.OpForget, nodeid, &fuse.ForgetIn{Nlookup: n}, nil)
}

func (u *user) statfs() *fuse.StatfsOut {
	return u.do(proto.OpStatfs, rootIno, nil, nil).Out.(*fuse.StatfsOut)
}

func (u *user) setxattr(nodeid uint64, name string, value []byte, flags uint32) syscall.Errno {
	return u.do(proto.OpSetxattr, nodeid, &fuse.SetXAttrIn{Size: uint32(len(value)), Flags: flags}, value, name).Errno
}

func (u *user) getxattr(nodeid uint64, name string) ([]byte, syscall.Errno) {
	r := u.do(proto.OpGetxattr, nodeid, &fuse.GetXAttrIn{Size: xattrSizeMax}, nil, name)
	return r.Data, r.Errno
}

// list is the names of a directory, read in pages of size bytes.
func (u *user) list(nodeid, fh uint64, size uint32) []string {
	u.t.Helper()
	var names []string
	for off := uint64(0); ; {
		r := u.do(proto.OpReaddir, nodeid, &fuse.ReadIn{Fh: fh, Offset: off, Size: size}, nil)
		require.Equal(u.t, OK, r.Errno)
		if len(r.Entries) == 0 {
			return names
		}
		for _, e := range r.Entries {
			names, off = append(names, e.Name), e.Off
		}
	}
}

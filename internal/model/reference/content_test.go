package reference

// Bytes: reading, writing, holes, space, times and privileges.

import (
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

func TestReadAndWrite(t *testing.T) {
	u := mounted(t, Options{})
	a, fh := u.create(rootIno, "a")
	u.mustWrite(a, fh, 10, "hello")
	assert.Equal(t, strings.Repeat("\x00", 10)+"hello", u.read(a, fh, 0, 100))
	assert.Empty(t, u.read(a, fh, 15, 100))
	assert.Empty(t, u.read(a, fh, 1<<60, 100))
	u.mustWrite(a, fh, 4090, "across pages")
	assert.Equal(t, "across pages", u.read(a, fh, 4090, 100))
	assert.Equal(t, uint64(16), u.stat(a).Blocks)
	n, e := u.write(a, fh, 0, "")
	assert.Equal(t, [2]int{0, 0}, [2]int{n, int(e)})
}

func TestHandlesAreChecked(t *testing.T) {
	u := mounted(t, Options{})
	a, _ := u.create(rootIno, "a")
	b, other := u.create(rootIno, "b")
	r, w := u.open(a, rdonly), u.open(a, wronly)
	dir := u.opendir(rootIno)
	read := func(n, fh uint64) syscall.Errno { return u.errno(proto.OpRead, n, &fuse.ReadIn{Fh: fh, Size: 1}) }
	write := func(n, fh uint64) syscall.Errno { _, e := u.write(n, fh, 0, "x"); return e }
	assert.Equal(t, syscall.EBADF, read(a, w))
	assert.Equal(t, syscall.EBADF, write(a, r))
	assert.Equal(t, syscall.EBADF, read(a, other), "a handle of another file")
	assert.Equal(t, syscall.EBADF, read(b, 99))
	assert.Equal(t, syscall.EISDIR, read(rootIno, dir))
	assert.Equal(t, syscall.ENOTDIR, u.errno(proto.OpReaddir, a, &fuse.ReadIn{Fh: r, Size: 4096}))
	assert.Equal(t, syscall.ESTALE, read(99, r))
	u.release(a, r)
	assert.Equal(t, syscall.EBADF, read(a, r))
}

func TestAppend(t *testing.T) {
	u := mounted(t, Options{})
	a, fh := u.create(rootIno, "a")
	u.mustWrite(a, fh, 0, "one")
	in := &fuse.WriteIn{Fh: fh, Offset: 0, Size: 3, Flags: rdwr | syscall.O_APPEND}
	require.Equal(t, OK, u.do(proto.OpWrite, a, in, []byte("two")).Errno)
	assert.Equal(t, "onetwo", u.read(a, fh, 0, 100))
	in.WriteFlags = fuse.WRITE_CACHE
	require.Equal(t, OK, u.do(proto.OpWrite, a, in, []byte("ONE")).Errno)
	assert.Equal(t, "ONEtwo", u.read(a, fh, 0, 100), "the page cache knows where its pages belong")
}

func TestOpenFlags(t *testing.T) {
	u := mounted(t, Options{})
	a, fh := u.create(rootIno, "a")
	u.mustWrite(a, fh, 0, "content")
	create := func(flags uint32) syscall.Errno {
		return u.errno(proto.OpCreate, rootIno, &fuse.CreateIn{Flags: flags, Mode: 0o600}, "a")
	}
	assert.Equal(t, syscall.EEXIST, create(rdwr|syscall.O_EXCL))
	assert.Equal(t, OK, create(rdwr))
	assert.Equal(t, uint64(7), u.stat(a).Size)
	assert.Equal(t, OK, create(rdwr|syscall.O_TRUNC))
	assert.Equal(t, uint64(0), u.stat(a).Size)
	u.open(a, syscall.O_TRUNC|wronly|unix.O_DIRECT)
	assert.Equal(t, uint64(*u.now), u.stat(a).Mtime+1, "O_TRUNC of an empty file counts")
	s := u.symlink(rootIno, "s", "a")
	for nodeid, want := range map[uint64]syscall.Errno{
		s: syscall.ELOOP, rootIno: syscall.EISDIR, u.mknod(rootIno, "p", sIFSOCK): syscall.ENXIO,
	} {
		assert.Equal(t, want, u.errno(proto.OpOpen, nodeid, &fuse.OpenIn{}))
	}
	assert.Equal(t, syscall.ENOTDIR, u.errno(proto.OpOpendir, a, &fuse.OpenIn{}))
}

func TestOpenReplies(t *testing.T) {
	tests := []struct {
		o         Options
		file, dir uint32
	}{
		{Options{}, fuse.FOPEN_KEEP_CACHE, fuse.FOPEN_KEEP_CACHE | fuse.FOPEN_CACHE_DIR},
		{Options{DirectIO: true}, fuse.FOPEN_KEEP_CACHE | fuse.FOPEN_DIRECT_IO, fuse.FOPEN_KEEP_CACHE | fuse.FOPEN_CACHE_DIR},
		{Options{TTL: -1}, 0, 0},
		{Options{NoKeepCache: true}, 0, 0},
	}
	for _, test := range tests {
		u := mounted(t, test.o)
		n := u.mknod(rootIno, "a", sIFREG)
		file := u.do(proto.OpOpen, n, &fuse.OpenIn{}, nil).Out.(*fuse.OpenOut)
		dir := u.do(proto.OpOpendir, rootIno, &fuse.OpenIn{}, nil).Out.(*fuse.OpenOut)
		assert.Equal(t, [2]uint32{test.file, test.dir}, [2]uint32{file.OpenFlags, dir.OpenFlags})
	}
}

func TestHugeOffsets(t *testing.T) {
	const last = uint64(maxBytes) - 1
	u := mounted(t, Options{})
	a, fh := u.create(rootIno, "a")
	u.mustWrite(a, fh, 1<<62, "far")
	attr := u.stat(a)
	assert.Equal(t, [2]uint64{1<<62 + 3, 8}, [2]uint64{attr.Size, attr.Blocks})
	assert.Equal(t, "\x00\x00far", u.read(a, fh, 1<<62-2, 10))
	off, e := u.lseek(a, fh, 0, unix.SEEK_DATA)
	assert.Equal(t, [2]uint64{1 << 62, 0}, [2]uint64{off, uint64(e)})
	u.mustWrite(a, fh, last-2, "end")
	assert.Equal(t, uint64(maxBytes), u.stat(a).Size)
	_, e = u.write(a, fh, last, "xx")
	assert.Equal(t, syscall.EINVAL, e)
	_, e = u.write(a, fh, 1<<63, "x")
	assert.Equal(t, syscall.EINVAL, e)
	assert.Equal(t, syscall.EINVAL, u.truncate(a, 1<<63))
	assert.Equal(t, OK, u.truncate(a, uint64(maxBytes)))
	assert.Equal(t, OK, u.truncate(a, 1<<62+1))
	assert.Equal(t, "f", u.read(a, fh, 1<<62, 10))
	assert.Equal(t, OK, u.truncate(a, 0))
	assert.Equal(t, u.statfs().Blocks, u.statfs().Bfree)
	assert.Empty(t, u.fs.inodes[a].data.chunks)
}

func TestTruncateClearsTheTail(t *testing.T) {
	u := mounted(t, Options{})
	a, fh := u.create(rootIno, "a")
	u.mustWrite(a, fh, 0, strings.Repeat("x", 10000))
	require.Equal(t, OK, u.truncate(a, 5000))
	require.Equal(t, OK, u.truncate(a, 10000))
	assert.Equal(t, strings.Repeat("x", 5000)+strings.Repeat("\x00", 5000), u.read(a, fh, 0, 10000))
	assert.Equal(t, uint64(16), u.stat(a).Blocks)
}

func TestNoSpace(t *testing.T) {
	u := mounted(t, Options{Size: 40 << 10})
	a, fh := u.create(rootIno, "a")
	u.mustWrite(a, fh, 0, strings.Repeat("x", 9*pageSize))
	n, e := u.write(a, fh, 9*pageSize-10, strings.Repeat("y", 3*pageSize))
	assert.Equal(t, [2]int{4106, 0}, [2]int{n, int(e)}, "short, as shmem is")
	before := u.stat(a)
	_, e = u.write(a, fh, 12*pageSize, "z")
	assert.Equal(t, syscall.ENOSPC, e)
	after := u.stat(a)
	assert.Equal(t, before.Size, after.Size)
	assert.Greater(t, after.Mtime, before.Mtime, "tmpfs touches the times first")
	assert.Equal(t, syscall.ENOSPC, u.errno(proto.OpSymlink, rootIno, nil, "s", strings.Repeat("t", 128)))
	assert.Zero(t, u.lookup(rootIno, "s"))
	require.Equal(t, OK, u.truncate(a, 5*pageSize+1))
	assert.Equal(t, uint64(4), u.statfs().Bfree)
	assert.Equal(t, syscall.ENOSPC, u.fallocate(a, fh, 0, 0, 11*pageSize))
	assert.Equal(t, syscall.ENOSPC, u.fallocate(a, fh, unix.FALLOC_FL_KEEP_SIZE, 8*pageSize, 5*pageSize))
	assert.Equal(t, uint64(4), u.statfs().Bfree, "what fallocate took it gave back")
	u.mustWrite(a, fh, 0, "still fine")
	checkTree(t, u.fs)
}

func TestNoInodes(t *testing.T) {
	u := mounted(t, Options{Inodes: 3})
	a := u.mknod(rootIno, "a", sIFREG)
	u.mknod(rootIno, "b", sIFREG)
	assert.Equal(t, uint64(0), u.statfs().Ffree)
	assert.Equal(t, syscall.ENOSPC, u.errno(proto.OpMkdir, rootIno, &fuse.MkdirIn{}, "c"))
	assert.Equal(t, syscall.ENOSPC, u.link(a, rootIno, "c"))
	assert.Equal(t, syscall.ENOSPC, u.setxattr(a, "user.x", nil, 0))
	require.Equal(t, OK, u.unlink(rootIno, "b"))
	u.forget(3, 1)
	u.mkdir(rootIno, "c", 0o755)
	checkTree(t, u.fs)
}

func TestFallocate(t *testing.T) {
	const keep, punch = unix.FALLOC_FL_KEEP_SIZE, unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE
	u := mounted(t, Options{})
	a, fh := u.create(rootIno, "a")
	ro := u.open(a, rdonly)
	errnos := []struct {
		fh          uint64
		mode        uint32
		off, length uint64
		want        syscall.Errno
	}{
		{fh, 0, 0, 0, syscall.EINVAL},
		{fh, 0, 1 << 63, 1, syscall.EINVAL},
		{fh, 0, 1<<63 - 10, 100, syscall.EFBIG},
		{fh, 0, 0, 1 << 62, syscall.ENOSPC},
		{ro, 0, 0, 1, syscall.EBADF},
		{fh, unix.FALLOC_FL_PUNCH_HOLE, 0, 1, syscall.EOPNOTSUPP},
		{fh, unix.FALLOC_FL_ZERO_RANGE, 0, 1, syscall.EOPNOTSUPP},
		{fh, unix.FALLOC_FL_COLLAPSE_RANGE, 0, 1, syscall.EOPNOTSUPP},
		{fh, unix.FALLOC_FL_INSERT_RANGE, 0, 1, syscall.EOPNOTSUPP},
		{fh, 1 << 30, 0, 1, syscall.EOPNOTSUPP},
	}
	for _, test := range errnos {
		assert.Equal(t, test.want, u.fallocate(a, test.fh, test.mode, test.off, test.length), "%+v", test)
	}
	require.Equal(t, OK, u.fallocate(a, fh, 0, 0, 2*pageSize))
	attr := u.stat(a)
	assert.Equal(t, [2]uint64{2 * pageSize, 16}, [2]uint64{attr.Size, attr.Blocks})
	_, e := u.lseek(a, fh, 0, unix.SEEK_DATA)
	assert.Equal(t, syscall.ENXIO, e, "reserved is not data")
	require.Equal(t, OK, u.fallocate(a, fh, 0, 0, pageSize))
	off, e := u.lseek(a, fh, 0, unix.SEEK_HOLE)
	assert.Equal(t, [2]uint64{pageSize, 0}, [2]uint64{off, uint64(e)}, "reserved twice is, in tmpfs")
	require.Equal(t, OK, u.fallocate(a, fh, keep, 2*pageSize, pageSize))
	assert.Equal(t, uint64(24), u.stat(a).Blocks)
	require.Equal(t, OK, u.truncate(a, 2*pageSize))
	assert.Equal(t, uint64(16), u.stat(a).Blocks, "truncate frees what lies beyond")
	u.mustWrite(a, fh, 0, strings.Repeat("x", 3*pageSize))
	require.Equal(t, OK, u.fallocate(a, fh, punch, 100, 2*pageSize))
	assert.Equal(t, uint64(16), u.stat(a).Blocks)
	x := func(n int) string { return strings.Repeat("x", n) }
	assert.Equal(t, x(100)+strings.Repeat("\x00", 2*pageSize)+x(pageSize-100), u.read(a, fh, 0, 3*pageSize))
}

func TestSeek(t *testing.T) {
	u := mounted(t, Options{})
	a, fh := u.create(rootIno, "a")
	u.mustWrite(a, fh, 100*pageSize+5, "data")
	require.Equal(t, OK, u.truncate(a, 200*pageSize+1))
	tests := []struct {
		off    uint64
		whence uint32
		want   uint64
		errno  syscall.Errno
	}{
		{0, unix.SEEK_DATA, 100 * pageSize, OK},
		{100*pageSize + 7, unix.SEEK_DATA, 100*pageSize + 7, OK},
		{101 * pageSize, unix.SEEK_DATA, 0, syscall.ENXIO},
		{0, unix.SEEK_HOLE, 0, OK},
		{100*pageSize + 7, unix.SEEK_HOLE, 101 * pageSize, OK},
		{200*pageSize + 1, unix.SEEK_HOLE, 0, syscall.ENXIO},
		{1 << 63, unix.SEEK_HOLE, 0, syscall.ENXIO},
		{5, unix.SEEK_SET, 5, OK},
		{1, unix.SEEK_END, 200*pageSize + 2, OK},
		{0, unix.SEEK_CUR, 0, syscall.EINVAL},
		{0, 9, 0, syscall.EINVAL},
	}
	for _, test := range tests {
		off, e := u.lseek(a, fh, test.off, test.whence)
		assert.Equal(t, test.want, off, "%+v", test)
		assert.Equal(t, test.errno, e, "%+v", test)
	}
	u.mustWrite(a, fh, 200*pageSize, "x")
	off, e := u.lseek(a, fh, 200*pageSize, unix.SEEK_HOLE)
	assert.Equal(t, [2]uint64{200*pageSize + 1, 0}, [2]uint64{off, uint64(e)}, "the end is a hole")
}

func TestCopyFileRange(t *testing.T) {
	u := mounted(t, Options{})
	a, fa := u.create(rootIno, "a")
	b, fb := u.create(rootIno, "b")
	u.mustWrite(a, fa, 2*pageSize, "hello")
	ro, app := u.open(b, rdonly), u.open(b, wronly|syscall.O_APPEND)
	copyTo := func(dst, fh, from, to, n, flags uint64) (uint64, syscall.Errno) {
		in := &fuse.CopyFileRangeIn{FhIn: fa, OffIn: from, NodeIdOut: dst, FhOut: fh, OffOut: to, Len: n, Flags: flags}
		r := u.do(proto.OpCopyFileRange64, a, in, nil)
		if r.Errno != 0 {
			return 0, r.Errno
		}
		return r.Out.(*fuse.CopyFileRangeOut).BytesCopied, 0
	}
	tests := []struct {
		name               string
		dst, fh            uint64
		from, to, n, flags uint64
		want               uint64
		errno              syscall.Errno
	}{
		{"all of it, holes become blocks", b, fb, 0, 0, 1 << 20, 0, 2*pageSize + 5, OK},
		{"at the end", b, fb, 2*pageSize + 5, 0, 10, 0, 0, OK},
		{"nothing", b, fb, 0, 0, 0, 0, 0, OK},
		{"overlap", a, fa, 0, 100, 200, 0, 0, syscall.EINVAL},
		{"no overlap", a, fa, 0, pageSize, 10, 0, 10, OK},
		{"flags", b, fb, 0, 0, 10, 1, 0, syscall.EINVAL},
		{"read-only target", b, ro, 0, 0, 10, 0, 0, syscall.EBADF},
		{"append target, of which the kernel knows more", b, app, 0, 0, 10, 0, 10, OK},
		{"beyond the largest file", b, fb, 0, uint64(maxBytes), 10, 0, 0, syscall.EFBIG},
		{"offset wraps", b, fb, 0, 1 << 62, 1<<64 - 1, 0, 0, syscall.EOVERFLOW},
		{"negative offset", b, fb, 1 << 63, 0, 10, 0, 0, syscall.EINVAL},
	}
	for _, test := range tests {
		n, e := copyTo(test.dst, test.fh, test.from, test.to, test.n, test.flags)
		assert.Equal(t, test.errno, e, test.name)
		assert.Equal(t, test.want, n, test.name)
	}
	assert.Equal(t, uint64(24), u.stat(b).Blocks)
	assert.Equal(t, "hello", u.read(b, fb, 2*pageSize, 100))
	in := &fuse.CopyFileRangeIn{FhIn: fa, NodeIdOut: b, FhOut: fb, Len: 5}
	assert.Equal(t, &fuse.WriteOut{Size: 5}, u.do(proto.OpCopyFileRange, a, in, nil).Out)
}

// TestContentAgainstBytes compares random operations with a plain byte slice.
func TestContentAgainstBytes(t *testing.T) {
	const limit = 300 * pageSize
	u := mounted(t, Options{Size: limit})
	a, fh := u.create(rootIno, "a")
	rnd := rand.New(rand.NewPCG(1, 2))
	want := []byte{}
	grow := func(n int) { want = append(want, make([]byte, max(0, n-len(want)))...) }
	for step := range 3000 {
		off, n := rnd.IntN(limit-9*pageSize), rnd.IntN(9*pageSize)+1
		switch rnd.IntN(6) {
		case 0, 1, 2:
			data := strings.Repeat(string(rune('a'+step%26)), n)
			u.mustWrite(a, fh, uint64(off), data)
			grow(off + n)
			copy(want[off:], data)
		case 3:
			require.Equal(t, OK, u.fallocate(a, fh, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, uint64(off), uint64(n)))
			clear(want[min(off, len(want)):min(off+n, len(want))])
		case 4:
			require.Equal(t, OK, u.fallocate(a, fh, 0, uint64(off), uint64(n)))
			grow(off + n)
		case 5:
			require.Equal(t, OK, u.truncate(a, uint64(off)))
			grow(off)
			want = want[:off]
		}
		require.Equal(t, string(want[min(off, len(want)):min(off+n, len(want))]), u.read(a, fh, uint64(off), n), step)
		if step%100 == 0 {
			require.Equal(t, string(want), u.read(a, fh, 0, limit), step)
		}
	}
	require.Equal(t, uint64(u.fs.inodes[a].data.blocks), u.statfs().Blocks-u.statfs().Bfree)
}

func TestTimes(t *testing.T) {
	u := mounted(t, Options{})
	a, fh := u.create(rootIno, "a")
	u.mustWrite(a, fh, 0, "x")
	empty, efh := u.create(rootIno, "empty")
	s := u.symlink(rootIno, "s", "a")
	dir := u.opendir(rootIno)
	size := func(n, size, fh uint64) syscall.Errno {
		valid := uint32(fuse.FATTR_SIZE)
		if fh != 0 {
			valid |= fuse.FATTR_FH
		}
		return u.setattr(n, fuse.SetAttrInCommon{Valid: valid, Size: size, Fh: fh})
	}
	readFlags := func(flags uint32) syscall.Errno {
		return u.errno(proto.OpRead, a, &fuse.ReadIn{Fh: fh, Size: 1, Flags: flags})
	}
	times := func(valid uint32) syscall.Errno {
		return u.setattr(a, fuse.SetAttrInCommon{Valid: valid, Atime: 1, Mtime: 2})
	}
	tests := []struct {
		name   string
		nodeid uint64
		change string // which of a, m, c
		do     func() syscall.Errno
	}{
		{"read", a, "a", func() syscall.Errno { return readFlags(0) }},
		{"read O_NOATIME", a, "", func() syscall.Errno { return readFlags(syscall.O_NOATIME) }},
		{"write", a, "mc", func() syscall.Errno { _, e := u.write(a, fh, 0, "y"); return e }},
		{"write nothing", a, "", func() syscall.Errno { _, e := u.write(a, fh, 0, ""); return e }},
		{"truncate to the same size", a, "mc", func() syscall.Errno { return size(a, 1, 0) }},
		{"truncate an empty file to 0", empty, "", func() syscall.Errno { return size(empty, 0, 0) }},
		{"ftruncate an empty file to 0", empty, "mc", func() syscall.Errno { return size(empty, 0, efh) }},
		{"chmod", a, "c", func() syscall.Errno { return u.chmod(a, 0o600) }},
		{"chown(-1, -1)", a, "c", func() syscall.Errno { return u.setattr(a, fuse.SetAttrInCommon{}) }},
		{"utimes", a, "amc", func() syscall.Errno { return times(fattrTimes) }},
		{"utimes of atime", a, "ac", func() syscall.Errno { return times(fuse.FATTR_ATIME | fuse.FATTR_ATIME_NOW) }},
		{"utimes of mtime", a, "mc", func() syscall.Errno { return times(fuse.FATTR_MTIME | fuse.FATTR_MTIME_NOW) }},
		{"readlink", s, "a", func() syscall.Errno { return u.errno(proto.OpReadlink, s, nil) }},
		{"readdir", rootIno, "a", func() syscall.Errno { u.list(rootIno, dir, 4096); return 0 }},
		{"link", a, "c", func() syscall.Errno { return u.link(a, rootIno, "b") }},
		{"rename", a, "c", func() syscall.Errno { return u.rename(rootIno, "b", rootIno, "c", 0) }},
		{"unlink", a, "c", func() syscall.Errno { return u.unlink(rootIno, "c") }},
		{"unlink, directory", rootIno, "mc", func() syscall.Errno { return u.unlink(rootIno, "empty") }},
		{"mkdir, directory", rootIno, "mc", func() syscall.Errno { u.mkdir(rootIno, "d", 0); return 0 }},
		{"setxattr", a, "c", func() syscall.Errno { return u.setxattr(a, "user.x", nil, 0) }},
		{"removexattr", a, "c", func() syscall.Errno { return u.errno(proto.OpRemovexattr, a, nil, "user.x") }},
		{"fallocate", a, "mc", func() syscall.Errno { return u.fallocate(a, fh, 0, 0, 1) }},
	}
	for _, test := range tests {
		before := u.stat(test.nodeid)
		require.Equal(t, OK, test.do(), test.name)
		after := u.stat(test.nodeid)
		changed := ""
		for i, pair := range [][2]uint64{{before.Atime, after.Atime}, {before.Mtime, after.Mtime}, {before.Ctime, after.Ctime}} {
			if pair[0] != pair[1] {
				changed += "amc"[i : i+1]
			}
		}
		assert.Equal(t, test.change, changed, test.name)
	}
}

func TestKernelForgetsTheModeThatAWriteChanges(t *testing.T) {
	u := mounted(t, Options{TTL: time.Hour})
	n, fh := u.createMode(rootIno, "a", 0o4777)
	in := &fuse.WriteIn{Fh: fh, Size: 1, WriteFlags: fuse.WRITE_KILL_SUIDGID}
	want := proto.Notification{Code: proto.NotifyInvalInode, Out: &fuse.NotifyInvalInodeOut{Ino: n, Off: -1}}
	assert.Equal(t, []proto.Notification{want}, u.do(proto.OpWrite, n, in, []byte("x")).Notify)
	assert.Empty(t, u.do(proto.OpWrite, n, in, []byte("x")).Notify, "nothing left to clear")
}

func TestPrivilegesGo(t *testing.T) {
	owner := fuse.SetAttrInCommon{Valid: fuse.FATTR_GID, Owner: fuse.Owner{Gid: 5}}
	tests := []struct {
		name       string
		mode, want uint32
		do         func(u *user, n, fh uint64) syscall.Errno
	}{
		{"write with CAP_FSETID", 0o6777, 0o6777, func(u *user, n, fh uint64) syscall.Errno {
			_, e := u.write(n, fh, 0, "x")
			return e
		}},
		{"write", 0o6777, 0o777, func(u *user, n, fh uint64) syscall.Errno {
			in := &fuse.WriteIn{Fh: fh, Size: 1, WriteFlags: fuse.WRITE_KILL_SUIDGID}
			return u.do(proto.OpWrite, n, in, []byte("x")).Errno
		}},
		{"without group execution setgid is no privilege", 0o6767, 0o2767, func(u *user, n, fh uint64) syscall.Errno {
			in := &fuse.WriteIn{Fh: fh, Size: 1, WriteFlags: fuse.WRITE_KILL_SUIDGID}
			return u.do(proto.OpWrite, n, in, []byte("x")).Errno
		}},
		{"truncate", 0o6777, 0o777, func(u *user, n, _ uint64) syscall.Errno {
			return u.setattr(n, fuse.SetAttrInCommon{Valid: fuse.FATTR_SIZE | fuse.FATTR_KILL_SUIDGID})
		}},
		{"open O_TRUNC", 0o6777, 0o777, func(u *user, n, _ uint64) syscall.Errno {
			return u.errno(proto.OpOpen, n, &fuse.OpenIn{Flags: wronly | syscall.O_TRUNC, Mode: fuse.OPEN_KILL_SUIDGID})
		}},
		{"chown, even by root", 0o6777, 0o777, func(u *user, n, _ uint64) syscall.Errno { return u.setattr(n, owner) }},
		{"chown(-1, -1)", 0o6745, 0o2745, func(u *user, n, _ uint64) syscall.Errno {
			return u.setattr(n, fuse.SetAttrInCommon{})
		}},
		{"ahead of a stranger's write nothing goes", 0o6777, 0o6777, func(u *user, n, _ uint64) syscall.Errno {
			return u.as(1000, 1000).setattr(n, fuse.SetAttrInCommon{})
		}},
		{"fallocate", 0o6777, 0o777, func(u *user, n, _ uint64) syscall.Errno {
			other := u.as(1000, 1000)
			return other.fallocate(n, other.open(n, rdwr), 0, 0, 1)
		}},
	}
	for _, test := range tests {
		u := mounted(t, Options{})
		n, fh := u.createMode(rootIno, "a", test.mode)
		require.Equal(t, OK, test.do(u, n, fh), test.name)
		assert.Equal(t, sIFREG|test.want, u.stat(n).Mode, test.name)
	}
}

func TestStatx(t *testing.T) {
	u := mounted(t, Options{})
	n := u.entry(u.do(proto.OpMknod, rootIno, &fuse.MknodIn{Mode: sIFBLK | 0o600, Rdev: 0x12300145}, nil, "b"))
	born := uint64(*u.now)
	u.chmod(n, 0o640)
	out := u.do(proto.OpStatx, n, &fuse.StatxIn{}, nil).Out.(*fuse.StatxOut)
	assert.Equal(t, uint32(unix.STATX_BASIC_STATS|unix.STATX_BTIME), out.Mask)
	assert.Equal(t, []uint64{born, born + 1}, []uint64{out.Btime.Sec, out.Ctime.Sec})
	assert.Equal(t, []uint32{1, 0x12345}, []uint32{out.RdevMajor, out.RdevMinor})
}

package reference

// Names: creating, removing, renaming, listing, forgetting.

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

func TestNamesAreChecked(t *testing.T) {
	for name, want := range map[string]syscall.Errno{
		"": syscall.EINVAL, ".": syscall.EINVAL, "..": syscall.EINVAL, "a/b": syscall.EINVAL, "a\x00b": syscall.EINVAL,
		strings.Repeat("n", 255): OK, strings.Repeat("n", 256): syscall.ENAMETOOLONG, "\xff\xfe": OK,
	} {
		u := mounted(t, Options{})
		assert.Equal(t, want, u.errno(proto.OpMkdir, rootIno, &fuse.MkdirIn{Mode: 0o755}, name), "mkdir %q", name)
	}
}

func TestNodesAreNumberedFromOne(t *testing.T) {
	u := mounted(t, Options{})
	a, fh := u.create(rootIno, "a")
	assert.Equal(t, uint64(2), a)
	assert.Equal(t, uint64(1), fh)
	assert.Equal(t, uint64(3), u.mkdir(rootIno, "d", 0o755))
	require.Equal(t, OK, u.unlink(rootIno, "a"))
	assert.Equal(t, uint64(4), u.mknod(rootIno, "b", sIFREG|0o644), "numbers are not used again")
	assert.Equal(t, u.stat(a).Ino, a)
}

func TestMissingNamesAreNegativeEntries(t *testing.T) {
	u := mounted(t, Options{})
	r := u.do(proto.OpLookup, rootIno, nil, nil, "none")
	assert.Equal(t, OK, r.Errno)
	assert.Equal(t, &fuse.EntryOut{EntryValid: 3600}, r.Out)
	u = mounted(t, Options{TTL: -1})
	assert.Equal(t, syscall.ENOENT, u.errno(proto.OpLookup, rootIno, nil, "none"))
}

func TestTypesAndModes(t *testing.T) {
	tests := []struct {
		mode, umask, want uint32
		errno             syscall.Errno
	}{
		{0o644, 0o022, sIFREG | 0o644, OK},
		{sIFREG | 0o6777, 0o022, sIFREG | 0o6755, OK},
		{sIFIFO | 0o666, 0o027, sIFIFO | 0o640, OK},
		{sIFSOCK | 0o777, 0, sIFSOCK | 0o777, OK},
		{sIFCHR | 0o600, 0, sIFCHR | 0o600, OK},
		{sIFBLK | 0o600, 0, sIFBLK | 0o600, OK},
		{sIFDIR | 0o700, 0, 0, syscall.EPERM},
		{sIFLNK | 0o700, 0, 0, syscall.EINVAL},
		{sIFMT, 0, 0, syscall.EINVAL},
	}
	for _, test := range tests {
		u := mounted(t, Options{})
		r := u.do(proto.OpMknod, rootIno, &fuse.MknodIn{Mode: test.mode, Umask: test.umask, Rdev: 0x103}, nil, "n")
		require.Equal(t, test.errno, r.Errno, "%o", test.mode)
		if r.Errno != 0 {
			continue
		}
		attr := u.stat(r.Out.(*fuse.EntryOut).NodeId)
		assert.Equal(t, test.want, attr.Mode)
		device := test.mode&sIFMT == sIFCHR || test.mode&sIFMT == sIFBLK
		assert.Equal(t, device, attr.Rdev == 0x103)
	}
}

func TestDirectoriesCount(t *testing.T) {
	u := mounted(t, Options{})
	d := u.mkdir(rootIno, "d", 0o4755)
	attr := u.stat(d)
	assert.Equal(t, uint32(sIFDIR|0o755), attr.Mode, "mkdir(2) makes no setuid bit")
	assert.Equal(t, [2]uint64{2, 40}, [2]uint64{uint64(attr.Nlink), attr.Size})
	u.mkdir(d, "e", 0o755)
	u.mknod(d, "f", sIFREG)
	attr = u.stat(d)
	assert.Equal(t, [2]uint64{3, 80}, [2]uint64{uint64(attr.Nlink), attr.Size})
	assert.Equal(t, syscall.ENOTEMPTY, u.rmdir(rootIno, "d"))
	assert.Equal(t, syscall.EISDIR, u.unlink(d, "e"))
	assert.Equal(t, syscall.ENOTDIR, u.rmdir(d, "f"))
	require.Equal(t, OK, u.rmdir(d, "e"))
	require.Equal(t, OK, u.unlink(d, "f"))
	require.Equal(t, OK, u.rmdir(rootIno, "d"))
	attr = u.stat(d)
	assert.Equal(t, [2]uint64{0, 40}, [2]uint64{uint64(attr.Nlink), attr.Size})
	assert.Equal(t, syscall.ENOENT, u.errno(proto.OpMkdir, d, &fuse.MkdirIn{}, "x"), "a removed directory takes no names")
}

func TestSymlinks(t *testing.T) {
	tests := []struct {
		length int
		blocks uint64
		errno  syscall.Errno
	}{{0, 0, syscall.ENOENT}, {1, 0, OK}, {127, 0, OK}, {128, 8, OK}, {4095, 8, OK}, {4096, 0, syscall.ENAMETOOLONG}}
	for _, test := range tests {
		u := mounted(t, Options{})
		target := strings.Repeat("t", test.length)
		r := u.do(proto.OpSymlink, rootIno, nil, nil, "s", target)
		require.Equal(t, test.errno, r.Errno, test.length)
		if r.Errno != 0 {
			continue
		}
		n := u.entry(r)
		attr := u.stat(n)
		assert.Equal(t, uint32(sIFLNK|0o777), attr.Mode)
		assert.Equal(t, [2]uint64{uint64(test.length), test.blocks}, [2]uint64{attr.Size, attr.Blocks})
		assert.Equal(t, target, string(u.do(proto.OpReadlink, n, nil, nil).Data))
		require.Equal(t, OK, u.unlink(rootIno, "s"))
		u.forget(n, 1)
		assert.Equal(t, u.statfs().Blocks, u.statfs().Bfree, "the page comes back")
	}
}

func TestLinks(t *testing.T) {
	u := mounted(t, Options{})
	a, _ := u.create(rootIno, "a")
	d := u.mkdir(rootIno, "d", 0o755)
	free := u.statfs().Ffree
	require.Equal(t, OK, u.link(a, d, "b"))
	assert.Equal(t, uint32(2), u.stat(a).Nlink)
	assert.Equal(t, free-1, u.statfs().Ffree, "tmpfs counts links as inodes")
	assert.Equal(t, syscall.EEXIST, u.link(a, rootIno, "a"))
	assert.Equal(t, syscall.EPERM, u.link(d, rootIno, "e"))
	assert.Equal(t, syscall.ESTALE, u.link(99, rootIno, "e"))
	require.Equal(t, OK, u.unlink(rootIno, "a"))
	assert.Equal(t, free, u.statfs().Ffree)
	require.Equal(t, OK, u.unlink(d, "b"))
	assert.Equal(t, syscall.ENOENT, u.link(a, rootIno, "a"), "no names, so no new ones")
}

func TestTmpfile(t *testing.T) {
	u := mounted(t, Options{})
	make := func(flags uint32) *fuse.CreateOut {
		r := u.do(proto.OpTmpfile, rootIno, &fuse.CreateIn{Flags: rdwr | flags, Mode: 0o600}, nil, "/")
		require.Equal(t, OK, r.Errno)
		return r.Out.(*fuse.CreateOut)
	}
	before := u.stat(rootIno)
	out := make(0)
	assert.Equal(t, before.Mtime, u.stat(rootIno).Mtime)
	assert.Equal(t, uint32(0), out.Nlink)
	u.mustWrite(out.NodeId, out.Fh, 0, "hello")
	free := u.statfs().Ffree
	require.Equal(t, OK, u.link(out.NodeId, rootIno, "t"))
	assert.Equal(t, free, u.statfs().Ffree, "the first name is paid for")
	assert.Equal(t, out.NodeId, u.lookup(rootIno, "t"))
	assert.Equal(t, syscall.ENOENT, u.link(make(syscall.O_EXCL).NodeId, rootIno, "u"))
}

func TestUnlinkedFilesLiveWhileOpen(t *testing.T) {
	u := mounted(t, Options{})
	a, fh := u.create(rootIno, "a")
	u.mustWrite(a, fh, 0, "content")
	require.Equal(t, OK, u.unlink(rootIno, "a"))
	assert.Equal(t, "content", u.read(a, fh, 0, 100))
	u.forget(a, 1)
	assert.Equal(t, uint32(0), u.stat(a).Nlink)
	u.release(a, fh)
	assert.Equal(t, syscall.ESTALE, u.errno(proto.OpGetattr, a, &fuse.GetAttrIn{}))
	s := u.statfs()
	assert.Equal(t, [2]uint64{s.Blocks, s.Files - 1}, [2]uint64{s.Bfree, s.Ffree})
	assert.Empty(t, u.fs.files.open)
}

func TestForget(t *testing.T) {
	u := mounted(t, Options{})
	a := u.mknod(rootIno, "a", sIFREG)
	u.lookup(rootIno, "a")
	require.Equal(t, OK, u.unlink(rootIno, "a"))
	u.forget(a, 1)
	assert.Contains(t, u.fs.inodes, a, "one lookup is left")
	list := []proto.ForgetOne{{NodeId: a, Nlookup: 1}, {NodeId: 77, Nlookup: 1}}
	request := u.request(proto.OpBatchForget, 0, &proto.BatchForgetIn{Count: 2}, nil)
	request.List = list
	u.fs.serve(t.Context(), request)
	assert.NotContains(t, u.fs.inodes, a)
	u.forget(rootIno, 1<<40)
	assert.Contains(t, u.fs.inodes, uint64(rootIno))
	b := u.mknod(rootIno, "b", sIFREG)
	u.forget(b, 1)
	assert.Equal(t, b, u.lookup(rootIno, "b"), "a name keeps what the kernel forgot")
}

func TestRename(t *testing.T) {
	tests := []struct {
		name, from, to string
		flags          uint32
		want           syscall.Errno
	}{
		{"to a new name", "f", "new", 0, OK},
		{"over a file", "f", "g", 0, OK},
		{"over an empty directory", "d", "e", 0, OK},
		{"over a full directory", "d", "full", 0, syscall.ENOTEMPTY},
		{"file over directory", "f", "d", 0, syscall.EISDIR},
		{"directory over file", "d", "f", 0, syscall.ENOTDIR},
		{"missing", "none", "f", 0, syscall.ENOENT},
		{"onto itself", "f", "f", 0, OK},
		{"links of one file", "f", "link", 0, OK},
		{"no replace", "f", "g", unix.RENAME_NOREPLACE, syscall.EEXIST},
		{"no replace, vacant", "f", "new", unix.RENAME_NOREPLACE, OK},
		{"no replace of itself", "f", "f", unix.RENAME_NOREPLACE, syscall.EEXIST},
		{"exchange", "f", "full", unix.RENAME_EXCHANGE, OK},
		{"exchange with nothing", "f", "new", unix.RENAME_EXCHANGE, syscall.ENOENT},
		{"whiteout", "f", "new", unix.RENAME_WHITEOUT, OK},
		{"exchange and whiteout", "f", "g", unix.RENAME_EXCHANGE | unix.RENAME_WHITEOUT, syscall.EINVAL},
		{"exchange and no replace", "f", "g", unix.RENAME_EXCHANGE | unix.RENAME_NOREPLACE, syscall.EINVAL},
		{"unknown flag", "f", "g", 8, syscall.EINVAL},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			u := mounted(t, Options{})
			f := u.mknod(rootIno, "f", sIFREG|0o644)
			u.mknod(rootIno, "g", sIFREG|0o644)
			u.mkdir(rootIno, "d", 0o755)
			u.mkdir(rootIno, "e", 0o755)
			u.mkdir(u.mkdir(rootIno, "full", 0o755), "x", 0o755)
			require.Equal(t, OK, u.link(f, rootIno, "link"))
			before := u.lookup(rootIno, test.from)
			assert.Equal(t, test.want, u.rename(rootIno, test.from, rootIno, test.to, test.flags))
			if test.want == 0 {
				assert.Equal(t, before, u.lookup(rootIno, test.to))
			}
			checkTree(t, u.fs)
		})
	}
}

func TestRenameBetweenDirectories(t *testing.T) {
	u := mounted(t, Options{})
	a := u.mkdir(rootIno, "a", 0o755)
	b := u.mkdir(rootIno, "b", 0o755)
	c := u.mkdir(a, "c", 0o755)
	f := u.mknod(b, "f", sIFREG)
	assert.Equal(t, syscall.EINVAL, u.rename(rootIno, "a", c, "x", 0), "into a descendant")
	assert.Equal(t, syscall.ENOTEMPTY, u.rename(a, "c", rootIno, "a", 0), "over an ancestor")
	assert.Equal(t, syscall.EINVAL, u.rename(a, "c", rootIno, "a", unix.RENAME_EXCHANGE))
	require.Equal(t, OK, u.rename(a, "c", b, "f", unix.RENAME_EXCHANGE))
	assert.Equal(t, []uint32{2, 3}, []uint32{u.stat(a).Nlink, u.stat(b).Nlink})
	assert.Equal(t, []uint64{f, c}, []uint64{u.lookup(a, "c"), u.lookup(b, "f")})
	assert.Equal(t, b, u.lookup(c, ".."))
	now := u.stat(c).Ctime
	assert.Equal(t, []uint64{now, now, now}, []uint64{u.stat(a).Mtime, u.stat(b).Ctime, u.stat(f).Ctime})
	require.Equal(t, OK, u.rename(b, "f", a, "d", unix.RENAME_WHITEOUT))
	white := u.stat(u.lookup(b, "f"))
	assert.Equal(t, []uint32{sIFCHR, 0, 1}, []uint32{white.Mode, white.Rdev, white.Nlink})
	checkTree(t, u.fs)
}

// checkTree holds what every state must satisfy: links are what the names
// say, ".." is where the name is, counts of free inodes are true.
func checkTree(t testing.TB, f *FS) {
	t.Helper()
	nlink, extra := map[*inode]uint32{}, int64(0)
	for _, n := range f.inodes {
		if n.dir == nil {
			extra += int64(max(n.nlink, 1)) - 1
			continue
		}
		nlink[n] += 2
		require.LessOrEqual(t, n.dir.removed, len(n.dir.order))
		for name, e := range n.dir.byName {
			require.Equal(t, name, e.name)
			require.Same(t, e.node, f.inodes[e.node.ino])
			if e.node.dir != nil {
				require.Same(t, n, e.node.dir.parent)
				nlink[n]++
				continue
			}
			nlink[e.node]++
		}
	}
	for _, n := range f.inodes {
		if n.dir != nil && n.nlink == 0 {
			continue
		}
		require.Equal(t, nlink[n], n.nlink, "links of node %d", n.ino)
	}
	var xattrBytes int64
	for _, n := range f.inodes {
		if n.attrs != nil {
			for i := range n.attrs.list {
				xattrBytes += n.attrs.list[i].space()
			}
		}
	}
	used := (int64(len(f.inodes)) + extra) * bogoInodeSize
	require.Equal(t, used+xattrBytes, f.space.usedInodes.Load())
}

func TestListing(t *testing.T) {
	for _, count := range []int{0, 1, 500} {
		u := mounted(t, Options{})
		var want []string
		for i := range count {
			name := fmt.Sprintf("file%0*d", i%40, i)
			u.mknod(rootIno, name, sIFREG)
			want = append([]string{name}, want...)
		}
		want = append([]string{".", ".."}, want...)
		fh := u.opendir(rootIno)
		for _, size := range []uint32{128, 4096, 1 << 20} {
			assert.Equal(t, want, u.list(rootIno, fh, size), "newest first, in pages of %d bytes", size)
		}
	}
}

func TestListingWhileItChanges(t *testing.T) {
	u := mounted(t, Options{})
	for i := range 300 {
		u.mknod(rootIno, fmt.Sprintf("old%d", i), sIFREG)
	}
	fh := u.opendir(rootIno)
	seen := map[string]int{}
	step := 0
	for off := uint64(0); ; step++ {
		r := u.do(proto.OpReaddir, rootIno, &fuse.ReadIn{Fh: fh, Offset: off, Size: 256}, nil)
		if len(r.Entries) == 0 {
			break
		}
		for _, e := range r.Entries {
			seen[e.Name]++
			off = e.Off
		}
		u.mknod(rootIno, fmt.Sprintf("new%d", step), sIFREG)
		for k := range 5 { // of every ten, five go
			u.unlink(rootIno, fmt.Sprintf("old%d", (step*10+k)%300))
		}
	}
	for name, n := range seen {
		assert.Equal(t, 1, n, name)
	}
	for i := range 300 {
		if i%10 >= 5 {
			assert.Contains(t, seen, fmt.Sprintf("old%d", i))
		}
	}
	checkTree(t, u.fs)
}

func TestReaddirplusCountsLookups(t *testing.T) {
	u := mounted(t, Options{})
	d := u.mkdir(rootIno, "d", 0o755)
	a := u.mknod(d, "a", sIFREG|0o640)
	fh := u.opendir(d)
	r := u.do(proto.OpReaddirplus, d, &fuse.ReadIn{Fh: fh, Size: 4096}, nil)
	require.Len(t, r.Entries, 3)
	assert.Equal(t, proto.Dirent{Ino: d, Off: 1, Type: 4, Name: "."}, r.Entries[0])
	assert.Equal(t, proto.Dirent{Ino: rootIno, Off: 2, Type: 4, Name: ".."}, r.Entries[1])
	assert.Equal(t, [2]uint64{a, 3600}, [2]uint64{r.Entries[2].Entry.NodeId, r.Entries[2].Entry.AttrValid})
	assert.Equal(t, uint32(sIFREG|0o640), r.Entries[2].Entry.Mode)
	assert.Equal(t, uint64(2), u.fs.inodes[a].lookups.Load())
	assert.Equal(t, uint64(1), u.fs.inodes[d].lookups.Load())
	assert.Equal(t, syscall.EINVAL, u.errno(proto.OpReaddirplus, d, &fuse.ReadIn{Fh: fh, Size: 100}))
}

func TestLookupOfDots(t *testing.T) {
	u := mounted(t, Options{})
	d := u.mkdir(rootIno, "d", 0o755)
	assert.Equal(t, []uint64{d, rootIno, rootIno},
		[]uint64{u.lookup(d, "."), u.lookup(d, ".."), u.lookup(rootIno, "..")})
}

func TestReadOnly(t *testing.T) {
	u := mounted(t, Options{ReadOnly: true})
	for op, in := range map[proto.Opcode]any{
		proto.OpMkdir: &fuse.MkdirIn{}, proto.OpMknod: &fuse.MknodIn{}, proto.OpUnlink: nil, proto.OpRmdir: nil,
		proto.OpSetxattr: &fuse.SetXAttrIn{}, proto.OpCreate: &fuse.CreateIn{}, proto.OpTmpfile: &fuse.CreateIn{Flags: rdwr},
		proto.OpRemovexattr: nil, proto.OpLink: &fuse.LinkIn{Oldnodeid: 1},
	} {
		assert.Equal(t, syscall.EROFS, u.errno(op, rootIno, in, "user.n"), op)
	}
	assert.Equal(t, syscall.EROFS, u.chmod(rootIno, 0o755))
	assert.Equal(t, syscall.EROFS, u.rename(rootIno, "a", rootIno, "b", 0))
	before := u.stat(rootIno)
	assert.Len(t, u.list(rootIno, u.opendir(rootIno), 4096), 2)
	assert.Equal(t, before, u.stat(rootIno), "not even atime")
}

package reference

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

var unopened = Options{NoOpen: true, Content: true, EndCookie: true, NoAtime: true}

func TestFilesWithoutHandles(t *testing.T) {
	u := mounted(t, unopened)
	assert.Equal(t, syscall.ENOSYS, u.errno(proto.OpOpen, rootIno, &fuse.OpenIn{}))
	assert.Equal(t, syscall.ENOSYS, u.errno(proto.OpOpendir, rootIno, &fuse.OpenIn{}))
	f, fh := u.create(rootIno, "f")
	assert.Zero(t, fh)
	write := func(flags, writeFlags uint32, text string) *proto.Reply {
		return u.do(proto.OpWrite, f, &fuse.WriteIn{Flags: flags, WriteFlags: writeFlags, Size: uint32(len(text))}, []byte(text))
	}
	assert.Equal(t, syscall.EBADF, write(rdonly, 0, "x").Errno)
	assert.Equal(t, OK, write(wronly, 0, "one").Errno)
	assert.Equal(t, OK, write(wronly|syscall.O_APPEND, 0, "two").Errno)
	assert.Equal(t, OK, write(0, fuse.WRITE_CACHE, "O").Errno, "what is written back does not say how it was opened")
	atime := u.stat(f).Atime
	assert.Equal(t, "Onetwo", u.read(f, 0, 0, 99))
	assert.Equal(t, atime, u.stat(f).Atime)
	assert.Equal(t, syscall.EBADF, u.errno(proto.OpRead, f, &fuse.ReadIn{Flags: wronly}))
	assert.Equal(t, OK, u.fallocate(f, 0, 0, 0, 9))

	require.Equal(t, OK, u.unlink(rootIno, "f"))
	assert.Equal(t, "Onetwo\x00\x00\x00", u.read(f, 0, 0, 99), "it lives until it is forgotten")
	u.forget(f, 1)
	assert.Equal(t, syscall.ESTALE, u.errno(proto.OpRead, f, &fuse.ReadIn{}))
}

func TestContentComesAlong(t *testing.T) {
	u := mounted(t, unopened)
	text := map[string]string{"empty": "", "small": "hello", "limit": strings.Repeat("x", maxAlong), "large": strings.Repeat("x", maxAlong+1)}
	for name, data := range text {
		f, _ := u.create(rootIno, name)
		require.Equal(t, OK, u.do(proto.OpWrite, f, &fuse.WriteIn{Flags: wronly, Size: uint32(len(data))}, []byte(data)).Errno)
		assert.Empty(t, u.do(proto.OpLookup, rootIno, nil, nil, name).Notify, "the kernel knows it")
		u.forget(f, 2)
	}
	for name, data := range text {
		r := u.do(proto.OpLookup, rootIno, nil, nil, name)
		if data == "" || len(data) > maxAlong {
			assert.Empty(t, r.Notify, name)
			continue
		}
		require.Len(t, r.Notify, 1, name)
		assert.Equal(t, &fuse.NotifyStoreOut{Nodeid: r.Out.(*fuse.EntryOut).NodeId, Size: uint32(len(data))}, r.Notify[0].Out)
		assert.Equal(t, data, string(r.Notify[0].Data))
	}
}

func TestAListingBringsSoMuchContent(t *testing.T) {
	u := mounted(t, unopened)
	for i := range 10 {
		f, _ := u.create(rootIno, fmt.Sprint(i))
		data := []byte(strings.Repeat("x", 30<<10))
		require.Equal(t, OK, u.do(proto.OpWrite, f, &fuse.WriteIn{Flags: wronly, Size: uint32(len(data))}, data).Errno)
		u.forget(f, 1)
	}
	r := u.do(proto.OpReaddirplus, rootIno, &fuse.ReadIn{Size: 4096}, nil)
	require.Len(t, r.Entries, 12)
	assert.Len(t, r.Notify, maxAlongReply/(30<<10))
}

func TestEndCookie(t *testing.T) {
	u := mounted(t, unopened)
	for i := range 5 {
		u.create(rootIno, fmt.Sprint(i))
	}
	ends := func(size uint32, off uint64) bool {
		r := u.do(proto.OpReaddir, rootIno, &fuse.ReadIn{Size: size, Offset: off}, nil)
		require.NotEmpty(t, r.Entries)
		return r.Entries[len(r.Entries)-1].Off == proto.EndCookie
	}
	assert.True(t, ends(4096, 0))
	assert.False(t, ends(100, 0), "there is more")
	assert.True(t, ends(4096, 4))
	empty := u.mkdir(rootIno, "empty", 0o755)
	r := u.do(proto.OpReaddir, empty, &fuse.ReadIn{Size: 4096}, nil)
	assert.EqualValues(t, proto.EndCookie, r.Entries[1].Off)
}

// No name ever gets the end cookie as its own.
func TestCookiesPassTheEndCookie(t *testing.T) {
	for _, o := range []Options{{}, unopened} {
		u := mounted(t, o)
		u.fs.inodes[rootIno].dir.last = proto.EndCookie - 2
		for i := range 3 {
			u.mknod(rootIno, fmt.Sprint(i), 0o644)
		}
		var fh uint64
		if !o.NoOpen {
			fh = u.opendir(rootIno)
		}
		r := u.do(proto.OpReaddir, rootIno, &fuse.ReadIn{Fh: fh, Size: 4096, Offset: proto.EndCookie + 1}, nil)
		assert.Len(t, r.Entries, 1, "the older ones")
		assert.Equal(t, "0", r.Entries[0].Name)
	}
}

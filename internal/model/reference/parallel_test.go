package reference

// Many at once, and what it costs.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// TestParallel has several callers change a few names and files at random;
// under -race it finds what is not locked.
func TestParallel(t *testing.T) {
	f := New(Options{Size: 1 << 20, Inodes: 200, CheckPermissions: true})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() { storm(t, f, uint64(i), 3000) })
	}
	all.Wait()
	checkTree(t, f)
	var blocks int64
	for _, n := range f.inodes {
		blocks += n.data.blocks
	}
	assert.Equal(t, blocks, f.space.usedBlocks.Load())
}

func storm(t *testing.T, f *FS, seed uint64, steps int) {
	rnd := rand.New(rand.NewPCG(seed, 0))
	u := (&user{t: t, fs: f, now: new(int64)}).as(uint32(seed%2)*1000, 0)
	u.now = new(int64)
	for range steps {
		req := randomRequest(u, rnd)
		r := f.serve(context.Background(), req)
		if out, ok := r.Out.(*fuse.CreateOut); ok && rnd.IntN(3) > 0 {
			u.do(proto.OpRelease, out.NodeId, &fuse.ReleaseIn{Fh: out.Fh}, nil)
			u.forget(out.NodeId, 1)
		}
		if _, err := proto.AppendReplyJSON(nil, req, r); err != nil {
			t.Errorf("%v: %v", req.Op, err)
		}
	}
}

// randomRequest is any request about a few nodes, names and handles, sensible
// or not.
func randomRequest(u *user, rnd *rand.Rand) *proto.Request {
	for {
		row := proto.Rows()[rnd.IntN(len(proto.Rows()))]
		if row.Op == proto.OpSetlkw {
			continue
		}
		names := make([]string, row.Names)
		for i := range names {
			names[i] = string(rune('a' + rnd.IntN(6)))
		}
		if row.Op == proto.OpSetxattr || row.Op == proto.OpRemovexattr || row.Op == proto.OpGetxattr {
			names[0] = [...]string{"user.x", "trusted.y", accessACL, defaultACL}[rnd.IntN(4)]
		}
		r := u.request(row.Op, 1+rnd.Uint64N(12), row.NewIn(), nil, names...)
		fill(r, rnd)
		return r
	}
}

// fill makes the in-struct one that often works.
func fill(r *proto.Request, rnd *rand.Rand) {
	fh, off := 1+rnd.Uint64N(20), rnd.Uint64N(1<<17)
	switch in := r.In.(type) {
	case *fuse.CreateIn:
		in.Flags, in.Mode = rdwr, rnd.Uint32N(0o10000)
	case *fuse.MkdirIn:
		in.Mode = 0o777
	case *fuse.MknodIn:
		in.Mode = rnd.Uint32N(0o20000)
	case *fuse.LinkIn:
		in.Oldnodeid = 1 + rnd.Uint64N(12)
	case *fuse.RenameIn:
		in.Newdir, in.Flags = 1+rnd.Uint64N(6), rnd.Uint32N(5)
	case *fuse.OpenIn:
		in.Flags = rnd.Uint32N(4) | rnd.Uint32N(2)*syscall.O_TRUNC
	case *fuse.ReadIn:
		in.Fh, in.Offset, in.Size = fh, off, 1<<15
	case *fuse.WriteIn:
		r.Data = []byte(strings.Repeat("w", rnd.IntN(1<<14)))
		in.Fh, in.Offset, in.Size = fh, off, uint32(len(r.Data))
		in.WriteFlags = rnd.Uint32N(8)
	case *fuse.FallocateIn:
		in.Fh, in.Offset, in.Length, in.Mode = fh, off, off+1, rnd.Uint32N(2)*3
	case *fuse.CopyFileRangeIn:
		in.FhIn, in.NodeIdOut, in.FhOut, in.OffOut, in.Len = fh, 1+rnd.Uint64N(12), 1+rnd.Uint64N(20), off, off
	case *fuse.SetAttrIn:
		in.Valid, in.Size, in.Mode = rnd.Uint32N(1<<12)&^fuse.FATTR_FH, off, rnd.Uint32N(0o10000)
	case *fuse.SetXAttrIn:
		r.Data = aclBytes(namedACL)
		in.Size = uint32(len(r.Data))
	case *fuse.GetXAttrIn:
		in.Size = rnd.Uint32N(2) * 1000
	case *fuse.LkIn:
		in.Fh, in.Owner, in.Lk = fh, rnd.Uint64N(4), fuse.FileLock{End: off, Typ: rnd.Uint32N(3)}
	case *fuse.ReleaseIn:
		in.Fh = fh
	case *fuse.ForgetIn:
		in.Nlookup = rnd.Uint64N(3)
	}
}

// TestAnyRequest has no request panic, whatever is in it.
func TestAnyRequest(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	u := mounted(t, Options{})
	n, _ := u.create(rootIno, "a")
	u.opendir(rootIno)
	values := []uint64{0, 1, 2, 3, 1 << 31, 1<<32 - 1, 1 << 62, 1<<63 - 1, 1 << 63, 1<<64 - 1}
	for range 20000 {
		row := proto.Rows()[rnd.IntN(len(proto.Rows()))]
		r := u.request(row.Op, []uint64{0, rootIno, n, 99}[rnd.IntN(4)], row.NewIn(), []byte("data"), "a", "b")
		r.Names = r.Names[:row.Names]
		scramble(r.In, values, rnd)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		u.fs.serve(ctx, r)
	}
	for op := range proto.Opcode(100) {
		r := u.fs.serve(t.Context(), &proto.Request{Op: op})
		assert.Equal(t, op == proto.OpStatfs, r.Errno == OK, "%v of nothing", op)
	}
}

func TestDaemonsOpcodesAreNotAnswered(t *testing.T) {
	for _, op := range []proto.Opcode{proto.OpInit, proto.OpInterrupt, proto.OpDestroy, proto.OpNotifyReply,
		proto.OpSetupmapping, proto.OpRemovemapping, 0, 7, 54, 1 << 20} {
		u := mounted(t, Options{})
		assert.Equal(t, syscall.ENOSYS, u.errno(op, rootIno, nil), op)
	}
}

func TestAnswerIsJSON(t *testing.T) {
	u := mounted(t, Options{})
	ask := func(r *proto.Request) *proto.Reply {
		b, err := proto.AppendRequestJSON(nil, r)
		require.NoError(t, err)
		a, err := u.fs.Answer(t.Context(), &model.Prompt{Op: r.Op, Request: b})
		require.NoError(t, err)
		reply, err := proto.ParseReplyJSON(r, a.Reply)
		require.NoError(t, err)
		return reply
	}
	out := ask(u.request(proto.OpCreate, rootIno, &fuse.CreateIn{Flags: rdwr, Mode: 0o644}, nil, "a")).Out.(*fuse.CreateOut)
	data := strings.Repeat("content\x00\xff", 5000)
	ask(u.request(proto.OpWrite, out.NodeId, &fuse.WriteIn{Fh: out.Fh, Size: uint32(len(data))}, []byte(data)))
	got := ask(u.request(proto.OpRead, out.NodeId, &fuse.ReadIn{Fh: out.Fh, Size: 1 << 20}, nil))
	assert.Equal(t, data, string(got.Data))
	_, err := u.fs.Answer(t.Context(), &model.Prompt{Request: []byte("{")})
	assert.Error(t, err)
}

func TestSameRequestsSameReplies(t *testing.T) {
	run := func() string {
		rnd := rand.New(rand.NewPCG(7, 8))
		u := mounted(t, Options{})
		var all []byte
		for range 3000 {
			r := randomRequest(u, rnd)
			b, err := proto.AppendReplyJSON(nil, r, u.fs.serve(t.Context(), r))
			require.NoError(t, err)
			all = append(all, b...)
		}
		return string(all)
	}
	assert.Equal(t, run(), run())
}

const manyFiles = 100_000

func fillDirectory(u *user, count int) {
	for i := range count {
		u.mknod(rootIno, fmt.Sprintf("file-%06d", i), sIFREG|0o644)
	}
}

func TestMemoryOfSmallFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 100,000 files")
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	u := mounted(t, Options{Inodes: 2 * manyFiles})
	fillDirectory(u, manyFiles)
	each := (heap() - before) / manyFiles
	t.Logf("%d bytes a file", each)
	assert.Less(t, each, uint64(1024))
	for i := range manyFiles {
		require.Equal(t, OK, u.unlink(rootIno, fmt.Sprintf("file-%06d", i)))
		u.forget(uint64(i+2), 1)
	}
	assert.Len(t, u.fs.inodes, 1)
	runtime.KeepAlive(u)
}

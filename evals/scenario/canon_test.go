package scenario

import (
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/fuseraw"
	"github.com/llmfs-raw/llmfs-raw/internal/trace"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// asked is a pair as it came on the tape.
func asked(window int, unique uint64, op proto.Opcode, in any, names ...string) taken {
	r := &proto.Request{Op: op, In: in, Names: names}
	r.Header.Unique, r.Header.NodeId, r.Header.Pid = unique, 1, uint32(4000+unique)
	p := &trace.Pair{Req: r}
	if op.Row().Reply != proto.ReplyNone {
		p.Rep = &proto.Reply{}
	}
	return taken{window: window, pair: p}
}

func forgotten(window int, unique, node, n uint64) taken {
	t := asked(window, unique, proto.OpForget, &fuse.ForgetIn{Nlookup: n})
	t.pair.Req.Header.NodeId = node
	return t
}

func opsOf(pairs []*trace.Pair) (ops []proto.Opcode) {
	for _, p := range pairs {
		ops = append(ops, p.Req.Op)
	}
	return ops
}

func TestOrder(t *testing.T) {
	waited := asked(1, 4, proto.OpSetlkw, &fuse.LkIn{})
	waited.late = true
	second := asked(0, 2, proto.OpInit, &fuse.InitIn{})
	second.mount = 1
	pairs := canonical([]taken{
		forgotten(1, 10, 7, 2), waited,
		asked(0, 6, proto.OpLookup, nil, "b"), asked(0, 2, proto.OpInit, &fuse.InitIn{}), second,
		forgotten(1, 12, 5, 1), asked(1, 14, proto.OpUnlink, nil, "c"), forgotten(1, 16, 7, 1),
		forgotten(2, 18, 9, 3),
	})
	want := []proto.Opcode{proto.OpInit, proto.OpLookup, proto.OpUnlink, proto.OpSetlkw, proto.OpBatchForget, proto.OpForget}
	require.Equal(t, want, opsOf(pairs))
	assert.Equal(t, []proto.ForgetOne{{NodeId: 5, Nlookup: 1}, {NodeId: 7, Nlookup: 3}}, pairs[4].Req.List)
	assert.EqualValues(t, 2, pairs[4].Req.In.(*proto.BatchForgetIn).Count)
	assert.EqualValues(t, 9, pairs[5].Req.Header.NodeId)
	for i, p := range pairs {
		assert.EqualValues(t, i+1, p.Req.Header.Unique)
	}
	assert.Equal(t, []uint32{1, 2, 3, 4, 0, 0}, []uint32{
		pairs[0].Req.Header.Pid, pairs[1].Req.Header.Pid, pairs[2].Req.Header.Pid,
		pairs[3].Req.Header.Pid, pairs[4].Req.Header.Pid, pairs[5].Req.Header.Pid,
	})
}

// An INTERRUPT comes before what it ends and names it; one that ended nothing is noise.
func TestInterrupts(t *testing.T) {
	ended := asked(0, 4, proto.OpSetlkw, &fuse.LkIn{})
	ended.pair.Rep.Errno, ended.pair.Note = syscall.EINTR, fuseraw.NoteInterrupted
	pairs := canonical([]taken{
		ended,
		asked(0, 5, proto.OpInterrupt, &fuse.InterruptIn{Unique: 4}),
		asked(0, 6, proto.OpLookup, nil, "a"),
		asked(0, 7, proto.OpInterrupt, &fuse.InterruptIn{Unique: 6}),
	})
	require.Equal(t, []proto.Opcode{proto.OpInterrupt, proto.OpSetlkw, proto.OpLookup}, opsOf(pairs))
	assert.Equal(t, pairs[1].Req.Header.Unique, pairs[0].Req.In.(*fuse.InterruptIn).Unique)
}

func TestOwners(t *testing.T) {
	n := newNumbers()
	lk := func(owner, fh uint64, flags, pid uint32) uint64 {
		p := asked(0, 2, proto.OpSetlk, &fuse.LkIn{Owner: owner, Fh: fh, LkFlags: flags}).pair
		p.Req.Header.Pid = pid
		n.request(p)
		return p.Req.In.(*fuse.LkIn).Owner
	}
	assert.EqualValues(t, 1, lk(0xdead, 1, 0, 50))
	assert.EqualValues(t, 1, lk(0xdead, 2, 0, 50), "one process, whatever the handle")
	assert.EqualValues(t, 2, lk(0xdead, 3, 0, 51), "the address again, another process")
	assert.EqualValues(t, 3, lk(0xbeef, 1, fuse.LK_FLOCK, 50), "flock(2) is by handle")
	assert.EqualValues(t, 3, lk(0xbeef, 1, fuse.LK_FLOCK, 51))
	assert.EqualValues(t, 4, lk(0xbeef, 4, fuse.LK_FLOCK, 50))
	assert.EqualValues(t, 0, lk(0, 4, fuse.LK_FLOCK, 50))
}

func TestRandomNames(t *testing.T) {
	n := newNumbers()
	assert.Equal(t, "tmp_obj_000001", n.name("git", "tmp_obj_aB3xYz"))
	assert.Equal(t, "tmp_obj_000002", n.name("git", "tmp_obj_zzzzzz"))
	assert.Equal(t, "tmp_obj_000001", n.name("git", "tmp_obj_aB3xYz"))
	assert.Equal(t, "tmp_obj_aB3xYz", n.name("cat", "tmp_obj_aB3xYz"))
	assert.Equal(t, "index", n.name("git", "index"))
}

func TestPresentTimesAreTheClock(t *testing.T) {
	in := &fuse.SetAttrIn{}
	in.Valid = fuse.FATTR_ATIME | fuse.FATTR_ATIME_NOW | fuse.FATTR_MTIME
	in.Atime, in.Mtime = 999, 888
	p := asked(0, 2, proto.OpSetattr, in).pair
	newNumbers().request(p)
	assert.EqualValues(t, p.Req.Header.Now.Sec, in.Atime)
	assert.EqualValues(t, 888, in.Mtime)
}

// A recorded reply that a fresh filesystem does not give is an error.
func TestGildRefuses(t *testing.T) {
	p := asked(0, 2, proto.OpLookup, nil, "a").pair
	p.Rep.Errno = syscall.EACCES
	assert.ErrorContains(t, gild(nil, []*trace.Pair{p}), "depends on more than the requests")
	wait := &fuse.LkIn{Fh: 1, Owner: 1, Lk: fuse.FileLock{End: 1, Typ: syscall.F_WRLCK}}
	made := asked(0, 2, proto.OpCreate, &fuse.CreateIn{Flags: syscall.O_RDWR, Mode: syscall.S_IFREG | 0o644}, "a").pair
	first, second := asked(0, 4, proto.OpSetlk, wait).pair, asked(0, 6, proto.OpSetlkw, &fuse.LkIn{Fh: 1, Owner: 2, Lk: wait.Lk}).pair
	first.Req.Header.NodeId, second.Req.Header.NodeId = 2, 2
	err := Replay(nil, []*trace.Pair{made, first, second}, func(*trace.Pair, *proto.Reply) error { return nil })
	assert.ErrorContains(t, err, "waits for what comes later")
}

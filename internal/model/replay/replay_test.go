package replay

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/internal/model/reference"
	"github.com/llmfs-raw/llmfs-raw/internal/trace"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script makes requests that are numbered and timed like those of one run.
type script struct {
	t      *testing.T
	m      model.Model
	unique uint64
	start  int64 // seconds
	comm   string
	trace  *trace.Writer // nil does not record
}

func (s *script) ask(op proto.Opcode, node uint64, in any, data []byte, names ...string) *proto.Reply {
	s.t.Helper()
	s.unique += 2
	req := &proto.Request{Op: op, In: in, Data: data, Names: names, Header: proto.Header{
		Unique: s.unique, NodeId: node, Pid: uint32(s.start), Comm: s.comm, Now: proto.Time{Sec: s.start + int64(s.unique)},
	}}
	reply := s.repeat(req)
	if s.trace != nil {
		require.NoError(s.t, s.trace.Write(&trace.Pair{Req: req, Rep: reply}))
	}
	return reply
}

func (s *script) repeat(req *proto.Request) *proto.Reply {
	s.t.Helper()
	text, err := proto.AppendRequestJSON(nil, req)
	require.NoError(s.t, err)
	got, err := s.m.Answer(context.Background(), &model.Prompt{Op: req.Op, Request: text})
	require.NoError(s.t, err)
	reply, err := proto.ParseReplyJSON(req, got.Reply)
	require.NoError(s.t, err, "%s", got.Reply)
	return reply
}

func (s *script) errno(op proto.Opcode, node uint64, in any, names ...string) syscall.Errno {
	s.t.Helper()
	return s.ask(op, node, in, nil, names...).Errno
}

func (s *script) lookup(name string) *proto.Reply {
	s.t.Helper()
	return s.ask(proto.OpLookup, 1, nil, nil, name)
}

func (s *script) mkdir(name string) *proto.Reply {
	s.t.Helper()
	return s.ask(proto.OpMkdir, 1, &fuse.MkdirIn{Mode: 0o755}, nil, name)
}

func (s *script) getattr(node, fh uint64) *proto.Reply {
	s.t.Helper()
	in := &fuse.GetAttrIn{Fh_: fh}
	if fh != 0 {
		in.Flags_ = fuse.FUSE_GETATTR_FH
	}
	return s.ask(proto.OpGetattr, node, in, nil)
}

// create makes a file, and returns its node and handle.
func (s *script) create(name string) (node, fh uint64) {
	s.t.Helper()
	in := &fuse.CreateIn{Flags: syscall.O_RDWR | syscall.O_CREAT | syscall.O_EXCL, Mode: syscall.S_IFREG | 0o644}
	r := s.ask(proto.OpCreate, 1, in, nil, name)
	require.Zero(s.t, r.Errno)
	out := r.Out.(*fuse.CreateOut)
	return out.NodeId, out.Fh
}

func (s *script) write(node, fh uint64, text string) *proto.Reply {
	s.t.Helper()
	in := &fuse.WriteIn{Fh: fh, Size: uint32(len(text)), LockOwner: s.unique, WriteFlags: fuse.WRITE_LOCKOWNER}
	return s.ask(proto.OpWrite, node, in, []byte(text))
}

func (s *script) read(node, fh uint64) string {
	s.t.Helper()
	r := s.ask(proto.OpRead, node, &fuse.ReadIn{Fh: fh, Size: 4096}, nil)
	require.Zero(s.t, r.Errno)
	return string(r.Data)
}

func size(t *testing.T, r *proto.Reply) uint64 {
	t.Helper()
	require.Zero(t, r.Errno)
	return r.Out.(*fuse.AttrOut).Size
}

// record runs f on the reference filesystem, and opens what was recorded.
func record(t *testing.T, f func(s *script)) (world *World, file string, log *bytes.Buffer) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "world.jsonl.zst")
	w, err := trace.Create(file, trace.Header{Created: time.Unix(1767322445, 0), Model: "reference"}, trace.Options{})
	require.NoError(t, err)
	f(&script{t: t, m: reference.New(reference.Options{Size: 1 << 24, Inodes: 100}), start: 1767322445, comm: "recorded", trace: w})
	require.NoError(t, w.Close())
	world, log = open(t, file)
	return world, file, log
}

func open(t *testing.T, file string) (*World, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	world, err := Open(file, slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, err)
	return world, &log
}

// later is the same program in another run: other times, process and numbers.
func later(t *testing.T, w *World) *script {
	return &script{t: t, m: w, start: 1999999999, unique: 1000, comm: "replayed"}
}

// life is a session with most opcodes in it, some requests repeated.
func life(s *script) {
	s.ask(proto.OpInit, 0, &fuse.InitIn{Major: 7, Minor: 45, Flags: uint32(s.start) | 1}, nil)
	s.lookup("a")
	s.lookup("a")
	node, fh := s.create("a")
	s.getattr(node, fh)
	s.write(node, fh, "one")
	s.read(node, fh)
	s.write(node, fh, "three")
	s.read(node, fh)
	s.getattr(node, 0)
	open := s.ask(proto.OpOpen, node, &fuse.OpenIn{Flags: syscall.O_RDONLY}, nil).Out.(*fuse.OpenOut)
	again := s.ask(proto.OpOpen, node, &fuse.OpenIn{Flags: syscall.O_RDONLY}, nil).Out.(*fuse.OpenOut)
	s.read(node, open.Fh)
	s.read(node, again.Fh)
	s.mkdir("d")
	s.mkdir("d")
	s.ask(proto.OpUnlink, 1, nil, nil, "a")
	s.lookup("a")
	s.create("a")
	s.lookup("a")
	s.ask(proto.OpRmdir, 1, nil, nil, "d")
	s.mkdir("d")
	s.ask(proto.OpSymlink, 1, nil, nil, "l", "a")
	s.ask(proto.OpStatfs, 1, nil, nil)
	s.ask(proto.OpSetattr, node, now(s), nil)
	s.ask(proto.OpRelease, node, &fuse.ReleaseIn{Fh: fh}, nil)
}

// now is touch(1): the kernel fills in the times.
func now(s *script) *fuse.SetAttrIn {
	in := &fuse.SetAttrIn{}
	in.Valid = fuse.FATTR_ATIME | fuse.FATTR_MTIME | fuse.FATTR_ATIME_NOW | fuse.FATTR_MTIME_NOW
	in.Atime, in.Mtime = uint64(s.start), uint64(s.start)
	return in
}

// The same requests get the same replies, however often the trace is opened.
func TestSameRequests(t *testing.T) {
	_, file, _ := record(t, life)
	for _, file := range []string{file, file, "../../trace/testdata/session.jsonl", "../../trace/testdata/pilot.jsonl"} {
		world, log := open(t, file)
		s := later(t, world)
		r, err := trace.Open(file)
		require.NoError(t, err)
		for pair, err := range r.Pairs() {
			require.NoError(t, err)
			if pair.Rep == nil || pair.Note != "" {
				continue
			}
			renew(pair.Req)
			got := s.repeat(pair.Req)
			require.Equal(t, replyJSON(t, pair.Req, pair.Rep), replyJSON(t, pair.Req, got), "line %d", r.Line())
		}
		require.NoError(t, r.Close())
		assert.Empty(t, log)
		assert.Zero(t, world.Stats().Unrecorded)
		assert.Len(t, world.state.changes, world.Stats().Changes)
	}
}

// The same program gets through, although its times, handles and numbers are
// others.
func TestSameProgram(t *testing.T) {
	world, _, log := record(t, life)
	life(later(t, world))
	assert.Empty(t, log)
}

// renew makes a request that of another run.
func renew(req *proto.Request) {
	req.Header.Unique += 5000
	req.Header.Pid, req.Header.Comm, req.Header.Now = 9, "other", proto.Time{Sec: 5}
	switch in := req.In.(type) {
	case *fuse.ReadIn:
		in.Fh += 70
	case *fuse.WriteIn:
		in.Fh, in.LockOwner = in.Fh+70, 99
	case *fuse.GetAttrIn:
		in.Fh_ += 70
	case *fuse.InitIn:
		in.Minor, in.Flags = 99, 0
	}
}

func replyJSON(t *testing.T, req *proto.Request, r *proto.Reply) string {
	t.Helper()
	text, err := proto.AppendReplyJSON(nil, req, r)
	require.NoError(t, err)
	return string(text)
}

// Requests that change nothing can come in any order and any number.
func TestReorderedReads(t *testing.T) {
	var want [20]uint64
	world, _, log := record(t, func(s *script) {
		for i := range want {
			name := fmt.Sprint("f", i)
			node, fh := s.create(name)
			s.write(node, fh, name)
			want[i] = node
		}
		for i := range want {
			s.lookup(fmt.Sprint("f", i))
			s.getattr(want[i], 0)
		}
	})
	s := later(t, world)
	for i := range want {
		name := fmt.Sprint("f", i)
		node, fh := s.create(name)
		s.write(node, fh, name)
	}
	for _, i := range rand.Perm(3 * len(want)) {
		i %= len(want)
		out := s.lookup(fmt.Sprint("f", i)).Out.(*fuse.EntryOut)
		assert.Equal(t, want[i], out.NodeId)
		assert.EqualValues(t, len(fmt.Sprint("f", i)), size(t, s.getattr(want[i], 0)))
	}
	assert.Empty(t, log)
}

// What was true before a change is not told after it, nor the other way round.
func TestState(t *testing.T) {
	_, file, _ := record(t, func(s *script) {
		s.lookup("d")
		s.mkdir("d")
		s.lookup("d")
		s.ask(proto.OpRmdir, 1, nil, nil, "d")
		s.lookup("d")
	})
	found := func(s *script) bool { return s.lookup("d").Out.(*fuse.EntryOut).NodeId != 0 }

	world, _ := open(t, file)
	s := later(t, world)
	for range 3 {
		assert.False(t, found(s))
	}
	s.mkdir("d")
	for range 3 {
		assert.True(t, found(s))
	}
	assert.Zero(t, s.errno(proto.OpRmdir, 1, nil, "d"))
	for range 3 {
		assert.False(t, found(s))
	}

	// Without a request in between, the states are the same.
	world, _ = open(t, file)
	s = later(t, world)
	s.mkdir("d")
	assert.True(t, found(s))
	assert.Zero(t, s.errno(proto.OpRmdir, 1, nil, "d"))
	assert.False(t, found(s))

	// The last change makes true all that the trace holds up to it.
	world, _ = open(t, file)
	s = later(t, world)
	assert.Zero(t, s.errno(proto.OpRmdir, 1, nil, "d"))
	assert.False(t, found(s))
	assert.Zero(t, s.mkdir("d").Errno, "each change is replayed, late or not")
	assert.False(t, found(s))
}

// A reply that was recorded later than now, and none before, is told early.
func TestFirstAskedLater(t *testing.T) {
	_, file, _ := record(t, func(s *script) {
		s.mkdir("other")
		s.getattr(1, 0)
	})
	world, log := open(t, file)
	assert.Zero(t, later(t, world).getattr(1, 0).Errno)
	assert.Empty(t, log)
}

// A change that failed changed nothing, so it fails as often as it is asked for.
func TestFailedChange(t *testing.T) {
	world, _, _ := record(t, func(s *script) {
		s.mkdir("d")
		s.mkdir("d")
		assert.Zero(t, s.errno(proto.OpRmdir, 1, nil, "d"))
		s.mkdir("d")
	})
	s := later(t, world)
	assert.Zero(t, s.mkdir("d").Errno)
	for range 3 {
		assert.Equal(t, syscall.EEXIST, s.mkdir("d").Errno)
	}
	assert.Zero(t, s.errno(proto.OpRmdir, 1, nil, "d"))
	assert.Zero(t, s.mkdir("d").Errno)
	assert.Equal(t, Unrecorded, s.mkdir("d").Errno, "nobody knows what a third one does")
}

func TestUnrecorded(t *testing.T) {
	world, _, log := record(t, func(s *script) {
		s.lookup("known")
		s.mkdir("d")
		off := &proto.Request{Op: proto.OpGetxattr, In: &fuse.GetXAttrIn{Size: 100}, Names: []string{"user.a"}}
		require.NoError(t, s.trace.Write(&trace.Pair{Req: off, Rep: &proto.Reply{Errno: syscall.ENOSYS}}))
	})

	s := later(t, world)
	assert.Equal(t, Unrecorded, s.errno(proto.OpLookup, 1, nil, "unknown"))
	assert.Contains(t, log.String(), "op=LOOKUP node=1 names=[unknown] errno=ENOMEDIUM")
	assert.Equal(t, Unrecorded, s.errno(proto.OpLookup, 2, nil, "known"), "another directory")
	assert.Equal(t, Unrecorded, s.errno(proto.OpMkdir, 1, &fuse.MkdirIn{Mode: 0o700}, "d"), "another mode")
	assert.Equal(t, syscall.ENOSYS, s.errno(proto.OpFsync, 1, &fuse.FsyncIn{}), "an opcode that was never asked")
	assert.Equal(t, syscall.ENOSYS, s.errno(proto.OpGetxattr, 5, &fuse.GetXAttrIn{}, "user.b"), "one that is not there")
	assert.Zero(t, s.errno(proto.OpForget, 1, &fuse.ForgetIn{Nlookup: 1}))
	assert.Zero(t, s.errno(proto.OpReleasedir, 1, &fuse.ReleaseIn{}))
	assert.EqualValues(t, Stats{Unrecorded: 5}, world.Stats())
	assert.NotEqual(t, Unrecorded, s.errno(proto.OpLookup, 1, nil, "known"))
}

func TestOtherUser(t *testing.T) {
	world, _, _ := record(t, func(s *script) { s.lookup("a") })
	req := &proto.Request{Op: proto.OpLookup, Names: []string{"a"}, Header: proto.Header{NodeId: 1, Uid: 1000}}
	assert.Equal(t, Unrecorded, later(t, world).repeat(req).Errno)
}

// What the daemon said by itself is no part of the world.
func TestDaemonsReplies(t *testing.T) {
	var file bytes.Buffer
	w, err := trace.NewWriter(&file, trace.Header{})
	require.NoError(t, err)
	req := &proto.Request{Op: proto.OpReadlink, Header: proto.Header{Unique: 2, NodeId: 5}}
	require.NoError(t, w.Write(&trace.Pair{Req: req, Rep: &proto.Reply{Errno: syscall.EINTR}, Note: "interrupted"}))
	require.NoError(t, w.Write(&trace.Pair{Req: req, Rep: &proto.Reply{Data: []byte("target")}}))
	require.NoError(t, w.Close())

	r, err := trace.NewReader(&file, "test")
	require.NoError(t, err)
	world, err := New(r, nil)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	assert.Equal(t, "target", string(later(t, world).repeat(req).Data))
}

// Parallel changes get each their reply, in whatever order they come.
func TestParallel(t *testing.T) {
	const n = 50
	world, _, log := record(t, func(s *script) {
		for i := range n {
			s.mkdir(fmt.Sprint(i))
			s.lookup(fmt.Sprint(i))
		}
	})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			s := later(t, world)
			made, found := s.mkdir(fmt.Sprint(i)), s.lookup(fmt.Sprint(i))
			assert.Zero(t, made.Errno)
			assert.Equal(t, made.Out.(*fuse.EntryOut).NodeId, found.Out.(*fuse.EntryOut).NodeId)
		})
	}
	all.Wait()
	assert.Empty(t, log)
	assert.EqualValues(t, n, world.Stats().Changes)
}

// A write that is repeated in the trace is replayed as often, and no oftener.
func TestRepeatedWrites(t *testing.T) {
	world, _, _ := record(t, func(s *script) {
		node, fh := s.create("f")
		s.write(node, fh, "a")
		s.write(node, fh, "b")
		s.write(node, fh, "a")
		s.read(node, fh)
	})
	s := later(t, world)
	node, fh := s.create("f")
	assert.Zero(t, s.write(node, fh, "a").Errno)
	assert.Zero(t, s.write(node, fh, "b").Errno)
	assert.Zero(t, s.write(node, fh, "a").Errno)
	assert.Equal(t, "a", s.read(node, fh))
	assert.Equal(t, Unrecorded, s.write(node, fh, "a").Errno)
}

func TestOpenErrors(t *testing.T) {
	_, err := Open(filepath.Join(t.TempDir(), "none"), nil)
	assert.ErrorIs(t, err, syscall.ENOENT)

	world, _, _ := record(t, func(s *script) { s.lookup("a") })
	_, err = world.Answer(context.Background(), &model.Prompt{Op: proto.OpLookup, Request: []byte(`{"Op":"LOOKUP"}`)})
	var e *model.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, model.Rejected, e.Kind)

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = world.Answer(ctx, &model.Prompt{})
	assert.ErrorIs(t, err, context.Canceled)
}

package trace

// A session that has a bit of everything; testdata/session.jsonl is its trace.

import (
	"bytes"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// session makes pairs with rising numbers and times, and their kernel bytes.
type session struct {
	pairs []*Pair
	wire  proto.Wire
}

// ask adds a request about a node and its reply, which may be nil.
func (s *session) ask(op proto.Opcode, node uint64, in any, rep *proto.Reply, names ...string) *Pair {
	n := len(s.pairs)
	p := &Pair{
		Req: &proto.Request{Op: op, In: in, Names: names, Header: proto.Header{
			Unique: uint64(2*n + 2), NodeId: node, Uid: 1000, Gid: 1000, Pid: 412, Comm: "git",
			Now: proto.Time{Sec: 1795167885, Nsec: uint32(n) * 1003},
		}},
		Rep: rep, Took: time.Duration(n*n*n) * 7 * time.Microsecond,
	}
	s.pairs = append(s.pairs, p)
	return p
}

func (s *session) kernel(t *testing.T) {
	for _, p := range s.pairs {
		if w, ok := p.negotiated(); ok {
			s.wire = w
		}
		req, err := s.wire.AppendRequest(nil, p.Req)
		require.NoError(t, err)
		if p.Kernel = (&Kernel{Req: req}); p.Rep == nil {
			continue
		}
		p.Kernel.Rep, err = s.wire.AppendReply(nil, p.Req, p.Rep)
		require.NoError(t, err)
	}
}

func errno(e syscall.Errno) *proto.Reply { return &proto.Reply{Errno: e} }

func entry(node uint64, mode uint32, size uint64) fuse.EntryOut {
	return fuse.EntryOut{NodeId: node, EntryValid: 1, AttrValid: 1, Attr: fuse.Attr{Ino: node, Mode: mode, Size: size, Nlink: 1}}
}

func found(node uint64, mode uint32, size uint64) *proto.Reply {
	out := entry(node, mode, size)
	return &proto.Reply{Out: &out}
}

func (s *session) files() {
	s.ask(proto.OpInit, 0, &fuse.InitIn{Major: 7, Minor: 45, MaxReadAhead: 131072, Flags: fuse.CAP_ASYNC_READ | fuse.CAP_INIT_EXT, Flags2: 1 << 3},
		&proto.Reply{Out: &fuse.InitOut{Major: 7, Minor: 45, MaxWrite: 4096, Flags: fuse.CAP_ASYNC_READ | fuse.CAP_SETXATTR_EXT}})
	s.ask(proto.OpLookup, 1, nil, errno(syscall.ENOENT), "nope")
	s.ask(proto.OpLookup, 1, nil, &proto.Reply{Out: &fuse.EntryOut{EntryValid: 60}}, "never")
	p := s.ask(proto.OpCreate, 1, &fuse.CreateIn{Flags: 0x8041, Mode: 0o100644, Umask: 0o22},
		&proto.Reply{Out: &fuse.CreateOut{EntryOut: entry(2, 0o100644, 0), OpenOut: fuse.OpenOut{Fh: 1, OpenFlags: 2}}}, "a.txt")
	p.Usage = Usage{InputTokens: 1234, CachedTokens: 1024, OutputTokens: 116}
	p = s.ask(proto.OpWrite, 2, &fuse.WriteIn{Fh: 1, Size: 6, Flags: 0x8001}, &proto.Reply{Out: &fuse.WriteOut{Size: 6}})
	p.Req.Data = []byte("hello\n")
	s.ask(proto.OpRead, 2, &fuse.ReadIn{Fh: 1, Size: 4096}, &proto.Reply{Data: bytes.Repeat([]byte("ä\x00"), 20)})
	s.ask(proto.OpSetattr, 2, &fuse.SetAttrIn{SetAttrInCommon: fuse.SetAttrInCommon{Valid: 8 | 64, Fh: 1}},
		&proto.Reply{Out: &fuse.AttrOut{AttrValid: 1, Attr: fuse.Attr{Ino: 2, Mode: 0o100644, Nlink: 1}}})
	s.ask(proto.OpFlush, 2, &fuse.FlushIn{Fh: 1, LockOwner: 1 << 63}, errno(syscall.ENOSYS))
	s.ask(proto.OpSetlkw, 2, &fuse.LkIn{Fh: 1, Owner: 9, Lk: fuse.FileLock{End: 99, Typ: 1}}, errno(syscall.EINTR)).Note = "interrupted"
	in := s.ask(proto.OpInterrupt, 0, &fuse.InterruptIn{Unique: 18}, nil)
	in.Req.Header.Comm, in.Req.Header.Pid = "", 0
	s.ask(proto.OpLseek, 2, &fuse.LseekIn{Fh: 1, Whence: 4}, &proto.Reply{Out: &fuse.LseekOut{Offset: 6}})
	s.ask(proto.OpGetxattr, 2, &fuse.GetXAttrIn{}, &proto.Reply{Out: &fuse.GetXAttrOut{Size: 3}}, "user.a")
	p = s.ask(proto.OpSetxattr, 2, &fuse.SetXAttrIn{Size: 3, Flags: 1}, errno(0), "user.a")
	p.Req.Data = []byte("xyz")
}

func (s *session) names() {
	s.ask(proto.OpMkdir, 1, &fuse.MkdirIn{Mode: 0o755, Umask: 0o22}, found(3, 0o40755, 4096), "my dir")
	s.ask(proto.OpRename2, 1, &fuse.RenameIn{Newdir: 3, Flags: 1}, errno(0), "a.txt", "b.txt")
	s.ask(proto.OpGetattr, 2, &fuse.GetAttrIn{}, &proto.Reply{Out: &fuse.AttrOut{Attr: fuse.Attr{Ino: 2, Mode: 0o104755, Size: 6}}})
	s.ask(proto.OpLink, 1, &fuse.LinkIn{Oldnodeid: 2}, found(2, 0o100644, 6), "c")
	s.ask(proto.OpSymlink, 3, nil, found(4, 0o120777, 4), "link", "../c")
	s.ask(proto.OpReadlink, 4, nil, &proto.Reply{Data: []byte("../c")})
	s.ask(proto.OpUnlink, 1, nil, errno(0), "c")
	s.ask(proto.OpUnlink, 3, nil, errno(0), "b.txt")
	s.ask(proto.OpRead, 2, &fuse.ReadIn{Fh: 1, Offset: 6, Size: 4096}, &proto.Reply{Data: []byte{}})
	s.ask(proto.OpReaddirplus, 1, &fuse.ReadIn{Fh: 5, Size: 4096}, &proto.Reply{Entries: []proto.Dirent{
		{Ino: 1, Off: 1, Type: 4, Name: "."}, {Ino: 1, Off: 2, Type: 4, Name: ".."},
		{Entry: entry(3, 0o40755, 4096), Ino: 3, Off: 3, Type: 4, Name: "my dir"},
		{Entry: entry(6, 0o100600, 7), Ino: 6, Off: 4, Type: 8, Name: "\xff"},
	}})
	s.ask(proto.OpLookup, 3, nil, &proto.Reply{Out: found(7, 0o100644, 3).Out, Notify: []proto.Notification{
		{Code: proto.NotifyStore, Out: &fuse.NotifyStoreOut{Nodeid: 7}, Data: []byte("abc")},
		{Code: proto.NotifyInvalEntry, Out: &fuse.NotifyInvalEntryOut{Parent: 1}, Name: "old"},
	}}, "d")
	s.ask(proto.OpRename, 1, &fuse.RenameIn{Newdir: 1}, errno(0), "my dir", "dir")
	s.ask(proto.OpOpen, 7, &fuse.OpenIn{Flags: 0x8000}, &proto.Reply{Out: &fuse.OpenOut{Fh: 8}})
	s.ask(proto.OpCopyFileRange, 7, &fuse.CopyFileRangeIn{FhIn: 8, NodeIdOut: 6, FhOut: 9, Len: 3}, &proto.Reply{Out: &fuse.WriteOut{Size: 3}})
	s.ask(proto.OpForget, 2, &fuse.ForgetIn{Nlookup: 2}, nil)
	s.ask(proto.OpGetattr, 2, &fuse.GetAttrIn{}, errno(syscall.EIO)).Note = "reply refused: Out.Attr.Mode: have 0"
	p := s.ask(proto.OpBatchForget, 0, &proto.BatchForgetIn{Count: 2}, nil)
	p.Req.List = []proto.ForgetOne{{NodeId: 7, Nlookup: 1}, {NodeId: 4, Nlookup: 1}}
	s.ask(proto.OpGetattr, 7, &fuse.GetAttrIn{}, errno(syscall.ESTALE))
}

// sessionTrace is the session's trace as it is in testdata.
func sessionTrace(t *testing.T) []byte {
	s := &session{}
	s.files()
	s.names()
	s.kernel(t)
	var out bytes.Buffer
	w, err := NewWriter(&out, testHeader)
	require.NoError(t, err)
	for _, p := range s.pairs {
		require.NoError(t, w.Write(p))
	}
	golden(t, "testdata/session.jsonl", out.Bytes())
	return out.Bytes()
}

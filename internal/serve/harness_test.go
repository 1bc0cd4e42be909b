package serve

// What the tests share: a server on a socket, the real client, a session, and
// requests as a kernel would make them.

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http/httptest"
	"reflect"
	"strings"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/internal/model/openai"
	"github.com/llmfs-raw/llmfs-raw/internal/model/reference"
	"github.com/llmfs-raw/llmfs-raw/internal/session"
	"github.com/llmfs-raw/llmfs-raw/proto"
	"github.com/llmfs-raw/llmfs-raw/schema"
)

const testKey = "sk-test-0123456789"

var (
	small   = reference.Options{Size: 1 << 26, Inodes: 1 << 16}
	discard = slog.New(slog.NewTextHandler(io.Discard, nil))
)

// needs is what testing.TB and rapid.T have in common.
type needs interface {
	require.TestingT
	Helper()
}

// started is a server on a socket.
func started(t needs, o Options) (base string, s *Server, stop func()) {
	if reflect.ValueOf(o.World).IsZero() {
		o.World = small
	}
	s = New(o)
	h := httptest.NewServer(s)
	return h.URL + "/v1", s, func() {
		s.stop(errClosed)
		h.CloseClientConnections()
		h.Close()
		s.Close()
	}
}

// client is the real one, with short times.
func client(t needs, base string, change func(*openai.Options)) *openai.Client {
	t.Helper()
	o := openai.Options{BaseURL: base, APIKey: testKey, Model: DefaultModel, Timeout: 20 * time.Second, MaxWait: 10 * time.Millisecond, TripAfter: 1 << 20, Log: discard}
	if change != nil {
		change(&o)
	}
	c, err := openai.New(o)
	require.NoError(t, err)
	return c
}

// mount makes requests with rising numbers and times, of a session and of the
// filesystem that the session's answers are held against.
type mount struct {
	t       needs
	session *session.Session
	direct  *reference.FS
	unique  uint64
	now     int64
	same    func(req *proto.Request, have, want *proto.Reply)
}

func mounted(t needs, m model.Model, o session.Options) *mount {
	o.Log = discard
	c := &mount{t: t, session: session.New(m, o), direct: reference.New(small), now: 1767322000}
	c.same = func(req *proto.Request, have, want *proto.Reply) {
		if !strings.Contains(string(schema.For(req.Op, o.Fields).JSON), `"Notify"`) {
			want.Notify = nil
		}
		require.Equal(t, text(t, req, want), text(t, req, have), "%v %+v %v", req.Op, req.In, req.Names)
	}
	return c
}

func text(t needs, req *proto.Request, r *proto.Reply) string {
	b, err := proto.AppendReplyJSON(nil, req, r)
	require.NoError(t, err)
	return string(b)
}

func (c *mount) request(op proto.Opcode, node uint64, in any, data string, names ...string) *proto.Request {
	c.unique += 2
	c.now++
	if in == nil {
		in = op.Row().NewIn()
	}
	return &proto.Request{Op: op, In: in, Names: names, Data: []byte(data), Header: proto.Header{
		Unique: c.unique, NodeId: node, Uid: 1000, Gid: 1000, Pid: 412, Comm: "sh", Now: proto.Time{Sec: c.now, Nsec: uint32(c.unique)},
	}}
}

// askItself asks the filesystem, past the session.
func askItself(t needs, fs *reference.FS, req *proto.Request) *proto.Reply {
	text, err := proto.AppendRequestJSON(nil, req)
	require.NoError(t, err)
	answer, err := fs.Answer(context.Background(), &model.Prompt{Request: text})
	require.NoError(t, err)
	reply, err := proto.ParseReplyJSON(req, answer.Reply)
	require.NoError(t, err)
	return reply
}

// do asks both and holds one against the other.
func (c *mount) do(op proto.Opcode, node uint64, in any, data string, names ...string) *proto.Reply {
	req := c.request(op, node, in, data, names...)
	want := askItself(c.t, c.direct, req)
	have := c.session.Handle(context.Background(), req)
	if kind := op.Row().Reply; kind != proto.ReplyNone && kind != proto.ReplyIgnored {
		c.same(req, have, want)
	}
	return have
}

func (c *mount) mkdir(dir uint64, name string) uint64 {
	return entryOf(c.do(proto.OpMkdir, dir, &fuse.MkdirIn{Mode: 0o755}, "", name))
}

func entryOf(r *proto.Reply) uint64 {
	if out, ok := r.Out.(*fuse.EntryOut); ok && r.Errno == 0 {
		return out.NodeId
	}
	return 0
}

func (c *mount) create(dir uint64, name string) (id, fh uint64) {
	r := c.do(proto.OpCreate, dir, &fuse.CreateIn{Flags: 0o102, Mode: 0o100644}, "", name)
	if out, ok := r.Out.(*fuse.CreateOut); ok {
		return out.NodeId, out.Fh
	}
	return 0, 0
}

func (c *mount) openAs(op proto.Opcode, id uint64, flags uint32) uint64 {
	r := c.do(op, id, &fuse.OpenIn{Flags: flags}, "")
	if out, ok := r.Out.(*fuse.OpenOut); ok {
		return out.Fh
	}
	return 0
}

func (c *mount) write(id, fh, off uint64, data string) {
	c.do(proto.OpWrite, id, &fuse.WriteIn{Fh: fh, Offset: off, Size: uint32(len(data))}, data)
}

func (c *mount) close(id, fh uint64) {
	c.do(proto.OpFlush, id, &fuse.FlushIn{Fh: fh, LockOwner: ownerOf(fh)}, "")
	c.do(proto.OpRelease, id, &fuse.ReleaseIn{Fh: fh}, "")
}

// ownerOf is the process that opened a handle: one of three.
func ownerOf(fh uint64) uint64 { return 1 + fh%3 }

func (c *mount) lookup(dir uint64, name string) uint64 {
	return entryOf(c.do(proto.OpLookup, dir, nil, "", name))
}

func (c *mount) file(dir uint64, name, text string) uint64 {
	id, fh := c.create(dir, name)
	c.write(id, fh, 0, text)
	c.close(id, fh)
	return id
}

func (c *mount) read(id uint64) string {
	fh := c.openAs(proto.OpOpen, id, 0)
	r := c.do(proto.OpRead, id, &fuse.ReadIn{Fh: fh, Size: 4096}, "")
	c.close(id, fh)
	return string(r.Data)
}

func (c *mount) list(dir uint64) (names []string) {
	fh := c.openAs(proto.OpOpendir, dir, 0)
	for off := uint64(0); ; {
		r := c.do(proto.OpReaddirplus, dir, &fuse.ReadIn{Fh: fh, Offset: off, Size: 700}, "")
		if len(r.Entries) == 0 {
			c.do(proto.OpReleasedir, dir, &fuse.ReleaseIn{Fh: fh}, "")
			return names
		}
		for _, e := range r.Entries {
			names, off = append(names, e.Name), e.Off
		}
	}
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// exampleIn is the script in the package's documentation.
func exampleIn(doc string) string {
	_, after, _ := strings.Cut(doc, "//\tseed:")
	var lines []string
	for line := range strings.Lines("//\tseed:" + after) {
		rest, ok := strings.CutPrefix(line, "//\t")
		if !ok {
			break
		}
		lines = append(lines, rest)
	}
	return strings.Join(lines, "")
}

type modelSchema = model.Schema

package session

// Test doubles: models that follow a script, and one that is right.

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/internal/model/reference"
	"github.com/llmfs-raw/llmfs-raw/proto"
	"github.com/llmfs-raw/llmfs-raw/schema"
)

// right is reference as a language model: it reads the last message and wraps
// its replies.
type right struct {
	fs *reference.FS

	mu      sync.Mutex
	prompts []*model.Prompt // the last ones
}

func newRight() *right {
	return &right{fs: reference.New(reference.Options{Size: 1 << 28, Inodes: 1 << 20})}
}

func (r *right) Answer(ctx context.Context, p *model.Prompt) (*model.Answer, error) {
	r.mu.Lock()
	r.prompts = append(r.prompts, kept(p))
	if len(r.prompts) > 32 {
		r.prompts = r.prompts[1:]
	}
	r.mu.Unlock()
	answer, err := r.fs.Answer(ctx, &model.Prompt{Op: p.Op, Request: p.Request})
	if err != nil {
		return nil, err
	}
	answer.Reply = schema.Wrap(answer.Reply)
	return answer, nil
}

func (r *right) last() *model.Prompt { return r.prompts[len(r.prompts)-1] }

// caller makes requests as a kernel would, with rising numbers and times.
type caller struct {
	t      require.TestingT
	handle func(*proto.Request) *proto.Reply
	unique uint64
	now    int64
}

func callerOf(t require.TestingT, s *Session) *caller {
	return &caller{t: t, now: 1767322000, handle: func(r *proto.Request) *proto.Reply { return s.Handle(context.Background(), r) }}
}

func (c *caller) request(op proto.Opcode, node uint64, in any, data string, names ...string) *proto.Request {
	c.unique += 2
	c.now++
	if in == nil {
		in = op.Row().NewIn()
	}
	return &proto.Request{Op: op, In: in, Names: names, Data: []byte(data), Header: proto.Header{
		Unique: c.unique, NodeId: node, Uid: 1000, Gid: 1000, Pid: 412, Comm: "sh", Now: proto.Time{Sec: c.now, Nsec: uint32(c.unique)},
	}}
}

func (c *caller) do(op proto.Opcode, node uint64, in any, data string, names ...string) *proto.Reply {
	r := c.handle(c.request(op, node, in, data, names...))
	require.NotNil(c.t, r)
	return r
}

func (c *caller) mkdir(dir uint64, name string) uint64 {
	r := c.do(proto.OpMkdir, dir, &fuse.MkdirIn{Mode: 0o755}, "", name)
	require.Zero(c.t, r.Errno, "mkdir %s", name)
	return r.Out.(*fuse.EntryOut).NodeId
}

// create makes an open file.
func (c *caller) create(dir uint64, name string) (id, fh uint64) {
	r := c.do(proto.OpCreate, dir, &fuse.CreateIn{Flags: 0o102, Mode: 0o100644}, "", name)
	require.Zero(c.t, r.Errno, "create %s", name)
	out := r.Out.(*fuse.CreateOut)
	return out.NodeId, out.Fh
}

func (c *caller) write(id, fh, off uint64, data string) {
	r := c.do(proto.OpWrite, id, &fuse.WriteIn{Fh: fh, Offset: off, Size: uint32(len(data))}, data)
	require.Zero(c.t, r.Errno, "write")
}

func (c *caller) close(id, fh uint64) { c.do(proto.OpRelease, id, &fuse.ReleaseIn{Fh: fh}, "") }

func (c *caller) lookup(dir uint64, name string) uint64 {
	r := c.do(proto.OpLookup, dir, nil, "", name)
	if r.Errno != 0 {
		return 0
	}
	return r.Out.(*fuse.EntryOut).NodeId
}

func (c *caller) open(op proto.Opcode, id uint64, flags uint32) uint64 {
	r := c.do(op, id, &fuse.OpenIn{Flags: flags}, "")
	if r.Errno != 0 {
		return 0
	}
	return r.Out.(*fuse.OpenOut).Fh
}

// list reads a directory to its end.
func (c *caller) list(dir uint64) (all []proto.Dirent) {
	fh := c.open(proto.OpOpendir, dir, 0)
	for off := uint64(0); ; {
		r := c.do(proto.OpReaddirplus, dir, &fuse.ReadIn{Fh: fh, Offset: off, Size: 1024}, "")
		if r.Errno != 0 || len(r.Entries) == 0 {
			c.do(proto.OpReleasedir, dir, &fuse.ReleaseIn{Fh: fh}, "")
			return all
		}
		all = append(all, r.Entries...)
		off = r.Entries[len(r.Entries)-1].Off
	}
}

func (c *caller) read(id uint64) string {
	fh := c.open(proto.OpOpen, id, 0)
	r := c.do(proto.OpRead, id, &fuse.ReadIn{Fh: fh, Size: 1 << 20}, "")
	c.close(id, fh)
	return string(r.Data)
}

// file makes a whole file.
func (c *caller) file(dir uint64, name, text string) uint64 {
	id, fh := c.create(dir, name)
	c.write(id, fh, 0, text)
	c.close(id, fh)
	return id
}

func conversation(kind ContextKind, pairs int) Options {
	return Options{Log: quiet.Log, Context: Context{Kind: kind, Pairs: pairs}}
}

// story is a small session that has a bit of everything.
func story(c *caller) {
	c.lookup(1, "src")
	d := c.mkdir(1, "src")
	f := c.file(d, "main.go", "package main\n")
	c.do(proto.OpSymlink, 1, nil, "", "link", "src/main.go")
	c.do(proto.OpGetattr, f, nil, "")
	c.do(proto.OpSetxattr, f, &fuse.SetXAttrIn{Size: 3}, "red", "user.color")
	c.do(proto.OpRename, d, &fuse.RenameIn{Newdir: 1}, "", "main.go", "m.go")
	c.list(1)
	c.do(proto.OpForget, f, &fuse.ForgetIn{Nlookup: 1}, "")
	c.read(f)
}

func transcript(messages []model.Message) string {
	text := ""
	for _, m := range messages {
		if m.Role == model.RoleSystem {
			m.Content = "…"
		}
		text += fmt.Sprintf("%s: %s\n", m.Role, m.Content)
	}
	return text
}

// kept is a copy of a prompt: its messages are valid until the answer only.
func kept(p *model.Prompt) *model.Prompt {
	c := *p
	c.Messages = slices.Clone(p.Messages)
	return &c
}

package session

import (
	"context"
	"fmt"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// TestLedgerAgreesWithTheWorld runs any requests against a model that is right,
// and holds every fact of the ledger against what that model then says.
func TestLedgerAgreesWithTheWorld(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newRight()
		s := New(m, conversation(Ledger, 2))
		c := callerOf(rt, s)
		c.handle = func(req *proto.Request) *proto.Reply {
			reply := s.Handle(context.Background(), req)
			rt.Logf("%v %d %v %+v: %v", req.Op, req.Header.NodeId, req.Names, req.In, reply.Errno)
			return reply
		}
		g := &generator{T: rt, caller: c, dirs: []uint64{1}}
		g.do(proto.OpGetattr, 1, nil, "")
		for range rapid.IntRange(1, 60).Draw(rt, "ops") {
			g.step()
		}
		holdAgainst(rt, s.memory.ledger, oracleOf(rt, m, g.now))
	})
}

// oracleOf asks the model directly, so that the ledger does not hear of it.
func oracleOf(t require.TestingT, m *right, now int64) *caller {
	return &caller{t: t, now: now, unique: 1 << 40, handle: func(req *proto.Request) *proto.Reply {
		text, err := proto.AppendRequestJSON(nil, req)
		require.NoError(t, err)
		answer, err := m.fs.Answer(context.Background(), &model.Prompt{Op: req.Op, Request: text})
		require.NoError(t, err)
		reply, err := proto.ParseReplyJSON(req, answer.Reply)
		require.NoError(t, err)
		return reply
	}}
}

// generator makes requests about nodes that there are.
type generator struct {
	*rapid.T
	*caller
	dirs, files []uint64
}

func (g *generator) dir() uint64 { return rapid.SampledFrom(g.dirs).Draw(g.T, "dir") }
func (g *generator) name() string {
	return rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(g.T, "name")
}
func (g *generator) off() uint64   { return uint64(rapid.IntRange(0, 40).Draw(g.T, "off")) }
func (g *generator) data() string  { return rapid.StringMatching("[x-z]{1,20}").Draw(g.T, "data") }
func (g *generator) flags() uint32 { return rapid.SampledFrom([]uint32{0, 0, 1, 2}).Draw(g.T, "flags") }

// file is the id of a file; 0 where there is none yet.
func (g *generator) file() uint64 {
	if len(g.files) == 0 {
		return 0
	}
	return rapid.SampledFrom(g.files).Draw(g.T, "file")
}

// step makes one request, or a few that belong together.
func (g *generator) step() {
	kinds := []func(){
		g.mkdir, g.create, g.create, g.write, g.write, g.truncate, g.rename, g.fallocate, g.copy, g.reopen, g.xattr,
		func() { g.keep(g.do(proto.OpLookup, g.dir(), nil, "", g.name())) },
		func() { g.do(proto.OpUnlink, g.dir(), nil, "", g.name()) },
		func() { g.do(proto.OpRmdir, g.dir(), nil, "", g.name()) },
		func() { g.do(proto.OpSymlink, g.dir(), nil, "", g.name(), "target") },
		func() { g.do(proto.OpLink, g.dir(), &fuse.LinkIn{Oldnodeid: g.file()}, "", g.name()) },
		func() {
			g.do(proto.OpSetattr, g.dir(), &fuse.SetAttrIn{SetAttrInCommon: fuse.SetAttrInCommon{Valid: fuse.FATTR_MODE, Mode: 0o40700}}, "")
		},
		func() { g.list(g.dir()) },
		func() { g.read(g.file()) },
	}
	kinds[rapid.IntRange(0, len(kinds)-1).Draw(g.T, "kind")]()
}

func (g *generator) keep(r *proto.Reply) {
	out, ok := r.Out.(*fuse.EntryOut)
	switch {
	case !ok || out.NodeId == 0:
	case out.Mode&sIFMT == fuse.S_IFREG:
		g.files = append(g.files, out.NodeId)
	case out.Mode&sIFMT == fuse.S_IFDIR:
		g.dirs = append(g.dirs, out.NodeId)
	}
}

func (g *generator) mkdir() {
	g.keep(g.do(proto.OpMkdir, g.dir(), &fuse.MkdirIn{Mode: 0o755}, "", g.name()))
}

func (g *generator) create() {
	r := g.do(proto.OpCreate, g.dir(), &fuse.CreateIn{Flags: 0o302, Mode: 0o106755}, "", g.name())
	if out, ok := r.Out.(*fuse.CreateOut); ok {
		g.files = append(g.files, out.NodeId)
		g.close(out.NodeId, out.Fh)
	}
}

// with opens a file for one request.
func (g *generator) with(id uint64, flags uint32, op proto.Opcode, data string, in func(fh uint64) any) {
	fh := g.open(proto.OpOpen, id, flags)
	if fh != 0 {
		g.do(op, id, in(fh), data)
		g.close(id, fh)
	}
}

func (g *generator) write() {
	data, off, kill := g.data(), g.off(), uint32(rapid.SampledFrom([]int{0, 4}).Draw(g.T, "kill"))
	g.with(g.file(), 2, proto.OpWrite, data, func(fh uint64) any {
		return &fuse.WriteIn{Fh: fh, Offset: off, Size: uint32(len(data)), WriteFlags: kill}
	})
}

func (g *generator) reopen() {
	id := g.file()
	g.close(id, g.open(proto.OpOpen, id, 0o1002))
}

func (g *generator) truncate() {
	in := fuse.SetAttrInCommon{Valid: fuse.FATTR_SIZE, Size: g.off()}
	g.do(proto.OpSetattr, g.file(), &fuse.SetAttrIn{SetAttrInCommon: in}, "")
}

func (g *generator) rename() {
	in := &fuse.RenameIn{Newdir: g.dir(), Flags: g.flags()}
	g.do(proto.OpRename2, g.dir(), in, "", g.name(), g.name())
}

func (g *generator) fallocate() {
	mode := rapid.SampledFrom([]uint32{0, 1, 3, 0x10, 0x11}).Draw(g.T, "mode")
	in := fuse.FallocateIn{Offset: g.off(), Length: 1 + g.off(), Mode: mode}
	g.with(g.file(), 2, proto.OpFallocate, "", func(fh uint64) any { in.Fh = fh; return &in })
}

func (g *generator) copy() {
	from, to := g.file(), g.file()
	in := fuse.CopyFileRangeIn{NodeIdOut: to, OffIn: g.off(), OffOut: g.off(), Len: g.off()}
	if in.FhOut = g.open(proto.OpOpen, to, 2); from != to && in.FhOut != 0 {
		g.with(from, 0, proto.OpCopyFileRange, "", func(fh uint64) any { in.FhIn = fh; return &in })
	}
}

func (g *generator) xattr() {
	id, name, value := g.file(), "user."+g.name(), g.data()
	switch rapid.IntRange(0, 3).Draw(g.T, "xattr") {
	case 0, 1:
		g.do(proto.OpSetxattr, id, &fuse.SetXAttrIn{Size: uint32(len(value))}, value, name)
	case 2:
		g.do(proto.OpRemovexattr, id, nil, "", name)
	case 3:
		g.do(proto.OpGetxattr, id, &fuse.GetXAttrIn{Size: 100}, "", name)
		g.do(proto.OpListxattr, id, &fuse.GetXAttrIn{Size: 100}, "")
	}
}

// holdAgainst compares all facts with the answers of the oracle.
func holdAgainst(t require.TestingT, l *ledger, c *caller) {
	for id, n := range l.nodes {
		r := c.do(proto.OpGetattr, id, nil, "")
		if r.Errno != 0 {
			require.Empty(t, n.links, "node %d: %v, but it has names", id, r.Errno)
			continue
		}
		if n.told {
			require.Equal(t, comparable(r.Out.(*fuse.AttrOut).Attr), comparable(n.attr), "node %d", id)
		}
		holdEntries(t, n, c)
		holdContent(t, n, c)
		holdXattrs(t, n, c)
	}
}

// comparable leaves out what the ledger does not bring forward.
func comparable(a fuse.Attr) string {
	if a.Mode&sIFMT == fuse.S_IFDIR {
		a.Size = 0
	}
	return fmt.Sprintf("mode %o nlink %d size %d owner %v mtime %d.%d ctime %d.%d", a.Mode, a.Nlink, a.Size, a.Owner, a.Mtime, a.Mtimensec, a.Ctime, a.Ctimensec)
}

func holdEntries(t require.TestingT, n *node, c *caller) {
	known := 0
	for name, e := range n.entries {
		if !e.missing {
			known++
		}
		require.Equal(t, e.node, c.lookup(n.id, name), "%s of directory %d", name, n.id)
	}
	if removed := len(n.links) == 0 && n.id != proto.RootID; n.complete && !removed {
		require.Len(t, c.list(n.id), known+2, "directory %d", n.id)
	}
}

func holdContent(t require.TestingT, n *node, c *caller) {
	if n.kind() != fuse.S_IFREG {
		return
	}
	have := []byte{}
	for _, k := range n.content {
		require.Equal(t, uint64(len(have)), k.off, "node %d: every byte since its creation is known", n.id)
		have = append(append(have, k.data...), make([]byte, k.len()-uint64(len(k.data)))...)
	}
	require.Equal(t, c.read(n.id), string(have), "node %d", n.id)
}

func holdXattrs(t require.TestingT, n *node, c *caller) {
	for name, x := range n.xattrs {
		r := c.do(proto.OpGetxattr, n.id, &fuse.GetXAttrIn{Size: 100}, "", name)
		require.Equal(t, x.missing, r.Errno != 0, "%s of %d: %v", name, n.id, r.Errno)
		if x.known {
			require.Equal(t, x.value, string(r.Data))
		}
	}
}

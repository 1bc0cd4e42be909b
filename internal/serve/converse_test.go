package serve

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/internal/model/openai"
	"github.com/llmfs-raw/llmfs-raw/internal/session"
	"github.com/llmfs-raw/llmfs-raw/proto"
	"github.com/llmfs-raw/llmfs-raw/schema"
)

// chooser is where a story takes its choices from.
type chooser interface{ choose(what string, n int) int }

type byRapid struct{ *rapid.T }

func (r byRapid) choose(what string, n int) int { return rapid.IntRange(0, n-1).Draw(r.T, what) }

type bySeed struct{ *rand.Rand }

func (r bySeed) choose(_ string, n int) int { return r.IntN(n) }

// story makes any requests about nodes that there are.
type story struct {
	chooser
	*mount
	dirs, files []uint64
	open        []opened
}

type opened struct {
	node, fh uint64
	flags    uint32
}

func storyOf(c *mount, by chooser) *story {
	c.do(proto.OpGetattr, 1, nil, "")
	return &story{chooser: by, mount: c, dirs: []uint64{1}}
}

func (s *story) dir() uint64  { return s.dirs[s.choose("dir", len(s.dirs))] }
func (s *story) name() string { return string(rune('a' + s.choose("name", 6))) }
func (s *story) off() uint64  { return uint64(s.choose("off", 40)) * 113 }
func (s *story) text() string { return strings.Repeat(s.name(), 1+s.choose("length", 300)) }

// file is a node that was a file once; 0 where there is none yet.
func (s *story) anyFile() uint64 {
	if len(s.files) == 0 {
		return 0
	}
	return s.files[s.choose("file", len(s.files))]
}

// handle is an open file.
func (s *story) handle() opened {
	if len(s.open) == 0 {
		return opened{node: 1, fh: 77}
	}
	return s.open[s.choose("handle", len(s.open))]
}

// steps are the kinds of requests, the likelier ones more than once.
var steps = []func(*story){
	(*story).makeDir, (*story).makeFile, (*story).makeFile, (*story).writeSome, (*story).writeSome, (*story).writeSome,
	(*story).readSome, (*story).readSome, (*story).resize, (*story).move, (*story).remove, (*story).removeDir, (*story).find, (*story).find,
	(*story).stat, (*story).stat, (*story).shut, (*story).reopen, (*story).reopen, (*story).listAll, (*story).hardLink, (*story).softLink,
	(*story).setX, (*story).getX, (*story).lock, (*story).lock, (*story).chmod, (*story).allocate, (*story).copyRange, (*story).times, (*story).forget,
}

func (s *story) step() { steps[s.choose("step", len(steps))](s) }

func (s *story) makeDir() {
	if id := s.mkdir(s.dir(), s.name()); id != 0 {
		s.dirs = append(s.dirs, id)
	}
}

func (s *story) makeFile() {
	dir, name := s.dir(), s.name()
	s.lookup(dir, name)
	id, fh := s.create(dir, name)
	if id != 0 {
		s.files, s.open = append(s.files, id), append(s.open, opened{id, fh, 2})
	}
}

func (s *story) writeSome() {
	h := s.handle()
	s.write(h.node, h.fh, s.off(), s.text())
}

func (s *story) readSome() {
	h := s.handle()
	s.do(proto.OpRead, h.node, &fuse.ReadIn{Fh: h.fh, Offset: s.off(), Size: 4096}, "")
}

// resize never sets the size that there is: whether that touches the file
// depends on its blocks, of which a ledger knows no more than was told last.
func (s *story) resize() {
	id, size := s.anyFile(), s.off()
	if attr := s.attr(id); attr == nil || attr.Size != size {
		s.do(proto.OpSetattr, id, &fuse.SetAttrIn{SetAttrInCommon: fuse.SetAttrInCommon{Valid: fuse.FATTR_SIZE, Size: size}}, "")
	}
}

// attr is what the filesystem itself says of a node; nil where there is none.
func (s *story) attr(id uint64) *fuse.Attr {
	out, ok := askItself(s.t, s.direct, s.request(proto.OpGetattr, id, nil, "")).Out.(*fuse.AttrOut)
	if !ok {
		return nil
	}
	return &out.Attr
}

func (s *story) move() {
	s.do(proto.OpRename2, s.dir(), &fuse.RenameIn{Newdir: s.dir(), Flags: uint32(s.choose("flags", 3))}, "", s.name(), s.name())
}

func (s *story) remove()    { s.do(proto.OpUnlink, s.dir(), nil, "", s.name()) }
func (s *story) removeDir() { s.do(proto.OpRmdir, s.dir(), nil, "", s.name()) }
func (s *story) find()      { s.lookup(s.dir(), s.name()) }
func (s *story) stat()      { s.do(proto.OpGetattr, s.anyFile(), nil, "") }

func (s *story) shut() {
	if len(s.open) > 0 {
		i := s.choose("handle", len(s.open))
		h := s.open[i]
		s.open = append(s.open[:i:i], s.open[i+1:]...)
		s.close(h.node, h.fh)
	}
}

func (s *story) reopen() {
	id, flags := s.anyFile(), uint32(s.choose("mode", 3))
	if s.choose("trunc", 6) == 0 {
		flags |= syscall.O_TRUNC
	}
	if fh := s.mount.openAs(proto.OpOpen, id, flags); fh != 0 {
		s.open = append(s.open, opened{id, fh, flags})
	}
}

func (s *story) listAll() { s.list(s.dir()) }

// hardLink leaves alone what has no name any more: the kernel does so, too.
func (s *story) hardLink() {
	id := s.anyFile()
	if attr := s.attr(id); attr != nil && attr.Nlink > 0 {
		s.do(proto.OpLink, s.dir(), &fuse.LinkIn{Oldnodeid: id}, "", s.name())
	}
}

func (s *story) softLink() {
	if id := entryOf(s.do(proto.OpSymlink, s.dir(), nil, "", s.name(), s.text())); id != 0 {
		s.do(proto.OpReadlink, id, nil, "")
	}
}

func (s *story) setX() {
	value := s.text()
	s.do(proto.OpSetxattr, s.anyFile(), &fuse.SetXAttrIn{Size: uint32(len(value)), Flags: uint32(s.choose("flags", 3))}, value, "user."+s.name())
}

func (s *story) getX() {
	s.do(proto.OpGetxattr, s.anyFile(), &fuse.GetXAttrIn{Size: 1000}, "", "user."+s.name())
	s.do(proto.OpListxattr, s.anyFile(), &fuse.GetXAttrIn{Size: 1000}, "")
	s.do(proto.OpRemovexattr, s.anyFile(), nil, "", "user."+s.name())
}

// lock is one of sqlite's kinds: a short range, read or written, given back.
func (s *story) lock() {
	h := s.handle()
	start := uint64(s.choose("start", 4))
	lk := fuse.FileLock{Start: start, End: start + uint64(s.choose("length", 3)), Typ: uint32(s.choose("type", 3)), Pid: 412}
	s.do(proto.OpSetlk, h.node, &fuse.LkIn{Fh: h.fh, Owner: ownerOf(h.fh), Lk: lk}, "")
}

func (s *story) chmod() {
	s.do(proto.OpSetattr, s.anyFile(), &fuse.SetAttrIn{SetAttrInCommon: fuse.SetAttrInCommon{Valid: fuse.FATTR_MODE, Mode: uint32(s.choose("mode", 0o7777))}}, "")
}

func (s *story) allocate() {
	h := s.handle()
	s.do(proto.OpFallocate, h.node, &fuse.FallocateIn{Fh: h.fh, Offset: s.off(), Length: 1 + s.off(), Mode: uint32([]int{0, 1, 3}[s.choose("mode", 3)])}, "")
}

func (s *story) copyRange() {
	from, to := s.handle(), s.handle()
	s.do(proto.OpCopyFileRange, from.node, &fuse.CopyFileRangeIn{FhIn: from.fh, OffIn: s.off(), NodeIdOut: to.node, FhOut: to.fh, OffOut: s.off(), Len: s.off()}, "")
}

func (s *story) times() {
	s.do(proto.OpSetattr, s.anyFile(), &fuse.SetAttrIn{SetAttrInCommon: fuse.SetAttrInCommon{Valid: fuse.FATTR_MTIME, Mtime: 5 + s.off()}}, "")
}

// forget is what the kernel does with a node that nobody has open.
func (s *story) forget() {
	id := s.anyFile()
	for _, h := range s.open {
		if h.node == id {
			return
		}
	}
	s.files = deleted(s.files, id)
	s.do(proto.OpForget, id, &fuse.ForgetIn{Nlookup: 1 << 20}, "")
}

func deleted(list []uint64, id uint64) (rest []uint64) {
	for _, n := range list {
		if n != id {
			rest = append(rest, n)
		}
	}
	return rest
}

// blur takes out of a reply what a ledger does not claim to decide; doc.go has
// the reasons. What is left must be equal to the letter.
func blur(r *proto.Reply) *proto.Reply {
	blurred := *r
	blurred.Notify = nil
	switch out := r.Out.(type) {
	case *fuse.EntryOut:
		copied := *out
		blurAttr(&copied.Attr)
		blurred.Out = &copied
	case *fuse.CreateOut:
		copied := *out
		blurAttr(&copied.Attr)
		blurred.Out = &copied
	case *fuse.AttrOut:
		copied := *out
		blurAttr(&copied.Attr)
		blurred.Out = &copied
	case *fuse.LseekOut:
		blurred.Out = &fuse.LseekOut{}
	}
	blurred.Entries = nil
	for _, e := range r.Entries {
		e.Off = 0
		blurAttr(&e.Entry.Attr)
		blurred.Entries = append(blurred.Entries, e)
	}
	return &blurred
}

func blurAttr(a *fuse.Attr) { a.Blocks, a.Atime, a.Atimensec = 0, 0, 0 }

// blurred compares so, and listings by what they hold in the end.
func blurred(c *mount) {
	c.same = func(req *proto.Request, have, want *proto.Reply) {
		if kind := req.Op.Row().Reply; (kind == proto.ReplyEntries || kind == proto.ReplyEntriesPlus) && want.Errno == 0 && have.Errno == 0 {
			return // listings are compared whole
		}
		require.Equal(c.t, text(c.t, req, blur(want)), text(c.t, req, blur(have)), "%v node %d %+v %v", req.Op, req.Header.NodeId, req.In, req.Names)
	}
}

func shown(kind session.ContextKind, pairs int) session.Context {
	return session.Context{Kind: kind, Pairs: pairs}
}

// Hundreds of requests through session, client and server are answered as the
// filesystem itself answers them, numbers and all.
func TestConversation(t *testing.T) {
	const most = 1 << 20
	for _, c := range []struct {
		context session.Context
		fields  schema.Form
		stream  openai.Stream
		respond bool
		steps   int
	}{
		{shown(session.Full, 0), schema.All, openai.StreamNever, false, 500},
		{shown(session.Full, 0), schema.Lean, openai.StreamAlways, false, 250},
		{shown(session.Full, 0), schema.All, openai.StreamAlways, true, 150},
		{shown(session.Window, most), schema.All, openai.StreamNever, true, 200},
		{shown(session.Window, most), schema.Lean, openai.StreamNever, false, 200},
		{shown(session.Ledger, 4), schema.All, openai.StreamNever, false, 500},
		{shown(session.Ledger, 8), schema.Lean, openai.StreamAlways, true, 250},
	} {
		t.Run(fmt.Sprint(c.context.Kind, c.fields, c.stream, c.respond), func(t *testing.T) {
			base, _, stop := started(t, Options{})
			defer stop()
			m := client(t, base, func(o *openai.Options) { o.Stream, o.Responses = c.stream, c.respond })
			mount := mounted(t, m, session.Options{Context: c.context, Fields: c.fields})
			if c.context.Kind == session.Ledger {
				blurred(mount)
			}
			s := storyOf(mount, bySeed{rand.New(rand.NewPCG(1, uint64(c.steps)))})
			for range c.steps {
				s.step()
			}
			totals := mount.session.Totals()
			assert.Empty(t, totals.Failures, totals.String())
			assert.Zero(t, totals.Repairs)
		})
	}
}

// A narrow window forgets nodes, but does not get lost.
func TestNarrowWindow(t *testing.T) {
	base, _, stop := started(t, Options{})
	defer stop()
	c := mounted(t, client(t, base, nil), session.Options{Context: shown(session.Window, 3)})
	c.same = func(*proto.Request, *proto.Reply, *proto.Reply) {}
	d := c.mkdir(1, "d")
	f := c.file(d, "f", "hello")
	assert.Equal(t, f, c.lookup(d, "f"), "made within the window")
	for range 8 {
		c.lookup(1, "x")
	}
	assert.Equal(t, syscall.ESTALE, c.do(proto.OpGetattr, f, nil, "").Errno)
}

// TestLedger is the property: for any history, what is answered from the
// ledger alone is what the filesystem with that history answers.
func TestLedger(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := New(Options{World: small})
		defer s.Close()
		c := mounted(rt, inProcess{s}, session.Options{Context: shown(session.Ledger, 1)})
		blurred(c)
		story := storyOf(c, byRapid{rt})
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			story.step()
		}
		story.holdListings()
	})
}

// holdListings compares what the directories hold, whatever the order.
func (s *story) holdListings() {
	for _, dir := range s.dirs {
		oracle := *s.mount
		oracle.direct = s.direct.Clone()
		want := oracle.listDirectly(dir)
		require.ElementsMatch(s.t, want, s.list(dir), "directory %d", dir)
	}
}

func (c *mount) listDirectly(dir uint64) (names []string) {
	out, ok := askItself(c.t, c.direct, c.request(proto.OpOpendir, dir, &fuse.OpenIn{}, "")).Out.(*fuse.OpenOut)
	if !ok {
		return nil
	}
	for _, e := range askItself(c.t, c.direct, c.request(proto.OpReaddir, dir, &fuse.ReadIn{Fh: out.Fh, Size: 1 << 20}, "")).Entries {
		names = append(names, e.Name)
	}
	return names
}

// inProcess is the server without the wire, for tests that ask very often.
type inProcess struct{ s *Server }

func (p inProcess) Answer(_ context.Context, prompt *model.Prompt) (*model.Answer, error) {
	var messages []message
	for _, m := range prompt.Messages {
		raw := `{"role":"` + m.Role + `","content":` + quoted(m.Content) + `}`
		messages = append(messages, message{raw, digest{m.Role, keyOfMessage(m.Role, m.Content), 1}})
	}
	a := &ask{talk: converse(messages), format: format{kind: "json_schema", schema: string(prompt.Schema.JSON)}}
	return &model.Answer{Reply: []byte(p.s.reply(a))}, nil
}

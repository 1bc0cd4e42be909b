package serve

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/internal/session"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// Requests that are in flight together get numbers of their own, and the
// session goes on with all of them.
func TestParallelRequests(t *testing.T) {
	for _, context := range []session.Context{shown(session.Full, 0), shown(session.Ledger, 4)} {
		t.Run(context.String(), func(t *testing.T) {
			base, _, stop := started(t, Options{})
			defer stop()
			c := mounted(t, client(t, base, nil), session.Options{Context: context})
			const workers, rounds = 6, 8
			dirs := make([]uint64, workers)
			for i := range dirs {
				dirs[i] = c.mkdir(1, fmt.Sprint(i))
			}
			files := inParallel(t, c, dirs, rounds)
			seen := map[uint64]bool{}
			for i, dir := range dirs {
				for round, f := range files[i] {
					assert.False(t, seen[f], "node %d was given out twice", f)
					seen[f] = true
					found := c.session.Handle(t.Context(), c.request(proto.OpLookup, dir, nil, "", fmt.Sprint(round)))
					assert.Equal(t, f, entryOf(found))
					assert.Equal(t, fmt.Sprint(i, round), c.contents(f))
				}
			}
			assert.Empty(t, c.session.Totals().Failures)
		})
	}
}

// inParallel makes files, one worker a directory.
func inParallel(t *testing.T, c *mount, dirs []uint64, rounds int) [][]uint64 {
	var group sync.WaitGroup
	var mu sync.Mutex
	ask := func(op proto.Opcode, node uint64, in any, data string, names ...string) *proto.Reply {
		mu.Lock()
		req := c.request(op, node, in, data, names...)
		mu.Unlock()
		return c.session.Handle(t.Context(), req)
	}
	files := make([][]uint64, len(dirs))
	for i, dir := range dirs {
		group.Go(func() {
			for round := range rounds {
				out, ok := ask(proto.OpCreate, dir, &fuse.CreateIn{Flags: 2, Mode: 0o100644}, "", fmt.Sprint(round)).Out.(*fuse.CreateOut)
				if !assert.True(t, ok) {
					return
				}
				text := fmt.Sprint(i, round)
				assert.Zero(t, ask(proto.OpWrite, out.NodeId, &fuse.WriteIn{Fh: out.Fh, Size: uint32(len(text))}, text).Errno)
				assert.Zero(t, ask(proto.OpRelease, out.NodeId, &fuse.ReleaseIn{Fh: out.Fh}, "").Errno)
				files[i] = append(files[i], out.NodeId)
			}
		})
	}
	group.Wait()
	return files
}

// contents reads a file through the session alone.
func (c *mount) contents(id uint64) string {
	handle := func(req *proto.Request) *proto.Reply { return c.session.Handle(context.Background(), req) }
	out, ok := handle(c.request(proto.OpOpen, id, &fuse.OpenIn{}, "")).Out.(*fuse.OpenOut)
	if !ok {
		return ""
	}
	return string(handle(c.request(proto.OpRead, id, &fuse.ReadIn{Fh: out.Fh, Size: 100}, "")).Data)
}

// turns is a conversation by hand.
type turns struct {
	t        *testing.T
	s        *Server
	messages []message
}

func (c *turns) add(role, content string) *turns {
	m := c.s.newMessage(`{"role":"` + role + `","content":` + quoted(content) + `}`)
	return &turns{c.t, c.s, append(c.messages[:len(c.messages):len(c.messages)], m)}
}

func (c *turns) answer() string { return c.s.reply(&ask{talk: converse(c.messages)}) }

// made is a request of a kernel.
func made(unique int, op proto.Opcode, node uint64, in any, names ...string) string {
	if in == nil {
		in = op.Row().NewIn()
	}
	text, _ := proto.AppendRequestJSON(nil, &proto.Request{Op: op, In: in, Names: names, Header: proto.Header{
		Unique: uint64(unique), NodeId: node, Now: proto.Time{Sec: int64(unique)}}})
	return string(text)
}

func talk(t *testing.T) *turns {
	s := New(Options{World: small})
	t.Cleanup(s.Close)
	return (&turns{t: t, s: s}).add("system", "be a disk")
}

// The same past may be gone on from in many ways, in any order, with the world
// kept or lost.
func TestBranches(t *testing.T) {
	c := talk(t)
	for i := range 100 {
		c = c.add("user", made(2*i+2, proto.OpMkdir, 1, nil, fmt.Sprint(i)))
		c = c.add("assistant", c.answer())
	}
	look := func(c *turns, name string) string {
		return c.add("user", made(9000, proto.OpLookup, 1, nil, name)).answer()
	}
	want := look(c, "50")
	gone := c.add("user", made(5000, proto.OpRmdir, 1, nil, "50"))
	assert.Equal(t, `{"Reply":{"Errno":0}}`, gone.answer())
	assert.Equal(t, want, look(c, "50"), "nothing happened in this branch")
	after := look(gone.add("assistant", `{"Reply":{"Errno":0}}`), "50")
	assert.Contains(t, after, `"NodeId":0,`)
	failed := look(gone.add("assistant", `{"Reply":{"Errno":13}}`), "50")
	assert.Equal(t, want, failed, "a request that was refused has not happened")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() { assert.Equal(t, want, look(c, "50")) })
	}
	group.Wait()
	c.s.worlds = newWorlds(small, 1)
	assert.Equal(t, want, look(c, "50"))
}

// What another model has said is true.
func TestForeignHistory(t *testing.T) {
	c := talk(t)
	entry := func(id int, mode, size int) string {
		return fmt.Sprintf(`{"NodeId":%d,"Attr":{"Size":%d,"Atime":5,"Mtime":5,"Ctime":5,"Mode":%d,"Nlink":1,"Owner":{"Uid":1,"Gid":1}}}`, id, size, mode)
	}
	c = c.add("user", made(2, proto.OpLookup, 1, nil, "notes"))
	c = c.add("assistant", `{"Reply":{"Errno":0,"Out":`+entry(7, 0o40755, 0)+`}}`)
	c = c.add("user", made(4, proto.OpLookup, 7, nil, "a.txt"))
	c = c.add("assistant", `{"Reply":{"Errno":0,"Out":`+entry(9, 0o100644, 5)+`}}`)
	c = c.add("user", made(6, proto.OpOpen, 9, nil))
	c = c.add("assistant", `{"Reply":{"Errno":0,"Out":{"Fh":3,"OpenFlags":0}}}`)
	read := made(8, proto.OpRead, 9, &fuse.ReadIn{Fh: 3, Size: 4096})
	c = c.add("user", read)
	c = c.add("assistant", `{"Reply":{"Errno":0,"Data":"hello"}}`)
	c = c.add("user", `{"Since":[`+made(10, proto.OpForget, 99, nil)+`],"Request":`+made(12, proto.OpMkdir, 7, nil, "new")+`}`)
	answer := c.answer()
	assert.Contains(t, answer, `"NodeId":10,`)
	c = c.add("assistant", answer)
	assert.Equal(t, `{"Reply":{"Errno":0,"Data":"hello"}}`, c.add("user", read).answer())
	assert.Contains(t, c.add("user", made(14, proto.OpLookup, 7, nil, "a.txt")).answer(), `"NodeId":9,`)
	assert.Contains(t, c.add("user", made(16, proto.OpOpen, 9, nil)).answer(), `"Fh":4,`)
}

// Texts that are no requests, and ledgers that are none.
func TestNonsense(t *testing.T) {
	c := talk(t)
	for _, text := range []string{"", "hello", "{}", `{"Op":"FLY"}`, `{"Op":"LOOKUP"}`, `{"Ledger":{"Nodes":7},"Request":` + made(2, proto.OpGetattr, 1, nil) + `}`,
		`{"Ledger":{"Nodes":[{"NodeId":1,"Attr":{}}]},"Request":` + made(2, proto.OpGetattr, 1, nil) + `}`, `{"Request":"x"}`} {
		assert.Equal(t, `{"Reply":{"Errno":5}}`, c.add("user", text).answer(), text)
	}
	assert.Equal(t, `{"Reply":{"Errno":5}}`, (&turns{t: t, s: c.s}).answer(), "no messages")
	after := c.add("user", "hello").add("assistant", "Hi!").add("user", made(4, proto.OpGetattr, 1, nil))
	assert.Contains(t, after.answer(), `{"Reply":{"Errno":0,`)
}

// What the ledger could not show is not made up.
func TestLeftOut(t *testing.T) {
	c := talk(t)
	envelope := func(left, request string) string {
		return `{"Ledger":{"Nodes":[{"NodeId":2,"Attr":{"Ino":2,"Size":9,"Blocks":8,"Atime":0,"Mtime":0,"Ctime":0,"Atimensec":0,"Mtimensec":0,"Ctimensec":0,"Mode":33188,"Nlink":1,"Owner":{"Uid":0,"Gid":0},"Rdev":0,"Blksize":4096,"Flags":0},"Content":[{"Offset":0,"Length":9}]}],"Handles":[{"Fh":1,"NodeId":2,"Flags":2,"OpenFlags":0}],"Off":[],"Last":{"NodeId":2,"Fh":1,"Off":0}},"LeftOut":` + left + `,"Request":` + request + `}`
	}
	eio := `{"Reply":{"Errno":5}}`
	read := made(2, proto.OpRead, 2, &fuse.ReadIn{Fh: 1, Size: 100})
	assert.Equal(t, eio, c.add("user", envelope(`{"Bytes":9}`, read)).answer())
	list := made(2, proto.OpListxattr, 2, &fuse.GetXAttrIn{Size: 100})
	assert.Equal(t, eio, c.add("user", envelope(`{"Xattrs":2}`, list)).answer())
	stat := made(2, proto.OpGetattr, 2, nil)
	assert.Contains(t, c.add("user", envelope(`{"Xattrs":2,"Entries":5}`, stat)).answer(), `"Size":9,`)
}

// A lock that is held is not waited for.
func TestNobodyWaits(t *testing.T) {
	c := talk(t)
	turn := func(text string) {
		c = c.add("user", text)
		c = c.add("assistant", c.answer())
	}
	turn(made(2, proto.OpCreate, 1, &fuse.CreateIn{Flags: 2, Mode: 0o100644}, "f"))
	lock := func(unique int, owner uint64) string {
		return made(unique, proto.OpSetlkw, 2, &fuse.LkIn{Fh: 1, Owner: owner, Lk: fuse.FileLock{End: 10, Typ: 1}})
	}
	turn(lock(4, 1))
	assert.Equal(t, `{"Reply":{"Errno":11}}`, c.add("user", lock(6, 2)).answer())
}

// A tree in the system message is there from the start.
func TestSeed(t *testing.T) {
	base, _, stop := started(t, Options{})
	defer stop()
	dir := t.TempDir()
	writeFile(t, dir+"/a/b.txt", "seeded\n")
	seed, err := session.ReadSeed(dir)
	require.NoError(t, err)
	for _, context := range []session.Context{shown(session.Full, 0), shown(session.Ledger, 4)} {
		c := mounted(t, client(t, base, nil), session.Options{Context: context, Seed: seed})
		c.same = func(*proto.Request, *proto.Reply, *proto.Reply) {}
		a := c.lookup(1, "a")
		assert.NotZero(t, a)
		assert.Equal(t, "seeded\n", c.contents(c.lookup(a, "b.txt")))
		assert.ElementsMatch(t, []string{".", "..", "b.txt"}, c.list(a))
		made := c.mkdir(a, "new")
		assert.Greater(t, made, a)
		assert.Equal(t, made, c.lookup(a, "new"))
	}
}

// Usage is what the texts have, and the beginning of the next prompt is cached.
func TestUsage(t *testing.T) {
	base, s, stop := started(t, Options{})
	defer stop()
	c := client(t, base, nil)
	prompt := lookupPrompt(t, 2)
	bare := func(p *model.Prompt) model.Usage {
		answer, err := c.Answer(t.Context(), p)
		require.NoError(t, err)
		return answer.Usage
	}
	first := bare(prompt)
	want := perPrompt + s.tokens.count(string(prompt.Schema.JSON)) + 2*perMessage + s.tokens.count("be a disk") + s.tokens.count(prompt.Messages[1].Content)
	assert.InDelta(t, want, first.InputTokens, 8, "the schema as it was sent")
	assert.Zero(t, first.CachedTokens)
	second := bare(prompt)
	assert.Equal(t, first.InputTokens, second.InputTokens)
	assert.Equal(t, first.InputTokens/128*128, second.CachedTokens)
	long := lookupPrompt(t, 4)
	long.Messages[0].Content = manyWords(3000)
	assert.Positive(t, bare(long).CachedTokens, "the schema is more than 1,024 tokens")
	other := lookupPrompt(t, 4)
	other.Schema = model.Schema{}
	other.Messages[0].Content = long.Messages[0].Content + " and more"
	assert.Zero(t, bare(other).CachedTokens, "another beginning")
	other.Messages[0].Content += " and even more"
	cached := bare(other).CachedTokens
	assert.Zero(t, cached%128)
	assert.InDelta(t, 3000, cached, 200, "a part of a message")
}

func manyWords(n int) string {
	text := ""
	for range n {
		text += " word"
	}
	return text
}

func TestPromptCacheSteps(t *testing.T) {
	p := newPromptCache()
	one := func(text string, tokens int) message {
		return message{raw: text, digest: digest{role: "user", key: keyOf(text), tokens: tokens}}
	}
	a, b, c := one("a", 1000), one("b", 500), one("c", 500)
	start := keyOf("k")
	cached := func(start key, list ...message) int { return p.cached(start, 30, list) }
	assert.Zero(t, cached(start, a))
	assert.Equal(t, 1024, cached(start, a), "1,030 in steps of 128")
	assert.Equal(t, 1024, cached(start, a, b))
	assert.Equal(t, 1408, cached(start, a, b, c), "1,530")
	assert.Equal(t, 1024, cached(start, a, c))
	assert.Zero(t, cached(start, b, a))
	assert.Zero(t, cached(keyOf("another"), a, b, c))
}

// Two mounts with the same words do not take numbers from one another, once
// their requests tell them apart.
func TestNumberings(t *testing.T) {
	c := talk(t)
	mkdir := func(unique int, now int64) string {
		text, err := proto.AppendRequestJSON(nil, &proto.Request{Op: proto.OpMkdir, In: &fuse.MkdirIn{Mode: 0o755}, Names: []string{"d"},
			Header: proto.Header{Unique: uint64(unique), NodeId: 1, Now: proto.Time{Sec: now}}})
		require.NoError(t, err)
		return c.add("user", string(text)).answer()
	}
	has := func(answer string, id int) { t.Helper(); assert.Contains(t, answer, fmt.Sprintf(`"NodeId":%d,`, id)) }
	has(mkdir(10, 100), 2)
	has(mkdir(12, 100), 3)
	has(mkdir(10, 100), 2)
	has(mkdir(14, 101), 4)
	has(mkdir(4, 500), 2)
	has(mkdir(6, 501), 3)
}

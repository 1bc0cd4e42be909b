package faulty

// Each mutant answers as the reference does until its bug is asked for, and
// differs then.

import (
	"context"
	"encoding/binary"
	"strings"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/internal/model/reference"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// player asks the reference and a mutant the same, in which the reference's
// numbers count. Every request is a second and a nanosecond after the last.
type player struct {
	t          testing.TB
	right      model.Model
	wrong      model.Model
	uid, gid   uint32
	now        int64
	differs    string // the first opcode that was answered differently
	have, want string
}

const root = proto.RootID

func newPlayer(t testing.TB, name string) *player {
	o := reference.Options{Size: 1 << 30, Inodes: 10_000, CheckPermissions: true, TTL: -1}
	w, err := New(name, o)
	require.NoError(t, err)
	return &player{t: t, right: reference.New(o), wrong: w}
}

func (p *player) as(uid uint32, f func()) {
	was, wasg := p.uid, p.gid
	p.uid, p.gid = uid, uid
	f()
	p.uid, p.gid = was, wasg
}

// do is the reference's reply.
func (p *player) do(op proto.Opcode, id uint64, in any, data string, names ...string) *proto.Reply {
	p.t.Helper()
	p.now++
	req := &proto.Request{Op: op, In: in, Names: names, Data: []byte(data), Header: proto.Header{
		Unique: uint64(p.now), NodeId: id, Uid: p.uid, Gid: p.gid, Pid: 7, Comm: "test", Now: proto.Time{Sec: p.now, Nsec: uint32(p.now)}}}
	text, err := proto.AppendRequestJSON(nil, req)
	require.NoError(p.t, err)
	want, have := p.ask(p.right, op, text), p.ask(p.wrong, op, text)
	if p.differs == "" && want != have {
		p.differs, p.want, p.have = op.String(), want, have
	}
	r, err := proto.ParseReplyJSON(req, []byte(want))
	require.NoError(p.t, err)
	return r
}

func (p *player) ask(m model.Model, op proto.Opcode, text []byte) string {
	a, err := m.Answer(context.Background(), &model.Prompt{Op: op, Request: text})
	require.NoError(p.t, err)
	return string(a.Reply)
}

func (p *player) entry(r *proto.Reply) uint64 {
	p.t.Helper()
	require.Zero(p.t, r.Errno)
	return node(r)
}

func (p *player) mkdir(dir uint64, name string, mode uint32) uint64 {
	p.t.Helper()
	return p.entry(p.do(proto.OpMkdir, dir, &fuse.MkdirIn{Mode: mode}, "", name))
}

func (p *player) mknod(name string, mode uint32) uint64 {
	p.t.Helper()
	return p.entry(p.do(proto.OpMknod, root, &fuse.MknodIn{Mode: mode}, "", name))
}

// create makes a file in the root that is open for reading and writing.
func (p *player) create(name string, mode uint32) (id, fh uint64) {
	p.t.Helper()
	r := p.do(proto.OpCreate, root, &fuse.CreateIn{Flags: syscall.O_RDWR | syscall.O_CREAT, Mode: syscall.S_IFREG | mode}, "", name)
	require.Zero(p.t, r.Errno)
	out := r.Out.(*fuse.CreateOut)
	return out.NodeId, out.Fh
}

// file makes a file with that content.
func (p *player) file(name, text string) (id, fh uint64) {
	p.t.Helper()
	id, fh = p.create(name, 0o644)
	p.write(id, fh, 0, text)
	return id, fh
}

func (p *player) open(id uint64, flags uint32) uint64 {
	r := p.do(proto.OpOpen, id, &fuse.OpenIn{Flags: flags}, "")
	require.Zero(p.t, r.Errno)
	return r.Out.(*fuse.OpenOut).Fh
}

func (p *player) write(id, fh, off uint64, text string) *proto.Reply {
	return p.do(proto.OpWrite, id, &fuse.WriteIn{Fh: fh, Offset: off, Size: uint32(len(text))}, text)
}

func (p *player) read(id, fh, off uint64, size uint32) *proto.Reply {
	return p.do(proto.OpRead, id, &fuse.ReadIn{Fh: fh, Offset: off, Size: size}, "")
}

func (p *player) stat(id uint64) { p.do(proto.OpGetattr, id, &fuse.GetAttrIn{}, "") }

func (p *player) set(id uint64, in fuse.SetAttrInCommon) {
	p.do(proto.OpSetattr, id, &fuse.SetAttrIn{SetAttrInCommon: in}, "")
}

func (p *player) truncate(id, size uint64) {
	p.set(id, fuse.SetAttrInCommon{Valid: fuse.FATTR_SIZE, Size: size})
}
func (p *player) chmod(id uint64, mode uint32) {
	p.set(id, fuse.SetAttrInCommon{Valid: fuse.FATTR_MODE, Mode: mode})
}
func (p *player) chown(id uint64, uid, gid uint32) {
	p.set(id, fuse.SetAttrInCommon{Valid: fuse.FATTR_UID | fuse.FATTR_GID, Owner: fuse.Owner{Uid: uid, Gid: gid}})
}
func (p *player) lookup(dir uint64, name string) { p.do(proto.OpLookup, dir, nil, "", name) }
func (p *player) unlink(dir uint64, name string) { p.do(proto.OpUnlink, dir, nil, "", name) }
func (p *player) rmdir(dir uint64, name string)  { p.do(proto.OpRmdir, dir, nil, "", name) }

func (p *player) rename(dir uint64, name string, newdir uint64, newname string, flags uint32) {
	p.do(proto.OpRename2, dir, &fuse.RenameIn{Newdir: newdir, Flags: flags}, "", name, newname)
}

func (p *player) link(id uint64, name string) {
	p.do(proto.OpLink, root, &fuse.LinkIn{Oldnodeid: id}, "", name)
}

func (p *player) symlink(name, target string) uint64 {
	return p.entry(p.do(proto.OpSymlink, root, nil, "", name, target))
}

// list lists a directory in pages.
func (p *player) list(dir uint64, size uint32, plus bool) {
	op := proto.OpReaddir
	if plus {
		op = proto.OpReaddirplus
	}
	fh := p.do(proto.OpOpendir, dir, &fuse.OpenIn{}, "").Out.(*fuse.OpenOut).Fh
	for page, off := 0, uint64(0); page < 50; page++ { // a mutant's listing may never end
		r := p.do(op, dir, &fuse.ReadIn{Fh: fh, Offset: off, Size: size}, "")
		if len(r.Entries) == 0 {
			return
		}
		off = r.Entries[len(r.Entries)-1].Off
	}
}

func (p *player) setxattr(id uint64, name, value string, flags uint32) {
	p.do(proto.OpSetxattr, id, &fuse.SetXAttrIn{Size: uint32(len(value)), Flags: flags}, value, name)
}

func (p *player) getxattr(id uint64, name string, size uint32) {
	p.do(proto.OpGetxattr, id, &fuse.GetXAttrIn{Size: size}, "", name)
}

func (p *player) lock(op proto.Opcode, id, fh, owner uint64, typ uint32, start, end uint64) {
	p.do(op, id, &fuse.LkIn{Fh: fh, Owner: owner, Lk: fuse.FileLock{Start: start, End: end, Typ: typ, Pid: uint32(owner)}}, "")
}

func (p *player) fallocate(id, fh uint64, mode uint32, off, length uint64) {
	p.do(proto.OpFallocate, id, &fuse.FallocateIn{Fh: fh, Mode: mode, Offset: off, Length: length}, "")
}

func (p *player) lseek(id, fh, off uint64, whence uint32) {
	p.do(proto.OpLseek, id, &fuse.LseekIn{Fh: fh, Offset: off, Whence: whence}, "")
}

// aclOf is an access ACL with user 1000 and a mask.
func aclOf(mask uint16) string {
	b := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range [][3]uint32{{1, 6, ^uint32(0)}, {2, 7, 1000}, {4, 4, ^uint32(0)}, {0x10, uint32(mask), ^uint32(0)}, {0x20, 4, ^uint32(0)}} {
		b = binary.LittleEndian.AppendUint16(b, uint16(e[0]))
		b = binary.LittleEndian.AppendUint16(b, uint16(e[1]))
		b = binary.LittleEndian.AppendUint32(b, e[2])
	}
	return string(b)
}

type script struct {
	quiet   func(p *player) func() // answers as the reference does; it returns the trigger
	differs string                 // the opcode that the trigger is seen by
}

func TestMutants(t *testing.T) {
	scripts := allScripts()
	for _, m := range List() {
		t.Run(m.Name, func(t *testing.T) {
			s, ok := scripts[m.Name]
			require.True(t, ok, "%s has no script", m.Name)
			p := newPlayer(t, m.Name)
			trigger := s.quiet(p)
			require.Empty(t, p.differs, "without its trigger\nhave %s\nwant %s", p.have, p.want)
			trigger()
			assert.Equal(t, s.differs, p.differs, "have %s\nwant %s", p.have, p.want)
		})
	}
}

// A script run twice gets the same replies, and a clone goes on as its
// original does.
func TestMutantsAreDeterministic(t *testing.T) {
	scripts := allScripts()
	for _, m := range List() {
		t.Run(m.Name, func(t *testing.T) {
			w, err := New(m.Name, reference.Options{Size: 1 << 30, Inodes: 10_000, CheckPermissions: true, TTL: -1})
			require.NoError(t, err)
			p := newPlayer(t, m.Name)
			p.right = w
			trigger := lenient(func() func() { return scripts[m.Name].quiet(p) })
			p.right, p.wrong = p.right.(*World).Clone(), p.wrong.(*World).Clone()
			lenient(func() func() { trigger(); return nil })
			assert.Empty(t, p.differs, "have %s\nwant %s", p.have, p.want)
		})
	}
}

// lenient goes on where a script can't: a mutant's reply has no struct, say.
func lenient(f func() func()) (trigger func()) {
	defer func() {
		if recover() != nil || trigger == nil {
			trigger = func() {}
		}
	}()
	return f()
}

func TestListIsWellFormed(t *testing.T) {
	all := List()
	assert.GreaterOrEqual(t, len(all), 45)
	seen := map[string]bool{}
	for _, m := range all {
		assert.False(t, seen[m.Name], m.Name)
		seen[m.Name] = true
		assert.NotEmpty(t, m.Area, m.Name)
		assert.Greater(t, len(m.Bug), 15, m.Name)
		assert.False(t, strings.HasSuffix(m.Bug, "."), m.Name)
	}
}

func TestNewNames(t *testing.T) {
	for _, name := range []string{"noise:0.5", "noise:100", "forgets:1", "null"} {
		w, err := New(name, reference.Options{})
		require.NoError(t, err, name)
		assert.Equal(t, name, w.Name)
	}
	for _, name := range []string{"", "noise:0", "noise:101", "noise:x", "forgets:1.5", "forgets:0", "perfect"} {
		_, err := New(name, reference.Options{})
		assert.Error(t, err, name)
	}
}

// Noise errs at about the share it is named after, and more noise errs
// wherever less does.
func TestNoiseIsNested(t *testing.T) {
	wrong := func(name string) (at []int) {
		p := newPlayer(t, name)
		for i := range 2000 {
			p.differs = ""
			p.stat(root)
			if p.differs != "" {
				at = append(at, i)
			}
		}
		return at
	}
	few, some, many := wrong("noise:1"), wrong("noise:5"), wrong("noise:20")
	assert.InDelta(t, 20, len(few), 15)
	assert.InDelta(t, 100, len(some), 40)
	assert.InDelta(t, 400, len(many), 80)
	for _, i := range few {
		assert.Contains(t, some, i)
	}
	for _, i := range some {
		assert.Contains(t, many, i)
	}
}

// allScripts are the tables of the areas.
func allScripts() map[string]script {
	all := map[string]script{}
	for _, table := range []map[string]script{nameScripts, linkScripts, contentScripts, spaceScripts, timeScripts, ownerScripts, directoryScripts, xattrScripts, lockScripts, attributeScripts, modelScripts} {
		for name, s := range table {
			all[name] = s
		}
	}
	return all
}

package session

import (
	"context"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/assert"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

const capability = "security.capability"

// Node 5 and what is made in it may have xattrs, all else has none.
func TestXattrsOfAnEmbeddedModel(t *testing.T) {
	o := quiet
	o.NoXattrs = true
	heard := 0
	s := New(answerer(func(_ context.Context, p *model.Prompt) (*model.Answer, error) {
		heard++
		text := `{"Errno":5}`
		if p.Op == proto.OpMkdir {
			text = `{"Errno":0,"Out":{"NodeId":6,"Generation":0,"EntryValid":0,"AttrValid":0,"EntryValidNsec":0,"AttrValidNsec":0,` +
				`"Attr":{"Ino":6,"Size":0,"Blocks":0,"Atime":0,"Mtime":0,"Ctime":0,"Atimensec":0,"Mtimensec":0,"Ctimensec":0,` +
				`"Mode":16877,"Nlink":2,"Owner":{"Uid":0,"Gid":0},"Rdev":0,"Blksize":4096,"Flags":0}}}`
		}
		return &model.Answer{Reply: []byte(text)}, nil
	}), o)
	c := callerOf(t, s)
	c.do(proto.OpSetxattr, 5, &fuse.SetXAttrIn{Size: 1}, "x", "user.a")
	c.do(proto.OpMkdir, 5, &fuse.MkdirIn{}, "", "d")
	passed := heard
	ask := func(node uint64, size uint32, name string) *proto.Reply {
		return c.do(proto.OpGetxattr, node, &fuse.GetXAttrIn{Size: size}, "", name)
	}
	list := func(node uint64, size uint32) *proto.Reply {
		return c.do(proto.OpListxattr, node, &fuse.GetXAttrIn{Size: size}, "")
	}
	assert.Equal(t, syscall.ENODATA, ask(4, 0, capability).Errno)
	assert.Equal(t, syscall.ENODATA, ask(4, 99, "system.posix_acl_access").Errno)
	assert.Equal(t, &proto.Reply{Out: &fuse.GetXAttrOut{}}, list(4, 0))
	assert.Equal(t, &proto.Reply{Data: []byte{}}, list(4, 99))
	assert.Equal(t, passed, heard)
	assert.EqualValues(t, 4, s.Totals().Lacking)
	for _, reply := range []*proto.Reply{ask(5, 0, capability), ask(6, 0, capability), list(5, 0), ask(4, 0, "odd.name"), ask(4, 0, "user.")} {
		assert.Equal(t, syscall.EIO, reply.Errno, "the model's")
	}
	assert.Equal(t, passed+5, heard)
}

func TestTooManyBearers(t *testing.T) {
	b := newBearers()
	for node := range uint64(maxBearers) {
		b.add(node)
	}
	assert.False(t, b.has(maxBearers))
	b.add(maxBearers)
	assert.True(t, b.has(maxBearers+1), "everything is passed on")
	assert.Empty(t, b.nodes)
}

func TestXattrsInTheLedger(t *testing.T) {
	l := newLedger()
	l.node(3).setXattr("user.gone", xattr{known: true, missing: true})
	l.node(3).setXattr(capability, xattr{known: true, value: "x"})
	l.node(4).xattrsComplete = true
	for _, c := range []struct {
		node uint64
		name string
		want bool
	}{
		{2, capability, false}, {3, capability, false}, {3, "user.gone", true}, {3, "user.new", false}, {3, "", false},
		{4, capability, true}, {4, "user.new", true}, {4, "odd.name", false}, {4, "", true},
	} {
		assert.Equal(t, c.want, l.lacksXattr(c.node, c.name), "%d %s", c.node, c.name)
	}
}

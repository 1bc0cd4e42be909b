package schema

import (
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

type oneNode fuse.Attr

func (n *oneNode) Attr(id uint64) (fuse.Attr, bool) { return fuse.Attr(*n), id == 7 }

// A reply to SETATTR says ctime; the rest is as it was, or as In sets it.
func TestKept(t *testing.T) {
	was := &oneNode{Ino: 7, Size: 300, Blocks: 1, Atime: 10, Mtime: 11, Ctime: 12, Mode: 0o100600, Nlink: 2, Owner: fuse.Owner{Uid: 5, Gid: 6}, Blksize: 4096}
	for name, c := range map[string]struct {
		in   fuse.SetAttrInCommon
		want func(*fuse.Attr)
	}{
		"mode, type bits or not": {fuse.SetAttrInCommon{Valid: fuse.FATTR_MODE, Mode: 0o644}, func(a *fuse.Attr) { a.Mode = 0o100644 }},
		"owner":                  {fuse.SetAttrInCommon{Valid: fuse.FATTR_UID | fuse.FATTR_GID, Owner: fuse.Owner{Uid: 1, Gid: 2}}, func(a *fuse.Attr) { a.Owner = fuse.Owner{Uid: 1, Gid: 2} }},
		"group alone":            {fuse.SetAttrInCommon{Valid: fuse.FATTR_GID, Owner: fuse.Owner{Uid: 1, Gid: 2}}, func(a *fuse.Attr) { a.Gid = 2 }},
		"size":                   {fuse.SetAttrInCommon{Valid: fuse.FATTR_SIZE, Size: 1000}, func(a *fuse.Attr) { a.Size, a.Blocks = 1000, 2 }},
		"a given time, and now":  {fuse.SetAttrInCommon{Valid: fuse.FATTR_MTIME | fuse.FATTR_ATIME | fuse.FATTR_ATIME_NOW, Mtime: 77, Atime: 5}, func(a *fuse.Attr) { a.Mtime, a.Atime = 77, 99 }},
	} {
		t.Run(name, func(t *testing.T) {
			req := &proto.Request{Op: proto.OpSetattr, In: &fuse.SetAttrIn{SetAttrInCommon: c.in}, Header: proto.Header{NodeId: 7, Now: proto.Time{Sec: 99}}}
			short := []byte(`{"Errno":0,"Out":{"Attr":{"Ctime":99}}}`)
			require.NoError(t, Validate(proto.OpSetattr, Lean, Wrap(short)))
			whole, err := Complete(req, short, was)
			require.NoError(t, err)
			reply, err := proto.ParseReplyJSON(req, whole)
			require.NoError(t, err, "%s", whole)
			want := fuse.Attr(*was)
			want.Ctime, want.Blocks = 99, 1
			c.want(&want)
			assert.Equal(t, want, reply.Out.(*fuse.AttrOut).Attr)
			assert.Equal(t, string(short), string(Shorten(req, whole, was)))
		})
	}
}

// What is not known has to be said.
func TestNothingIsKeptOfTheUnknown(t *testing.T) {
	short := []byte(`{"Errno":0,"Out":{"Attr":{"Ctime":99}}}`)
	for _, known := range []Attrs{nil, &oneNode{}} {
		req := &proto.Request{Op: proto.OpSetattr, In: &fuse.SetAttrIn{}, Header: proto.Header{NodeId: 8}}
		whole, err := Complete(req, short, known)
		require.NoError(t, err)
		_, err = proto.ParseReplyJSON(req, whole)
		assert.Error(t, err, "%s", whole)
	}
	assert.Error(t, Validate(proto.OpGetattr, Lean, Wrap(short)), "only a change has something that it keeps")
}

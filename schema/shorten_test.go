package schema_test

import (
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/proto"
	"github.com/llmfs-raw/llmfs-raw/schema"
)

// What Shorten leaves out, Complete brings back.
func TestShorten(t *testing.T) {
	entry := fuse.EntryOut{NodeId: 7, EntryValid: 3600, AttrValid: 3600, Attr: fuse.Attr{
		Ino: 7, Size: 5, Blocks: 1, Atime: 9, Mtime: 9, Ctime: 9, Mode: 33188, Nlink: 1, Blksize: 4096,
	}}
	other := entry
	other.Attr.Ino, other.Attr.Blocks, other.Attr.Mtimensec = 9, 8, 1
	for _, c := range []struct {
		name string
		op   proto.Opcode
		in   any
		r    proto.Reply
		want string
	}{
		{"all defaults", proto.OpLookup, nil, proto.Reply{Out: &entry},
			`{"Errno":0,"Out":{"NodeId":7,"Attr":{"Size":5,"Atime":9,"Mtime":9,"Ctime":9,"Mode":33188,"Nlink":1,"Owner":{"Uid":0,"Gid":0}}}}`},
		{"one that has no default", proto.OpLookup, nil, proto.Reply{Out: &other}, ""},
		{"an error", proto.OpLookup, nil, proto.Reply{Errno: 2}, `{"Errno":2}`},
		{"a listing", proto.OpReaddir, &fuse.ReadIn{Offset: 4, Size: 4096}, proto.Reply{Entries: []proto.Dirent{{Ino: 3, Off: 5, Type: 8, Name: "a"}, {Ino: 4, Off: 6, Type: 8, Name: "b"}}},
			`{"Errno":0,"Entries":[{"Ino":3,"Type":8,"Name":"a"},{"Ino":4,"Type":8,"Name":"b"}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			req := &proto.Request{Op: c.op, Header: proto.Header{NodeId: 1}, In: c.in, Names: make([]string, c.op.Row().Names)}
			text, err := proto.AppendReplyJSON(nil, req, &c.r)
			require.NoError(t, err)
			short := schema.Shorten(req, text, nil)
			if c.want == "" {
				c.want = string(text)
			}
			assert.Equal(t, c.want, string(short))
			require.NoError(t, schema.Validate(c.op, schema.Lean, schema.Wrap(short)))
			whole, err := schema.Complete(req, short, nil)
			require.NoError(t, err)
			assert.Equal(t, string(text), string(whole))
		})
	}
}

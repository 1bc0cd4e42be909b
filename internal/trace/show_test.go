package trace

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

func open(t *testing.T, data []byte) *Reader {
	r, err := NewReader(bytes.NewReader(data), "x.jsonl")
	require.NoError(t, err)
	return r
}

func TestShow(t *testing.T) {
	data := sessionTrace(t)
	for file, o := range map[string]ShowOptions{
		"testdata/session.show":       {},
		"testdata/session-all.show":   {All: true, Excerpt: 100},
		"testdata/session-color.show": {Color: true},
	} {
		o.Zone = time.UTC
		var out bytes.Buffer
		require.NoError(t, Show(&out, open(t, data), o))
		golden(t, file, out.Bytes())
	}
}

func TestShowPilot(t *testing.T) {
	r, err := Open("testdata/pilot.jsonl")
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, Show(&out, r, ShowOptions{Zone: time.UTC}))
	golden(t, "testdata/pilot.show", out.Bytes())
}

func TestColored(t *testing.T) {
	require.False(t, Colored(&bytes.Buffer{}))
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer null.Close()
	require.False(t, Colored(null))
}

// What is forgotten takes no memory, and a directory within itself ends.
func TestTree(t *testing.T) {
	tree := newTree()
	for i := range uint64(1000) {
		tree.see(link{1, "x"}, 10+i)
		tree.forget(10+i, 1)
	}
	require.Empty(t, tree.nodes)
	require.Empty(t, tree.names)

	tree.see(link{1, "y"}, 5)
	tree.see(link{1, "y"}, 5)
	tree.forget(5, 1)
	require.Equal(t, "/y", tree.path(5))
	tree.forget(5, 9)
	require.Equal(t, "#5", tree.path(5))

	tree.see(link{2, "loop"}, 2)
	require.Contains(t, tree.path(2), "…/loop/loop")
	require.Equal(t, "#99", tree.path(99))
	require.Equal(t, "#99/a", tree.child(link{99, "a"}))
}

func TestExchange(t *testing.T) {
	tree := newTree()
	tree.see(link{1, "a"}, 2)
	tree.see(link{1, "b"}, 3)
	p := &Pair{Rep: &proto.Reply{}, Req: &proto.Request{
		Op: proto.OpRename2, Names: []string{"a", "b"}, Header: proto.Header{NodeId: 1}, In: &fuse.RenameIn{Newdir: 1, Flags: 2},
	}}
	tree.learn(p)
	require.Equal(t, "/b", tree.path(2))
	require.Equal(t, "/a", tree.path(3))
	p.Req.In.(*fuse.RenameIn).Flags = 0
	tree.learn(p)
	require.Equal(t, "/b", tree.path(3))
	require.Equal(t, "/b(deleted)", tree.path(2))
}

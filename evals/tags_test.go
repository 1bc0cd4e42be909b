package evals

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

func tagged(t *testing.T, name string) (*Trace, []Tags) {
	c, err := Embedded()
	require.NoError(t, err)
	for _, info := range c.Manifest.Traces {
		if info.Name == name {
			tr, err := c.Trace(info)
			require.NoError(t, err)
			tags := Tag(tr)
			require.Len(t, tags, len(tr.Pairs))
			return tr, tags
		}
	}
	t.Fatalf("have no trace %s", name)
	return nil, nil
}

// The steps of a short trace, one by one.
func TestTags(t *testing.T) {
	for _, tc := range []struct {
		trace string
		pair  int
		op    proto.Opcode
		want  Tags
	}{
		{"files/basic", 2, proto.OpLookup, Tags{History: 1}},
		{"files/basic", 3, proto.OpCreate, Tags{Mutating: true, Changed: 11, History: 2}},
		{"files/basic", 5, proto.OpWrite, Tags{Mutating: true, Changed: 4, History: 4, Bytes: 13}},
		{"files/basic", 6, proto.OpFlush, Tags{History: 5}},
		{"files/basic", 8, proto.OpGetattr, Tags{Distance: 4, History: 6}},
		{"files/basic", 11, proto.OpRead, Tags{Distance: 5, History: 9, Bytes: 13}},
		{"files/basic", 20, proto.OpWrite, Tags{Mutating: true, Changed: 3, History: 16, Bytes: 5}},
		{"files/basic", 24, proto.OpRead, Tags{Distance: 1, History: 20, Bytes: 7}},
		{"files/basic", 27, proto.OpOpen, Tags{Mutating: true, Changed: 4, History: 22}},
		{"files/basic", 33, proto.OpLookup, Tags{Distance: 5, Dir: 1, History: 27}},
		{"files/basic", 34, proto.OpUnlink, Tags{Mutating: true, Changed: 6, Distance: 6, Dir: 1, History: 28}},
		{"files/basic", 37, proto.OpLookup, Tags{Distance: 2, History: 30}},
		{"rename/basic", 13, proto.OpMkdir, Tags{Mutating: true, Changed: 13, Dir: 2, History: 10}},
		{"rename/basic", 21, proto.OpRename, Tags{Mutating: true, Changed: 5, Distance: 16, Dir: 4, History: 18}},
		{"rename/basic", 25, proto.OpRename, Tags{Mutating: true, Changed: 7, Distance: 4, Dir: 4, History: 22}},
		{"rename/basic", 32, proto.OpRename, Tags{Distance: 12, Dir: 3, History: 28}},
		{"rename/basic", 39, proto.OpRename, Tags{Mutating: true, Changed: 9, Distance: 4, Dir: 2, History: 35}},
		{"xattrs/basic", 17, proto.OpListxattr, Tags{Distance: 1, History: 16, Bytes: 39}},
		{"xattrs/basic", 38, proto.OpGetxattr, Tags{Distance: 25, History: 37, Bytes: 3}},
		{"big/pages", 42, proto.OpReaddirplus, Tags{Distance: 3, Dir: 12, History: 41}},
	} {
		tr, tags := tagged(t, tc.trace)
		require.Equal(t, tc.op, tr.Pairs[tc.pair].Req.Op)
		assert.Equal(t, tc.want, tags[tc.pair], "%s, pair %d", tc.trace, tc.pair)
	}
}

// What only looks changes nothing, an errno changes nothing, and no answer is
// decided by what comes later.
func TestTagsOfAllTraces(t *testing.T) {
	c, err := Embedded()
	require.NoError(t, err)
	looks := []proto.Opcode{proto.OpLookup, proto.OpGetattr, proto.OpReadlink, proto.OpStatfs, proto.OpRead, proto.OpReaddir, proto.OpReaddirplus, proto.OpAccess}
	mutating, far := 0, 0
	for _, info := range c.Traces(Full) {
		tr, err := c.Trace(info)
		require.NoError(t, err)
		for i, tag := range Tag(tr) {
			p := tr.Pairs[i]
			require.Equal(t, tag.Mutating, tag.Changed > 0)
			require.LessOrEqual(t, tag.Distance, tag.History)
			if slices.Contains(looks, p.Req.Op) || p.Rep != nil && p.Rep.Errno != 0 {
				require.False(t, tag.Mutating, "%s, pair %d", info.Name, i)
			}
			if tag.Mutating {
				mutating++
			}
			if tag.Distance > 20 {
				far++
			}
		}
	}
	assert.Greater(t, mutating, 500)
	assert.Greater(t, far, 100)
}

func BenchmarkTag(b *testing.B) {
	c, err := Embedded()
	require.NoError(b, err)
	tr, err := c.Trace(c.Traces(Long)[0])
	require.NoError(b, err)
	for b.Loop() {
		Tag(tr)
	}
	b.ReportMetric(float64(len(tr.Pairs)*b.N)/b.Elapsed().Seconds(), "pairs/s")
}

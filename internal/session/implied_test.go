package session

import (
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/assert"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

func keeping() Options {
	o := conversation(Ledger, 8)
	o.KeepAttrs = true
	return o
}

// What follows from what was said reaches no model; what does not, does.
func TestImplied(t *testing.T) {
	m := newRight()
	s := New(m, keeping())
	c := callerOf(t, s)
	dir := c.mkdir(1, "d")
	file := c.file(dir, "f", "0123456789")
	calls := func(f func()) uint64 {
		before := s.Stats().Calls
		f()
		return s.Stats().Calls - before
	}
	assert.Zero(t, calls(func() {
		out := c.do(proto.OpLookup, dir, nil, "", "missing").Out.(*fuse.EntryOut)
		assert.Zero(t, out.NodeId)
		assert.EqualValues(t, 3600, out.EntryValid)
	}), "a directory that was made is known whole")
	assert.NotZero(t, calls(func() { c.do(proto.OpLookup, 1, nil, "", "other") }), "the root has not been listed")
	assert.Zero(t, calls(func() { c.do(proto.OpGetattr, dir, nil, "") }), "its times follow from its changes")
	read := func(off uint64, size uint32) string {
		return string(c.do(proto.OpRead, file, &fuse.ReadIn{Offset: off, Size: size}, "").Data)
	}
	assert.Zero(t, calls(func() {
		assert.Equal(t, "0123456789", read(0, 4096))
		assert.Equal(t, "456", read(4, 3))
		assert.Empty(t, read(10, 5))
		assert.Empty(t, read(1<<62, 5))
	}), "what was written is there")
	c.do(proto.OpSetattr, file, &fuse.SetAttrIn{SetAttrInCommon: fuse.SetAttrInCommon{Valid: fuse.FATTR_SIZE, Size: 4}}, "")
	c.do(proto.OpSetattr, file, &fuse.SetAttrIn{SetAttrInCommon: fuse.SetAttrInCommon{Valid: fuse.FATTR_SIZE, Size: 8}}, "")
	assert.Zero(t, calls(func() { assert.Equal(t, "0123\x00\x00\x00\x00", read(0, 4096)) }), "what was cut off is zeros")
	c.do(proto.OpUnlink, dir, nil, "", "f")
	assert.Zero(t, calls(func() { assert.Zero(t, c.do(proto.OpLookup, dir, nil, "", "f").Out.(*fuse.EntryOut).NodeId) }))
	assert.NotZero(t, s.Totals().Implied)
}

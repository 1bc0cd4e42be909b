package faulty

// What only models do: they forget, repeat themselves, err at random, or say
// the same whatever they are asked.

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/internal/model/reference"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

var models = []Mutant{
	{"null", "model", "success with an empty struct, whatever is asked", nil, always(func(*call) *proto.Reply { return &proto.Reply{} })},
	{"constant", "model", "the first reply to an opcode is the reply to all others of it", nil, constant},
	{"late", "model", "each reply is the one that the last request of the same opcode should have had", nil, late},
	{"amnesiac", "model", "a fresh filesystem for each request", nil, amnesiac},
	{"enosys", "model", "ENOSYS, whatever is asked", nil, always(func(*call) *proto.Reply { return fail(syscall.ENOSYS) })},
	{"eio", "model", "EIO, whatever is asked", nil, always(func(*call) *proto.Reply { return fail(syscall.EIO) })},
	{"enoent", "model", "ENOENT, whatever is asked", nil, always(func(*call) *proto.Reply { return fail(syscall.ENOENT) })},
	{"never-fails", "model", "what should fail succeeds with an empty struct", nil, neverFails},
	forgetful(32),
	forgetful(128),
	noiseMutant(1),
	noiseMutant(5),
	noiseMutant(20),
}

func constant(c *call) *proto.Reply {
	r := c.next()
	if first := c.mind.last[c.req.Op]; first != nil {
		return c.again(first)
	}
	c.mind.last[c.req.Op] = r
	return r
}

func late(c *call) *proto.Reply {
	r := c.next()
	last := c.mind.last[c.req.Op]
	c.mind.last[c.req.Op] = r
	if last == nil {
		return r
	}
	return c.again(last)
}

// again is an earlier reply in the shape that this request takes.
func (c *call) again(r *proto.Reply) *proto.Reply {
	copied := *r
	if sized, ok := c.req.In.(*fuse.GetXAttrIn); ok && (sized.Size == 0) != (r.Out != nil) {
		copied.Out, copied.Data = nil, nil
	}
	if limit, ok := c.req.DataLimit(); ok && uint64(len(copied.Data)) > limit {
		copied.Data = copied.Data[:limit]
	}
	copied.Notify = nil
	return &copied
}

func amnesiac(c *call) *proto.Reply {
	c.World.FS = reference.New(c.options)
	return c.next()
}

func neverFails(c *call) *proto.Reply {
	r := c.next()
	if r.Errno != 0 {
		return &proto.Reply{}
	}
	return r
}

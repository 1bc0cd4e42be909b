package faulty

// One request on its way through a mutant, and what a fault can ask of the
// reference meanwhile.

import (
	"context"
	"slices"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

type call struct {
	*World
	ctx context.Context
	req *proto.Request
}

// next is what the reference replies to the request.
func (c *call) next() *proto.Reply { return c.ask(c.req) }

// ask is what the reference replies to any request.
func (c *call) ask(r *proto.Request) *proto.Reply {
	text, err := proto.AppendRequestJSON(nil, r)
	if err != nil {
		return fail(syscall.EIO)
	}
	a, err := c.refer(c.ctx, r.Op, &model.Prompt{Op: r.Op, Request: text})
	if err != nil {
		return fail(syscall.EIO)
	}
	reply, err := proto.ParseReplyJSON(r, a.Reply)
	if err != nil {
		return fail(syscall.EIO)
	}
	return reply
}

// edited is the request with its In changed; the original stays as it was.
func edited[In any](r *proto.Request, change func(*In)) *proto.Request {
	copied := *r
	copied.Names = slices.Clone(r.Names)
	in := *r.In.(*In)
	change(&in)
	copied.In = &in
	return &copied
}

// nextWith is the reference's reply to the request with its In changed.
func nextWith[In any](c *call, change func(*In)) *proto.Reply {
	return c.ask(edited(c.req, change))
}

// in is the request's struct; nil where it has another.
func in[In any](c *call) *In {
	p, _ := c.req.In.(*In)
	return p
}

// own is a request of root's that comes at the same time as the caller's.
func (c *call) own(op proto.Opcode, node uint64, in any, data []byte, names ...string) *proto.Reply {
	h := c.req.Header
	h.NodeId, h.Uid, h.Gid, h.Groups = node, 0, 0, nil
	return c.ask(&proto.Request{Op: op, Header: h, In: in, Data: data, Names: names})
}

// asRoot is the reference's reply if root asked.
func (c *call) asRoot() *proto.Reply {
	r := *c.req
	r.Header.Uid, r.Header.Gid, r.Header.Groups = 0, 0, nil
	return c.ask(&r)
}

// attr are a node's attributes; zeros where there is no such node.
func (c *call) attr(node uint64) fuse.Attr {
	out, ok := c.own(proto.OpGetattr, node, &fuse.GetAttrIn{}, nil).Out.(*fuse.AttrOut)
	if !ok {
		return fuse.Attr{}
	}
	return out.Attr
}

// set changes attributes and leaves ctime as it was, unless it is one of them.
func (c *call) set(node uint64, in fuse.SetAttrInCommon) {
	if in.Valid&fuse.FATTR_CTIME == 0 {
		a := c.attr(node)
		in.Valid |= fuse.FATTR_CTIME
		in.Ctime, in.Ctimensec = a.Ctime, a.Ctimensec
	}
	c.own(proto.OpSetattr, node, &fuse.SetAttrIn{SetAttrInCommon: in}, nil)
}

// The three times of a node, back to what they were.
func (c *call) resetTimes(was fuse.Attr, valid uint32) {
	c.set(was.Ino, fuse.SetAttrInCommon{
		Valid: valid, Atime: was.Atime, Mtime: was.Mtime, Ctime: was.Ctime,
		Atimensec: was.Atimensec, Mtimensec: was.Mtimensec, Ctimensec: was.Ctimensec,
	})
}

// peek is the entry of a name, without the kernel having been told of it.
func (c *call) peek(dir uint64, name string) (fuse.EntryOut, bool) {
	out, ok := c.own(proto.OpLookup, dir, nil, nil, name).Out.(*fuse.EntryOut)
	if !ok || out.NodeId == 0 {
		return fuse.EntryOut{}, false
	}
	c.own(proto.OpForget, out.NodeId, &fuse.ForgetIn{Nlookup: 1}, nil)
	return *out, true
}

// opened calls f with a handle of its own, whose number is given out again.
// Where nothing is opened, any will do.
func (c *call) opened(node uint64, f func(fh uint64)) {
	if c.options.NoOpen {
		f(0)
		return
	}
	before := c.Numbers()
	out, ok := c.own(proto.OpOpen, node, &fuse.OpenIn{Flags: ownFlags}, nil).Out.(*fuse.OpenOut)
	if !ok {
		return
	}
	f(out.Fh)
	c.own(proto.OpRelease, node, &fuse.ReleaseIn{Fh: out.Fh}, nil)
	c.SetNumbers(before)
}

const (
	most     = 1 << 20 // bytes that a fault moves around
	ownFlags = syscall.O_RDWR | syscall.O_NOATIME
)

// bytesOf reads a range of a file.
func (c *call) bytesOf(node, from, to uint64) (data []byte) {
	if to <= from {
		return nil
	}
	c.opened(node, func(fh uint64) {
		in := &fuse.ReadIn{Fh: fh, Offset: from, Size: uint32(min(to-from, most)), Flags: ownFlags}
		data = c.own(proto.OpRead, node, in, nil).Data
	})
	return data
}

// put writes into a file whose times and mode stay as they are.
func (c *call) put(node, off uint64, data []byte) {
	if len(data) == 0 {
		return
	}
	was := c.attr(node)
	c.opened(node, func(fh uint64) {
		c.own(proto.OpWrite, node, &fuse.WriteIn{Fh: fh, Offset: off, Size: uint32(len(data)), Flags: ownFlags}, data)
	})
	c.resetTimes(was, fuse.FATTR_MTIME|fuse.FATTR_CTIME)
}

// children are the names in a directory, "." and ".." left out.
func (c *call) children(dir uint64) (list []proto.Dirent) {
	was := c.attr(dir)
	c.openedDir(dir, func(fh uint64) {
		for off := uint64(0); off != proto.EndCookie; {
			in := &fuse.ReadIn{Fh: fh, Offset: off, Size: most, Flags: syscall.O_NOATIME}
			page := c.own(proto.OpReaddir, dir, in, nil).Entries
			if len(page) == 0 {
				break
			}
			list, off = append(list, page...), page[len(page)-1].Off
		}
	})
	c.resetTimes(was, fuse.FATTR_ATIME)
	return slices.DeleteFunc(list, func(e proto.Dirent) bool { return e.Name == "." || e.Name == ".." })
}

// openedDir is opened, for directories.
func (c *call) openedDir(dir uint64, f func(fh uint64)) {
	if c.options.NoOpen {
		f(0)
		return
	}
	before := c.Numbers()
	out, ok := c.own(proto.OpOpendir, dir, &fuse.OpenIn{}, nil).Out.(*fuse.OpenOut)
	if !ok {
		return
	}
	f(out.Fh)
	c.own(proto.OpReleasedir, dir, &fuse.ReleaseIn{Fh: out.Fh}, nil)
	c.SetNumbers(before)
}

// empty removes everything in a directory.
func (c *call) empty(dir uint64) {
	for _, e := range c.children(dir) {
		op := proto.OpUnlink
		if e.Type == syscall.S_IFDIR>>12 {
			op = proto.OpRmdir
			c.empty(e.Ino)
		}
		c.own(op, dir, nil, nil, e.Name)
	}
}

package reference

// LOOKUP, and FORGET, which undoes it.

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// lookup also resolves "." and "..", which the kernel asks for when it
// reconnects the node of a file handle (FUSE_EXPORT_SUPPORT).
func (c *call) lookup() syscall.Errno {
	dir, e := c.directory(c.Header.NodeId)
	if e != 0 {
		return e
	}
	n := dir
	switch c.Names[0] {
	case ".":
	case "..":
		if dir.nlink == 0 {
			return syscall.ENOENT
		}
		n = dir.dir.parent
	default:
		p, e := c.place(c.Header.NodeId, c.Names[0])
		if e != 0 {
			return e
		}
		if p.entry == nil {
			return c.missing()
		}
		n = p.entry.node
	}
	out := c.entry(n)
	c.reply.Out = &out
	c.along(n, &out.Attr)
	return 0
}

// missing is ENOENT, in the form that the kernel caches if that is wanted.
func (c *call) missing() syscall.Errno {
	if c.fs.opt.NoNegative {
		return syscall.ENOENT
	}
	v := c.fs.names
	c.reply.Out = &fuse.EntryOut{EntryValid: v.sec, EntryValidNsec: v.nsec}
	return 0
}

// entry tells the kernel of a node and counts that it was told.
func (c *call) entry(n *inode) fuse.EntryOut {
	n.lookups.Add(1)
	v, names := c.fs.valid, c.fs.names
	return fuse.EntryOut{
		NodeId:         n.ino,
		EntryValid:     names.sec,
		EntryValidNsec: names.nsec,
		AttrValid:      v.sec,
		AttrValidNsec:  v.nsec,
		Attr:           c.attr(n),
	}
}

func (c *call) forget() syscall.Errno {
	c.fs.forget(c.Header.NodeId, c.In.(*fuse.ForgetIn).Nlookup)
	return 0
}

func (c *call) batchForget() syscall.Errno {
	list, _ := c.List.([]proto.ForgetOne)
	for _, one := range list {
		c.fs.forget(one.NodeId, one.Nlookup)
	}
	return 0
}

// forget can't fail: nobody waits for an answer.
func (f *FS) forget(nodeid, nlookup uint64) {
	n := f.inodes[nodeid]
	if n == nil {
		return
	}
	n.lookups.Store(n.lookups.Load() - min(nlookup, n.lookups.Load()))
	f.evict(n)
}

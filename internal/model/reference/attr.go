package reference

// GETATTR and STATX.

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

func (n *inode) attr() fuse.Attr {
	n.mu.Lock()
	defer n.mu.Unlock()
	return fuse.Attr{
		Ino: n.ino, Size: uint64(n.size64()), Blocks: uint64(n.data.blocks) * (pageSize / 512),
		Atime: uint64(n.atime.Sec), Mtime: uint64(n.mtime.Sec), Ctime: uint64(n.ctime.Sec),
		Atimensec: n.atime.Nsec, Mtimensec: n.mtime.Nsec, Ctimensec: n.ctime.Nsec,
		Mode: n.mode, Nlink: n.nlink, Owner: fuse.Owner{Uid: n.uid, Gid: n.gid},
		Rdev: n.rdev, Blksize: pageSize,
	}
}

// attr is what a reply says of an inode.
func (c *call) attr(n *inode) fuse.Attr {
	a := n.attr()
	if c.fs.opt.Plain {
		if n.dir != nil {
			a.Size = pageSize
		}
		a.Blocks = (a.Size + 511) / 512
	}
	return a
}

// Attr is what is known of a node's attributes.
func (f *FS) Attr(id uint64) (fuse.Attr, bool) {
	f.ns.RLock()
	defer f.ns.RUnlock()
	n := f.inodes[id]
	if n == nil {
		return fuse.Attr{}, false
	}
	return (&call{fs: f}).attr(n), true
}

// plain takes from a request what finer times than seconds it brings.
func plain(r *proto.Request) {
	r.Header.Now.Nsec = 0
	if in, ok := r.In.(*fuse.SetAttrIn); ok {
		in.Atimensec, in.Mtimensec, in.Ctimensec = 0, 0, 0
	}
}

// size64 is st_size. That of a directory counts "." and ".." as entries.
func (n *inode) size64() int64 {
	if n.dir != nil {
		return int64(2+n.dir.len()) * bogoDirentSize
	}
	return n.size
}

func (c *call) attrOut(n *inode) *fuse.AttrOut {
	v := c.fs.valid
	return &fuse.AttrOut{AttrValid: v.sec, AttrValidNsec: v.nsec, Attr: c.attr(n)}
}

func (c *call) getattr() syscall.Errno {
	n, e := c.inode()
	if e != 0 {
		return e
	}
	in := c.In.(*fuse.GetAttrIn)
	if in.Flags_&fuse.FUSE_GETATTR_FH != 0 && c.handle(in.Fh_, n) == nil {
		return syscall.EBADF
	}
	c.reply.Out = c.attrOut(n)
	return 0
}

func (c *call) statx() syscall.Errno {
	n, e := c.inode()
	if e != 0 {
		return e
	}
	in := c.In.(*fuse.StatxIn)
	if in.GetattrFlags&fuse.FUSE_GETATTR_FH != 0 && c.handle(in.Fh, n) == nil {
		return syscall.EBADF
	}
	v := c.fs.valid
	c.reply.Out = &fuse.StatxOut{AttrValid: v.sec, AttrValidNsec: v.nsec, Statx: c.statxOf(n)}
	return 0
}

// statxFlags are the STATX_ATTR_ bits that shmem_getattr() knows.
const statxFlags = unix.STATX_ATTR_APPEND | unix.STATX_ATTR_IMMUTABLE | unix.STATX_ATTR_NODUMP

func (c *call) statxOf(n *inode) fuse.Statx {
	a := c.attr(n)
	n.mu.Lock()
	defer n.mu.Unlock()
	return fuse.Statx{
		Mask:    unix.STATX_BASIC_STATS | unix.STATX_BTIME,
		Blksize: a.Blksize, Nlink: a.Nlink, Uid: a.Uid, Gid: a.Gid, Mode: uint16(a.Mode),
		// The STATX_ATTR_ bits have the values of the FS_ flags.
		Attributes: uint64(n.flags & statxFlags), AttributesMask: statxFlags,
		Ino: a.Ino, Size: a.Size, Blocks: a.Blocks,
		Atime: sxTime(n.atime), Btime: sxTime(n.btime), Ctime: sxTime(n.ctime), Mtime: sxTime(n.mtime),
		RdevMajor: (a.Rdev & 0xfff00) >> 8,
		RdevMinor: a.Rdev&0xff | a.Rdev>>12&0xfff00,
	}
}

func sxTime(t proto.Time) fuse.SxTime { return fuse.SxTime{Sec: uint64(t.Sec), Nsec: t.Nsec} }

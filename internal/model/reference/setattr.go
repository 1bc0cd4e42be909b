package reference

// SETATTR: chmod(2), chown(2), truncate(2), utimensat(2).

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// The bits of Valid that change something, and those of a time.
const (
	fattrTimes   = fuse.FATTR_ATIME | fuse.FATTR_MTIME
	fattrNow     = fuse.FATTR_ATIME_NOW | fuse.FATTR_MTIME_NOW
	fattrOwner   = fuse.FATTR_UID | fuse.FATTR_GID
	fattrChanges = fattrOwner | fattrTimes | fuse.FATTR_MODE | fuse.FATTR_SIZE
)

func (c *call) setattr() syscall.Errno {
	n, e := c.inode()
	if e != 0 {
		return e
	}
	in := c.In.(*fuse.SetAttrIn)
	if e := c.maySetattr(n, in); e != 0 {
		return e
	}
	if !c.removesPrivileges(n, in) {
		c.change(n, in)
	}
	c.reply.Out = c.attrOut(n)
	return 0
}

func (c *call) change(n *inode, in *fuse.SetAttrIn) {
	if in.Valid&fuse.FATTR_SIZE != 0 {
		c.truncate(n, in)
	}
	if in.Valid&fattrOwner != 0 || in.Valid&fattrChanges == 0 {
		c.chown(n, in)
	}
	if in.Valid&fuse.FATTR_MODE != 0 {
		c.chmod(n, in.Mode)
	}
	if in.Valid&fattrChanges != fuse.FATTR_SIZE {
		n.ctime = c.Header.Now
	}
	c.utimes(n, in)
}

// removesPrivileges tells apart the two requests that arrive without any bit:
// chown(-1, -1), and what the kernel sends ahead of the write of an
// unprivileged caller to a file with a setuid or setgid bit. The second is to
// change nothing, as the write does so itself. Of an owner's request nobody
// can tell, and it is taken for the first.
func (c *call) removesPrivileges(n *inode, in *fuse.SetAttrIn) bool {
	return in.Valid&fattrChanges == 0 && n.is(sIFREG) && n.mode&(sISUID|sISGID) != 0 &&
		!c.root() && c.Header.Uid != n.uid
}

// maySetattr is notify_change() up to the change.
func (c *call) maySetattr(n *inode, in *fuse.SetAttrIn) syscall.Errno {
	if in.Atimensec >= 1e9 || in.Mtimensec >= 1e9 || in.Ctimensec >= 1e9 {
		return syscall.EINVAL
	}
	if in.Valid&fuse.FATTR_SIZE != 0 {
		if e := c.mayTruncate(n, in); e != 0 {
			return e
		}
	}
	if in.Valid&fuse.FATTR_MODE != 0 && n.is(sIFLNK) {
		return syscall.EOPNOTSUPP
	}
	touch := in.Valid&fattrTimes == fattrTimes && in.Valid&fattrNow == fattrNow
	times := in.Valid&fattrTimes != 0 && !touch
	const fixed = flImmutable | flAppend
	switch {
	case (in.Valid&(fattrOwner|fuse.FATTR_MODE) != 0 || times) && n.flags&fixed != 0,
		touch && n.flags&flImmutable != 0,
		in.Valid&fuse.FATTR_UID != 0 && !c.mayGiveTo(n, in.Uid),
		in.Valid&fuse.FATTR_GID != 0 && !c.mayGiveToGroup(n, in.Gid),
		(in.Valid&fuse.FATTR_MODE != 0 || times) && !c.owns(n):
		return syscall.EPERM
	case touch && !c.owns(n):
		return c.permission(n, mayWrite)
	}
	return 0
}

// mayTruncate is vfs_truncate(), or ftruncate(2) where a handle is given.
func (c *call) mayTruncate(n *inode, in *fuse.SetAttrIn) syscall.Errno {
	var h *handle
	if in.Valid&fuse.FATTR_FH != 0 {
		if h = c.handle(in.Fh, n); h == nil {
			return syscall.EBADF
		}
	}
	switch {
	case n.dir != nil:
		return syscall.EISDIR
	case !n.is(sIFREG), in.Size > uint64(maxBytes):
		return syscall.EINVAL
	}
	if h == nil || !h.writable() {
		if e := c.permission(n, mayWrite); e != 0 {
			return e
		}
	}
	if n.flags&flAppend != 0 {
		return syscall.EPERM
	}
	return 0
}

// mayGiveTo is chown_ok(), mayGiveToGroup chgrp_ok().
func (c *call) mayGiveTo(n *inode, uid uint32) bool {
	return !c.fs.opt.CheckPermissions || c.root() || c.Header.Uid == n.uid && uid == n.uid
}

func (c *call) mayGiveToGroup(n *inode, gid uint32) bool {
	return !c.fs.opt.CheckPermissions || c.root() ||
		c.Header.Uid == n.uid && (gid == n.gid || c.in(gid))
}

// truncate modifies the file if its size or its blocks change, or if it comes
// by a handle: ftruncate(2) always does, truncate(2) to the same size does not.
// Without OPEN the request may be open(2)'s with O_TRUNC, which always does.
func (c *call) truncate(n *inode, in *fuse.SetAttrIn) {
	c.killPrivileges(n, in.Valid&fuse.FATTR_KILL_SUIDGID != 0)
	opening := c.fs.opt.NoOpen && in.Size == 0
	if c.resize(n, int64(in.Size)) || in.Valid&fuse.FATTR_FH != 0 || opening {
		n.modified(c.Header.Now)
	}
}

// resize says whether shmem_setattr() would count it as a modification: where
// the file has blocks, those beyond its end are looked for.
func (c *call) resize(n *inode, size int64) (changed bool) {
	changed = size != n.size || n.data.blocks > 0
	if size <= n.size {
		n.data.truncate(&c.fs.space, size)
	}
	n.size = size
	return changed
}

// chown also takes the privileges away that the old owner gave, even from root.
func (c *call) chown(n *inode, in *fuse.SetAttrIn) {
	if n.dir == nil {
		c.dropCapability(n)
		n.mode &^= sISUID
		c.dropSetgid(n)
	}
	if in.Valid&fuse.FATTR_UID != 0 {
		n.uid = in.Uid
	}
	if in.Valid&fuse.FATTR_GID != 0 {
		n.gid = in.Gid
	}
}

func (c *call) chmod(n *inode, mode uint32) {
	mode &= permBits
	if !c.inOrCapable(n.gid) {
		mode &^= sISGID
	}
	n.mode = n.format | mode
	if n.attrs != nil && n.attrs.access != nil {
		n.attrs.access = n.attrs.access.chmod(mode)
	}
}

func (c *call) utimes(n *inode, in *fuse.SetAttrIn) {
	now := c.Header.Now
	set := func(t *proto.Time, valid, nowBit uint32, sec uint64, nsec uint32) {
		switch {
		case in.Valid&valid == 0:
		case in.Valid&nowBit != 0:
			*t = now
		default:
			*t = proto.Time{Sec: int64(sec), Nsec: nsec}
		}
	}
	set(&n.atime, fuse.FATTR_ATIME, fuse.FATTR_ATIME_NOW, in.Atime, in.Atimensec)
	set(&n.mtime, fuse.FATTR_MTIME, fuse.FATTR_MTIME_NOW, in.Mtime, in.Mtimensec)
	set(&n.ctime, fuse.FATTR_CTIME, 0, in.Ctime, in.Ctimensec)
}

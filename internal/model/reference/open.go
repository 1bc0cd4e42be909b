package reference

// OPEN, OPENDIR, RELEASE, RELEASEDIR, FLUSH and the fsyncs.

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

func (c *call) open() syscall.Errno {
	n, e := c.inode()
	if e != 0 {
		return e
	}
	in := c.In.(*fuse.OpenIn)
	if e := c.mayOpen(n, in.Flags); e != 0 {
		return e
	}
	c.truncateOpened(n, in.Flags, in.Mode)
	out := c.openOut(n, in.Flags)
	c.reply.Out = &out
	return 0
}

func (c *call) openOut(n *inode, flags uint32) fuse.OpenOut {
	out := fuse.OpenOut{OpenFlags: c.fs.opt.openFlags(n.dir != nil)}
	if !c.fs.opt.NoOpen {
		out.Fh = c.fs.files.add(n, flags)
	}
	return out
}

func (c *call) opendir() syscall.Errno {
	n, e := c.inode()
	if e != 0 {
		return e
	}
	if n.dir == nil {
		return syscall.ENOTDIR
	}
	in := c.In.(*fuse.OpenIn)
	if accessMode(in.Flags)&mayWrite != 0 {
		return syscall.EISDIR
	}
	if e := c.openable(n, in.Flags); e != 0 {
		return e
	}
	out := c.openOut(n, in.Flags)
	c.reply.Out = &out
	return 0
}

// accessMode is what permissions open(2) flags ask for.
func accessMode(flags uint32) uint32 {
	mask := [4]uint32{mayRead, mayWrite, mayRead | mayWrite, mayRead | mayWrite}[flags&syscall.O_ACCMODE]
	if flags&fmodeExec != 0 {
		mask = mayExec
	}
	if flags&syscall.O_TRUNC != 0 {
		mask |= mayWrite
	}
	return mask
}

// mayOpen is may_open() of what the filesystem itself opens: the kernel has
// its own ways with devices, pipes and sockets, and follows symbolic links.
func (c *call) mayOpen(n *inode, flags uint32) syscall.Errno {
	switch n.format {
	case sIFREG:
		return c.openable(n, flags)
	case sIFDIR:
		return syscall.EISDIR
	case sIFLNK:
		return syscall.ELOOP
	}
	return syscall.ENXIO
}

// mayWriteUnopened keeps what chattr(1) has locked where no OPEN asks: other
// than on tmpfs, from those who had it open before, too.
func (c *call) mayWriteUnopened(n *inode, in *fuse.WriteIn) syscall.Errno {
	if !c.fs.opt.NoOpen || in.WriteFlags&fuse.WRITE_CACHE != 0 {
		return 0
	}
	return c.openable(n, in.Flags&^syscall.O_TRUNC)
}

func (c *call) openable(n *inode, flags uint32) syscall.Errno {
	if e := c.permission(n, accessMode(flags)); e != 0 {
		return e
	}
	write := flags&syscall.O_ACCMODE != syscall.O_RDONLY
	if n.flags&flAppend != 0 && (write && flags&syscall.O_APPEND == 0 || flags&syscall.O_TRUNC != 0) {
		return syscall.EPERM
	}
	if flags&syscall.O_NOATIME != 0 && !c.owns(n) {
		return syscall.EPERM
	}
	return 0
}

// truncateOpened is handle_truncate(): O_TRUNC counts as a modification even
// where there was nothing to cut off.
func (c *call) truncateOpened(n *inode, flags, openFlags uint32) {
	if flags&syscall.O_TRUNC == 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	c.killPrivileges(n, openFlags&fuse.OPEN_KILL_SUIDGID != 0)
	c.resize(n, 0)
	n.modified(c.Header.Now)
}

// releaseFlockUnlock is FUSE_RELEASE_FLOCK_UNLOCK.
const releaseFlockUnlock = 1 << 1

func (c *call) releaseFile() syscall.Errno {
	in := c.In.(*fuse.ReleaseIn)
	n, _, e := c.opened(in.Fh)
	if e != 0 {
		return e
	}
	c.fs.files.remove(in.Fh)
	c.fs.locks.close(n, in.Fh)
	if in.ReleaseFlags&releaseFlockUnlock != 0 {
		c.fs.locks.unflock(n, in.LockOwner)
	}
	n.opens.Add(-1)
	c.fs.evict(n)
	return 0
}

// flush is one close(2): it drops all POSIX locks of the process.
func (c *call) flush() syscall.Errno {
	in := c.In.(*fuse.FlushIn)
	n, _, e := c.opened(in.Fh)
	if e == 0 {
		c.fs.locks.unlock(n, in.LockOwner)
	}
	return e
}

func (c *call) fsync() syscall.Errno {
	_, _, e := c.opened(c.In.(*fuse.FsyncIn).Fh)
	return e
}

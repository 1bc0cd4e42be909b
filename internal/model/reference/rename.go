package reference

// RENAME and RENAME2.

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

func (c *call) rename() syscall.Errno {
	in := c.In.(*fuse.RenameIn)
	var flags uint32
	if c.Op == proto.OpRename2 {
		flags = in.Flags
	}
	const all = unix.RENAME_NOREPLACE | unix.RENAME_EXCHANGE | unix.RENAME_WHITEOUT
	if flags&^all != 0 || flags&unix.RENAME_EXCHANGE != 0 && flags != unix.RENAME_EXCHANGE {
		return syscall.EINVAL
	}
	from, e := c.place(c.Header.NodeId, c.Names[0])
	if e != 0 {
		return e
	}
	to, e := c.place(in.Newdir, c.Names[1])
	if e == 0 {
		e = renamable(from, to, flags)
	}
	if e != 0 {
		return e
	}
	if to.entry != nil && to.entry.node == from.entry.node {
		return 0 // two names of one file: nothing happens, says POSIX
	}
	if e := c.mayRename(from, to, flags); e != 0 {
		return e
	}
	if flags&unix.RENAME_EXCHANGE != 0 {
		c.exchange(from, to)
		return 0
	}
	return c.move(from, to, flags&unix.RENAME_WHITEOUT != 0)
}

// renamable has the checks of do_renameat2(): do the names exist as they
// must, and is neither an ancestor of the other.
func renamable(from, to place, flags uint32) syscall.Errno {
	exchange := flags&unix.RENAME_EXCHANGE != 0
	switch {
	case from.entry == nil, exchange && to.entry == nil:
		return syscall.ENOENT
	case to.entry != nil && flags&unix.RENAME_NOREPLACE != 0:
		return syscall.EEXIST
	case within(to.dir, from.entry.node):
		return syscall.EINVAL
	case to.entry != nil && within(from.dir, to.entry.node) && exchange:
		return syscall.EINVAL
	case to.entry != nil && within(from.dir, to.entry.node):
		return syscall.ENOTEMPTY
	}
	return 0
}

// within says whether a directory is n or lies below n.
func within(dir, n *inode) bool {
	if n.dir == nil {
		return false
	}
	for ; dir != n; dir = dir.dir.parent {
		if dir == dir.dir.parent {
			return false
		}
	}
	return true
}

// mayRename is vfs_rename() up to the filesystem's own part.
func (c *call) mayRename(from, to place, flags uint32) syscall.Errno {
	source := from.entry.node
	if e := c.mayDelete(from, source.dir != nil); e != 0 {
		return e
	}
	if to.entry == nil {
		if e := c.mayCreate(to.dir); e != 0 {
			return e
		}
		return c.mayMove(source, from.dir, to.dir)
	}
	target := to.entry.node
	exchange := flags&unix.RENAME_EXCHANGE != 0
	isdir := source.dir != nil
	if exchange {
		isdir = target.dir != nil
	}
	if e := c.mayDelete(to, isdir); e != 0 {
		return e
	}
	if e := c.mayMove(source, from.dir, to.dir); e != 0 {
		return e
	}
	if exchange {
		return c.mayMove(target, to.dir, from.dir)
	}
	if target.dir != nil && target.dir.len() > 0 {
		return syscall.ENOTEMPTY
	}
	return 0
}

// mayMove is the right to write a directory whose ".." is to change.
func (c *call) mayMove(n, from, to *inode) syscall.Errno {
	if n.dir == nil || from == to {
		return 0
	}
	return c.permission(n, mayWrite)
}

// move is shmem_rename2() without RENAME_EXCHANGE. The whiteout is made first,
// as it can fail.
func (c *call) move(from, to place, whiteout bool) syscall.Errno {
	var white *inode
	if whiteout {
		var e syscall.Errno
		if white, e = c.make(from.dir, spec{mode: sIFCHR}); e != 0 {
			return e
		}
	}
	n := from.entry.node
	if to.entry != nil {
		c.detach(to)
	}
	c.remove(from)
	c.attach(to, n)
	if white != nil {
		c.attach(from, white)
	}
	n.ctime = c.Header.Now
	return 0
}

// remove takes a name out of a directory while its node goes elsewhere.
func (c *call) remove(p place) {
	if p.entry.node.dir != nil {
		p.dir.nlink--
	}
	p.dir.dir.remove(p.entry)
	p.dir.modified(c.Header.Now)
}

func (c *call) exchange(a, b place) {
	m, n := a.entry.node, b.entry.node
	c.remove(a)
	c.remove(b)
	c.attach(a, n)
	c.attach(b, m)
	m.ctime, n.ctime = c.Header.Now, c.Header.Now
}

package reference

// Who may do what: fs/namei.c's checks, which only mounts without
// default_permissions need, and those that every mount needs.

import (
	"slices"
	"syscall"
)

const (
	mayExec  = 1
	mayWrite = 2
	mayRead  = 4
)

func (c *call) root() bool { return c.Header.Uid == 0 }

// in says whether the caller is in a group.
func (c *call) in(gid uint32) bool {
	return c.Header.Gid == gid || slices.Contains(c.Header.Groups, gid)
}

// inOrCapable is in_group_or_capable(). Where the kernel checks permissions it
// has also dealt with what depends on this, and the groups are not known.
func (c *call) inOrCapable(gid uint32) bool {
	return c.root() || !c.fs.opt.CheckPermissions || c.in(gid)
}

// owns is inode_owner_or_capable().
func (c *call) owns(n *inode) bool {
	return !c.fs.opt.CheckPermissions || c.root() || c.Header.Uid == n.uid
}

// permission is inode_permission().
func (c *call) permission(n *inode, mask uint32) syscall.Errno {
	if mask&mayWrite != 0 {
		if c.fs.opt.ReadOnly && (n.is(sIFREG) || n.is(sIFDIR) || n.is(sIFLNK)) {
			return syscall.EROFS
		}
		if n.flags&flImmutable != 0 {
			return syscall.EPERM
		}
	}
	if !c.fs.opt.CheckPermissions {
		return 0
	}
	return c.generic(n, mask)
}

// generic is generic_permission().
func (c *call) generic(n *inode, mask uint32) syscall.Errno {
	n.mu.Lock()
	defer n.mu.Unlock()
	if c.root() {
		if mask&mayExec != 0 && n.dir == nil && n.mode&0o111 == 0 {
			return syscall.EACCES
		}
		return 0
	}
	granted := n.mode
	switch {
	case c.Header.Uid == n.uid:
		granted >>= 6
	case n.attrs != nil && n.attrs.access != nil && n.mode&0o070 != 0:
		return n.attrs.access.permission(c, n, mask)
	case c.in(n.gid):
		granted >>= 3
	}
	if mask&^granted&7 != 0 {
		return syscall.EACCES
	}
	return 0
}

// mayCreate is may_create() of a name that does not exist.
func (c *call) mayCreate(dir *inode) syscall.Errno {
	if c.fs.opt.ReadOnly {
		return syscall.EROFS
	}
	if dir.nlink == 0 {
		return syscall.ENOENT
	}
	return c.permission(dir, mayWrite|mayExec)
}

// mayDelete is may_delete() of a file, or of a directory where isdir says so.
func (c *call) mayDelete(p place, isdir bool) syscall.Errno {
	if e := c.permission(p.dir, mayWrite|mayExec); e != 0 {
		return e
	}
	victim := p.entry.node
	switch {
	case p.dir.flags&flAppend != 0, c.sticky(p.dir, victim),
		victim.flags&(flAppend|flImmutable) != 0:
		return syscall.EPERM
	case isdir && victim.dir == nil:
		return syscall.ENOTDIR
	case !isdir && victim.dir != nil:
		return syscall.EISDIR
	}
	return 0
}

// sticky is check_sticky().
func (c *call) sticky(dir, victim *inode) bool {
	return dir.mode&sISVTX != 0 && !c.owns(victim) && !c.owns(dir)
}

package reference

// ACLs on inodes: as xattrs, and given on to new files.

import "syscall"

// setACL is vfs_set_acl() and simple_set_acl(). An empty value removes; there
// need not be anything to remove.
func (c *call) setACL(name string, value []byte, killSgid bool) syscall.Errno {
	n, e := c.inode()
	if e != 0 {
		return e
	}
	a, e := parseACL(value)
	if e == 0 {
		e = c.maySetACL(n, name, a)
	}
	if e != 0 {
		return e
	}
	if name == defaultACL {
		if n.dir == nil {
			return 0
		}
		return c.storeACL(n, n.accessACL(), a)
	}
	mode := n.mode
	if a != nil {
		perms, equivalent := a.mode()
		mode = mode&^rwxBits | perms
		if equivalent {
			a = nil
		}
	}
	if e := c.storeACL(n, a, n.defaultACL()); e != 0 {
		return e
	}
	n.mode = mode
	if killSgid || !c.inOrCapable(n.gid) {
		n.mode &^= sISGID
	}
	return 0
}

func (c *call) maySetACL(n *inode, name string, a acl) syscall.Errno {
	if e := c.xattrPermission(n, name, mayWrite); e != 0 {
		return e
	}
	switch {
	case n.is(sIFLNK):
		return syscall.EOPNOTSUPP
	case name == defaultACL && n.dir == nil && a == nil:
		return 0
	case name == defaultACL && n.dir == nil:
		return syscall.EACCES
	case !c.owns(n):
		return syscall.EPERM
	case a != nil && !a.valid():
		return syscall.EINVAL
	}
	return 0
}

func (n *inode) accessACL() acl {
	if n.attrs == nil {
		return nil
	}
	return n.attrs.access
}

func (n *inode) defaultACL() acl {
	if n.attrs == nil {
		return nil
	}
	return n.attrs.def
}

// storeACL gives an inode both its ACLs.
func (c *call) storeACL(n *inode, access, def acl) syscall.Errno {
	had := len(n.accessACL()) + len(n.defaultACL())
	if !c.fs.space.takeACL(len(access) + len(def)) {
		return syscall.ENOSPC
	}
	c.fs.space.giveACL(had)
	if access != nil || def != nil || n.attrs != nil {
		x := n.ensureXattrs()
		x.access, x.def = access, def
	}
	n.ctime = c.Header.Now
	return 0
}

func (c *call) getACL(name string, size uint32) syscall.Errno {
	n, e := c.inode()
	if e != 0 {
		return e
	}
	if n.is(sIFLNK) {
		return syscall.EOPNOTSUPP
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	a := n.accessACL()
	if name == defaultACL {
		a = n.defaultACL()
	}
	if a == nil {
		return syscall.ENODATA
	}
	return c.sizeOrBytes(a.xattr(), size)
}

// inheritACL is simple_acl_create(): the umask counts only in directories
// without a default ACL.
func (c *call) inheritACL(n, dir *inode, umask uint32) syscall.Errno {
	if n.is(sIFLNK) {
		return 0
	}
	given := dir.defaultACL()
	if given == nil {
		n.mode &^= umask & rwxBits
		return 0
	}
	access, mode := given.inherit(n.mode)
	if _, equivalent := access.mode(); equivalent {
		access = nil
	}
	n.mode = mode
	if !n.is(sIFDIR) {
		given = nil
	}
	return c.storeACL(n, access, given)
}

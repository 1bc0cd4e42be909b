package reference

// SETXATTR, GETXATTR, LISTXATTR, REMOVEXATTR.

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

const (
	xattrNameMax = 255     // XATTR_NAME_MAX
	xattrSizeMax = 1 << 16 // XATTR_SIZE_MAX

	userPrefix     = "user."
	trustedPrefix  = "trusted."
	securityPrefix = "security."
	systemPrefix   = "system."
	capability     = securityPrefix + "capability"
	accessACL      = systemPrefix + "posix_acl_access"
	defaultACL     = systemPrefix + "posix_acl_default"
)

// xattrs are all extended attributes of an inode.
type xattrs struct {
	list   []xattr // names descending, the order in which tmpfs lists them
	access acl     // nil where the mode says all
	def    acl     // what new files in a directory get
}

type xattr struct {
	name  string
	value []byte
}

func (x *xattr) space() int64 { return xattrOverhead + int64(len(x.name)+len(x.value)) }

// find is the position of a name in the list, or where it belongs.
func (x *xattrs) find(name string) (int, bool) {
	if x == nil {
		return 0, false
	}
	return slices.BinarySearchFunc(x.list, name, func(a xattr, name string) int {
		return strings.Compare(name, a.name)
	})
}

func (x *xattrs) get(name string) ([]byte, bool) {
	k, found := x.find(name)
	if !found {
		return nil, false
	}
	return x.list[k].value, true
}

// giveXattrs returns the space of all xattrs of an inode.
func (s *space) giveXattrs(x *xattrs) {
	if x == nil {
		return
	}
	for i := range x.list {
		s.giveBytes(x.list[i].space())
	}
	s.giveACL(len(x.access) + len(x.def))
}

// ensureXattrs is the xattrs of an inode, which has some from now on.
func (n *inode) ensureXattrs() *xattrs {
	if n.attrs == nil {
		n.attrs = new(xattrs)
	}
	return n.attrs
}

// xattrPermission is xattr_permission() and security_inode_setxattr().
func (c *call) xattrPermission(n *inode, name string, mask uint32) syscall.Errno {
	write := mask == mayWrite
	denied := syscall.ENODATA
	if write {
		denied = syscall.EPERM
	}
	switch {
	case write && n.flags&(flImmutable|flAppend) != 0:
		return syscall.EPERM
	case strings.HasPrefix(name, securityPrefix):
		if write && !c.root() {
			return syscall.EPERM
		}
		return 0
	case strings.HasPrefix(name, systemPrefix):
		return 0
	case strings.HasPrefix(name, trustedPrefix):
		if !c.root() {
			return denied
		}
		return 0
	case !strings.HasPrefix(name, userPrefix):
	case !n.is(sIFREG) && !n.is(sIFDIR):
		return denied
	case write && n.is(sIFDIR) && n.mode&sISVTX != 0 && !c.owns(n):
		return syscall.EPERM
	}
	return c.permission(n, mask)
}

// checkXattrName is the length limit; xattrHandler is xattr_resolve_name().
func checkXattrName(name string) syscall.Errno {
	if name == "" || len(name) > xattrNameMax {
		return syscall.ERANGE
	}
	return 0
}

func xattrHandler(name string) syscall.Errno {
	for _, prefix := range []string{userPrefix, trustedPrefix, securityPrefix} {
		if name == prefix {
			return syscall.EINVAL
		}
		if strings.HasPrefix(name, prefix) {
			return 0
		}
	}
	return syscall.EOPNOTSUPP
}

// xattrNode is the node of the request, if the name may be used on it so.
func (c *call) xattrNode(name string, mask uint32) (*inode, syscall.Errno) {
	n, e := c.inode()
	if e == 0 {
		e = c.xattrPermission(n, name, mask)
	}
	if e == 0 {
		e = xattrHandler(name)
	}
	return n, e
}

func isACL(name string) bool { return name == accessACL || name == defaultACL }

func (c *call) setxattr() syscall.Errno {
	in, name := c.In.(*fuse.SetXAttrIn), c.Names[0]
	if in.Flags&^(unix.XATTR_CREATE|unix.XATTR_REPLACE) != 0 {
		return syscall.EINVAL
	}
	if e := checkXattrName(name); e != 0 {
		return e
	}
	if len(c.Data) > xattrSizeMax {
		return syscall.E2BIG
	}
	if isACL(name) {
		return c.setACL(name, c.Data, in.SetXAttrFlags&fuse.SETXATTR_ACL_KILL_SGID != 0)
	}
	if name == capability && !validCapability(c.Data) {
		return syscall.EINVAL
	}
	n, e := c.xattrNode(name, mayWrite)
	if e != 0 {
		return e
	}
	return c.storeXattr(n, xattr{strings.Clone(name), bytes.Clone(c.Data)}, in.Flags)
}

// storeXattr is shmem_xattr_handler_set(). Like there, the room for the new
// value is taken before that of the old one is given back, and not the last
// byte of it.
func (c *call) storeXattr(n *inode, x xattr, flags uint32) syscall.Errno {
	s := &c.fs.space
	if !take(&s.usedInodes, x.space(), s.maxInodes*bogoInodeSize-1) {
		return syscall.ENOSPC
	}
	k, found := n.attrs.find(x.name)
	if e := xattrFlags(flags, found); e != 0 {
		s.giveBytes(x.space())
		return e
	}
	all := n.ensureXattrs()
	if found {
		s.giveBytes(all.list[k].space())
		all.list[k] = x
	} else {
		all.list = slices.Insert(all.list, k, x)
	}
	n.ctime = c.Header.Now
	return 0
}

func xattrFlags(flags uint32, found bool) syscall.Errno {
	switch {
	case found && flags&unix.XATTR_CREATE != 0:
		return syscall.EEXIST
	case !found && flags&unix.XATTR_REPLACE != 0:
		return syscall.ENODATA
	}
	return 0
}

// validCapability is validate_cap_header(): revision 2 or 3, of the size of it.
func validCapability(b []byte) bool {
	const revisionMask, revision2, revision3 = 0xff000000, 0x02000000, 0x03000000
	if len(b) < 4 {
		return false
	}
	switch binary.LittleEndian.Uint32(b) & revisionMask {
	case revision2:
		return len(b) == 20
	case revision3:
		return len(b) == 24
	}
	return false
}

func (c *call) removexattr() syscall.Errno {
	name := c.Names[0]
	if e := checkXattrName(name); e != 0 {
		return e
	}
	if isACL(name) {
		return c.setACL(name, nil, false)
	}
	n, e := c.xattrNode(name, mayWrite)
	if e != 0 {
		return e
	}
	if !c.dropXattr(n, name) {
		return syscall.ENODATA
	}
	n.ctime = c.Header.Now
	return 0
}

func (c *call) dropXattr(n *inode, name string) bool {
	k, found := n.attrs.find(name)
	if !found {
		return false
	}
	c.fs.space.giveBytes(n.attrs.list[k].space())
	n.attrs.list = slices.Delete(n.attrs.list, k, k+1)
	return true
}

// dropCapability is security_inode_killpriv().
func (c *call) dropCapability(n *inode) { c.dropXattr(n, capability) }

func (c *call) getxattr() syscall.Errno {
	in, name := c.In.(*fuse.GetXAttrIn), c.Names[0]
	if e := checkXattrName(name); e != 0 {
		return e
	}
	if isACL(name) {
		return c.getACL(name, in.Size)
	}
	n, e := c.xattrNode(name, mayRead)
	if e != 0 {
		return e
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	value, found := n.attrs.get(name)
	if !found {
		return syscall.ENODATA
	}
	return c.sizeOrBytes(value, in.Size)
}

// sizeOrBytes answers a caller that has room for size bytes, or asks with 0
// how many there are.
func (c *call) sizeOrBytes(b []byte, size uint32) syscall.Errno {
	switch {
	case size == 0:
		c.reply.Out = &fuse.GetXAttrOut{Size: uint32(len(b))}
	case len(b) > int(size):
		return syscall.ERANGE
	default:
		c.reply.Data = b
	}
	return 0
}

// listxattr hides the trusted ones from all but root.
func (c *call) listxattr() syscall.Errno {
	n, e := c.inode()
	if e != 0 {
		return e
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	var names []byte
	add := func(name string) { names = append(append(names, name...), 0) }
	if x := n.attrs; x != nil {
		if x.access != nil {
			add(accessACL)
		}
		if x.def != nil {
			add(defaultACL)
		}
		for _, a := range x.list {
			if c.root() || !strings.HasPrefix(a.name, trustedPrefix) {
				add(a.name)
			}
		}
	}
	return c.sizeOrBytes(names, c.In.(*fuse.GetXAttrIn).Size)
}

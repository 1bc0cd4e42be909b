package reference

// New files: CREATE, MKNOD, MKDIR, SYMLINK, TMPFILE, LINK.

import (
	"strings"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// spec is what a new inode is to be.
type spec struct {
	mode, umask, rdev uint32
	target            string
}

// inherited are the flags that a new inode has from its directory.
const inherited = flNodump | flNoatime

// make is shmem_get_inode() with the ACL that the directory gives. The inode
// has one link, or two if it is a directory.
func (c *call) make(dir *inode, s spec) (*inode, syscall.Errno) {
	n := &inode{format: s.mode & sIFMT, mode: s.mode, nlink: 1, rdev: s.rdev}
	n.uid, n.gid = c.Header.Uid, c.Header.Gid
	n.flags = dir.flags & inherited
	c.inheritGroup(n, dir)
	if e := c.inheritACL(n, dir, s.umask); e != 0 {
		return nil, e
	}
	if !c.fs.space.takeInode() {
		c.fs.space.giveXattrs(n.attrs)
		return nil, syscall.ENOSPC
	}
	n.born(c.Header.Now)
	if n.is(sIFDIR) {
		n.dir, n.nlink = newDirectory(dir), 2
	}
	c.fs.lastIno++
	n.ino = c.fs.lastIno
	c.fs.inodes[n.ino] = n
	return n, 0
}

// inheritGroup is mode_strip_sgid() and inode_init_owner().
func (c *call) inheritGroup(n, dir *inode) {
	if dir.mode&sISGID == 0 {
		return
	}
	n.gid = dir.gid
	switch {
	case n.is(sIFDIR):
		n.mode |= sISGID
	case n.mode&0o010 != 0 && !c.inOrCapable(dir.gid):
		n.mode &^= sISGID
	}
}

// attach gives a new name in a directory to an inode.
func (c *call) attach(p place, n *inode) {
	p.dir.dir.add(p.dir, p.name, n)
	p.dir.modified(c.Header.Now)
	if n.dir != nil {
		p.dir.nlink++
	}
}

// makeAt makes an inode under a name that is vacant and replies with it.
func (c *call) makeAt(name string, s spec) syscall.Errno {
	p, e := c.vacant(name)
	if e != 0 {
		return e
	}
	n, e := c.make(p.dir, s)
	if e != 0 {
		return e
	}
	if e := c.store(n, s.target); e != 0 {
		n.nlink = 0
		c.fs.evict(n)
		return e
	}
	c.attach(p, n)
	out := c.entry(n)
	c.reply.Out = &out
	return 0
}

// shortSymlink is SHORT_SYMLINK_LEN: longer targets, with their NUL, take a page.
const shortSymlink = 128

// store gives a symbolic link its target.
func (c *call) store(n *inode, target string) syscall.Errno {
	n.target, n.size = strings.Clone(target), int64(len(target))
	if len(target) < shortSymlink {
		return 0
	}
	if !c.fs.space.takeBlock() {
		return syscall.ENOSPC
	}
	n.data.blocks = 1
	return 0
}

// mknod is vfs_mknod(): only root makes devices, but for whiteouts.
func (c *call) mknod() syscall.Errno {
	in := c.In.(*fuse.MknodIn)
	s := spec{mode: in.Mode & (sIFMT | permBits), umask: in.Umask}
	switch in.Mode & sIFMT {
	case sIFREG, sIFIFO, sIFSOCK:
	case 0:
		s.mode |= sIFREG
	case sIFCHR, sIFBLK:
		s.rdev = in.Rdev
		whiteout := s.mode&sIFMT == sIFCHR && in.Rdev == 0
		if c.fs.opt.CheckPermissions && !c.root() && !whiteout {
			return syscall.EPERM
		}
	case sIFDIR:
		return syscall.EPERM
	default:
		return syscall.EINVAL
	}
	return c.makeAt(c.Names[0], s)
}

func (c *call) mkdir() syscall.Errno {
	in := c.In.(*fuse.MkdirIn)
	return c.makeAt(c.Names[0], spec{mode: in.Mode&(rwxBits|sISVTX) | sIFDIR, umask: in.Umask})
}

// symlink has the new name first, then the target.
func (c *call) symlink() syscall.Errno {
	target := c.Names[1]
	switch {
	case target == "":
		return syscall.ENOENT
	case len(target) >= pathMax:
		return syscall.ENAMETOOLONG
	case strings.IndexByte(target, 0) >= 0:
		return syscall.EINVAL
	}
	return c.makeAt(c.Names[0], spec{mode: sIFLNK | rwxBits, target: target})
}

func (c *call) readlink() syscall.Errno {
	n, e := c.inode()
	if e != 0 {
		return e
	}
	if !n.is(sIFLNK) {
		return syscall.EINVAL
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	c.accessed(n, 0)
	c.reply.Data = []byte(n.target)
	return 0
}

// create opens what already stands there, unless O_EXCL forbids.
func (c *call) create() syscall.Errno {
	in := c.In.(*fuse.CreateIn)
	p, e := c.place(c.Header.NodeId, c.Names[0])
	if e != 0 {
		return e
	}
	if p.entry != nil {
		return c.createOver(p.entry.node, in)
	}
	if e := c.mayCreate(p.dir); e != 0 {
		return e
	}
	n, e := c.make(p.dir, spec{mode: in.Mode&permBits | sIFREG, umask: in.Umask})
	if e != 0 {
		return e
	}
	c.attach(p, n)
	c.reply.Out = c.createOut(n, in.Flags)
	return 0
}

func (c *call) createOver(n *inode, in *fuse.CreateIn) syscall.Errno {
	if in.Flags&syscall.O_EXCL != 0 {
		return syscall.EEXIST
	}
	if e := c.mayOpen(n, in.Flags); e != 0 {
		return e
	}
	c.truncateOpened(n, in.Flags, in.OpenFlags)
	c.reply.Out = c.createOut(n, in.Flags)
	return 0
}

func (c *call) createOut(n *inode, flags uint32) *fuse.CreateOut {
	return &fuse.CreateOut{EntryOut: c.entry(n), OpenOut: c.openOut(n, flags)}
}

// tmpfile makes a file without a name; the request's name says nothing. Like
// vfs_tmpfile(), it does not mind that the directory has been removed.
func (c *call) tmpfile() syscall.Errno {
	in := c.In.(*fuse.CreateIn)
	dir, e := c.directory(c.Header.NodeId)
	if e == 0 && c.fs.opt.ReadOnly {
		e = syscall.EROFS
	}
	if e == 0 {
		e = c.permission(dir, mayWrite|mayExec)
	}
	if e != 0 {
		return e
	}
	if accessMode(in.Flags)&mayWrite == 0 {
		return syscall.EINVAL
	}
	n, e := c.make(dir, spec{mode: in.Mode&permBits | sIFREG, umask: in.Umask})
	if e != 0 {
		return e
	}
	n.nlink = 0
	n.linkable = in.Flags&syscall.O_EXCL == 0
	c.reply.Out = c.createOut(n, in.Flags)
	return 0
}

// link is vfs_link() and shmem_link(). Every name but the first takes inode
// space; there is no limit on their number.
func (c *call) link() syscall.Errno {
	n, e := c.fs.inode(c.In.(*fuse.LinkIn).Oldnodeid)
	if e != 0 {
		return e
	}
	p, e := c.vacant(c.Names[0])
	switch {
	case e != 0:
		return e
	case n.flags&(flAppend|flImmutable) != 0, n.dir != nil:
		return syscall.EPERM
	case n.nlink == 0 && !n.linkable:
		return syscall.ENOENT
	case n.nlink != 0 && !c.fs.space.takeInode():
		return syscall.ENOSPC
	}
	n.linkable = false
	n.nlink++
	n.ctime = c.Header.Now
	c.attach(p, n)
	out := c.entry(n)
	c.reply.Out = &out
	return 0
}

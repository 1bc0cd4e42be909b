package reference

// IOCTL: the inode flags of chattr(1), all that tmpfs knows.

import (
	"encoding/binary"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// The inode flags of linux/fs.h that tmpfs has.
const (
	flImmutable = 0x10
	flAppend    = 0x20
	flNodump    = 0x40
	flNoatime   = 0x80
)

const (
	getFsxattr  = 0x801c581f // FS_IOC_FSGETXATTR
	setFsxattr  = 0x401c5820 // FS_IOC_FSSETXATTR
	fsxattrSize = 28

	// modifiable is SHMEM_FL_USER_MODIFIABLE.
	modifiable = flImmutable | flAppend | flNodump | flNoatime
	// privileged are those that need CAP_LINUX_IMMUTABLE.
	privileged = flImmutable | flAppend
)

// ioctls by command.
var ioctls = map[uint32]func(*call, *inode, *fuse.IoctlIn) syscall.Errno{
	unix.FS_IOC_GETFLAGS: (*call).getFlags,
	unix.FS_IOC_SETFLAGS: (*call).setFlags,
	getFsxattr:           (*call).getXflags,
	setFsxattr:           (*call).setXflags,
}

func (c *call) ioctl() syscall.Errno {
	in := c.In.(*fuse.IoctlIn)
	n, _, e := c.opened(in.Fh)
	if e != 0 {
		return e
	}
	f := ioctls[in.Cmd]
	if f == nil {
		return syscall.ENOTTY
	}
	if e := f(c, n, in); e != 0 {
		return e
	}
	c.reply.Out = new(fuse.IoctlOut)
	return 0
}

// invalidate makes the kernel forget the attributes of a node where it does not
// know that they change: setting flags changes st_ctime, WRITE the mode.
func (c *call) invalidate(n *inode) {
	if c.fs.opt.TTL > 0 {
		c.reply.Notify = []proto.Notification{{
			Code: proto.NotifyInvalInode,
			Out:  &fuse.NotifyInvalInodeOut{Ino: n.ino, Off: -1},
		}}
	}
}

func (c *call) getFlags(n *inode, in *fuse.IoctlIn) syscall.Errno {
	if in.OutSize < 4 {
		return syscall.EINVAL
	}
	c.reply.Data = binary.LittleEndian.AppendUint32(nil, n.flags)
	return 0
}

func (c *call) setFlags(n *inode, _ *fuse.IoctlIn) syscall.Errno {
	if len(c.Data) < 4 {
		return syscall.EINVAL
	}
	return c.changeFlags(n, binary.LittleEndian.Uint32(c.Data))
}

// xflags pairs the flags of struct fsxattr with those of FS_IOC_SETFLAGS.
var xflags = [...]struct{ x, flag uint32 }{
	{0x08, flImmutable},
	{0x10, flAppend},
	{0x40, flNoatime},
	{0x80, flNodump},
}

func (c *call) getXflags(n *inode, in *fuse.IoctlIn) syscall.Errno {
	if in.OutSize < fsxattrSize {
		return syscall.EINVAL
	}
	var x uint32
	for _, p := range xflags {
		if n.flags&p.flag != 0 {
			x |= p.x
		}
	}
	c.reply.Data = make([]byte, fsxattrSize)
	binary.LittleEndian.PutUint32(c.reply.Data, x)
	return 0
}

// setXflags takes a struct fsxattr that has nothing but flags that tmpfs has.
func (c *call) setXflags(n *inode, _ *fuse.IoctlIn) syscall.Errno {
	if len(c.Data) < fsxattrSize {
		return syscall.EINVAL
	}
	x := binary.LittleEndian.Uint32(c.Data)
	var flags uint32
	for _, p := range xflags {
		if x&p.x != 0 {
			flags |= p.flag
		}
		x &^= p.x
	}
	const extsize, projid, cowextsize = 4, 12, 16
	for _, at := range []int{extsize, projid, cowextsize} {
		x |= binary.LittleEndian.Uint32(c.Data[at:])
	}
	if x != 0 {
		return syscall.EOPNOTSUPP
	}
	return c.changeFlags(n, flags)
}

// changeFlags is vfs_fileattr_set() and shmem_fileattr_set().
func (c *call) changeFlags(n *inode, flags uint32) syscall.Errno {
	switch {
	case c.fs.opt.ReadOnly:
		return syscall.EROFS
	case !c.owns(n), (flags^n.flags)&privileged != 0 && !c.root():
		return syscall.EPERM
	case flags&^uint32(modifiable) != 0:
		return syscall.EOPNOTSUPP
	}
	n.flags = flags
	n.ctime = c.Header.Now
	c.invalidate(n)
	return 0
}

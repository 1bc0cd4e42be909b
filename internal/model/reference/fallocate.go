package reference

// FALLOCATE and LSEEK: the holes of a file.

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

func (c *call) fallocate() syscall.Errno {
	in := c.In.(*fuse.FallocateIn)
	n, h, e := c.opened(in.Fh)
	if e == 0 {
		e = mayAllocate(n, h, in)
	}
	if e != 0 {
		return e
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	from, to := int64(in.Offset), int64(in.Offset+in.Length)
	if in.Mode&unix.FALLOC_FL_PUNCH_HOLE != 0 {
		n.data.punch(&c.fs.space, from, to)
	} else if e := c.allocate(n, from, to, in.Mode&unix.FALLOC_FL_KEEP_SIZE != 0); e != 0 {
		return e
	}
	c.killPrivileges(n, !c.root())
	n.modified(c.Header.Now)
	return 0
}

// mayAllocate has the checks of vfs_fallocate() and, at the end, of
// shmem_fallocate(), in their order.
func mayAllocate(n *inode, h *handle, in *fuse.FallocateIn) syscall.Errno {
	const punch = unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE
	offset, length := int64(in.Offset), int64(in.Length)
	switch {
	case offset < 0 || length <= 0:
		return syscall.EINVAL
	case in.Mode != 0 && in.Mode != unix.FALLOC_FL_KEEP_SIZE && in.Mode != punch:
		return syscall.EOPNOTSUPP
	case !h.writable():
		return syscall.EBADF
	case in.Mode&unix.FALLOC_FL_PUNCH_HOLE != 0 && n.flags&flAppend != 0,
		n.flags&flImmutable != 0:
		return syscall.EPERM
	case n.dir != nil:
		return syscall.EISDIR
	case !n.is(sIFREG):
		return syscall.ENODEV
	case length > maxBytes-offset:
		return syscall.EFBIG
	}
	return 0
}

func (c *call) allocate(n *inode, from, to int64, keepSize bool) syscall.Errno {
	first, end := from/pageSize, pagesOf(to)
	if end-first > c.fs.space.maxBlocks || !n.data.allocate(&c.fs.space, first, end) {
		return syscall.ENOSPC
	}
	if !keepSize {
		n.size = max(n.size, to)
	}
	return 0
}

func (c *call) lseek() syscall.Errno {
	in := c.In.(*fuse.LseekIn)
	n, _, e := c.opened(in.Fh)
	if e != 0 {
		return e
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	seek := seeks[in.Whence]
	if seek == nil {
		return syscall.EINVAL
	}
	off, e := seek(n, int64(in.Offset))
	c.reply.Out = &fuse.LseekOut{Offset: uint64(off)}
	return e
}

// seeks by whence. SEEK_CUR is not among them: only the kernel knows the
// position of a file.
var seeks = map[uint32]func(*inode, int64) (int64, syscall.Errno){
	unix.SEEK_SET:  func(_ *inode, off int64) (int64, syscall.Errno) { return position(0, off) },
	unix.SEEK_END:  func(n *inode, off int64) (int64, syscall.Errno) { return position(n.size, off) },
	unix.SEEK_DATA: (*inode).seekData,
	unix.SEEK_HOLE: (*inode).seekHole,
}

func position(base, off int64) (int64, syscall.Errno) {
	if base+off < 0 {
		return 0, syscall.EINVAL
	}
	return base + off, 0
}

// seekData and seekHole are mapping_seek_hole_data(): by pages, and pages
// that fallocate has reserved are holes until they are written.
func (n *inode) seekData(off int64) (int64, syscall.Errno) {
	if off < 0 || off >= n.size {
		return 0, syscall.ENXIO
	}
	pg := n.data.nextData(off / pageSize)
	if pg > (n.size-1)/pageSize {
		return 0, syscall.ENXIO
	}
	return max(off, pg*pageSize), 0
}

func (n *inode) seekHole(off int64) (int64, syscall.Errno) {
	if off < 0 || off >= n.size {
		return 0, syscall.ENXIO
	}
	pg := n.data.nextHole(off / pageSize)
	if pg > (n.size-1)/pageSize {
		return n.size, 0
	}
	return max(off, pg*pageSize), 0
}

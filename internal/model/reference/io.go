package reference

// READ, WRITE and the copying between files.

import (
	"math"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

const (
	// maxIO is more than any kernel asks for: 65535 pages (fs.fuse.max_pages_limit).
	maxIO = 1 << 28
	// maxRWCount is MAX_RW_COUNT, the most that one system call copies.
	maxRWCount = math.MaxInt32 &^ (pageSize - 1)
	// copyStep is how much is copied at a time between files.
	copyStep = 1 << 20
)

func (c *call) read() syscall.Errno {
	in := c.In.(*fuse.ReadIn)
	n, h, e := c.opened(in.Fh)
	switch {
	case e != 0:
		return e
	case n.dir != nil:
		return syscall.EISDIR
	case !h.readable():
		return syscall.EBADF
	case in.Size > maxIO || in.Offset > uint64(maxBytes)-uint64(in.Size):
		return syscall.EINVAL
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	c.accessed(n, in.Flags)
	off := int64(in.Offset)
	c.reply.Data = c.bytes(int(max(0, min(int64(in.Size), n.size-off))))
	n.data.readAt(c.reply.Data, off)
	return 0
}

func (c *call) write() syscall.Errno {
	in := c.In.(*fuse.WriteIn)
	n, h, e := c.opened(in.Fh)
	switch {
	case e != 0:
		return e
	case !h.writable():
		return syscall.EBADF
	case in.Offset > uint64(maxBytes)-uint64(len(c.Data)):
		return syscall.EINVAL
	}
	if e := c.mayWriteUnopened(n, in); e != 0 {
		return e
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	off := int64(in.Offset)
	// What comes from the page cache was put in its place by the kernel.
	if in.Flags&syscall.O_APPEND != 0 && in.WriteFlags&fuse.WRITE_CACHE == 0 {
		off = n.size
	}
	wrote, e := c.writeAt(n, c.Data, off, in.WriteFlags&fuse.WRITE_KILL_SUIDGID != 0)
	c.reply.Out = &fuse.WriteOut{Size: uint32(wrote)}
	return e
}

// writeAt is shmem_file_write_iter(). A full filesystem makes the write short,
// or fail where not one byte went in; privileges and times go all the same.
func (c *call) writeAt(n *inode, b []byte, off int64, kill bool) (int, syscall.Errno) {
	if len(b) == 0 {
		return 0, 0
	}
	if off >= maxBytes {
		return 0, syscall.EFBIG
	}
	b = b[:min(int64(len(b)), maxBytes-off)]
	c.killPrivileges(n, kill)
	n.modified(c.Header.Now)
	wrote := n.data.writeAt(&c.fs.space, b, off)
	if wrote == 0 {
		return 0, syscall.ENOSPC
	}
	n.size = max(n.size, off+int64(wrote))
	return wrote, 0
}

// killPrivileges is file_remove_privs(): capabilities of the file always go,
// the setuid and setgid bits where the kernel says so, which it does unless
// the caller has CAP_FSETID. It leaves the mode that it has cached as it was,
// and a setuid bit there would still be honoured by execve(2).
func (c *call) killPrivileges(n *inode, suidgid bool) {
	c.dropCapability(n)
	if !suidgid {
		return
	}
	old := n.mode
	n.mode &^= sISUID
	c.dropSetgid(n)
	if n.mode != old {
		c.invalidate(n)
	}
}

// dropSetgid is setattr_should_drop_sgid(): without group execution the bit
// is a privilege only to those who are not of the group.
func (c *call) dropSetgid(n *inode) {
	if n.mode&0o010 != 0 || !c.inOrCapable(n.gid) {
		n.mode &^= sISGID
	}
}

func (c *call) copyFileRange() syscall.Errno {
	copied, e := c.copyRange()
	c.reply.Out = &fuse.WriteOut{Size: uint32(copied)}
	return e
}

func (c *call) copyFileRange64() syscall.Errno {
	copied, e := c.copyRange()
	c.reply.Out = &fuse.CopyFileRangeOut{BytesCopied: uint64(copied)}
	return e
}

// copyRange is vfs_copy_file_range(), which on tmpfs reads and writes: holes
// of the source become blocks of the target.
func (c *call) copyRange() (int64, syscall.Errno) {
	in := c.In.(*fuse.CopyFileRangeIn)
	src, dst, from, e := c.copyEnds(in)
	if e != 0 {
		return 0, e
	}
	defer lockBoth(src, dst)()
	count, e := copyCount(src, dst, in)
	if e != 0 || count == 0 {
		return 0, e
	}
	c.accessed(src, from.flags)
	return c.copyPages(src, dst, int64(in.OffIn), int64(in.OffOut), count)
}

// copyEnds is the source and the target, each open for what happens to it.
func (c *call) copyEnds(in *fuse.CopyFileRangeIn) (src, dst *inode, from *handle, e syscall.Errno) {
	src, from, e = c.opened(in.FhIn)
	if e != 0 {
		return nil, nil, nil, e
	}
	dst, e = c.fs.inode(in.NodeIdOut)
	if e != 0 {
		return nil, nil, nil, e
	}
	to := c.handle(in.FhOut, dst)
	switch {
	case to == nil:
		return nil, nil, nil, syscall.EBADF
	case in.Flags != 0:
		return nil, nil, nil, syscall.EINVAL
	case src.dir != nil || dst.dir != nil:
		return nil, nil, nil, syscall.EISDIR
	case !from.readable() || !to.writable():
		// O_APPEND is the kernel's to refuse: fcntl(2) changes it without a word.
		return nil, nil, nil, syscall.EBADF
	case dst.flags&flImmutable != 0:
		return nil, nil, nil, syscall.EPERM
	}
	return src, dst, from, 0
}

// copyCount is generic_copy_file_checks(): how much there is to copy.
func copyCount(src, dst *inode, in *fuse.CopyFileRangeIn) (int64, syscall.Errno) {
	if in.OffIn > uint64(maxBytes) || in.OffOut > uint64(maxBytes) {
		return 0, syscall.EINVAL
	}
	if in.OffIn+in.Len < in.OffIn || in.OffOut+in.Len < in.OffOut {
		return 0, syscall.EOVERFLOW
	}
	from, to := int64(in.OffIn), int64(in.OffOut)
	count := int64(min(in.Len, uint64(max(0, src.size-from))))
	if to >= maxBytes {
		return 0, syscall.EFBIG
	}
	count = min(count, maxBytes-to)
	if src == dst && to < from+count && from < to+count {
		return 0, syscall.EINVAL
	}
	return min(count, maxRWCount), 0
}

func (c *call) copyPages(src, dst *inode, from, to, count int64) (int64, syscall.Errno) {
	b := c.bytes(int(min(count, copyStep)))
	var copied int64
	for copied < count {
		step := b[:min(count-copied, copyStep)]
		src.data.readAt(step, from+copied)
		wrote, e := c.writeAt(dst, step, to+copied, !c.root())
		copied += int64(wrote)
		if e != 0 && copied == 0 {
			return 0, e
		}
		if wrote < len(step) {
			break
		}
	}
	return copied, 0
}

// lockBoth locks one or two inodes and returns what unlocks them.
func lockBoth(a, b *inode) (unlock func()) {
	if a == b {
		a.mu.Lock()
		return a.mu.Unlock
	}
	if a.ino > b.ino {
		a, b = b, a
	}
	a.mu.Lock()
	b.mu.Lock()
	return func() {
		b.mu.Unlock()
		a.mu.Unlock()
	}
}

package reference

// Open files and directories.

import (
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// fmodeExec is __FMODE_EXEC, which execve(2) adds to the flags of its open.
const fmodeExec = 0x20

type handle struct {
	node  *inode
	flags uint32 // O_ flags
}

// handles are numbered from 1 on; a number is not used twice.
type handles struct {
	mu   sync.Mutex
	open map[uint64]*handle
	last uint64
}

// add opens a node and returns its handle's number.
func (h *handles) add(n *inode, flags uint32) uint64 {
	n.opens.Add(1)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last++
	h.open[h.last] = &handle{n, flags}
	return h.last
}

// get is an open handle of a node, or nil.
func (h *handles) get(fh uint64, n *inode) *handle {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f := h.open[fh]; f != nil && f.node == n {
		return f
	}
	return nil
}

func (h *handles) remove(fh uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.open, fh)
}

// readable and writable are FMODE_READ and FMODE_WRITE. An access mode of 3
// gives neither.
func (h *handle) readable() bool {
	mode := h.flags & syscall.O_ACCMODE
	return mode == syscall.O_RDONLY || mode == syscall.O_RDWR
}

func (h *handle) writable() bool {
	mode := h.flags & syscall.O_ACCMODE
	return mode == syscall.O_WRONLY || mode == syscall.O_RDWR
}

// opened is the node of the request and its handle fh.
func (c *call) opened(fh uint64) (*inode, *handle, syscall.Errno) {
	n, e := c.inode()
	if e != 0 {
		return nil, nil, e
	}
	h := c.handle(fh, n)
	if h == nil {
		return nil, nil, syscall.EBADF
	}
	return n, h, 0
}

// handle is an open handle of a node, or nil. Where nothing is opened, the
// request says how the kernel has opened the node.
func (c *call) handle(fh uint64, n *inode) *handle {
	if !c.fs.opt.NoOpen {
		return c.fs.files.get(fh, n)
	}
	return &handle{n, c.openFlags()}
}

// openFlags are those of the file that the request is about. What has no such
// field, and what is written back from the page cache, was let through by the
// kernel, which has checked how the file is open.
func (c *call) openFlags() uint32 {
	switch in := c.In.(type) {
	case *fuse.ReadIn:
		return in.Flags
	case *fuse.WriteIn:
		if in.WriteFlags&fuse.WRITE_CACHE == 0 {
			return in.Flags
		}
	}
	return syscall.O_RDWR
}

package reference

// One request on its way: who asks, about what, and the reply so far.

import (
	"context"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

type call struct {
	*proto.Request
	ctx    context.Context
	fs     *FS
	reply  proto.Reply
	buffer *[]byte // what reply.Data is cut from, if it came from the pool
}

func newCall(ctx context.Context, f *FS, r *proto.Request) *call {
	return &call{Request: r, ctx: ctx, fs: f}
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// bytes lends n bytes of any content for reply.Data, until release.
func (c *call) bytes(n int) []byte {
	if n <= pageSize {
		return make([]byte, n)
	}
	c.buffer = buffers.Get().(*[]byte)
	*c.buffer = slices.Grow((*c.buffer)[:0], n)[:n]
	return *c.buffer
}

func (c *call) release() {
	if c.buffer != nil {
		buffers.Put(c.buffer)
		c.buffer = nil
	}
}

// inode is the node that the request is about. A number that was never given
// out, or was forgotten after its last link went, is ESTALE, as with file
// handles of exported filesystems.
func (c *call) inode() (*inode, syscall.Errno) {
	return c.fs.inode(c.Header.NodeId)
}

func (f *FS) inode(nodeid uint64) (*inode, syscall.Errno) {
	n := f.inodes[nodeid]
	if n == nil {
		return nil, syscall.ESTALE
	}
	return n, 0
}

// directory is a node that names are looked up in. The caller may search it.
func (c *call) directory(nodeid uint64) (*inode, syscall.Errno) {
	n, e := c.fs.inode(nodeid)
	if e != 0 {
		return nil, e
	}
	if n.dir == nil {
		return nil, syscall.ENOTDIR
	}
	return n, c.permission(n, mayExec)
}

// checkName is what a path walk never lets through, and the length limit.
func checkName(name string) syscall.Errno {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
		return syscall.EINVAL
	}
	if len(name) > nameMax {
		return syscall.ENAMETOOLONG
	}
	return 0
}

// place is a name in a directory, and what stands there.
type place struct {
	dir   *inode
	name  string
	entry *dirent // nil where nothing does
}

// place finds a name of the request in a directory.
func (c *call) place(nodeid uint64, name string) (place, syscall.Errno) {
	dir, e := c.directory(nodeid)
	if e == 0 {
		e = checkName(name)
	}
	if e != 0 {
		return place{}, e
	}
	return place{dir, name, dir.dir.byName[name]}, 0
}

// vacant is the place of a new name: EEXIST where something stands there.
func (c *call) vacant(name string) (place, syscall.Errno) {
	p, e := c.place(c.Header.NodeId, name)
	if e == 0 && p.entry != nil {
		e = syscall.EEXIST
	}
	if e == 0 {
		e = c.mayCreate(p.dir)
	}
	return p, e
}

// occupied is the place of a name that must exist.
func (c *call) occupied(nodeid uint64, name string) (place, syscall.Errno) {
	p, e := c.place(nodeid, name)
	if e == 0 && p.entry == nil {
		e = syscall.ENOENT
	}
	return p, e
}

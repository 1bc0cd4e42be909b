package reference

// Inodes: their fields, their birth and their end.

import (
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

const (
	rootIno  = 1
	nameMax  = 255
	pathMax  = 4096             // PATH_MAX, with the final NUL
	maxBytes = int64(1<<63 - 1) // MAX_LFS_FILESIZE

	sIFMT    = syscall.S_IFMT
	sIFDIR   = syscall.S_IFDIR
	sIFREG   = syscall.S_IFREG
	sIFLNK   = syscall.S_IFLNK
	sIFCHR   = syscall.S_IFCHR
	sIFBLK   = syscall.S_IFBLK
	sIFIFO   = syscall.S_IFIFO
	sIFSOCK  = syscall.S_IFSOCK
	sISUID   = syscall.S_ISUID
	sISGID   = syscall.S_ISGID
	sISVTX   = syscall.S_ISVTX
	permBits = 0o7777 // S_IALLUGO
	rwxBits  = 0o777  // S_IRWXUGO
)

// inode is a file of any type. Its number is its node id.
type inode struct {
	ino     uint64
	format  uint32        // S_IFMT bits of the mode
	lookups atomic.Uint64 // references that the kernel got and has not forgotten
	opens   atomic.Int32  // open handles

	// mu guards what follows where FS.ns is only shared; nlink, links and the
	// contents of directories are never written there.
	mu    sync.Mutex
	mode  uint32
	uid   uint32
	gid   uint32
	rdev  uint32
	nlink uint32
	flags uint32 // FS_IMMUTABLE_FL and its like
	// linkable is I_LINKABLE: made by O_TMPFILE without O_EXCL, no name yet.
	linkable                   bool
	size                       int64
	atime, mtime, ctime, btime proto.Time
	data                       pages      // of regular files and of long symbolic links' accounting
	dir                        *directory // of directories
	target                     string     // of symbolic links
	attrs                      *xattrs    // nil where there are none
	locks                      *fileLocks // nil until the first lock; guarded by FS.locks.mu
}

func (n *inode) is(format uint32) bool { return n.format == format }

// born sets all four times.
func (n *inode) born(now proto.Time) {
	n.atime, n.mtime, n.ctime, n.btime = now, now, now, now
}

// modified is what a change of content does to the times.
func (n *inode) modified(now proto.Time) { n.mtime, n.ctime = now, now }

// accessed is touch_atime() on a mount with strictatime, for a file that is
// open with these flags.
func (c *call) accessed(n *inode, flags uint32) {
	if c.fs.opt.ReadOnly || c.fs.opt.NoAtime || flags&syscall.O_NOATIME != 0 || n.flags&flNoatime != 0 {
		return
	}
	n.atime = c.Header.Now
}

// evict frees an inode that has no name, no open handle and no reference from
// the kernel. FS.ns is held exclusively.
func (f *FS) evict(n *inode) {
	if n.nlink != 0 || n.opens.Load() != 0 || n.lookups.Load() != 0 {
		return
	}
	n.data.truncate(&f.space, 0)
	f.space.giveBlocks(n.data.blocks) // of a long symbolic link
	f.space.giveXattrs(n.attrs)
	n.attrs = nil
	f.space.giveInode()
	delete(f.inodes, n.ino)
}

// dropLink takes one name away from an inode, whose last name may have been.
func (f *FS) dropLink(n *inode, now proto.Time) {
	n.ctime = now
	if n.dir == nil && n.nlink > 1 {
		f.space.giveInode()
	}
	n.nlink--
	f.evict(n)
}

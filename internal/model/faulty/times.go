package faulty

// Times: what touches them, and what they can hold.

import (
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// makers are the opcodes that add a name to a directory.
var makers = on(proto.OpMkdir, proto.OpMknod, proto.OpSymlink, proto.OpLink, proto.OpCreate)

var times = []Mutant{
	{"write-keeps-mtime", "times", "a write does not touch mtime, as on filesystems that wait for the close; POSIX write: it is marked for update", on(proto.OpWrite), keeping(self, fuse.FATTR_MTIME)},
	{"write-keeps-ctime", "times", "a write touches mtime but not ctime; POSIX write: both", on(proto.OpWrite), keeping(self, fuse.FATTR_CTIME)},
	{"truncate-keeps-mtime", "times", "a truncation does not touch mtime; POSIX truncate: it does", on(proto.OpSetattr), truncateKeepsMtime},
	{"chmod-keeps-ctime", "times", "chmod does not touch ctime; POSIX chmod: it is marked for update", on(proto.OpSetattr), chmodKeepsCtime},
	{"link-keeps-ctime", "times", "a new name does not touch the file's ctime; POSIX link: it is marked for update", on(proto.OpLink), keeping(linked, fuse.FATTR_CTIME)},
	{"rename-keeps-ctime", "times", "a rename does not touch the file's ctime, which POSIX allows and Linux does not do", renames, keeping(moved, fuse.FATTR_CTIME)},
	{"unlink-keeps-ctime", "times", "the ctime of a file with other names does not say that one went; POSIX unlink: it is marked for update", on(proto.OpUnlink), keeping(named, fuse.FATTR_CTIME)},
	{"xattr-keeps-ctime", "times", "setting an extended attribute does not touch ctime; every Linux filesystem does so", on(proto.OpSetxattr, proto.OpRemovexattr), keeping(self, fuse.FATTR_CTIME)},
	{"create-keeps-parent", "times", "a new name does not touch the directory's mtime and ctime; POSIX open: they are marked for update", makers, keeping(self, fuse.FATTR_MTIME|fuse.FATTR_CTIME)},
	{"remove-keeps-parent", "times", "a removed name does not touch the directory's mtime and ctime; POSIX unlink: they are marked for update", on(proto.OpUnlink, proto.OpRmdir), keeping(self, fuse.FATTR_MTIME|fuse.FATTR_CTIME)},
	{"read-keeps-atime", "times", "a read does not touch atime, as with noatime; POSIX read: it is marked for update", on(proto.OpRead, proto.OpReaddir, proto.OpReaddirplus, proto.OpReadlink), keeping(self, fuse.FATTR_ATIME)},
	{"write-touches-atime", "times", "a write touches atime, too; POSIX write: mtime and ctime alone", on(proto.OpWrite), touching},
	{"stat-touches-atime", "times", "asking for attributes touches atime; POSIX stat: it does not", on(proto.OpGetattr), touching},
	{"now-is-never", "times", "UTIME_NOW sets the time to 0, as where the flag is overlooked; utimensat(2): the current time", on(proto.OpSetattr), asking(func(in *fuse.SetAttrIn) { in.Valid &^= fuse.FATTR_ATIME_NOW | fuse.FATTR_MTIME_NOW })},
	{"omit-ignored", "times", "UTIME_OMIT sets both times; utimensat(2): that one stays", on(proto.OpSetattr), omitIgnored},
	{"times-ignored", "times", "utimensat succeeds and changes nothing, as on stores with times of their own", on(proto.OpSetattr), asking(func(in *fuse.SetAttrIn) {
		in.Valid &^= fuse.FATTR_ATIME | fuse.FATTR_MTIME | fuse.FATTR_ATIME_NOW | fuse.FATTR_MTIME_NOW
	})},
	{"nanoseconds-lost", "times", "times have whole seconds, as on ext3; stat(2): st_mtim has nanoseconds", attrOps, attrs(func(a *fuse.Attr) { a.Atimensec, a.Mtimensec, a.Ctimensec = 0, 0, 0 })},
	{"seconds-of-32-bits", "times", "times end in 2038, as on ext3", attrOps, attrs(func(a *fuse.Attr) {
		a.Atime, a.Mtime, a.Ctime = uint64(int32(a.Atime)), uint64(int32(a.Mtime)), uint64(int32(a.Ctime))
	})},
	{"before-1970-lost", "times", "times before 1970 are 0, as where seconds are unsigned", attrOps, attrs(func(a *fuse.Attr) {
		a.Atime, a.Mtime = uint64(max(0, int64(a.Atime))), uint64(max(0, int64(a.Mtime)))
	})},
}

// The node whose times a request is about.
func self(c *call) uint64   { return c.req.Header.NodeId }
func linked(c *call) uint64 { return in[fuse.LinkIn](c).Oldnodeid }
func named(c *call) uint64 {
	e, _ := c.peek(c.req.Header.NodeId, c.req.Names[0])
	return e.NodeId
}
func moved(c *call) uint64 { return named(c) }

// keeping leaves times of a node as they were. Attributes in the reply follow.
func keeping(of func(*call) uint64, valid uint32) func(*call) *proto.Reply {
	return func(c *call) *proto.Reply {
		id := of(c)
		was := c.attr(id)
		r := c.next()
		if r.Errno != 0 || was.Ino == 0 {
			return r
		}
		c.resetTimes(was, valid)
		c.refresh(r, id)
		return r
	}
}

// refresh gives a reply the attributes that a node has now.
func (c *call) refresh(r *proto.Reply, id uint64) {
	now := c.attr(id)
	eachAttr(r, func(a *fuse.Attr) {
		if a.Ino == id && now.Ino == id {
			*a = now
		}
	})
}

func truncateKeepsMtime(c *call) *proto.Reply {
	if in := in[fuse.SetAttrIn](c); in.Valid&fuse.FATTR_SIZE == 0 || in.Valid&fuse.FATTR_MTIME != 0 {
		return c.next()
	}
	return keeping(self, fuse.FATTR_MTIME)(c)
}

func chmodKeepsCtime(c *call) *proto.Reply {
	if in[fuse.SetAttrIn](c).Valid&fuse.FATTR_MODE == 0 {
		return c.next()
	}
	return keeping(self, fuse.FATTR_CTIME)(c)
}

// touching sets atime to now.
func touching(c *call) *proto.Reply {
	r := c.next()
	if r.Errno == 0 {
		c.set(self(c), fuse.SetAttrInCommon{Valid: fuse.FATTR_ATIME | fuse.FATTR_ATIME_NOW})
		c.refresh(r, self(c))
	}
	return r
}

func omitIgnored(c *call) *proto.Reply {
	return nextWith(c, func(in *fuse.SetAttrIn) {
		switch in.Valid & (fuse.FATTR_ATIME | fuse.FATTR_MTIME | fuse.FATTR_SIZE) {
		case fuse.FATTR_ATIME:
			in.Valid |= fuse.FATTR_MTIME | in.Valid&fuse.FATTR_ATIME_NOW<<1
			in.Mtime, in.Mtimensec = in.Atime, in.Atimensec
		case fuse.FATTR_MTIME:
			in.Valid |= fuse.FATTR_ATIME | in.Valid&fuse.FATTR_MTIME_NOW>>1
			in.Atime, in.Atimensec = in.Mtime, in.Mtimensec
		}
	})
}

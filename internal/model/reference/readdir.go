package reference

// READDIR and READDIRPLUS.

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// listing packs whole entries into the bytes that the kernel has for them.
type listing struct {
	c    *call
	plus bool
	room int
}

func (c *call) readdir() syscall.Errno {
	in := c.In.(*fuse.ReadIn)
	n, _, e := c.opened(in.Fh)
	switch {
	case e != 0:
		return e
	case n.dir == nil:
		return syscall.ENOTDIR
	case n.nlink == 0:
		return syscall.ENOENT
	}
	l := listing{c: c, plus: c.Op == proto.OpReaddirplus, room: int(min(in.Size, maxIO))}
	more := l.list(n, in.Offset)
	if more && len(c.reply.Entries) == 0 {
		return syscall.EINVAL
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	c.accessed(n, in.Flags)
	return 0
}

// list goes on from a cookie; more says that not everything had room.
func (l *listing) list(n *inode, cookie uint64) (more bool) {
	if cookie < cookieDot && !l.add(".", n, cookieDot) {
		return true
	}
	if cookie < cookieDotDot && !l.add("..", n.dir.parent, cookieDotDot) {
		return true
	}
	n.dir.after(cookie, func(e *dirent) bool {
		more = !l.add(e.name, e.node, e.seq)
		return !more
	})
	if entries := l.c.reply.Entries; l.c.fs.opt.EndCookie && !more && (!n.dir.page || n.dir.ends) && len(entries) > 0 {
		entries[len(entries)-1].Off = proto.EndCookie
	}
	return more
}

func (l *listing) add(name string, n *inode, cookie uint64) bool {
	size := proto.DirentSize(name, l.plus)
	if size > l.room {
		return false
	}
	l.room -= size
	d := proto.Dirent{Ino: n.ino, Off: cookie, Type: n.format >> 12, Name: name}
	// The kernel takes no references on "." and "..".
	if l.plus && cookie > cookieDotDot {
		d.Entry = l.c.entry(n)
		l.c.along(n, &d.Entry.Attr)
	}
	l.c.reply.Entries = append(l.c.reply.Entries, d)
	return true
}

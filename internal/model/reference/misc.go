package reference

// STATFS, ACCESS, POLL, BMAP, SYNCFS.

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

func (c *call) statfs() syscall.Errno {
	c.reply.Out = c.fs.space.statfs()
	return 0
}

// access is a question about permissions, so it is answered by them even where
// nothing else here is.
func (c *call) access() syscall.Errno {
	n, e := c.inode()
	if e != 0 {
		return e
	}
	mask := c.In.(*fuse.AccessIn).Mask
	if mask&^(mayRead|mayWrite|mayExec) != 0 {
		return syscall.EINVAL
	}
	if e := c.permission(n, mask); e != 0 {
		return e
	}
	return c.generic(n, mask)
}

// pollMask is DEFAULT_POLLMASK, POLLIN, POLLOUT, POLLRDNORM and POLLWRNORM:
// files and directories are always ready.
const pollMask = 0x001 | 0x004 | 0x040 | 0x100

func (c *call) poll() syscall.Errno {
	_, _, e := c.opened(c.In.(*proto.PollIn).Fh)
	c.reply.Out = &proto.PollOut{Revents: pollMask}
	return e
}

// bmap fails as bmap() does where there are no disk blocks.
func (c *call) bmap() syscall.Errno {
	if _, e := c.inode(); e != 0 {
		return e
	}
	return syscall.EINVAL
}

func (c *call) syncfs() syscall.Errno { return 0 }

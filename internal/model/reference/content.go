package reference

// Content that comes along when the kernel is told of a file: its READ then
// never comes.

import (
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

const (
	maxAlong      = 64 << 10  // bytes of one file that come along
	maxAlongReply = 128 << 10 // bytes that come with one reply
)

// along sends the content of a small file with an entry by which the kernel gets
// to know it: before that nobody can have changed it, or have it in the page
// cache. (The kernel takes no STORE for symbolic links.)
func (c *call) along(n *inode, a *fuse.Attr) {
	size := a.Size
	for i := range c.reply.Notify {
		size += uint64(len(c.reply.Notify[i].Data))
	}
	if !c.fs.opt.Content || !n.is(sIFREG) || n.lookups.Load() != 1 || a.Size == 0 || a.Size > maxAlong || size > maxAlongReply {
		return
	}
	data, ok := n.whole(a.Size)
	if !ok {
		return
	}
	c.reply.Notify = append(c.reply.Notify, proto.Notification{
		Code: proto.NotifyStore,
		Out:  &fuse.NotifyStoreOut{Nodeid: n.ino, Size: uint32(len(data))},
		Data: data,
	})
}

// whole is what a file of that size says; not ok if it has another size by now.
func (n *inode) whole(size uint64) (data []byte, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if uint64(n.size) != size {
		return nil, false
	}
	data = make([]byte, size)
	n.data.readAt(data, 0)
	return data, true
}

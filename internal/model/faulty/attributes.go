package faulty

// Attributes: what a file says of itself.

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

var attributes = []Mutant{
	{"types-lost", "attributes", "what is neither file nor directory is a file, as on stores of objects", attrOps, attrs(func(a *fuse.Attr) {
		if !isDir(a.Mode) {
			a.Mode = a.Mode&^syscall.S_IFMT | syscall.S_IFREG
		}
	})},
	{"owner-is-caller", "attributes", "every file belongs to whoever asks, as with -o uid= of network mounts", attrOps, saying(func(c *call, r *proto.Reply) {
		eachAttr(r, func(a *fuse.Attr) { a.Uid, a.Gid = c.req.Header.Uid, c.req.Header.Gid })
	})},
	{"owner-of-16-bits", "attributes", "owners are counted modulo 65,536, as by chown16(2)", attrOps, attrs(func(a *fuse.Attr) { a.Uid, a.Gid = a.Uid&0xffff, a.Gid&0xffff })},
	{"inode-per-name", "attributes", "each lookup gives a new inode number, as where it is made from the path; POSIX: st_ino is the file's", on(proto.OpLookup, proto.OpLink), inodePerName},
	{"statx-without-birth", "attributes", "statx has no birth time, as filesystems that do not store it", on(proto.OpStatx), saying(func(_ *call, r *proto.Reply) {
		r.Out.(*fuse.StatxOut).Btime = fuse.SxTime{}
	})},
	{"chattr-ignored", "attributes", "inode flags can be set and do nothing; FS_IOC_SETFLAGS(2const): immutable files are", on(proto.OpIoctl), always(func(c *call) *proto.Reply {
		return &proto.Reply{Out: &fuse.IoctlOut{}, Data: make([]byte, min(in[fuse.IoctlIn](c).OutSize, 4))}
	})},
}

// inodePerName counts up from where no inode is.
func inodePerName(c *call) *proto.Reply {
	r := c.next()
	eachAttr(r, func(a *fuse.Attr) {
		c.mind.step++
		a.Ino = 1<<32 + c.mind.step
	})
	return r
}

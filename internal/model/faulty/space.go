package faulty

// Space: holes, allocation, sizes beyond 32 bits, statfs.

import (
	"math"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

var space = []Mutant{
	{"seek-hole-at-end", "space", "SEEK_HOLE finds the end alone, as generic_file_llseek does; lseek(2) allows it, tmpfs finds the holes", on(proto.OpLseek), seekHoleAtEnd},
	{"seek-data-stays", "space", "SEEK_DATA takes holes for data, as generic_file_llseek does", on(proto.OpLseek), seekDataStays},
	{"seek-past-end", "space", "SEEK_DATA past the last data is the end of the file; lseek(2): ENXIO", on(proto.OpLseek), seekPastEnd},
	{"fallocate-grows", "space", "FALLOC_FL_KEEP_SIZE grows the file; fallocate(2): its size stays", on(proto.OpFallocate), asking(func(in *fuse.FallocateIn) {
		if in.Mode&unix.FALLOC_FL_PUNCH_HOLE == 0 {
			in.Mode &^= unix.FALLOC_FL_KEEP_SIZE
		}
	})},
	{"fallocate-keeps-size", "space", "fallocate does not grow the file; posix_fallocate(3): it does", on(proto.OpFallocate), asking(func(in *fuse.FallocateIn) { in.Mode |= unix.FALLOC_FL_KEEP_SIZE })},
	{"punch-does-nothing", "space", "FALLOC_FL_PUNCH_HOLE succeeds and does nothing; fallocate(2): the range reads as zeros", on(proto.OpFallocate), punchDoesNothing},
	{"sizes-of-32-bits", "space", "sizes are counted modulo 4 GiB, as in struct stat of old", attrOps, attrs(func(a *fuse.Attr) { a.Size = uint64(uint32(a.Size)) })},
	{"sizes-in-pages", "space", "a size is rounded up to whole pages, as where only blocks are counted", attrOps, attrs(func(a *fuse.Attr) {
		if isReg(a.Mode) {
			a.Size = (a.Size + page - 1) / page * page
		}
	})},
	{"statfs-constant", "space", "STATFS says the same whatever is used, and names may be 4,095 bytes long", on(proto.OpStatfs), always(func(*call) *proto.Reply {
		const blocks = 1 << 20
		return &proto.Reply{Out: &fuse.StatfsOut{Blocks: blocks, Bfree: blocks, Bavail: blocks, Files: blocks, Ffree: blocks, Bsize: 512, NameLen: 4095, Frsize: 512}}
	})},
	{"statfs-unsupported", "space", "STATFS is all zeros, as from filesystems without one; statvfs(3): f_bsize is a block's size", on(proto.OpStatfs), always(func(*call) *proto.Reply { return &proto.Reply{Out: &fuse.StatfsOut{}} })},
}

func seekHoleAtEnd(c *call) *proto.Reply {
	r := c.next()
	if out, ok := r.Out.(*fuse.LseekOut); ok && r.Errno == 0 && in[fuse.LseekIn](c).Whence == unix.SEEK_HOLE {
		out.Offset = c.attr(c.req.Header.NodeId).Size
	}
	return r
}

func seekDataStays(c *call) *proto.Reply {
	in, size := in[fuse.LseekIn](c), c.attr(c.req.Header.NodeId).Size
	r := c.next()
	if in.Whence == unix.SEEK_DATA && in.Offset < size {
		return &proto.Reply{Out: &fuse.LseekOut{Offset: in.Offset}}
	}
	return r
}

func seekPastEnd(c *call) *proto.Reply {
	r := c.next()
	if r.Errno == unix.ENXIO && in[fuse.LseekIn](c).Offset <= math.MaxInt64 {
		return &proto.Reply{Out: &fuse.LseekOut{Offset: c.attr(c.req.Header.NodeId).Size}}
	}
	return r
}

func punchDoesNothing(c *call) *proto.Reply {
	if in[fuse.FallocateIn](c).Mode&unix.FALLOC_FL_PUNCH_HOLE != 0 {
		return &proto.Reply{}
	}
	return c.next()
}

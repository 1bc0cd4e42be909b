package faulty

// Content: what READ finds of what WRITE wrote.

import (
	"bytes"
	"strings"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

var content = []Mutant{
	{"truncate-keeps-tail", "content", "a file that is cut and grown again has its old bytes back; truncate(2): zeros", on(proto.OpSetattr), truncateKeepsTail},
	{"truncate-to-zero-ignored", "content", "O_TRUNC and truncation to nothing leave the file as it is", on(proto.OpSetattr, proto.OpOpen, proto.OpCreate), truncateIgnored},
	{"append-ignored", "content", "O_APPEND writes at the start, as where the flag is lost on the way to a server; open(2): at the end", on(proto.OpWrite), appendIgnored},
	{"hole-is-garbage", "content", "what was never written reads as old bytes of the disk, the leak that delayed allocation without zeroing makes; lseek(2): zeros", on(proto.OpWrite, proto.OpSetattr), holeIsGarbage},
	{"stale-size-by-handle", "content", "a handle reads up to the size that it knew when it was opened, as NFS does until the next open; POSIX: writes are seen at once", on(proto.OpOpen, proto.OpCreate, proto.OpWrite, proto.OpRead, proto.OpRelease), staleSize},
	{"short-write", "content", "a write takes no more than a page of 4,096 bytes, and says so; Linux: regular files take all", on(proto.OpWrite), shortWrite},
	{"short-write-hidden", "content", "only the first page of a write goes in, and the reply says all did", on(proto.OpWrite), shortWriteHidden},
	{"read-past-end", "content", "a read past the end is filled up with zeros; read(2): it ends there", on(proto.OpRead), readPastEnd},
	{"eof-off-by-one", "content", "a read that reaches the end lacks the last byte", on(proto.OpRead), eofOffByOne},
	{"read-ignores-offset", "content", "every read begins at the start of the file", on(proto.OpRead), asking(func(in *fuse.ReadIn) { in.Offset = 0 })},
	{"write-ends-at-nul", "content", "bytes from the first NUL on are lost, as where they are taken for a C string", on(proto.OpWrite), writeEndsAtNul},
	{"bytes-as-text", "model", "what is not UTF-8 reads as U+FFFD, as from whoever holds content as text", on(proto.OpRead), saying(func(_ *call, r *proto.Reply) {
		r.Data = clip([]byte(strings.ToValidUTF8(string(r.Data), "\ufffd")), len(r.Data))
	})},
	{"text-mode", "content", "a line that ends in CR LF loses its CR, as in text mode of other systems", on(proto.OpRead), saying(func(_ *call, r *proto.Reply) { r.Data = bytes.ReplaceAll(r.Data, []byte("\r\n"), []byte("\n")) })},
	{"trailing-newline-lost", "model", "the newline at the end of a file is lost, as by models that trim", on(proto.OpRead), saying(func(_ *call, r *proto.Reply) { r.Data = bytes.TrimSuffix(r.Data, []byte("\n")) })},
	{"overwrite-truncates", "content", "a write in the middle ends the file, as on stores that put whole objects; write(2): what comes after stays", on(proto.OpWrite), overwriteTruncates},
	{"first-write-wins", "content", "bytes once written can't be overwritten, as on media that are written once", on(proto.OpWrite), firstWriteWins},
	{"large-offset-refused", "content", "writes from 2 GiB on are EFBIG, as without O_LARGEFILE", on(proto.OpWrite, proto.OpSetattr), largeOffsetRefused},
	{"copy-range-short", "content", "copy_file_range copies one byte too few", on(proto.OpCopyFileRange, proto.OpCopyFileRange64), asking(func(in *fuse.CopyFileRangeIn) { in.Len -= min(in.Len, 1) })},
	{"copy-range-from-start", "content", "copy_file_range copies from the start of the source", on(proto.OpCopyFileRange, proto.OpCopyFileRange64), asking(func(in *fuse.CopyFileRangeIn) { in.OffIn = 0 })},
	{"fsync-unsupported", "content", "fsync is EINVAL, as on pipes; fsync(2): files and directories can be synced", on(proto.OpFsync, proto.OpFsyncdir), always(func(*call) *proto.Reply { return fail(syscall.EINVAL) })},
}

func clip(b []byte, n int) []byte { return b[:min(len(b), n)] }

// truncateKeepsTail remembers what a truncation cut off and puts it back.
func truncateKeepsTail(c *call) *proto.Reply {
	set, id := in[fuse.SetAttrIn](c), c.req.Header.NodeId
	if set.Valid&fuse.FATTR_SIZE == 0 {
		return c.next()
	}
	was := c.attr(id)
	cut := c.bytesOf(id, set.Size, was.Size)
	r := c.next()
	switch {
	case r.Errno != 0:
	case set.Size < was.Size:
		c.mind.values[id], c.mind.places[id] = cut, set.Size
	case set.Size > was.Size && c.mind.places[id] >= was.Size:
		at := c.mind.places[id]
		c.put(id, at, clip(c.mind.values[id], int(max(set.Size, at)-at)))
		r.Out.(*fuse.AttrOut).Attr = c.attr(id)
	}
	return r
}

func truncateIgnored(c *call) *proto.Reply {
	switch in := c.req.In.(type) {
	case *fuse.SetAttrIn:
		if in.Valid&fuse.FATTR_SIZE == 0 || in.Size != 0 {
			return c.next()
		}
		return nextWith(c, func(in *fuse.SetAttrIn) {
			in.Valid &^= fuse.FATTR_SIZE
			in.Valid |= fuse.FATTR_MTIME | fuse.FATTR_MTIME_NOW
		})
	case *fuse.CreateIn:
		return nextWith(c, func(in *fuse.CreateIn) { in.Flags &^= syscall.O_TRUNC })
	}
	return nextWith(c, func(in *fuse.OpenIn) { in.Flags &^= syscall.O_TRUNC })
}

func appendIgnored(c *call) *proto.Reply {
	if in[fuse.WriteIn](c).Flags&syscall.O_APPEND == 0 {
		return c.next()
	}
	return nextWith(c, func(in *fuse.WriteIn) { in.Flags &^= syscall.O_APPEND; in.Offset = 0 })
}

// holeIsGarbage fills what lies between the old end and the new data, or the
// new end.
func holeIsGarbage(c *call) *proto.Reply {
	id := c.req.Header.NodeId
	end := c.attr(id).Size
	r := c.next()
	if r.Errno != 0 {
		return r
	}
	to := end
	switch in := c.req.In.(type) {
	case *fuse.WriteIn:
		if in.Flags&syscall.O_APPEND == 0 {
			to = in.Offset
		}
	case *fuse.SetAttrIn:
		if in.Valid&fuse.FATTR_SIZE != 0 {
			to = in.Size
		}
	}
	if to > end {
		const most = 64 << 10
		c.put(id, end, bytes.Repeat([]byte{0xa5}, int(min(to-end, most))))
	}
	if out, ok := r.Out.(*fuse.AttrOut); ok {
		out.Attr = c.attr(id)
	}
	return r
}

func staleSize(c *call) *proto.Reply {
	r, known := c.next(), c.mind.known
	size := func() uint64 { return c.attr(c.req.Header.NodeId).Size }
	switch in := c.req.In.(type) {
	case *fuse.OpenIn:
		if out, ok := r.Out.(*fuse.OpenOut); ok {
			known[out.Fh] = size()
		}
	case *fuse.CreateIn:
		if out, ok := r.Out.(*fuse.CreateOut); ok {
			known[out.Fh] = out.Attr.Size
		}
	case *fuse.WriteIn:
		known[in.Fh] = size()
	case *fuse.ReadIn:
		if end, ok := known[in.Fh]; ok {
			r.Data = clip(r.Data, int(max(end, in.Offset)-in.Offset))
		}
	case *fuse.ReleaseIn:
		delete(known, in.Fh)
	}
	return r
}

// page is what short writes take.
const page = 4096

func shortened(r *proto.Request, n int) *proto.Request {
	short := edited(r, func(in *fuse.WriteIn) { in.Size = uint32(n) })
	short.Data = r.Data[:n]
	return short
}

func shortWrite(c *call) *proto.Reply { return c.ask(shortened(c.req, min(len(c.req.Data), page))) }

func shortWriteHidden(c *call) *proto.Reply { return saysAll(c, min(len(c.req.Data), page)) }

func writeEndsAtNul(c *call) *proto.Reply {
	if n := bytes.IndexByte(c.req.Data, 0); n >= 0 {
		return saysAll(c, n)
	}
	return c.next()
}

// saysAll writes n bytes and says that all are written.
func saysAll(c *call, n int) *proto.Reply {
	r := c.ask(shortened(c.req, n))
	if out, ok := r.Out.(*fuse.WriteOut); ok && r.Errno == 0 {
		out.Size = uint32(len(c.req.Data))
	}
	return r
}

func readPastEnd(c *call) *proto.Reply {
	r := c.next()
	if missing := int(in[fuse.ReadIn](c).Size) - len(r.Data); r.Errno == 0 && missing > 0 {
		r.Data = append(r.Data, make([]byte, missing)...)
	}
	return r
}

func eofOffByOne(c *call) *proto.Reply {
	r, in := c.next(), in[fuse.ReadIn](c)
	if r.Errno == 0 && len(r.Data) > 0 && in.Offset+uint64(len(r.Data)) == c.attr(c.req.Header.NodeId).Size {
		r.Data = r.Data[:len(r.Data)-1]
	}
	return r
}

func overwriteTruncates(c *call) *proto.Reply {
	r, in := c.next(), in[fuse.WriteIn](c)
	end := in.Offset + uint64(len(c.req.Data))
	if r.Errno == 0 && in.Flags&syscall.O_APPEND == 0 && c.attr(c.req.Header.NodeId).Size > end {
		c.set(c.req.Header.NodeId, fuse.SetAttrInCommon{Valid: fuse.FATTR_SIZE, Size: end})
	}
	return r
}

func firstWriteWins(c *call) *proto.Reply {
	in, id := in[fuse.WriteIn](c), c.req.Header.NodeId
	var old []byte
	if in.Flags&syscall.O_APPEND == 0 {
		old = c.bytesOf(id, in.Offset, min(c.attr(id).Size, in.Offset+uint64(len(c.req.Data))))
	}
	r := c.next()
	if r.Errno == 0 {
		c.put(id, in.Offset, old)
	}
	return r
}

func largeOffsetRefused(c *call) *proto.Reply {
	const limit = 1 << 31
	switch in := c.req.In.(type) {
	case *fuse.WriteIn:
		if in.Offset >= limit {
			return fail(syscall.EFBIG)
		}
	case *fuse.SetAttrIn:
		if in.Valid&fuse.FATTR_SIZE != 0 && in.Size >= limit {
			return fail(syscall.EFBIG)
		}
	}
	return c.next()
}

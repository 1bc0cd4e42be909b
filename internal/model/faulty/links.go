package faulty

// Links: hard and symbolic ones, link counts, device numbers.

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

var links = []Mutant{
	{"unlink-keeps-nlink", "links", "the other names of a file say that it has as many links as before; unlink(2), stat(2): one less", and(attrOps, proto.OpUnlink), unlinkKeepsNlink},
	{"rmdir-keeps-nlink", "links", "a directory's link count does not fall when a subdirectory goes, as after a crash of ext2", and(attrOps, proto.OpRmdir), rmdirKeepsNlink},
	{"mkdir-keeps-nlink", "links", "a directory has two links whatever it holds, as FUSE filesystems like to say; tmpfs, ext4: one more for each subdirectory", attrOps, attrs(func(a *fuse.Attr) {
		if isDir(a.Mode) {
			a.Nlink = min(a.Nlink, 2)
		}
	})},
	{"unlinked-has-a-link", "links", "an open file without a name says it has one link; POSIX fstat: st_nlink is 0", attrOps, attrs(func(a *fuse.Attr) { a.Nlink = max(a.Nlink, 1) })},
	{"link-copies", "links", "a hard link is a copy, as on stores without links; link(2): one file of two names", on(proto.OpLink), linkCopies},
	{"link-keeps-nlink", "links", "the reply to LINK has the link count from before; libfuse: the entry is that of the file now", on(proto.OpLink), attrs(func(a *fuse.Attr) { a.Nlink-- })},
	{"links-refused", "links", "hard links are EPERM, as on vfat", on(proto.OpLink), always(func(*call) *proto.Reply { return fail(syscall.EPERM) })},
	{"unlink-frees-open", "links", "an open file is gone with its last name, as on NFS from another client; unlink(2): it lives until the last close", on(proto.OpRead, proto.OpWrite, proto.OpSetattr), unlinkFreesOpen},
	{"symlink-loses-last-byte", "links", "READLINK leaves out the last byte, as where the length is thought to count a NUL; readlink(2): it does not", on(proto.OpReadlink), saying(func(_ *call, r *proto.Reply) { r.Data = r.Data[:max(0, len(r.Data)-1)] })},
	{"symlink-cut", "links", "a target is cut to 59 bytes, the room that ext2 has in an inode", on(proto.OpSymlink), symlinkCut},
	{"symlink-without-size", "links", "the size of a symbolic link is 0, as in /proc; POSIX: the length of its target", attrOps, attrs(func(a *fuse.Attr) {
		if a.Mode&syscall.S_IFMT == syscall.S_IFLNK {
			a.Size = 0
		}
	})},
	{"symlink-resolved", "links", "a lookup of a symbolic link finds what it points to; libfuse: resolving is the kernel's", on(proto.OpLookup), symlinkResolved},
	{"mknod-loses-rdev", "links", "devices have the number 0, as on servers that do not store it; mknod(2)", attrOps, attrs(func(a *fuse.Attr) { a.Rdev = 0 })},
	{"mknod-makes-files", "links", "pipes and sockets are made as regular files, as on vfat", on(proto.OpMknod), asking(func(in *fuse.MknodIn) {
		if kind := in.Mode & syscall.S_IFMT; kind == syscall.S_IFIFO || kind == syscall.S_IFSOCK {
			in.Mode = in.Mode&^syscall.S_IFMT | syscall.S_IFREG
		}
	})},
	{"tmpfile-has-a-link", "links", "a file of O_TMPFILE says it has a link; open(2): it has no name", on(proto.OpTmpfile), attrs(func(a *fuse.Attr) { a.Nlink = 1 })},
}

// lyingNlink adds the links that were not taken away.
func lyingNlink(c *call, r *proto.Reply) *proto.Reply {
	eachAttr(r, func(a *fuse.Attr) { a.Nlink += c.mind.more[a.Ino] })
	return r
}

func unlinkKeepsNlink(c *call) *proto.Reply {
	if c.req.Op != proto.OpUnlink {
		return lyingNlink(c, c.next())
	}
	was, there := c.peek(c.req.Header.NodeId, c.req.Names[0])
	r := c.next()
	if r.Errno == 0 && there && was.Attr.Nlink > 1 {
		c.mind.more[was.NodeId]++
	}
	return r
}

func rmdirKeepsNlink(c *call) *proto.Reply {
	r := c.next()
	if c.req.Op != proto.OpRmdir {
		return lyingNlink(c, r)
	}
	if r.Errno == 0 {
		c.mind.more[c.req.Header.NodeId]++
	}
	return r
}

func linkCopies(c *call) *proto.Reply {
	from := in[fuse.LinkIn](c).Oldnodeid
	was := c.attr(from)
	if !isReg(was.Mode) {
		return c.next()
	}
	made := c.own(proto.OpMknod, c.req.Header.NodeId, &fuse.MknodIn{Mode: was.Mode}, nil, c.req.Names[0])
	if made.Errno != 0 {
		return c.next()
	}
	to := node(made)
	c.put(to, 0, c.bytesOf(from, 0, was.Size))
	c.set(to, fuse.SetAttrInCommon{Valid: fuse.FATTR_UID | fuse.FATTR_GID, Owner: was.Owner})
	made.Out.(*fuse.EntryOut).Attr = c.attr(to)
	return made
}

func unlinkFreesOpen(c *call) *proto.Reply {
	if a := c.attr(c.req.Header.NodeId); a.Ino != 0 && a.Nlink == 0 {
		return fail(syscall.ESTALE)
	}
	return c.next()
}

func symlinkCut(c *call) *proto.Reply {
	const room = 59 // EXT2_N_BLOCKS * 4 - 1
	r := *c.req
	r.Names = []string{c.req.Names[0], c.req.Names[1][:min(len(c.req.Names[1]), room)]}
	return c.ask(&r)
}

func symlinkResolved(c *call) *proto.Reply {
	dir := c.req.Header.NodeId
	e, there := c.peek(dir, c.req.Names[0])
	if !there || e.Attr.Mode&syscall.S_IFMT != syscall.S_IFLNK {
		return c.next()
	}
	to := string(c.own(proto.OpReadlink, e.NodeId, nil, nil).Data)
	if _, there := c.peek(dir, to); there {
		return c.own(proto.OpLookup, dir, nil, nil, to)
	}
	return c.next()
}

package faulty

// Owners: modes, ids and what they forbid.

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

const special = syscall.S_ISUID | syscall.S_ISGID

var owners = []Mutant{
	{"write-keeps-setuid", "owners", "a write by another user leaves the setuid bit, CVE-2018-13405's kin; inode(7): it is cleared", on(proto.OpWrite, proto.OpFallocate, proto.OpCopyFileRange, proto.OpCopyFileRange64), keepingMode},
	{"truncate-keeps-setuid", "owners", "a truncation leaves the setuid bit, as OCFS2 did; Linux clears it", on(proto.OpSetattr, proto.OpOpen), truncateKeepsSetuid},
	{"chown-keeps-setuid", "owners", "a change of owner leaves the setuid bit; chown(2): it is cleared", on(proto.OpSetattr), chownKeepsSetuid},
	{"setgid-not-inherited", "owners", "new files in a setgid directory have the caller's group; inode(7): the directory's", on(proto.OpCreate, proto.OpMkdir, proto.OpMknod, proto.OpSymlink), setgidNotInherited},
	{"setgid-not-passed-on", "owners", "a new directory in a setgid directory has its group, but not the bit; inode(7): both", on(proto.OpMkdir), setgidNotPassedOn},
	{"umask-ignored", "owners", "new files have the mode that was asked for; umask(2): less the mask", on(proto.OpCreate, proto.OpMkdir, proto.OpMknod), umasked(func(uint32) uint32 { return 0 })},
	{"umask-of-its-own", "owners", "the daemon's umask of 022 is applied as well, as where libfuse's daemon makes the files itself", on(proto.OpCreate, proto.OpMkdir, proto.OpMknod), umasked(func(m uint32) uint32 { return m | 0o022 })},
	{"modes-invented", "model", "new files have 0644 and new directories 0755, the usual modes, whatever was asked for", on(proto.OpCreate, proto.OpMkdir), modesInvented},
	{"sticky-ignored", "owners", "in a sticky directory anybody removes anything; inode(7): EPERM", on(proto.OpUnlink, proto.OpRmdir, proto.OpRename, proto.OpRename2), insisting(syscall.EPERM)},
	{"eperm-eacces-swapped", "owners", "EPERM and EACCES are mistaken for each other; errno(3)", nil, epermEacces},
	{"access-granted", "owners", "whatever permissions forbid is done, as where the daemon is root and nobody checks", nil, insisting(syscall.EACCES)},
	{"chown-by-anybody", "owners", "anybody changes modes, owners and times; chmod(2), chown(2): EPERM", on(proto.OpSetattr), insisting(syscall.EPERM)},
	{"chmod-drops-special", "owners", "chmod sets the nine permission bits alone; chmod(2): setuid, setgid and sticky, too", on(proto.OpSetattr), asking(func(in *fuse.SetAttrIn) { in.Mode &= syscall.S_IFMT | 0o777 })},
	{"chmod-ignored", "owners", "chmod succeeds and changes nothing, as on vfat", on(proto.OpSetattr), asking(func(in *fuse.SetAttrIn) { in.Valid &^= fuse.FATTR_MODE })},
	{"chgrp-ignored", "owners", "a change of group is lost, as where owner and group are set one by one", on(proto.OpSetattr), asking(func(in *fuse.SetAttrIn) {
		if in.Valid&fuse.FATTR_GID != 0 {
			in.Valid = in.Valid&^fuse.FATTR_GID | fuse.FATTR_CTIME
		}
	})},
	{"files-of-root", "owners", "whatever is made belongs to root, as made by a daemon of root's; open(2): to the caller", on(proto.OpCreate, proto.OpMkdir, proto.OpMknod, proto.OpSymlink, proto.OpTmpfile), filesOfRoot},
}

// keepingMode puts the setuid and setgid bits back.
func keepingMode(c *call) *proto.Reply {
	id := c.req.Header.NodeId
	if in, ok := c.req.In.(*fuse.CopyFileRangeIn); ok {
		id = in.NodeIdOut
	}
	was := c.attr(id)
	r := c.next()
	if r.Errno == 0 && was.Mode&special != 0 && isReg(was.Mode) {
		c.set(id, fuse.SetAttrInCommon{Valid: fuse.FATTR_MODE, Mode: was.Mode})
		c.refresh(r, id)
		r.Notify = nil // of the mode that changed
	}
	return r
}

func truncateKeepsSetuid(c *call) *proto.Reply {
	if set := in[fuse.SetAttrIn](c); set != nil && set.Valid&(fuse.FATTR_SIZE|fuse.FATTR_MODE) != fuse.FATTR_SIZE {
		return c.next()
	}
	return keepingMode(c)
}

func chownKeepsSetuid(c *call) *proto.Reply {
	if in := in[fuse.SetAttrIn](c); in.Valid&(fuse.FATTR_UID|fuse.FATTR_GID) == 0 || in.Valid&fuse.FATTR_MODE != 0 {
		return c.next()
	}
	return keepingMode(c)
}

// setgidNotInherited gives what was made the caller's group, and the mode that
// it would have outside.
func setgidNotInherited(c *call) *proto.Reply {
	dir := c.attr(c.req.Header.NodeId)
	r := c.next()
	id := node(r)
	if r.Errno != 0 || dir.Mode&syscall.S_ISGID == 0 || id == 0 {
		return r
	}
	was := c.attr(id)
	c.set(id, fuse.SetAttrInCommon{Valid: fuse.FATTR_GID, Owner: fuse.Owner{Gid: c.req.Header.Gid}})
	if isDir(was.Mode) {
		c.set(id, fuse.SetAttrInCommon{Valid: fuse.FATTR_MODE, Mode: was.Mode &^ syscall.S_ISGID})
	}
	c.refresh(r, id)
	return r
}

func setgidNotPassedOn(c *call) *proto.Reply {
	r := c.next()
	if id := node(r); r.Errno == 0 && c.attr(id).Mode&syscall.S_ISGID != 0 {
		c.set(id, fuse.SetAttrInCommon{Valid: fuse.FATTR_MODE, Mode: c.attr(id).Mode &^ syscall.S_ISGID})
		c.refresh(r, id)
	}
	return r
}

// creating asks for something to be made, with another mode and umask.
func creating(c *call, change func(mode, umask *uint32)) *proto.Reply {
	switch c.req.In.(type) {
	case *fuse.CreateIn:
		return nextWith(c, func(in *fuse.CreateIn) { change(&in.Mode, &in.Umask) })
	case *fuse.MkdirIn:
		return nextWith(c, func(in *fuse.MkdirIn) { change(&in.Mode, &in.Umask) })
	case *fuse.MknodIn:
		return nextWith(c, func(in *fuse.MknodIn) { change(&in.Mode, &in.Umask) })
	}
	return c.next()
}

func umasked(change func(uint32) uint32) func(*call) *proto.Reply {
	return func(c *call) *proto.Reply {
		return creating(c, func(_, umask *uint32) { *umask = change(*umask) })
	}
}

func modesInvented(c *call) *proto.Reply {
	return creating(c, func(mode, umask *uint32) {
		*umask = 0
		if c.req.Op == proto.OpMkdir {
			*mode = 0o755
		} else {
			*mode = *mode&syscall.S_IFMT | 0o644
		}
	})
}

// insisting does as root what the caller may not do.
func insisting(on syscall.Errno) func(*call) *proto.Reply {
	return func(c *call) *proto.Reply {
		r := c.next()
		if r.Errno == on {
			return c.asRoot()
		}
		return r
	}
}

func epermEacces(c *call) *proto.Reply {
	r := c.next()
	switch r.Errno {
	case syscall.EPERM:
		return fail(syscall.EACCES)
	case syscall.EACCES:
		return fail(syscall.EPERM)
	}
	return r
}

func filesOfRoot(c *call) *proto.Reply {
	r := c.next()
	if id := node(r); r.Errno == 0 && id != 0 && c.attr(id).Ctime == uint64(c.req.Header.Now.Sec) {
		c.set(id, fuse.SetAttrInCommon{Valid: fuse.FATTR_UID, Owner: fuse.Owner{}})
		c.refresh(r, id)
	}
	return r
}

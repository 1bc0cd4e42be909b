package faulty

// Extended attributes and ACLs.

import (
	"bytes"
	"math"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

const (
	accessACL  = "system.posix_acl_access"
	defaultACL = "system.posix_acl_default"
)

var xattrs = []Mutant{
	{"xattr-create-ignored", "xattrs", "XATTR_CREATE replaces; setxattr(2): EEXIST", on(proto.OpSetxattr), asking(func(in *fuse.SetXAttrIn) { in.Flags &^= unix.XATTR_CREATE })},
	{"xattr-replace-ignored", "xattrs", "XATTR_REPLACE creates; setxattr(2): ENODATA", on(proto.OpSetxattr), asking(func(in *fuse.SetXAttrIn) { in.Flags &^= unix.XATTR_REPLACE })},
	{"xattr-probe-counts-nul", "xattrs", "the size that is told to a buffer of size 0 is one too many; getxattr(2): the size of the value", on(proto.OpGetxattr, proto.OpListxattr), saying(func(_ *call, r *proto.Reply) {
		if out, ok := r.Out.(*fuse.GetXAttrOut); ok {
			out.Size++
		}
	})},
	{"xattr-cut-to-buffer", "xattrs", "a value that does not fit is cut; getxattr(2): ERANGE", on(proto.OpGetxattr), xattrCut},
	{"xattr-ends-at-nul", "xattrs", "a value ends at its first NUL, as where it is taken for a C string; xattr(7): any bytes", on(proto.OpSetxattr), xattrEndsAtNul},
	{"listxattr-forgets-last", "xattrs", "the last attribute is not listed", on(proto.OpListxattr), listxattrForgets},
	{"removexattr-silent", "xattrs", "removing what is not there succeeds; removexattr(2): ENODATA", on(proto.OpRemovexattr), mistaking(syscall.ENODATA, 0)},
	{"removexattr-empties", "xattrs", "a removed attribute stays, with an empty value", on(proto.OpRemovexattr), removexattrEmpties},
	{"xattrs-unsupported", "xattrs", "extended attributes are EOPNOTSUPP, as on servers without them", on(proto.OpSetxattr, proto.OpGetxattr, proto.OpListxattr, proto.OpRemovexattr), always(func(*call) *proto.Reply { return fail(syscall.EOPNOTSUPP) })},
	{"enoent-for-enodata", "xattrs", "an attribute that is not there is ENOENT; getxattr(2): ENODATA", on(proto.OpGetxattr, proto.OpRemovexattr, proto.OpSetxattr), mistaking(syscall.ENODATA, syscall.ENOENT)},
	{"acl-mask-kept", "xattrs", "the ACL reads as it was set whatever chmod has done since; acl(5): chmod sets the mask", on(proto.OpSetxattr, proto.OpGetxattr, proto.OpRemovexattr), aclMaskKept},
	{"acl-keeps-mode", "xattrs", "setting an ACL leaves the mode's group bits; acl(5): they are the mask", on(proto.OpSetxattr), aclKeepsMode},
	{"default-acl-not-inherited", "xattrs", "what is made in a directory with a default ACL gets none; acl(5): it inherits", on(proto.OpCreate, proto.OpMkdir, proto.OpMknod), defaultNotInherited},
}

func xattrCut(c *call) *proto.Reply {
	r, size := c.next(), in[fuse.GetXAttrIn](c).Size
	if r.Errno != syscall.ERANGE || size == 0 {
		return r
	}
	whole := nextWith(c, func(in *fuse.GetXAttrIn) { in.Size = math.MaxUint16 + 1 })
	return &proto.Reply{Data: clip(whole.Data, int(size))}
}

func xattrEndsAtNul(c *call) *proto.Reply {
	n := bytes.IndexByte(c.req.Data, 0)
	if n < 0 || c.req.Names[0] == accessACL || c.req.Names[0] == defaultACL {
		return c.next()
	}
	short := edited(c.req, func(in *fuse.SetXAttrIn) { in.Size = uint32(n) })
	short.Data = c.req.Data[:n]
	return c.ask(short)
}

func listxattrForgets(c *call) *proto.Reply {
	r := c.next()
	all := c.own(proto.OpListxattr, c.req.Header.NodeId, &fuse.GetXAttrIn{Size: math.MaxUint16 + 1}, nil).Data
	last := bytes.LastIndexByte(bytes.TrimSuffix(all, []byte{0}), 0) + 1
	if out, ok := r.Out.(*fuse.GetXAttrOut); ok {
		out.Size = min(out.Size, uint32(last))
	}
	r.Data = clip(r.Data, last)
	return r
}

func removexattrEmpties(c *call) *proto.Reply {
	r := c.next()
	if r.Errno == 0 && c.req.Names[0] != accessACL && c.req.Names[0] != defaultACL {
		c.own(proto.OpSetxattr, c.req.Header.NodeId, &fuse.SetXAttrIn{}, nil, c.req.Names[0])
	}
	return r
}

// aclMaskKept answers with the value that was set.
func aclMaskKept(c *call) *proto.Reply {
	r, id := c.next(), c.req.Header.NodeId
	if r.Errno != 0 || c.req.Names[0] != accessACL {
		return r
	}
	switch c.req.Op {
	case proto.OpSetxattr:
		c.mind.values[id] = bytes.Clone(c.req.Data)
	case proto.OpRemovexattr:
		delete(c.mind.values, id)
	default:
		if told := c.mind.values[id]; r.Data != nil && len(told) == len(r.Data) {
			r.Data = told
		}
	}
	return r
}

func aclKeepsMode(c *call) *proto.Reply {
	was := c.attr(c.req.Header.NodeId)
	r := c.next()
	if r.Errno == 0 && c.req.Names[0] == accessACL {
		c.set(was.Ino, fuse.SetAttrInCommon{Valid: fuse.FATTR_MODE, Mode: was.Mode})
	}
	return r
}

func defaultNotInherited(c *call) *proto.Reply {
	r := c.next()
	if id := node(r); r.Errno == 0 && id != 0 {
		was := c.attr(id)
		c.own(proto.OpRemovexattr, id, nil, nil, accessACL)
		c.own(proto.OpRemovexattr, id, nil, nil, defaultACL)
		c.resetTimes(was, fuse.FATTR_CTIME)
		c.refresh(r, id)
	}
	return r
}

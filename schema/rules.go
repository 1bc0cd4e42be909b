package schema

// The rules of Check, as data. The functions named in the reasons are the
// kernel's: fs/fuse, and fs/dcache.c for d_splice_alias.

import (
	"math"
	"reflect"
	"strings"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// rule makes a Rule about a struct. Without a struct of its own, as a rule
// about the whole reply, its Of is Reply.
func rule[T any](name, field, reason string, check func(*site, *T) (any, string), ops ...proto.Opcode) Rule {
	t := reflect.TypeFor[T]()
	return Rule{
		Name: name, Of: t.Name(), Field: field, Reason: reason, ops: ops, typ: reflect.PointerTo(t),
		check: func(s *site) (any, string) { return check(s, s.v.(*T)) },
	}
}

const (
	badEntry   = "create_new_entry and fuse_create_open: the caller gets EIO"
	badAttr    = "fuse_invalid_attr: the caller gets EIO, a listing loses the attributes"
	badNsec    = "fuse_change_attributes_common cuts it to 999999999"
	badValid   = "fuse_time_to_jiffies cuts it to 999999999"
	badDirent  = "parse_dirfile and parse_dirplusfile: the caller gets EIO"
	badName    = "the caller gets EIO; d_name of struct dirent holds 255 bytes"
	badKind    = "inode_wrong_type: the node is dead from then on, its users get EIO"
	badLength  = "fuse_copy_out_args: write(2) to /dev/fuse fails with EINVAL, the caller gets EIO"
	badOffset  = "the caller gets EOVERFLOW or EINVAL: file offsets are signed"
	badLock    = "convert_fuse_file_lock: the caller gets EIO"
	badCounted = "the kernel takes no more as done than it asked for: the caller gets EIO"
)

var rules = []Rule{
	rule("entry has a node", "NodeId", badEntry, hasNode,
		proto.OpSymlink, proto.OpMknod, proto.OpMkdir, proto.OpLink, proto.OpCreate, proto.OpTmpfile),
	rule("entry is not the root", "NodeId", "invalid_nodeid and fuse_lookup: the caller gets EIO", notRoot),
	rule("entry is not its directory", "NodeId", "d_splice_alias: the caller gets ELOOP", notParent),
	rule("type of a mode", "Mode", badAttr, attrType),
	rule("type of a mode", "Mode", badAttr, statxType),
	rule("type that was asked for", "Mode", badEntry, madeType),
	rule("type of a node stays", "Mode", badKind, keepsType),
	rule("type of a node stays", "Mode", badKind, keepsStatxType),
	rule("size of a file", "Size", badAttr, func(_ *site, a *fuse.Attr) (any, string) { return signed(a.Size) }),
	rule("size of a file", "Size", badAttr, func(_ *site, a *fuse.Statx) (any, string) { return signed(a.Size) }),

	rule("nanoseconds", "Atimensec", badNsec, func(_ *site, a *fuse.Attr) (any, string) { return nanoseconds(a.Atimensec) }),
	rule("nanoseconds", "Mtimensec", badNsec, func(_ *site, a *fuse.Attr) (any, string) { return nanoseconds(a.Mtimensec) }),
	rule("nanoseconds", "Ctimensec", badNsec, func(_ *site, a *fuse.Attr) (any, string) { return nanoseconds(a.Ctimensec) }),
	rule("nanoseconds", "Nsec", badNsec, func(_ *site, t *fuse.SxTime) (any, string) { return nanoseconds(t.Nsec) }),
	rule("nanoseconds", "EntryValidNsec", badValid, func(_ *site, e *fuse.EntryOut) (any, string) { return nanoseconds(e.EntryValidNsec) }),
	rule("nanoseconds", "AttrValidNsec", badValid, func(_ *site, e *fuse.EntryOut) (any, string) { return nanoseconds(e.AttrValidNsec) }),
	rule("nanoseconds", "AttrValidNsec", badValid, func(_ *site, a *fuse.AttrOut) (any, string) { return nanoseconds(a.AttrValidNsec) }),
	rule("nanoseconds", "AttrValidNsec", badValid, func(_ *site, a *fuse.StatxOut) (any, string) { return nanoseconds(a.AttrValidNsec) }),

	rule("name", "Name", badDirent+"; d_name of struct dirent holds 255 bytes", direntName),
	rule("name", "Name", badName, notifyName),
	rule("cookie", "Off", "the kernel goes on from there: the caller reads for ever", cookie),
	rule("cookie", "Off", badOffset, func(_ *site, e *proto.Dirent) (any, string) { return signed(e.Off) }),
	rule("inode number of an entry", "Ino", "readdir(3) takes 0 for a deleted entry", direntIno),
	rule("type of an entry", "Type", "getdents64(2) hands it on: ls and find go by it", direntType),
	rule("first entry fits", "Name", "an empty listing would say that the directory has ended", fits),

	rule("no more data than asked", "Data", badLength, within("Size", replyData), proto.OpRead, proto.OpGetxattr, proto.OpListxattr),
	rule("no more data than asked", "Data", badLength, within("OutSize", replyData), proto.OpIoctl),
	rule("target of a link", "Data", "fuse_readlink_folio: the caller gets EIO; a path ends at NUL", linkTarget, proto.OpReadlink),
	rule("list of attributes", "Data", "fuse_verify_xattr_list: the caller gets EIO", xattrList, proto.OpListxattr),
	rule("size of an attribute", "Size", "fuse_getxattr and fuse_listxattr cut it to 65536", xattrSize),
	rule("no more written than sent", "Size", badCounted, within("Size", func(o *fuse.WriteOut) uint64 { return uint64(o.Size) }), proto.OpWrite),
	rule("no more copied than asked", "Size", badCounted, within("Len", func(o *fuse.WriteOut) uint64 { return uint64(o.Size) }), proto.OpCopyFileRange),
	rule("no more copied than asked", "BytesCopied", badCounted, within("Len", func(o *fuse.CopyFileRangeOut) uint64 { return o.BytesCopied })),

	rule("offset of a file", "Offset", badOffset, func(_ *site, o *fuse.LseekOut) (any, string) { return signed(o.Offset) }),
	rule("kind of a lock", "Typ", badLock, lockKind),
	rule("range of a lock", "End", badLock, lockRange),
	rule("no passthrough", "OpenFlags", "it was not negotiated: the caller gets EIO", noPassthrough),
	rule("no retry", "Flags", "fuse_do_ioctl: the caller gets EIO", noRetry),
	rule("content within the size", "Offset", "fuse_notify_store makes the file larger", storeWithin),
}

// most is what a signed 64-bit offset holds.
const most = math.MaxInt64

func signed(n uint64) (any, string) {
	if n > most {
		return n, "at most 9223372036854775807"
	}
	return nil, ""
}

func nanoseconds(n uint32) (any, string) {
	if n >= 1e9 {
		return n, "less than 1000000000"
	}
	return nil, ""
}

// within makes a check of a length against a field of the in-struct.
func within[T any](field string, length func(*T) uint64) func(*site, *T) (any, string) {
	return func(s *site, v *T) (any, string) {
		limit, ok := s.asked(field)
		if n := length(v); ok && n > limit && !(limit == 0 && s.row.Reply == proto.ReplySizeOrBytes) {
			return n, "at most In." + field + ", " + decimal(limit)
		}
		return nil, ""
	}
}

func replyData(r *proto.Reply) uint64 { return uint64(len(r.Data)) }

func hasNode(_ *site, e *fuse.EntryOut) (any, string) {
	if e.NodeId == 0 {
		return 0, "the id of the new node"
	}
	return nil, ""
}

func notRoot(_ *site, e *fuse.EntryOut) (any, string) {
	if e.NodeId == proto.RootID {
		return e.NodeId, "another id: 1 is the root's, which is no entry of a directory"
	}
	return nil, ""
}

func notParent(s *site, e *fuse.EntryOut) (any, string) {
	if e.NodeId != 0 && e.NodeId != proto.RootID && e.NodeId == s.req.Header.NodeId {
		return e.NodeId, "another id: this one is the directory's own"
	}
	return nil, ""
}

func linkTarget(_ *site, r *proto.Reply) (any, string) {
	const page = 4096
	switch n := len(r.Data); {
	case n == 0 || n >= page:
		return decimal(uint64(n)) + " bytes", "1 to 4095 bytes"
	case strings.ContainsRune(string(r.Data), 0):
		return "a NUL in it", "a path without NUL"
	}
	return nil, ""
}

// xattrList: names, each with a NUL at its end.
func xattrList(s *site, r *proto.Reply) (any, string) {
	if n, _ := s.asked("Size"); n == 0 || len(r.Data) == 0 {
		return nil, ""
	}
	list := "\x00" + string(r.Data)
	if !strings.HasSuffix(list, "\x00") || strings.Contains(list, "\x00\x00") {
		return excerpt(r.Data), `names that each end in a NUL ("user.a\u0000user.b\u0000")`
	}
	return nil, ""
}

func xattrSize(_ *site, o *fuse.GetXAttrOut) (any, string) {
	if o.Size > 65536 {
		return o.Size, "at most 65536"
	}
	return nil, ""
}

func lockKind(_ *site, l *fuse.FileLock) (any, string) {
	if l.Typ > 2 {
		return l.Typ, proto.Meanings["FileLock.Typ"].Legend()
	}
	return nil, ""
}

func lockRange(_ *site, l *fuse.FileLock) (any, string) {
	const unlocked = 2
	if l.Typ < unlocked && (l.End < l.Start || l.End > most) {
		return l.End, "Start to 9223372036854775807"
	}
	return nil, ""
}

func noPassthrough(_ *site, o *fuse.OpenOut) (any, string) {
	if o.OpenFlags&fuse.FOPEN_PASSTHROUGH != 0 {
		return o.OpenFlags, "no FOPEN_PASSTHROUGH 128"
	}
	return nil, ""
}

func noRetry(_ *site, o *fuse.IoctlOut) (any, string) {
	const retry = 1 << 2 // FUSE_IOCTL_RETRY
	if o.Flags&retry != 0 {
		return o.Flags, "no FUSE_IOCTL_RETRY 4"
	}
	return nil, ""
}

// storeWithin: the content of an entry of the same reply ends at its size.
func storeWithin(s *site, o *fuse.NotifyStoreOut) (any, string) {
	n, ok := s.up.v.(*proto.Notification)
	size, known := entrySize(s.reply, o.Nodeid)
	if end := o.Offset + uint64(len(n.Data)); ok && known && end > size {
		return "content up to byte " + decimal(end), "no more than the entry's Size, " + decimal(size)
	}
	return nil, ""
}

func entrySize(r *proto.Reply, node uint64) (uint64, bool) {
	entries := []*fuse.EntryOut{}
	switch out := r.Out.(type) {
	case *fuse.EntryOut:
		entries = append(entries, out)
	case *fuse.CreateOut:
		entries = append(entries, &out.EntryOut)
	}
	for i := range r.Entries {
		entries = append(entries, &r.Entries[i].Entry)
	}
	for _, e := range entries {
		if e.NodeId == node && node != 0 {
			return e.Attr.Size, true
		}
	}
	return 0, false
}

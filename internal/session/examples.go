package session

// Worked examples: one for each opcode that reaches a model, written by the
// codec from typed values, so that they can't be wrong in form.

import (
	"regexp"
	"strings"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
	"github.com/llmfs-raw/llmfs-raw/schema"
)

// example is a request about node and what a good answer is.
type example struct {
	op    proto.Opcode
	node  uint64
	in    any
	data  string
	reply proto.Reply
	names []string
	note  string // "" where the pair says it all
}

const exampleNow = 1767322445

func exampleAttr(node uint64, mode, nlink uint32, size uint64) fuse.Attr {
	return fuse.Attr{
		Ino: node, Size: size, Blocks: (size + 511) / 512, Atime: exampleNow, Mtime: exampleNow, Ctime: exampleNow,
		Mode: mode, Nlink: nlink, Owner: fuse.Owner{Uid: 1000, Gid: 1000}, Blksize: 4096,
	}
}

func exampleEntry(node uint64, mode, nlink uint32, size uint64) fuse.EntryOut {
	return fuse.EntryOut{NodeId: node, EntryValid: 3600, AttrValid: 3600, Attr: exampleAttr(node, mode, nlink, size)}
}

func entryReply(node uint64, mode, nlink uint32, size uint64) proto.Reply {
	out := exampleEntry(node, mode, nlink, size)
	return proto.Reply{Out: &out}
}

func attrReply(node uint64, mode uint32, size uint64) proto.Reply {
	return proto.Reply{Out: &fuse.AttrOut{AttrValid: 3600, Attr: exampleAttr(node, mode, 1, size)}}
}

// examples tell one story, in the order of the opcodes where that is possible.
var examples = []example{
	{op: proto.OpLookup, node: 1, names: []string{"notes.txt"}, reply: stored(entryReply(3, 0o100644, 1, 6), 3, "hello\n"), note: "content known at LOOKUP comes along as STORE, so READ never comes; Size is its length in bytes"},
	{op: proto.OpLookup, node: 1, names: []string{"nope"}, reply: proto.Reply{Out: &fuse.EntryOut{EntryValid: 3600}}, note: "missing: NodeId 0 with EntryValid is remembered; ENOENT is asked again each time"},
	{op: proto.OpGetattr, node: 3, in: &fuse.GetAttrIn{}, reply: attrReply(3, 0o100644, 6)},
	{op: proto.OpSetattr, node: 3, in: &fuse.SetAttrIn{SetAttrInCommon: fuse.SetAttrInCommon{Valid: fuse.FATTR_SIZE | fuse.FATTR_LOCKOWNER}}, reply: attrReply(3, 0o100644, 0), note: "Valid 520 = FATTR_SIZE|FATTR_LOCKOWNER: truncate to In.Size; answer all attributes"},
	{op: proto.OpReadlink, node: 4, reply: proto.Reply{Data: []byte("notes.txt")}},
	{op: proto.OpSymlink, node: 1, names: []string{"l", "notes.txt"}, reply: entryReply(4, 0o120777, 1, 9), note: "new name, then target; Size is the target's length"},
	{op: proto.OpMknod, node: 1, in: &fuse.MknodIn{Mode: 0o10644, Umask: 0o22}, names: []string{"pipe"}, reply: entryReply(5, 0o10644, 1, 0)},
	{op: proto.OpMkdir, node: 1, in: &fuse.MkdirIn{Mode: 0o777, Umask: 0o22}, names: []string{"d"}, reply: entryReply(6, 0o40755, 2, 4096), note: "mode is Mode &^ Umask with S_IFDIR; the parent's Nlink grows by 1"},
	{op: proto.OpUnlink, node: 1, names: []string{"l"}},
	{op: proto.OpRmdir, node: 1, names: []string{"d"}, reply: proto.Reply{Errno: syscall.ENOTEMPTY}},
	{op: proto.OpRename, node: 1, in: &fuse.RenameIn{Newdir: 6}, names: []string{"a", "b"}},
	{op: proto.OpRename2, node: 1, in: &fuse.RenameIn{Newdir: 1, Flags: 1}, names: []string{"a", "b"}, reply: proto.Reply{Errno: syscall.EEXIST}, note: "RENAME_NOREPLACE"},
	{op: proto.OpLink, node: 1, in: &fuse.LinkIn{Oldnodeid: 3}, names: []string{"again"}, reply: entryReply(3, 0o100644, 2, 6), note: "the same node, Nlink one more"},
	{op: proto.OpOpen, node: 3, in: &fuse.OpenIn{Flags: 0o100000}, reply: proto.Reply{Out: &fuse.OpenOut{OpenFlags: fuse.FOPEN_KEEP_CACHE}}, note: "FOPEN_KEEP_CACHE: what the kernel has of the file stays valid"},
	{op: proto.OpRead, node: 3, in: &fuse.ReadIn{Size: 4096}, reply: proto.Reply{Data: []byte("hello\n")}, note: "fewer bytes than Size end the file"},
	{op: proto.OpWrite, node: 3, in: &fuse.WriteIn{Offset: 6, Size: 6}, data: "world\n", reply: proto.Reply{Out: &fuse.WriteOut{Size: 6}}, note: "the file is 12 bytes long now"},
	{op: proto.OpStatfs, node: 1, reply: proto.Reply{Out: &fuse.StatfsOut{Blocks: 1000000, Bfree: 900000, Bavail: 900000, Files: 100000, Ffree: 90000, Bsize: 4096, NameLen: 255, Frsize: 4096}}},
	{op: proto.OpFsync, node: 3, in: &fuse.FsyncIn{}, reply: enosys(), note: "nothing to sync, ever"},
	{op: proto.OpSetxattr, node: 3, in: &fuse.SetXAttrIn{Size: 3}, data: "red", names: []string{"user.color"}},
	{op: proto.OpGetxattr, node: 3, in: &fuse.GetXAttrIn{Size: 64}, names: []string{"user.color"}, reply: proto.Reply{Data: []byte("red")}, note: "ENODATA where there is none, ERANGE where Size is too small"},
	{op: proto.OpListxattr, node: 3, in: &fuse.GetXAttrIn{}, reply: proto.Reply{Out: &fuse.GetXAttrOut{Size: 11}}, note: "Size 0 asks how long the list is; each name ends with a NUL"},
	{op: proto.OpRemovexattr, node: 3, names: []string{"user.color"}},
	{op: proto.OpFlush, node: 3, in: &fuse.FlushIn{LockOwner: 7}, note: "close(2): the owner's fcntl locks end. ENOSYS only where no locks are kept"},
	{op: proto.OpOpendir, node: 1, in: &fuse.OpenIn{Flags: 0o300000}, reply: enosys(), note: "listings need no handle"},
	{op: proto.OpReaddir, node: 6, in: &fuse.ReadIn{Size: 4096}, reply: proto.Reply{Entries: []proto.Dirent{{Ino: 6, Off: 1, Type: 4, Name: "."}, {Ino: 1, Off: proto.EndCookie, Type: 4, Name: ".."}}}, note: "an empty directory, whole"},
	{op: proto.OpReaddirplus, node: 1, in: &fuse.ReadIn{Offset: 2, Size: 4096}, reply: proto.Reply{Entries: []proto.Dirent{{Entry: exampleEntry(3, 0o100644, 1, 6), Ino: 3, Off: proto.EndCookie, Type: 8, Name: "notes.txt"}}}, note: "In.Offset 2: after . and .., whose Entry may be all 0; the last Off is the end cookie"},
	{op: proto.OpFsyncdir, node: 1, in: &fuse.FsyncIn{}, reply: enosys()},
	{op: proto.OpGetlk, node: 3, in: &fuse.LkIn{Owner: 7, Lk: fuse.FileLock{End: 9, Typ: 1}}, reply: proto.Reply{Out: &fuse.LkOut{Lk: fuse.FileLock{Typ: 2}}}, note: "F_UNLCK: nobody holds it; else that lock"},
	{op: proto.OpSetlk, node: 3, in: &fuse.LkIn{Owner: 7, Lk: fuse.FileLock{End: 9, Typ: 1}}, reply: proto.Reply{Errno: syscall.EAGAIN}, note: "another owner holds it"},
	{op: proto.OpSetlkw, node: 3, in: &fuse.LkIn{Owner: 7, Lk: fuse.FileLock{End: 9, Typ: 1}}, note: "may have to wait: EAGAIN, too"},
	{op: proto.OpAccess, node: 3, in: &fuse.AccessIn{Mask: 4}, reply: enosys(), note: "the kernel checks permissions"},
	{op: proto.OpCreate, node: 1, in: &fuse.CreateIn{Flags: 0o100301, Mode: 0o100644, Umask: 0o22}, names: []string{"new"}, reply: proto.Reply{Out: &fuse.CreateOut{EntryOut: exampleEntry(7, 0o100644, 1, 0), OpenOut: fuse.OpenOut{OpenFlags: fuse.FOPEN_KEEP_CACHE}}}, note: "a new, empty, open file"},
	{op: proto.OpTmpfile, node: 1, in: &fuse.CreateIn{Flags: 0o20200002, Mode: 0o100600}, names: []string{"/"}, reply: enosys(), note: "programs then use CREATE and UNLINK"},
	{op: proto.OpIoctl, node: 3, in: &fuse.IoctlIn{Cmd: 0x5401}, reply: proto.Reply{Errno: syscall.ENOTTY}},
	{op: proto.OpPoll, node: 3, in: &proto.PollIn{Events: 1}, reply: enosys(), note: "files are always ready"},
	{op: proto.OpFallocate, node: 3, in: &fuse.FallocateIn{Length: 4096}, reply: proto.Reply{}, note: "Size grows to Offset+Length; the new bytes are zeros"},
	{op: proto.OpLseek, node: 3, in: &fuse.LseekIn{Whence: 4}, reply: proto.Reply{Out: &fuse.LseekOut{Offset: 6}}, note: "SEEK_HOLE: the end is a hole; ENXIO beyond it"},
	{op: proto.OpCopyFileRange, node: 3, in: &fuse.CopyFileRangeIn{NodeIdOut: 7, Len: 6}, reply: proto.Reply{Out: &fuse.WriteOut{Size: 6}}},
	{op: proto.OpCopyFileRange64, node: 3, in: &fuse.CopyFileRangeIn{NodeIdOut: 7, Len: 6}, reply: proto.Reply{Out: &fuse.CopyFileRangeOut{BytesCopied: 6}}},
	{op: proto.OpStatx, node: 3, in: &fuse.StatxIn{SxMask: 4095}, reply: enosys(), note: "GETATTR takes its place"},
}

func enosys() proto.Reply { return proto.Reply{Errno: syscall.ENOSYS} }

func stored(r proto.Reply, node uint64, data string) proto.Reply {
	r.Notify = []proto.Notification{{Code: proto.NotifyStore, Out: &fuse.NotifyStoreOut{Nodeid: node, Size: uint32(len(data))}, Data: []byte(data)}}
	return r
}

// request is the example's as a whole.
func (e *example) request() *proto.Request {
	return &proto.Request{
		Op: e.op, In: e.in, Names: e.names, Data: []byte(e.data),
		Header: proto.Header{Unique: 8, NodeId: e.node, Uid: 1000, Gid: 1000, Pid: 412, Comm: "sh", Now: proto.Time{Sec: exampleNow, Nsec: 6}},
	}
}

var (
	headerJSON = regexp.MustCompile(`"Header":\{"Unique":\d+,("NodeId":\d+),.*?"Now":\{[^}]*\}\}`)
	attrJSON   = regexp.MustCompile(`"Attr":\{.*?"Flags":\d+\}`)
	zeros      = regexp.MustCompile(`"(LockOwner|ReadFlags|WriteFlags|Generation|EntryValidNsec|AttrValidNsec|BackingID|SetXAttrFlags|OpenFlags|FsyncFlags|Fh|FhIn|FhOut|OffIn|OffOut|Flags|Mtime|Ctime|Atime|Atimensec|Mtimensec|Ctimensec|GetattrFlags|SxFlags|LkFlags|Start|Pid|Offset|Arg|InSize|OutSize|Kh|Rdev)":0(,|\})`)
)

// text is the example in two lines; short leaves out what others have shown.
func (e *example) text(short bool) string {
	request, err := proto.AppendRequestJSON(nil, e.request())
	if err != nil {
		panic(err) // the table is wrong, and so is every test
	}
	reply, err := proto.AppendReplyJSON(nil, e.request(), &e.reply)
	if err != nil {
		panic(err)
	}
	lines := string(request) + "\n" + string(schema.Wrap(reply))
	if short {
		lines = abridged(string(request), string(reply))
	}
	if e.note != "" {
		return lines + "  ← " + e.note + "\n"
	}
	return lines + "\n"
}

// abridged leaves out most of the header, the attributes and what is 0.
func abridged(request, reply string) string {
	request = headerJSON.ReplaceAllString(request, "$1")
	request = strings.TrimPrefix(request, `{"Op":"`)
	name, rest, _ := strings.Cut(request, `",`)
	return name + " {" + withoutZeros(rest) + "\n→ " + withoutZeros(attrJSON.ReplaceAllString(reply, `"Attr":{…}`))
}

func withoutZeros(s string) string {
	s = zeros.ReplaceAllStringFunc(s, func(m string) string {
		if strings.HasSuffix(m, "}") {
			return "}"
		}
		return ""
	})
	return strings.NewReplacer(",}", "}", ",,", ",").Replace(s)
}

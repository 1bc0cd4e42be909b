package proto

import (
	"encoding/binary"
	"reflect"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// ReplyKind says what follows the header of a successful reply.
type ReplyKind uint8

const (
	ReplyStruct      ReplyKind = iota // Out, or nothing where the row has none
	ReplyBytes                        // Data
	ReplyStructBytes                  // Out, then Data
	ReplySizeOrBytes                  // Out where In.Size is 0, else Data
	ReplyEntries                      // Entries as struct fuse_dirent
	ReplyEntriesPlus                  // Entries as struct fuse_direntplus
	ReplyNone                         // the kernel waits for none and takes none
	ReplyIgnored                      // the kernel takes one and ignores what it says
)

// Role says what a request's name is.
type Role uint8

const (
	RoleEntry   Role = iota // an entry of the directory Header.NodeId
	RoleRemoved             // an entry of it that is gone after success
	RoleMoved               // the same, gone to the entry that comes next
	RoleNew                 // an entry of the directory In.Newdir
	RoleTarget              // what a symbolic link says
	RoleXattr               // an extended attribute of the node
	RoleNone                // nothing that means anything
)

// IsEntry reports whether the name is one of a directory's.
func (r Role) IsEntry() bool { return r <= RoleNew }

// Row is what there is to know about an opcode. Decoding, encoding, schemas,
// prompts, traces and scores read it.
type Row struct {
	Op    Opcode
	Name  string
	In    any    // a nil pointer of the in-struct's type, or nil
	Names int    // NUL-terminated names after In
	Roles []Role // what each name is, where not all are RoleEntry
	Size  string // the field of In with the payload's length in bytes; "" where there is no payload
	List  any    // a nil pointer of the element type of the list after In, counted by In.Count
	Out   any    // a nil pointer of the out-struct's type, or nil
	Reply ReplyKind
	// InLen is the length in bytes of In on the wire where it is not always the
	// whole struct. body begins with In, as received or as it would be sent whole.
	InLen func(w Wire, body []byte) int
	// Blocking says that the caller may wait for ever, so no deadline applies.
	Blocking bool
	// Unsent says why a plain mount never sends the opcode; "" where it does.
	Unsent string

	in, out, list *layout
	size          *field // the field of In that Size names
	asked         *field // In.Size where it bounds the reply's Data or Entries
}

// The long reasons in the table.
const (
	virtiofs  = "virtiofs only"
	blockdev  = "block-device mounts only (fuseblk)"
	retrieved = "only after NOTIFY_RETRIEVE, which is never sent"
)

var table = [...]Row{
	OpLookup:          {Name: "LOOKUP", Names: 1, Out: (*fuse.EntryOut)(nil)},
	OpForget:          {Name: "FORGET", In: (*fuse.ForgetIn)(nil), Reply: ReplyNone},
	OpGetattr:         {Name: "GETATTR", In: (*fuse.GetAttrIn)(nil), Out: (*fuse.AttrOut)(nil)},
	OpSetattr:         {Name: "SETATTR", In: (*fuse.SetAttrIn)(nil), Out: (*fuse.AttrOut)(nil)},
	OpReadlink:        {Name: "READLINK", Reply: ReplyBytes},
	OpSymlink:         {Name: "SYMLINK", Names: 2, Roles: []Role{RoleEntry, RoleTarget}, Out: (*fuse.EntryOut)(nil)},
	OpMknod:           {Name: "MKNOD", In: (*fuse.MknodIn)(nil), Names: 1, Out: (*fuse.EntryOut)(nil)},
	OpMkdir:           {Name: "MKDIR", In: (*fuse.MkdirIn)(nil), Names: 1, Out: (*fuse.EntryOut)(nil)},
	OpUnlink:          {Name: "UNLINK", Names: 1, Roles: []Role{RoleRemoved}},
	OpRmdir:           {Name: "RMDIR", Names: 1, Roles: []Role{RoleRemoved}},
	OpRename:          {Name: "RENAME", In: (*fuse.RenameIn)(nil), InLen: renameLen, Names: 2, Roles: []Role{RoleMoved, RoleNew}},
	OpLink:            {Name: "LINK", In: (*fuse.LinkIn)(nil), Names: 1, Out: (*fuse.EntryOut)(nil)},
	OpOpen:            {Name: "OPEN", In: (*fuse.OpenIn)(nil), Out: (*fuse.OpenOut)(nil)},
	OpRead:            {Name: "READ", In: (*fuse.ReadIn)(nil), Reply: ReplyBytes},
	OpWrite:           {Name: "WRITE", In: (*fuse.WriteIn)(nil), Size: "Size", Out: (*fuse.WriteOut)(nil)},
	OpStatfs:          {Name: "STATFS", Out: (*fuse.StatfsOut)(nil)},
	OpRelease:         {Name: "RELEASE", In: (*fuse.ReleaseIn)(nil), Reply: ReplyIgnored},
	OpFsync:           {Name: "FSYNC", In: (*fuse.FsyncIn)(nil)},
	OpSetxattr:        {Name: "SETXATTR", In: (*fuse.SetXAttrIn)(nil), InLen: setxattrLen, Names: 1, Roles: []Role{RoleXattr}, Size: "Size"},
	OpGetxattr:        {Name: "GETXATTR", In: (*fuse.GetXAttrIn)(nil), Names: 1, Roles: []Role{RoleXattr}, Out: (*fuse.GetXAttrOut)(nil), Reply: ReplySizeOrBytes},
	OpListxattr:       {Name: "LISTXATTR", In: (*fuse.GetXAttrIn)(nil), Out: (*fuse.GetXAttrOut)(nil), Reply: ReplySizeOrBytes},
	OpRemovexattr:     {Name: "REMOVEXATTR", Names: 1, Roles: []Role{RoleXattr}},
	OpFlush:           {Name: "FLUSH", In: (*fuse.FlushIn)(nil)},
	OpInit:            {Name: "INIT", In: (*fuse.InitIn)(nil), InLen: initLen, Out: (*fuse.InitOut)(nil)},
	OpOpendir:         {Name: "OPENDIR", In: (*fuse.OpenIn)(nil), Out: (*fuse.OpenOut)(nil)},
	OpReaddir:         {Name: "READDIR", In: (*fuse.ReadIn)(nil), Reply: ReplyEntries},
	OpReleasedir:      {Name: "RELEASEDIR", In: (*fuse.ReleaseIn)(nil), Reply: ReplyIgnored},
	OpFsyncdir:        {Name: "FSYNCDIR", In: (*fuse.FsyncIn)(nil)},
	OpGetlk:           {Name: "GETLK", In: (*fuse.LkIn)(nil), Out: (*fuse.LkOut)(nil)},
	OpSetlk:           {Name: "SETLK", In: (*fuse.LkIn)(nil)},
	OpSetlkw:          {Name: "SETLKW", In: (*fuse.LkIn)(nil), Blocking: true},
	OpAccess:          {Name: "ACCESS", In: (*fuse.AccessIn)(nil)},
	OpCreate:          {Name: "CREATE", In: (*fuse.CreateIn)(nil), Names: 1, Out: (*fuse.CreateOut)(nil)},
	OpInterrupt:       {Name: "INTERRUPT", In: (*fuse.InterruptIn)(nil), Reply: ReplyNone},
	OpBmap:            {Name: "BMAP", In: (*BmapIn)(nil), Out: (*BmapOut)(nil), Unsent: blockdev},
	OpDestroy:         {Name: "DESTROY", Reply: ReplyIgnored, Unsent: blockdev},
	OpIoctl:           {Name: "IOCTL", In: (*fuse.IoctlIn)(nil), Size: "InSize", Out: (*fuse.IoctlOut)(nil), Reply: ReplyStructBytes},
	OpPoll:            {Name: "POLL", In: (*PollIn)(nil), Out: (*PollOut)(nil)},
	OpNotifyReply:     {Name: "NOTIFY_REPLY", In: (*fuse.NotifyRetrieveIn)(nil), Size: "Size", Reply: ReplyNone, Unsent: retrieved},
	OpBatchForget:     {Name: "BATCH_FORGET", In: (*BatchForgetIn)(nil), List: (*ForgetOne)(nil), Reply: ReplyNone},
	OpFallocate:       {Name: "FALLOCATE", In: (*fuse.FallocateIn)(nil)},
	OpReaddirplus:     {Name: "READDIRPLUS", In: (*fuse.ReadIn)(nil), Reply: ReplyEntriesPlus},
	OpRename2:         {Name: "RENAME2", In: (*fuse.RenameIn)(nil), Names: 2, Roles: []Role{RoleMoved, RoleNew}},
	OpLseek:           {Name: "LSEEK", In: (*fuse.LseekIn)(nil), Out: (*fuse.LseekOut)(nil)},
	OpCopyFileRange:   {Name: "COPY_FILE_RANGE", In: (*fuse.CopyFileRangeIn)(nil), Out: (*fuse.WriteOut)(nil)},
	OpSetupmapping:    {Name: "SETUPMAPPING", In: (*SetupMappingIn)(nil), Unsent: virtiofs},
	OpRemovemapping:   {Name: "REMOVEMAPPING", In: (*RemoveMappingIn)(nil), List: (*RemoveMappingOne)(nil), Unsent: virtiofs},
	OpSyncfs:          {Name: "SYNCFS", In: (*SyncFSIn)(nil), Unsent: "virtiofs and fuseblk only"},
	OpTmpfile:         {Name: "TMPFILE", In: (*fuse.CreateIn)(nil), Names: 1, Roles: []Role{RoleNone}, Out: (*fuse.CreateOut)(nil)},
	OpStatx:           {Name: "STATX", In: (*fuse.StatxIn)(nil), Out: (*fuse.StatxOut)(nil)},
	OpCopyFileRange64: {Name: "COPY_FILE_RANGE_64", In: (*fuse.CopyFileRangeIn)(nil), Out: (*fuse.CopyFileRangeOut)(nil)},
}

// Unassigned lists the numbers of 1 to 53 that are no opcodes, with the reason.
var Unassigned = map[Opcode]string{
	7:  "never assigned",
	19: "never assigned",
}

// Row is the opcode's row, or nil where the table has none.
func (op Opcode) Row() *Row {
	if int(op) >= len(table) || table[op].Name == "" {
		return nil
	}
	return &table[op]
}

// Rows lists the table in the order of the opcodes.
func Rows() []*Row {
	var rows []*Row
	for op := range table {
		if row := Opcode(op).Row(); row != nil {
			rows = append(rows, row)
		}
	}
	return rows
}

// Role is what name i of a request is.
func (r *Row) Role(i int) Role {
	if i < len(r.Roles) {
		return r.Roles[i]
	}
	return RoleEntry
}

// NewIn allocates the row's in-struct; nil where the row has none.
func (r *Row) NewIn() any { return newOf(r.in) }

// NewOut allocates the row's out-struct; nil where the row has none.
func (r *Row) NewOut() any { return newOf(r.out) }

func newOf(l *layout) any {
	if l == nil {
		return nil
	}
	return reflect.New(l.typ).Interface()
}

var byName = map[string]Opcode{}

func init() {
	for op := range table {
		row := &table[op]
		if row.Name == "" {
			continue
		}
		row.Op = Opcode(op)
		row.in, row.out, row.list = row.inLayout(), layoutOf(row.Out), layoutOf(row.List)
		if row.Size != "" {
			row.size = row.in.field(row.Size)
		}
		if row.in != nil && row.Reply.bounded() {
			row.asked = row.in.field("Size")
		}
		byName[row.Name] = row.Op
	}
}

// inLayout leaves out of the JSON form the fields that are never on the wire.
func (r *Row) inLayout() *layout {
	l := layoutOf(r.In)
	if l == nil || r.InLen == nil {
		return l
	}
	whole := Wire{Minor: Minor, SetxattrExt: true}
	return l.prefix(r.InLen(whole, binary.NativeEndian.AppendUint64(nil, uint64(Minor)<<32)))
}

func (k ReplyKind) bounded() bool {
	return k == ReplyBytes || k == ReplySizeOrBytes || k == ReplyEntries || k == ReplyEntriesPlus
}

var replyKinds = [...]string{
	ReplyStruct:      "struct",
	ReplyBytes:       "bytes",
	ReplyStructBytes: "struct and bytes",
	ReplySizeOrBytes: "size or bytes",
	ReplyEntries:     "entries",
	ReplyEntriesPlus: "entries-plus",
	ReplyNone:        "none",
	ReplyIgnored:     "ignored",
}

// String is the kind's name in the opcode table.
func (k ReplyKind) String() string { return replyKinds[k] }

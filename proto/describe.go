package proto

// What each field is, with its unit: one table for schemas, prompts and
// documents. What the bits of a field mean is in meanings.go.

// Describe is what a field is; structName is [FieldInfo].Struct. It is ""
// for what is no field.
func Describe(structName, field string) string {
	if text, ok := descriptions[structName+"."+field]; ok {
		return text
	}
	return descriptions[field]
}

// descriptions tells fields by the struct that declares them, or by their
// name alone where it means the same in every struct.
var descriptions = map[string]string{
	"Atime":         "last access, s since the epoch",
	"Atimensec":     "its nanoseconds, 0-999999999",
	"Attr":          "attributes of the node",
	"AttrValid":     "how long the kernel may cache the attributes, s",
	"AttrValidNsec": "plus nanoseconds",
	"Blksize":       "preferred I/O size, bytes",
	"Blocks":        "allocated, units of 512 bytes",
	"Ctime":         "last change of content or attributes, s since the epoch",
	"Ctimensec":     "its nanoseconds, 0-999999999",
	"Fh":            "file handle, as the reply to OPEN, OPENDIR or CREATE gave it",
	"Gid":           "group id",
	"LockOwner":     "id of the lock owner, opaque",
	"Mtime":         "last change of content, s since the epoch",
	"Mtimensec":     "its nanoseconds, 0-999999999",
	"Nlink":         "number of hard links",
	"NodeId":        "node id",
	"Owner":         "owner and group",
	"Uid":           "user id",
	"Umask":         "the caller's umask",

	"AccessIn.Mask": "the access asked for",

	"Attr.Flags": "FUSE_ATTR_*",
	"Attr.Ino":   "inode number as stat(2) shows it",
	"Attr.Mode":  "file type and permission bits: type + permissions, so a regular file 0644 is 32768+420 = 33188, a directory 0755 is 16384+493 = 16877",
	"Attr.Rdev":  "device number of a character or block device, else 0",
	"Attr.Size":  "bytes of content; of a symbolic link: of its target",

	"BatchForgetIn.Count": "number of elements of List",

	"BmapIn.Block":     "block of the file",
	"BmapIn.Blocksize": "bytes of a block",
	"BmapOut.Block":    "block of the device",

	"CopyFileRangeIn.FhIn":         "file handle of the source, node Header.NodeId",
	"CopyFileRangeIn.FhOut":        "file handle of the destination",
	"CopyFileRangeIn.Flags":        "always 0",
	"CopyFileRangeIn.Len":          "bytes to copy",
	"CopyFileRangeIn.NodeIdOut":    "node id of the destination",
	"CopyFileRangeIn.OffIn":        "where to read, bytes",
	"CopyFileRangeIn.OffOut":       "where to write, bytes",
	"CopyFileRangeOut.BytesCopied": "bytes copied, at most In.Len",

	"CreateIn.Flags":     "flags of open(2)",
	"CreateIn.Mode":      "file type and permission bits, umask not applied",
	"CreateIn.OpenFlags": "FUSE_OPEN_*",
	"CreateOut.EntryOut": "the new file",
	"CreateOut.OpenOut":  "the new file, opened",

	"Dirent.Entry": "what LOOKUP of the name would answer; NodeId 0: not said",
	"Dirent.Ino":   "inode number, not 0",
	"Dirent.Name":  "name of at most 255 bytes without '/' and NUL",
	"Dirent.Off":   "cookie: the Offset of the request that goes on behind this entry; not 0, none twice",
	"Dirent.Type":  "file type, as in Mode",

	"EntryOut.EntryValid":     "how long the kernel may cache the name, s",
	"EntryOut.EntryValidNsec": "plus nanoseconds",
	"EntryOut.Generation":     "tells later uses of the same NodeId apart; 0 where none is used twice",
	"EntryOut.NodeId":         "id of the node, the same for all names and as long as the node lives; small; 1 is the root and never given here; 0: LOOKUP says that there is no such name, for EntryValid s",

	"Extension.Data": "its content",
	"Extension.Type": "enum fuse_ext_type",

	"FallocateIn.Length": "bytes",
	"FallocateIn.Mode":   "what to do with the range; 0: allocate it",
	"FallocateIn.Offset": "where the range begins, bytes",

	"FileLock.End":   "last byte of the range; 9223372036854775807: to the end of the file",
	"FileLock.Pid":   "process that holds the lock",
	"FileLock.Start": "first byte of the range",
	"FileLock.Typ":   "kind of lock",

	"ForgetIn.Nlookup":  "lookups that the kernel gives back",
	"ForgetOne.Nlookup": "lookups that the kernel gives back",

	"FsyncIn.FsyncFlags": "FUSE_FSYNC_*",
	"GetAttrIn.Flags":    "FUSE_GETATTR_*",
	"GetXAttrIn.Size":    "room for the reply, bytes; 0: the size alone is asked for",
	"GetXAttrOut.Size":   "bytes that the value or the list has",

	"Header.Comm":   "name of the calling program",
	"Header.Groups": "supplementary groups of the caller",
	"Header.NodeId": "the node that the request is about; of requests with a name: the directory",
	"Header.Now":    "time of the request",
	"Header.Pid":    "process id of the caller; 0: the kernel itself",
	"Header.Unique": "number of the request",

	"InitIn.Flags":                "what the kernel offers",
	"InitIn.Flags2":               "what the kernel offers, bits 32 and up",
	"InitIn.Major":                "protocol version",
	"InitIn.MaxReadAhead":         "most bytes read ahead",
	"InitIn.Minor":                "protocol version",
	"InitOut.CongestionThreshold": "background requests from which the kernel holds back",
	"InitOut.Flags":               "what was taken of the offer",
	"InitOut.Flags2":              "what was taken of the offer, bits 32 and up",
	"InitOut.Major":               "protocol version",
	"InitOut.MapAlignment":        "log2 of the alignment of mappings",
	"InitOut.MaxBackground":       "most background requests at once",
	"InitOut.MaxPages":            "most pages of a request",
	"InitOut.MaxReadAhead":        "most bytes read ahead",
	"InitOut.MaxStackDepth":       "most filesystems stacked below passthrough",
	"InitOut.MaxWrite":            "most bytes of a WRITE",
	"InitOut.Minor":               "protocol version",
	"InitOut.RequestTimeout":      "s until the kernel gives a request up; 0: never",
	"InitOut.TimeGran":            "granularity of times, nanoseconds",

	"InterruptIn.Unique": "number of the request that is no longer waited for",

	"IoctlIn.Arg":      "argument of ioctl(2)",
	"IoctlIn.Cmd":      "command of ioctl(2)",
	"IoctlIn.Flags":    "FUSE_IOCTL_*",
	"IoctlIn.InSize":   "bytes of Data",
	"IoctlIn.OutSize":  "most bytes of the reply's Data",
	"IoctlOut.Flags":   "FUSE_IOCTL_*; 0",
	"IoctlOut.InIovs":  "0",
	"IoctlOut.OutIovs": "0",
	"IoctlOut.Result":  "what ioctl(2) returns",

	"LinkIn.Oldnodeid": "node id of the file that gets one more name",

	"LkIn.Lk":      "the lock",
	"LkIn.LkFlags": "FUSE_LK_*",
	"LkIn.Owner":   "id of the lock owner, opaque",
	"LkOut.Lk":     "the first lock in the way, or Typ F_UNLCK",

	"LseekIn.Offset":  "where to begin, bytes",
	"LseekIn.Whence":  "what to seek",
	"LseekOut.Offset": "where it is, bytes from the start",

	"MkdirIn.Mode": "file type and permission bits, umask not applied",
	"MknodIn.Mode": "file type and permission bits, umask not applied",
	"MknodIn.Rdev": "device number",

	"NotifyInvalDeleteOut.Child":  "node id of what was deleted",
	"NotifyInvalDeleteOut.Parent": "node id of the directory",
	"NotifyInvalEntryOut.Flags":   "FUSE_EXPIRE_ONLY or 0",
	"NotifyInvalEntryOut.Parent":  "node id of the directory",
	"NotifyInvalInodeOut.Ino":     "node id",
	"NotifyInvalInodeOut.Length":  "bytes of the content to drop; 0: to the end",
	"NotifyInvalInodeOut.Off":     "where the content to drop begins, bytes; below 0: the attributes alone",
	"NotifyRetrieveIn.Offset":     "where Data begins, bytes",
	"NotifyRetrieveIn.Size":       "bytes of Data",
	"NotifyStoreOut.Nodeid":       "node id, of an entry of this reply or known before",
	"NotifyStoreOut.Offset":       "where Data belongs, bytes",

	"OpenIn.Flags":      "flags of open(2)",
	"OpenIn.Mode":       "FUSE_OPEN_*",
	"OpenOut.BackingID": "0",
	"OpenOut.Fh":        "file handle of your choice; later requests bring it back",
	"OpenOut.OpenFlags": "FOPEN_* or 0",

	"Owner.Gid": "group id",
	"Owner.Uid": "user id",

	"PollIn.Events":   "what is waited for",
	"PollIn.Flags":    "FUSE_POLL_*",
	"PollIn.Kh":       "number of the poll",
	"PollOut.Revents": "what is so",

	"ReadIn.Flags":     "flags of open(2)",
	"ReadIn.Offset":    "where to begin: bytes of a file, the cookie Off of a directory (0: the start)",
	"ReadIn.ReadFlags": "FUSE_READ_*",
	"ReadIn.Size":      "most bytes of the reply",

	"ReleaseIn.Flags":        "flags of open(2)",
	"ReleaseIn.ReleaseFlags": "FUSE_RELEASE_*",

	"RemoveMappingIn.Count":    "number of elements of List",
	"RemoveMappingOne.Len":     "bytes",
	"RemoveMappingOne.Moffset": "offset in the window, bytes",

	"RenameIn.Flags":  "RENAME_*",
	"RenameIn.Newdir": "node id of the directory of the new name",

	"SetAttrInCommon.Mode":  "file type and permission bits",
	"SetAttrInCommon.Owner": "new owner and group",
	"SetAttrInCommon.Size":  "new size, bytes",
	"SetAttrInCommon.Valid": "what to set; the other fields say nothing",

	"SetXAttrIn.Flags":         "XATTR_*",
	"SetXAttrIn.SetXAttrFlags": "FUSE_SETXATTR_*",
	"SetXAttrIn.Size":          "bytes of Data",

	"SetupMappingIn.Flags":   "FUSE_SETUPMAPPING_*",
	"SetupMappingIn.Foffset": "offset in the file, bytes",
	"SetupMappingIn.Len":     "bytes",
	"SetupMappingIn.Moffset": "offset in the window, bytes",

	"StatfsOut.Bavail":  "blocks free for users",
	"StatfsOut.Bfree":   "blocks free",
	"StatfsOut.Blocks":  "blocks in all, of Frsize bytes",
	"StatfsOut.Bsize":   "preferred I/O size, bytes",
	"StatfsOut.Ffree":   "inodes free",
	"StatfsOut.Files":   "inodes in all",
	"StatfsOut.Frsize":  "bytes of a block",
	"StatfsOut.NameLen": "longest name, bytes",

	"Statx.Attributes":     "STATX_ATTR_* that are set",
	"Statx.AttributesMask": "STATX_ATTR_* that are supported",
	"Statx.Atime":          "last access",
	"Statx.Btime":          "when it was made",
	"Statx.Ctime":          "last change of content or attributes",
	"Statx.DevMajor":       "device of the filesystem; the kernel puts its own",
	"Statx.DevMinor":       "device of the filesystem; the kernel puts its own",
	"Statx.Ino":            "inode number as stat(2) shows it",
	"Statx.Mask":           "the fields that say something",
	"Statx.Mode":           "file type and permission bits, as in GETATTR",
	"Statx.Mtime":          "last change of content",
	"Statx.RdevMajor":      "number of a device node",
	"Statx.RdevMinor":      "number of a device node",
	"Statx.Size":           "bytes of content",
	"StatxIn.GetattrFlags": "FUSE_GETATTR_*",
	"StatxIn.SxFlags":      "AT_STATX_*",
	"StatxIn.SxMask":       "the fields that are asked for",
	"StatxOut.Flags":       "0",
	"StatxOut.Statx":       "attributes of the node",

	"SxTime.Nsec": "nanoseconds, 0-999999999",
	"SxTime.Sec":  "s since the epoch",
	"Time.Nsec":   "nanoseconds, 0-999999999",
	"Time.Sec":    "s since the epoch",

	"WriteIn.Flags":      "flags of open(2)",
	"WriteIn.Offset":     "where to write, bytes",
	"WriteIn.Size":       "bytes of Data",
	"WriteIn.WriteFlags": "FUSE_WRITE_*",
	"WriteOut.Size":      "bytes written, at most In.Size",
}

package proto

// What the bits of the protocol's fields mean: one table, from which traces
// are shown, and schemas, prompts and documents are made.

import (
	"strconv"
	"strings"
)

// Bit is one named value of a field.
type Bit struct {
	Name  string
	Value uint64
	Mask  uint64 // the bits that Value is compared under; 0 stands for Value's own
	Doc   string // its meaning in a few words; "" where the name says it
}

// Meaning is what the values of a field stand for.
type Meaning struct {
	Bits  []Bit
	Octal bool // what no bit names is shown in octal, not in hex
}

const exact = ^uint64(0) // the mask of a field with one value at a time

// Meanings tells fields by the struct that declares them and their JSON name.
// The values of O_* are those of x86-64.
var Meanings = map[string]Meaning{
	"AccessIn.Mask":             {Bits: accessMask},
	"Attr.Flags":                {Bits: attrFlags},
	"Attr.Mode":                 fileMode,
	"CreateIn.Flags":            {Bits: openFlags},
	"CreateIn.Mode":             fileMode,
	"CreateIn.OpenFlags":        {Bits: openKill},
	"CreateIn.Umask":            {Octal: true},
	"Dirent.Type":               {Bits: direntType},
	"FallocateIn.Mode":          {Bits: fallocMode},
	"FileLock.Typ":              {Bits: lockType},
	"FsyncIn.FsyncFlags":        {Bits: fsyncFlags},
	"GetAttrIn.Flags":           {Bits: getattrFlags},
	"InitIn.Flags":              {Bits: initBits},
	"InitIn.Flags2":             {Bits: initBits2},
	"InitOut.Flags":             {Bits: initBits},
	"InitOut.Flags2":            {Bits: initBits2},
	"IoctlIn.Flags":             {Bits: ioctlFlags},
	"IoctlOut.Flags":            {Bits: ioctlFlags},
	"LkIn.LkFlags":              {Bits: lkFlags},
	"LseekIn.Whence":            {Bits: whence},
	"MkdirIn.Mode":              fileMode,
	"MkdirIn.Umask":             {Octal: true},
	"MknodIn.Mode":              fileMode,
	"MknodIn.Umask":             {Octal: true},
	"NotifyInvalEntryOut.Flags": {Bits: expireFlags},
	"OpenIn.Flags":              {Bits: openFlags},
	"OpenIn.Mode":               {Bits: openKill},
	"OpenOut.OpenFlags":         {Bits: fopenFlags},
	"PollIn.Events":             {Bits: pollEvents},
	"PollIn.Flags":              {Bits: pollFlags},
	"PollOut.Revents":           {Bits: pollEvents},
	"ReadIn.Flags":              {Bits: openFlags},
	"ReadIn.ReadFlags":          {Bits: readFlags},
	"ReleaseIn.Flags":           {Bits: openFlags},
	"ReleaseIn.ReleaseFlags":    {Bits: releaseFlags},
	"RenameIn.Flags":            {Bits: renameFlags},
	"SetAttrInCommon.Mode":      fileMode,
	"SetAttrInCommon.Valid":     {Bits: setattrValid},
	"SetXAttrIn.Flags":          {Bits: xattrFlags},
	"SetXAttrIn.SetXAttrFlags":  {Bits: setxattrFlags},
	"SetupMappingIn.Flags":      {Bits: mappingFlags},
	"Statx.Attributes":          {Bits: statxAttributes},
	"Statx.AttributesMask":      {Bits: statxAttributes},
	"Statx.Mask":                {Bits: statxMask},
	"Statx.Mode":                fileMode,
	"StatxIn.GetattrFlags":      {Bits: getattrFlags},
	"StatxIn.SxFlags":           {Bits: statxFlags},
	"StatxIn.SxMask":            {Bits: statxMask},
	"WriteIn.Flags":             {Bits: openFlags},
	"WriteIn.WriteFlags":        {Bits: writeFlags},
}

// String spells v: "O_WRONLY|O_CREAT", "S_IFDIR|0755". What nothing names
// stays a number.
func (m Meaning) String(v uint64) string {
	var names []string
	var known uint64
	for _, b := range m.Bits {
		mask := b.Mask
		if mask == 0 {
			mask = b.Value
		}
		if v&mask == b.Value && known&mask == 0 {
			names = append(names, b.Name)
			known |= mask
		}
	}
	if rest := v &^ known; rest != 0 || len(names) == 0 {
		names = append(names, m.number(rest))
	}
	return strings.Join(names, "|")
}

// Legend lists the names with their values in decimal, as JSON has them:
// "F_RDLCK 0 shared lock, F_WRLCK 1 exclusive lock, F_UNLCK 2 no lock".
func (m Meaning) Legend() string {
	var list []string
	for _, b := range m.Bits {
		item := b.Name + " " + itoa(b.Value)
		if b.Doc != "" {
			item += " " + b.Doc
		}
		list = append(list, item)
	}
	return strings.Join(list, ", ")
}

func (m Meaning) number(v uint64) string {
	switch {
	case v == 0:
		return "0"
	case m.Octal:
		return "0" + strconv.FormatUint(v, 8)
	}
	return "0x" + strconv.FormatUint(v, 16)
}

var openFlags = []Bit{
	{"O_RDONLY", 0, 3, ""},
	{"O_WRONLY", 1, 3, ""},
	{"O_RDWR", 2, 3, ""},
	{"FMODE_EXEC", 0x20, 0, "opened to be executed"},
	{"O_CREAT", 0x40, 0, ""},
	{"O_EXCL", 0x80, 0, "fail where the name exists"},
	{"O_NOCTTY", 0x100, 0, ""},
	{"O_TRUNC", 0x200, 0, "empty the file"},
	{"O_APPEND", 0x400, 0, "writes go to the end; the kernel gives the offset"},
	{"O_NONBLOCK", 0x800, 0, ""},
	{"O_SYNC", 0x101000, 0, ""},
	{"O_DSYNC", 0x1000, 0, ""},
	{"O_ASYNC", 0x2000, 0, ""},
	{"O_DIRECT", 0x4000, 0, "past the page cache"},
	{"O_LARGEFILE", 0x8000, 0, "on nearly every open; says nothing"},
	{"O_TMPFILE", 0x410000, 0, "a file without a name"},
	{"O_DIRECTORY", 0x10000, 0, "fail unless it is a directory"},
	{"O_NOFOLLOW", 0x20000, 0, "fail on a symbolic link"},
	{"O_NOATIME", 0x40000, 0, "leave atime alone"},
	{"O_CLOEXEC", 0x80000, 0, ""},
	{"O_PATH", 0x200000, 0, ""},
}

var fileMode = Meaning{Octal: true, Bits: []Bit{
	{"S_IFIFO", 0o010000, 0o170000, "named pipe"},
	{"S_IFCHR", 0o020000, 0o170000, "character device"},
	{"S_IFDIR", 0o040000, 0o170000, "directory"},
	{"S_IFBLK", 0o060000, 0o170000, "block device"},
	{"S_IFREG", 0o100000, 0o170000, "regular file"},
	{"S_IFLNK", 0o120000, 0o170000, "symbolic link"},
	{"S_IFSOCK", 0o140000, 0o170000, "socket"},
}}

var direntType = []Bit{
	{"DT_UNKNOWN", 0, exact, ""},
	{"DT_FIFO", 1, exact, "named pipe"},
	{"DT_CHR", 2, exact, "character device"},
	{"DT_DIR", 4, exact, "directory"},
	{"DT_BLK", 6, exact, "block device"},
	{"DT_REG", 8, exact, "regular file"},
	{"DT_LNK", 10, exact, "symbolic link"},
	{"DT_SOCK", 12, exact, "socket"},
}

var setattrValid = []Bit{
	{"FATTR_MODE", 1 << 0, 0, "set Mode"},
	{"FATTR_UID", 1 << 1, 0, "set the owner"},
	{"FATTR_GID", 1 << 2, 0, "set the group"},
	{"FATTR_SIZE", 1 << 3, 0, "truncate or extend to Size"},
	{"FATTR_ATIME", 1 << 4, 0, "set atime"},
	{"FATTR_MTIME", 1 << 5, 0, "set mtime"},
	{"FATTR_FH", 1 << 6, 0, "Fh is a handle of the file"},
	{"FATTR_ATIME_NOW", 1 << 7, 0, "set atime to now"},
	{"FATTR_MTIME_NOW", 1 << 8, 0, "set mtime to now"},
	{"FATTR_LOCKOWNER", 1 << 9, 0, "LockOwner is set"},
	{"FATTR_CTIME", 1 << 10, 0, "set ctime"},
	{"FATTR_KILL_SUIDGID", 1 << 11, 0, "clear the setuid and setgid bits"},
}

var fopenFlags = []Bit{
	{"FOPEN_DIRECT_IO", 1 << 0, 0, "every read(2) and write(2) becomes a request"},
	{"FOPEN_KEEP_CACHE", 1 << 1, 0, "cached pages stay valid"},
	{"FOPEN_NONSEEKABLE", 1 << 2, 0, ""},
	{"FOPEN_CACHE_DIR", 1 << 3, 0, "the listing may be cached"},
	{"FOPEN_STREAM", 1 << 4, 0, "no file position at all"},
	{"FOPEN_NOFLUSH", 1 << 5, 0, "no FLUSH on close(2)"},
	{"FOPEN_PARALLEL_DIRECT_WRITES", 1 << 6, 0, ""},
	{"FOPEN_PASSTHROUGH", 1 << 7, 0, "I/O goes to the file BackingID"},
}

var openKill = []Bit{
	{"FUSE_OPEN_KILL_SUIDGID", 1 << 0, 0, "clear the setuid and setgid bits when truncating"},
}

var renameFlags = []Bit{
	{"RENAME_NOREPLACE", 1, 0, "fail where the new name exists"},
	{"RENAME_EXCHANGE", 2, 0, "swap both names"},
	{"RENAME_WHITEOUT", 4, 0, "leave a whiteout device at the old name"},
}

var accessMask = []Bit{
	{"F_OK", 0, exact, "does it exist"},
	{"X_OK", 1, 0, ""},
	{"W_OK", 2, 0, ""},
	{"R_OK", 4, 0, ""},
}

var lockType = []Bit{
	{"F_RDLCK", 0, exact, "shared lock"},
	{"F_WRLCK", 1, exact, "exclusive lock"},
	{"F_UNLCK", 2, exact, "no lock"},
}

var lkFlags = []Bit{
	{"FUSE_LK_FLOCK", 1 << 0, 0, "flock(2), not fcntl(2)"},
}

var whence = []Bit{
	{"SEEK_SET", 0, exact, ""},
	{"SEEK_CUR", 1, exact, ""},
	{"SEEK_END", 2, exact, ""},
	{"SEEK_DATA", 3, exact, "the next offset with data"},
	{"SEEK_HOLE", 4, exact, "the next hole, or the end"},
}

var getattrFlags = []Bit{
	{"FUSE_GETATTR_FH", 1 << 0, 0, "Fh is a handle of the file"},
}

var readFlags = []Bit{
	{"FUSE_READ_LOCKOWNER", 1 << 1, 0, "LockOwner is set"},
}

var writeFlags = []Bit{
	{"FUSE_WRITE_CACHE", 1 << 0, 0, "from the page cache; Fh and Pid are guesses"},
	{"FUSE_WRITE_LOCKOWNER", 1 << 1, 0, "LockOwner is set"},
	{"FUSE_WRITE_KILL_SUIDGID", 1 << 2, 0, "clear the setuid and setgid bits"},
}

var releaseFlags = []Bit{
	{"FUSE_RELEASE_FLUSH", 1 << 0, 0, ""},
	{"FUSE_RELEASE_FLOCK_UNLOCK", 1 << 1, 0, "drop the owner's flock(2) locks"},
}

var fsyncFlags = []Bit{
	{"FUSE_FSYNC_FDATASYNC", 1 << 0, 0, "data only"},
}

var xattrFlags = []Bit{
	{"XATTR_CREATE", 1, 0, "fail where the attribute exists"},
	{"XATTR_REPLACE", 2, 0, "fail where the attribute does not exist"},
}

var setxattrFlags = []Bit{
	{"FUSE_SETXATTR_ACL_KILL_SGID", 1 << 0, 0, "clear the setgid bit"},
}

var fallocMode = []Bit{
	{"FALLOC_FL_KEEP_SIZE", 0x01, 0, "leave the file's size alone"},
	{"FALLOC_FL_PUNCH_HOLE", 0x02, 0, "make the range a hole"},
	{"FALLOC_FL_NO_HIDE_STALE", 0x04, 0, ""},
	{"FALLOC_FL_COLLAPSE_RANGE", 0x08, 0, "take the range out"},
	{"FALLOC_FL_ZERO_RANGE", 0x10, 0, "make the range zeros"},
	{"FALLOC_FL_INSERT_RANGE", 0x20, 0, "shift what follows up by a hole"},
	{"FALLOC_FL_UNSHARE_RANGE", 0x40, 0, ""},
	{"FALLOC_FL_WRITE_ZEROES", 0x80, 0, ""},
}

var ioctlFlags = []Bit{
	{"FUSE_IOCTL_COMPAT", 1 << 0, 0, "32-bit caller"},
	{"FUSE_IOCTL_UNRESTRICTED", 1 << 1, 0, ""},
	{"FUSE_IOCTL_RETRY", 1 << 2, 0, ""},
	{"FUSE_IOCTL_32BIT", 1 << 3, 0, ""},
	{"FUSE_IOCTL_DIR", 1 << 4, 0, "on a directory"},
	{"FUSE_IOCTL_COMPAT_X32", 1 << 5, 0, ""},
}

var pollFlags = []Bit{
	{"FUSE_POLL_SCHEDULE_NOTIFY", 1 << 0, 0, "wake the caller later, by Kh"},
}

var pollEvents = []Bit{
	{"POLLIN", 0x1, 0, "can be read"},
	{"POLLPRI", 0x2, 0, ""},
	{"POLLOUT", 0x4, 0, "can be written"},
	{"POLLERR", 0x8, 0, ""},
	{"POLLHUP", 0x10, 0, ""},
	{"POLLNVAL", 0x20, 0, ""},
	{"POLLRDNORM", 0x40, 0, ""},
	{"POLLRDBAND", 0x80, 0, ""},
	{"POLLWRNORM", 0x100, 0, ""},
	{"POLLWRBAND", 0x200, 0, ""},
	{"POLLMSG", 0x400, 0, ""},
	{"POLLRDHUP", 0x2000, 0, ""},
}

var attrFlags = []Bit{
	{"FUSE_ATTR_SUBMOUNT", 1 << 0, 0, ""},
	{"FUSE_ATTR_DAX", 1 << 1, 0, ""},
}

var expireFlags = []Bit{
	{"FUSE_EXPIRE_ONLY", 1 << 0, 0, "end the name's timeout, but keep it"},
}

var mappingFlags = []Bit{
	{"FUSE_SETUPMAPPING_FLAG_WRITE", 1 << 0, 0, ""},
	{"FUSE_SETUPMAPPING_FLAG_READ", 1 << 1, 0, ""},
}

var statxFlags = []Bit{
	{"AT_STATX_FORCE_SYNC", 0x2000, 0, ""},
	{"AT_STATX_DONT_SYNC", 0x4000, 0, ""},
}

var statxMask = []Bit{
	{"STATX_BASIC_STATS", 0x7ff, 0, "all that stat(2) has"},
	{"STATX_TYPE", 0x1, 0, ""},
	{"STATX_MODE", 0x2, 0, ""},
	{"STATX_NLINK", 0x4, 0, ""},
	{"STATX_UID", 0x8, 0, ""},
	{"STATX_GID", 0x10, 0, ""},
	{"STATX_ATIME", 0x20, 0, ""},
	{"STATX_MTIME", 0x40, 0, ""},
	{"STATX_CTIME", 0x80, 0, ""},
	{"STATX_INO", 0x100, 0, ""},
	{"STATX_SIZE", 0x200, 0, ""},
	{"STATX_BLOCKS", 0x400, 0, ""},
	{"STATX_BTIME", 0x800, 0, "when the file was made"},
	{"STATX_MNT_ID", 0x1000, 0, ""},
	{"STATX_DIOALIGN", 0x2000, 0, ""},
}

var statxAttributes = []Bit{
	{"STATX_ATTR_COMPRESSED", 0x4, 0, ""},
	{"STATX_ATTR_IMMUTABLE", 0x10, 0, ""},
	{"STATX_ATTR_APPEND", 0x20, 0, ""},
	{"STATX_ATTR_NODUMP", 0x40, 0, ""},
	{"STATX_ATTR_ENCRYPTED", 0x800, 0, ""},
	{"STATX_ATTR_AUTOMOUNT", 0x1000, 0, ""},
	{"STATX_ATTR_MOUNT_ROOT", 0x2000, 0, ""},
	{"STATX_ATTR_VERITY", 0x100000, 0, ""},
	{"STATX_ATTR_DAX", 0x200000, 0, ""},
}

var initBits = []Bit{
	{"FUSE_ASYNC_READ", 1 << 0, 0, "several READs of a file at once"},
	{"FUSE_POSIX_LOCKS", 1 << 1, 0, "fcntl(2) locks are asked for"},
	{"FUSE_FILE_OPS", 1 << 2, 0, ""},
	{"FUSE_ATOMIC_O_TRUNC", 1 << 3, 0, "OPEN carries O_TRUNC"},
	{"FUSE_EXPORT_SUPPORT", 1 << 4, 0, "LOOKUP of . and .."},
	{"FUSE_BIG_WRITES", 1 << 5, 0, "WRITE beyond 4 KiB"},
	{"FUSE_DONT_MASK", 1 << 6, 0, "Mode comes without the umask applied"},
	{"FUSE_SPLICE_WRITE", 1 << 7, 0, ""},
	{"FUSE_SPLICE_MOVE", 1 << 8, 0, ""},
	{"FUSE_SPLICE_READ", 1 << 9, 0, ""},
	{"FUSE_FLOCK_LOCKS", 1 << 10, 0, "flock(2) locks are asked for"},
	{"FUSE_HAS_IOCTL_DIR", 1 << 11, 0, ""},
	{"FUSE_AUTO_INVAL_DATA", 1 << 12, 0, "a new mtime or size drops cached pages"},
	{"FUSE_DO_READDIRPLUS", 1 << 13, 0, ""},
	{"FUSE_READDIRPLUS_AUTO", 1 << 14, 0, "READDIR where attributes were not wanted"},
	{"FUSE_ASYNC_DIO", 1 << 15, 0, ""},
	{"FUSE_WRITEBACK_CACHE", 1 << 16, 0, "writes are collected in the page cache"},
	{"FUSE_NO_OPEN_SUPPORT", 1 << 17, 0, "OPEN may be answered ENOSYS for good"},
	{"FUSE_PARALLEL_DIROPS", 1 << 18, 0, "LOOKUPs of a directory run in parallel"},
	{"FUSE_HANDLE_KILLPRIV", 1 << 19, 0, ""},
	{"FUSE_POSIX_ACL", 1 << 20, 0, ""},
	{"FUSE_ABORT_ERROR", 1 << 21, 0, ""},
	{"FUSE_MAX_PAGES", 1 << 22, 0, "MaxPages counts"},
	{"FUSE_CACHE_SYMLINKS", 1 << 23, 0, ""},
	{"FUSE_NO_OPENDIR_SUPPORT", 1 << 24, 0, "OPENDIR may be answered ENOSYS for good"},
	{"FUSE_EXPLICIT_INVAL_DATA", 1 << 25, 0, ""},
	{"FUSE_MAP_ALIGNMENT", 1 << 26, 0, ""},
	{"FUSE_SUBMOUNTS", 1 << 27, 0, ""},
	{"FUSE_HANDLE_KILLPRIV_V2", 1 << 28, 0, "the filesystem clears setuid and setgid bits"},
	{"FUSE_SETXATTR_EXT", 1 << 29, 0, "SETXATTR has 16 bytes before its name"},
	{"FUSE_INIT_EXT", 1 << 30, 0, "Flags2 counts"},
	{"FUSE_INIT_RESERVED", 1 << 31, 0, ""},
}

// initBits2 are bits 32 and up of the flags of INIT.
var initBits2 = []Bit{
	{"FUSE_SECURITY_CTX", 1 << 0, 0, ""},
	{"FUSE_HAS_INODE_DAX", 1 << 1, 0, ""},
	{"FUSE_CREATE_SUPP_GROUP", 1 << 2, 0, ""},
	{"FUSE_HAS_EXPIRE_ONLY", 1 << 3, 0, ""},
	{"FUSE_DIRECT_IO_ALLOW_MMAP", 1 << 4, 0, ""},
	{"FUSE_PASSTHROUGH", 1 << 5, 0, ""},
	{"FUSE_NO_EXPORT_SUPPORT", 1 << 6, 0, ""},
	{"FUSE_HAS_RESEND", 1 << 7, 0, ""},
	{"FUSE_ALLOW_IDMAP", 1 << 8, 0, ""},
	{"FUSE_OVER_IO_URING", 1 << 9, 0, ""},
	{"FUSE_REQUEST_TIMEOUT", 1 << 10, 0, ""},
}

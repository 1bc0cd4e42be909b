package proto

// INIT: what kernel and daemon agree on, as a pure function.

import (
	"fmt"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// MinMinor is the oldest protocol minor served, that of Linux 5.4.
const MinMinor = 31

// Bounds of InitOptions.MaxWrite in bytes: the kernel's floor of one page and
// FUSE_MAX_MAX_PAGES of 4 KiB.
const (
	MinMaxWrite     = 4096
	MaxMaxWrite     = 1 << 20
	DefaultMaxWrite = 128 << 10 // what stays in a processor's cache on its way through JSON
	pageSize        = 4096
)

// InitOptions are the mount options that INIT carries to the kernel.
type InitOptions struct {
	MaxWrite      uint32 // largest WRITE payload and READ reply in bytes; 0 is DefaultMaxWrite
	MaxReadahead  uint32 // most bytes to read ahead; the kernel may offer less
	SyncRead      bool   // readahead READs one by one, in order
	NoReaddirplus bool   // list names without attributes
	// OwnPermissions says that the filesystem, not the kernel, checks access.
	OwnPermissions bool
	// NoOpen says that OPEN may be answered ENOSYS for good. Then no RELEASE
	// comes either, and nobody tells of O_TRUNC or of the end of locks.
	NoOpen bool
	// AlwaysPlus brings the attributes of every listed name, whoever lists.
	AlwaysPlus bool
}

// FlagChoice is one INIT flag, what became of it, and why.
type FlagChoice struct {
	Name   string
	Flag   uint64
	On     bool
	Reason string
}

// initFlag is a flag that the kernel may offer, and when to take it.
type initFlag struct {
	name   string
	flag   uint64
	want   func(InitOptions) bool // nil is never
	reason string
}

func always(InitOptions) bool  { return true }
func opens(o InitOptions) bool { return !o.NoOpen }

var initFlags = []initFlag{
	{"ASYNC_READ", fuse.CAP_ASYNC_READ, func(o InitOptions) bool { return !o.SyncRead }, "readahead goes out at once, unless order is asked for"},
	{"POSIX_LOCKS", fuse.CAP_POSIX_LOCKS, opens, "fcntl(2) locks are the filesystem's to grant, if FLUSH comes to end them"},
	{"FILE_OPS", fuse.CAP_FILE_OPS, nil, "the kernel defines it and does nothing with it"},
	{"ATOMIC_O_TRUNC", fuse.CAP_ATOMIC_O_TRUNC, opens, "open(2) with O_TRUNC is one request, not two, if OPEN comes at all"},
	{"EXPORT_SUPPORT", fuse.CAP_EXPORT_SUPPORT, nil, "forgotten nodes can't be looked up again by number"},
	{"BIG_WRITES", fuse.CAP_BIG_WRITES, always, "WRITE may be larger than 4 KiB"},
	{"DONT_MASK", fuse.CAP_DONT_MASK, always, "a default ACL replaces the umask, so the filesystem applies it"},
	{"SPLICE_WRITE", fuse.CAP_SPLICE_WRITE, nil, "every byte passes through JSON"},
	{"SPLICE_MOVE", fuse.CAP_SPLICE_MOVE, nil, "every byte passes through JSON"},
	{"SPLICE_READ", fuse.CAP_SPLICE_READ, nil, "every byte passes through JSON"},
	{"FLOCK_LOCKS", fuse.CAP_FLOCK_LOCKS, opens, "flock(2) locks are the filesystem's to grant, if RELEASE comes to end them"},
	{"HAS_IOCTL_DIR", fuse.CAP_IOCTL_DIR, always, "ioctl(2) of directories is passed on"},
	{"AUTO_INVAL_DATA", fuse.CAP_AUTO_INVAL_DATA, nil, "data changes through the kernel only; EXPLICIT_INVAL_DATA keeps its cache"},
	{"DO_READDIRPLUS", fuse.CAP_READDIRPLUS, func(o InitOptions) bool { return !o.NoReaddirplus }, "a listing brings its attributes along"},
	{"READDIRPLUS_AUTO", fuse.CAP_READDIRPLUS_AUTO, func(o InitOptions) bool { return !o.NoReaddirplus && !o.AlwaysPlus }, "… where the caller seems to want them"},
	{"ASYNC_DIO", fuse.CAP_ASYNC_DIO, always, "the parts of a direct request go out together"},
	{"WRITEBACK_CACHE", fuse.CAP_WRITEBACK_CACHE, nil, "each write is answered when it happens, with its own time and errno"},
	{"NO_OPEN_SUPPORT", fuse.CAP_NO_OPEN_SUPPORT, always, "OPEN answered ENOSYS is not sent again"},
	{"PARALLEL_DIROPS", fuse.CAP_PARALLEL_DIROPS, always, "lookups in one directory need not wait for each other"},
	{"HANDLE_KILLPRIV", fuse.CAP_HANDLE_KILLPRIV, nil, "HANDLE_KILLPRIV_V2 says when"},
	{"POSIX_ACL", fuse.CAP_POSIX_ACL, func(o InitOptions) bool { return !o.OwnPermissions }, "the kernel checks ACLs; it implies default_permissions"},
	{"ABORT_ERROR", fuse.CAP_ABORT_ERROR, nil, "an aborted connection may end like an unmounted one"},
	{"MAX_PAGES", fuse.CAP_MAX_PAGES, always, "max_pages sets the size of a request"},
	{"CACHE_SYMLINKS", fuse.CAP_CACHE_SYMLINKS, always, "the target of a symbolic link never changes"},
	{"NO_OPENDIR_SUPPORT", fuse.CAP_NO_OPENDIR_SUPPORT, always, "OPENDIR answered ENOSYS is not sent again"},
	{"EXPLICIT_INVAL_DATA", fuse.CAP_EXPLICIT_INVAL_DATA, always, "cached data is dropped only when a notification says so"},
	{"MAP_ALIGNMENT", fuse.CAP_MAP_ALIGNMENT, nil, "virtiofs only"},
	{"SUBMOUNTS", fuse.CAP_SUBMOUNTS, nil, "virtiofs only"},
	{"HANDLE_KILLPRIV_V2", fuse.CAP_HANDLE_KILLPRIV_V2, always, "requests say when setuid and setgid go; spares a GETXATTR before each WRITE"},
	{"SETXATTR_EXT", fuse.CAP_SETXATTR_EXT, always, "SETXATTR says when an ACL clears setgid"},
	{"INIT_EXT", fuse.CAP_INIT_EXT, always, "flags beyond 32 bits"},
	{"SECURITY_CTX", fuse.CAP_SECURITY_CTX, nil, "security labels are set by SETXATTR"},
	{"HAS_INODE_DAX", fuse.CAP_HAS_INODE_DAX, nil, "virtiofs only"},
	{"CREATE_SUPP_GROUP", fuse.CAP_CREATE_SUPP_GROUP, nil, "the header has all supplementary groups where they count"},
	{"HAS_EXPIRE_ONLY", fuse.CAP_HAS_EXPIRE_ONLY, always, "INVAL_ENTRY may expire a name without dropping it"},
	{"DIRECT_IO_ALLOW_MMAP", fuse.CAP_DIRECT_IO_ALLOW_MMAP, always, "files opened with FOPEN_DIRECT_IO can be mapped shared"},
	{"PASSTHROUGH", fuse.CAP_PASSTHROUGH, nil, "data would bypass the filesystem"},
	{"NO_EXPORT_SUPPORT", fuse.CAP_NO_EXPORT_SUPPORT, nil, "file handles of cached nodes do no harm"},
	{"HAS_RESEND", fuse.CAP_HAS_RESEND, nil, "the daemon's state ends with it, so there is nothing to resend to"},
	{"ALLOW_IDMAP", fuse.CAP_ALLOW_IDMAP, nil, "ids are the caller's own"},
	{"OVER_IO_URING", fuse.CAP_OVER_IO_URING, nil, "one way in: read(2)"},
	{"REQUEST_TIMEOUT", fuse.CAP_REQUEST_TIMEOUT, nil, "the daemon's deadline ends one request; the kernel's aborts the mount"},
}

// Negotiate answers the kernel's INIT. The choices explain each flag that the
// kernel offered. It fails where both sides have no version in common.
func Negotiate(offer *fuse.InitIn, o InitOptions) (*fuse.InitOut, []FlagChoice, error) {
	if offer.Major != Major || offer.Minor < MinMinor {
		return nil, nil, fmt.Errorf("kernel offers FUSE %d.%d, want %d.%d to %d.%d",
			offer.Major, offer.Minor, Major, MinMinor, Major, Minor)
	}
	if o.MaxWrite == 0 {
		o.MaxWrite = DefaultMaxWrite
	}
	if o.MaxWrite < MinMaxWrite || o.MaxWrite > MaxMaxWrite {
		return nil, nil, fmt.Errorf("request size %d, want %d to %d bytes", o.MaxWrite, MinMaxWrite, MaxMaxWrite)
	}
	flags, choices := chooseFlags(offer.Flags64(), o)
	out := &fuse.InitOut{
		Major: Major, Minor: min(offer.Minor, Minor),
		MaxReadAhead:  min(offer.MaxReadAhead, o.MaxReadahead),
		Flags:         uint32(flags),
		Flags2:        uint32(flags >> 32),
		MaxBackground: 64, CongestionThreshold: 48,
		MaxWrite: o.MaxWrite,
		MaxPages: uint16((o.MaxWrite + pageSize - 1) / pageSize),
		TimeGran: 1,
	}
	return out, choices, nil
}

func chooseFlags(offered uint64, o InitOptions) (flags uint64, choices []FlagChoice) {
	for _, f := range initFlags {
		if offered&f.flag == 0 {
			continue
		}
		c := FlagChoice{Name: f.name, Flag: f.flag, On: f.want != nil && f.want(o), Reason: f.reason}
		if c.On {
			flags |= f.flag
		}
		choices = append(choices, c)
		offered &^= f.flag
	}
	for bit := range 64 {
		if flag := uint64(1) << bit; offered&flag != 0 {
			choices = append(choices, FlagChoice{Name: fmt.Sprintf("bit %d", bit), Flag: flag, Reason: "unknown"})
		}
	}
	return flags, choices
}

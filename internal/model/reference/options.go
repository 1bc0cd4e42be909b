package reference

// What a filesystem is made with.

import (
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// Options are the mount options. The zero value is a tmpfs with its defaults,
// every reply of which the kernel may cache for an hour.
type Options struct {
	Size     int64  // bytes of file content, rounded up to pages; 0 is half of RAM
	Inodes   int64  // inodes and additional links; 0 is one per page of half of RAM
	ReadOnly bool   // EROFS for whatever changes the filesystem
	RootUid  uint32 // owner of the root directory
	RootGid  uint32
	RootMode uint32 // permissions of the root directory; 0 is 01777, tmpfs's default

	// CheckPermissions checks permissions here, by Header's Uid, Gid and Groups,
	// for mounts without default_permissions. Uid 0 has every capability.
	CheckPermissions bool

	DirectIO bool          // FOPEN_DIRECT_IO: reads and writes bypass the page cache
	TTL      time.Duration // EntryValid and AttrValid; 0 is one hour, less than 0 is none

	// By default, and unless TTL is less than 0, a missing name is answered
	// with a negative entry that the kernel caches, and OPEN and OPENDIR tell
	// the kernel to keep what it has cached: all changes pass through it.
	NoNegative  bool
	NoKeepCache bool

	// NoOpen answers what merely opens, closes and syncs with ENOSYS, so that
	// the kernel does so itself from then on. There are no handles: a node lives
	// until the kernel forgets it. INIT must have been negotiated with NoOpen.
	NoOpen bool
	// Plain has whole seconds for times, 4096 for the size of each directory, and
	// no more blocks than the size needs, as language models are asked to.
	Plain bool
	// Content sends small files along when the kernel is told of them, as STORE.
	Content bool
	// NoAtime leaves access times alone: what the kernel reads from its cache does
	// not count anyway.
	NoAtime bool
	// EndCookie marks the last entry of a listing by [proto.EndCookie].
	EndCookie bool

	// Off lists opcodes that are answered with ENOSYS, as filesystems do that lack
	// them; the kernel then does without, often by an older opcode.
	Off []proto.Opcode
}

func (o Options) withDefaults() Options {
	if o.Size <= 0 {
		o.Size = halfOfRAM()
	}
	if o.Inodes <= 0 {
		o.Inodes = halfOfRAM() / pageSize
	}
	if o.RootMode == 0 {
		o.RootMode = 0o1777
	}
	if o.TTL == 0 {
		o.TTL = time.Hour
	}
	if o.TTL < 0 {
		o.TTL, o.NoNegative, o.NoKeepCache = 0, true, true
	}
	if o.CheckPermissions {
		o.NoNegative = true
	}
	return o
}

// nameTTL is 0 where permissions are checked here: a name that the kernel has
// cached is resolved without asking whether the caller may search for it.
func (o *Options) nameTTL() time.Duration {
	if o.CheckPermissions {
		return 0
	}
	return o.TTL
}

// halfOfRAM is shmem_default_max_blocks() in bytes.
func halfOfRAM() int64 {
	var info syscall.Sysinfo_t
	if err := syscall.Sysinfo(&info); err != nil {
		return 1 << 30
	}
	pages := int64(info.Totalram) * int64(info.Unit) / pageSize
	return pages / 2 * pageSize
}

// openFlags are the FOPEN_ flags of an opened file or directory.
func (o *Options) openFlags(dir bool) uint32 {
	var flags uint32
	if o.DirectIO && !dir {
		flags |= fuse.FOPEN_DIRECT_IO
	}
	if o.NoKeepCache {
		return flags
	}
	if dir {
		flags |= fuse.FOPEN_CACHE_DIR
	}
	return flags | fuse.FOPEN_KEEP_CACHE
}

// validity is a time to live in the form of EntryOut and AttrOut.
type validity struct {
	sec  uint64
	nsec uint32
}

func newValidity(ttl time.Duration) validity {
	return validity{uint64(ttl / time.Second), uint32(ttl % time.Second)}
}

package proto

// The protocol structs that go-fuse hides or lacks. The sizes of these and of
// go-fuse's are held against linux/fuse.h by a test.

import "github.com/hanwen/go-fuse/v2/fuse"

// BatchForgetIn is struct fuse_batch_forget_in; Count [ForgetOne] follow it.
type BatchForgetIn struct {
	fuse.InHeader
	Count uint32
	Dummy uint32
}

// ForgetOne is struct fuse_forget_one: drop Nlookup references of NodeId.
type ForgetOne struct {
	NodeId  uint64
	Nlookup uint64
}

// BmapIn is struct fuse_bmap_in.
type BmapIn struct {
	fuse.InHeader
	Block     uint64
	Blocksize uint32 // bytes
	Padding   uint32
}

// BmapOut is struct fuse_bmap_out.
type BmapOut struct {
	Block uint64
}

// PollIn is struct fuse_poll_in. Kh names the poll for a later wake-up.
type PollIn struct {
	fuse.InHeader
	Fh     uint64
	Kh     uint64
	Flags  uint32
	Events uint32 // POLLIN, POLLOUT …
}

// PollOut is struct fuse_poll_out.
type PollOut struct {
	Revents uint32
	Padding uint32
}

// SyncFSIn is struct fuse_syncfs_in.
type SyncFSIn struct {
	fuse.InHeader
	Padding uint64
}

// SetupMappingIn is struct fuse_setupmapping_in (virtiofs only).
type SetupMappingIn struct {
	fuse.InHeader
	Fh      uint64
	Foffset uint64
	Len     uint64
	Flags   uint64
	Moffset uint64
}

// RemoveMappingIn is struct fuse_removemapping_in; Count [RemoveMappingOne]
// follow it (virtiofs only). The header's extension fields make it 4 bytes.
type RemoveMappingIn struct {
	fuse.InHeader
	Count uint32
}

// RemoveMappingOne is struct fuse_removemapping_one.
type RemoveMappingOne struct {
	Moffset uint64
	Len     uint64
}

package reference

// The limits of size and inodes, and what is left of them.

import (
	"sync/atomic"

	"github.com/hanwen/go-fuse/v2/fuse"
)

const (
	bogoInodeSize = 1024 // BOGO_INODE_SIZE: what an inode or a link takes of the inode space
	xattrOverhead = 40   // simple_xattr_space(): what an xattr takes beside its name and value
)

// space is struct shmem_sb_info: blocks in pages, inode space in bytes.
type space struct {
	maxBlocks, maxInodes int64
	usedBlocks           atomic.Int64
	usedInodes           atomic.Int64 // bytes of inode space
	usedACLs             atomic.Int64 // bytes; tmpfs does not count them, here Size bounds them
	memory               *arena
}

func (s *space) init(size, inodes int64) {
	s.maxBlocks = (size-1)/pageSize + 1
	s.maxInodes = min(inodes, (1<<62)/bogoInodeSize)
	s.memory = newArena()
}

// take adds n to used unless that goes beyond limit.
func take(used *atomic.Int64, n, limit int64) bool {
	for {
		have := used.Load()
		if have > limit-n {
			return false
		}
		if used.CompareAndSwap(have, have+n) {
			return true
		}
	}
}

func (s *space) takeBlock() bool        { return take(&s.usedBlocks, 1, s.maxBlocks) }
func (s *space) giveBlocks(n int64)     { s.usedBlocks.Add(-n) }
func (s *space) takeInode() bool        { return s.takeBytes(bogoInodeSize) }
func (s *space) giveInode()             { s.giveBytes(bogoInodeSize) }
func (s *space) takeBytes(n int64) bool { return take(&s.usedInodes, n, s.maxInodes*bogoInodeSize) }
func (s *space) giveBytes(n int64)      { s.usedInodes.Add(-n) }
func (s *space) takeACL(entries int) bool {
	return take(&s.usedACLs, int64(entries)*aclEntrySize, s.maxBlocks*pageSize)
}
func (s *space) giveACL(entries int) { s.usedACLs.Add(-int64(entries) * aclEntrySize) }

func (s *space) statfs() *fuse.StatfsOut {
	free := uint64(s.maxBlocks - s.usedBlocks.Load())
	return &fuse.StatfsOut{
		Blocks:  uint64(s.maxBlocks),
		Bfree:   free,
		Bavail:  free,
		Files:   uint64(s.maxInodes),
		Ffree:   uint64((s.maxInodes*bogoInodeSize - s.usedInodes.Load()) / bogoInodeSize),
		Bsize:   pageSize,
		Frsize:  pageSize,
		NameLen: nameMax,
	}
}

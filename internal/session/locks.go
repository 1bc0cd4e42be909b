package session

// File locks as facts: who holds which bytes.

import "github.com/hanwen/go-fuse/v2/fuse"

type lock struct {
	fuse.FileLock
	owner uint64
	flock bool // flock(2), not fcntl(2)
}

const unlocked = 2 // F_UNLCK

// setLock replaces what the owner holds of the range. An unlock only frees it.
func (n *node) setLock(k lock) {
	var kept []lock
	for _, old := range n.locks {
		if old.owner != k.owner || old.flock != k.flock || old.End < k.Start || old.Start > k.End {
			kept = append(kept, old)
			continue
		}
		if old.Start < k.Start {
			left := old
			left.End = k.Start - 1
			kept = append(kept, left)
		}
		if old.End > k.End {
			right := old
			right.Start = k.End + 1
			kept = append(kept, right)
		}
	}
	if k.Typ != unlocked {
		kept = append(kept, k)
	}
	n.locks = kept
}

// dropLocks frees all that the owner holds: of fcntl(2) at close(2), of
// flock(2) at the last one.
func (n *node) dropLocks(owner uint64, flock bool) {
	n.setLock(lock{FileLock: fuse.FileLock{End: ^uint64(0), Typ: unlocked}, owner: owner, flock: flock})
}

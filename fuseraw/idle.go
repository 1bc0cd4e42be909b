package fuseraw

// How many readers wait for a request, and who may leave.

import "sync/atomic"

// idlers counts the readers that wait for a request, or are about to. It is
// never 0 for longer than the one who made it so takes to start another.
type idlers struct{ n atomic.Int64 }

// busy takes a reader out, which has a request now. If it was the last one,
// another is counted in its place, and the caller has to start it.
func (i *idlers) busy() (start bool) {
	if i.n.Add(-1) > 0 {
		return false
	}
	i.n.Add(1)
	return true
}

// back counts a reader in again, unless enough others wait. It must not count
// it for a moment only: others that are about to leave would rely on it.
func (i *idlers) back(enough int64) (stay bool) {
	for {
		n := i.n.Load()
		if n >= enough {
			return false
		}
		if i.n.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

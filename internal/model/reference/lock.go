package reference

// GETLK, SETLK, SETLKW: POSIX locks of byte ranges, and those of flock(2).

import (
	"slices"
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// lockTable guards the locks of all inodes: detecting a deadlock takes all
// that wait, wherever they do.
type lockTable struct {
	mu      sync.Mutex
	waiting []*waiter
}

// waiter is a request that sleeps until a lock on its inode goes.
type waiter struct {
	node    *inode
	owner   uint64
	blocker uint64 // the owner of the lock in the way
	flock   bool
	wake    chan struct{}
}

// lock is held by an owner on the bytes from start to end, both included.
type lock struct {
	owner, fh  uint64
	start, end uint64
	typ        uint32
	pid        uint32
}

// fileLocks are the locks of one inode.
type fileLocks struct {
	posix []lock // of one owner together and by start; owners as they came
	flock []lock
}

func (l lock) overlaps(m lock) bool { return l.start <= m.end && m.start <= l.end }

// conflicts is posix_test_locks_conflict(). F_UNLCK, which only F_OFD_GETLK asks
// about, finds what the owner itself holds.
func (l lock) conflicts(m lock) bool {
	if l.typ == syscall.F_UNLCK {
		return l.owner == m.owner && l.overlaps(m)
	}
	return l.owner != m.owner && l.overlaps(m) && (l.typ == syscall.F_WRLCK || m.typ == syscall.F_WRLCK)
}

// wanted is the lock that the request speaks of.
func wanted(in *fuse.LkIn) (lock, syscall.Errno) {
	l := lock{in.Owner, in.Fh, in.Lk.Start, in.Lk.End, in.Lk.Typ, in.Lk.Pid}
	if in.LkFlags&fuse.LK_FLOCK != 0 {
		l.start, l.end = 0, uint64(maxBytes)
	}
	if l.start > l.end || l.end > uint64(maxBytes) || l.typ > syscall.F_UNLCK {
		return lock{}, syscall.EINVAL
	}
	return l, 0
}

func (c *call) getlk() syscall.Errno {
	in := c.In.(*fuse.LkIn)
	n, _, e := c.opened(in.Fh)
	if e != 0 {
		return e
	}
	l, e := wanted(in)
	if e != 0 {
		return e
	}
	t := &c.fs.locks
	t.mu.Lock()
	defer t.mu.Unlock()
	out := &fuse.LkOut{Lk: in.Lk}
	out.Lk.Typ = syscall.F_UNLCK
	if k := n.locks.conflict(l, in.LkFlags&fuse.LK_FLOCK != 0); k != nil {
		out.Lk = fuse.FileLock{Start: k.start, End: k.end, Typ: k.typ, Pid: k.pid}
	}
	c.reply.Out = out
	return 0
}

// setlk does not hold FS.ns: it may wait. The handle keeps the inode.
func (c *call) setlk() syscall.Errno {
	in := c.In.(*fuse.LkIn)
	c.fs.ns.RLock()
	n, h, e := c.opened(in.Fh)
	c.fs.ns.RUnlock()
	if e != 0 {
		return e
	}
	l, e := wanted(in)
	flock := in.LkFlags&fuse.LK_FLOCK != 0
	switch {
	case e != 0:
		return e
	case flock:
	case l.typ == syscall.F_RDLCK && !h.readable(), l.typ == syscall.F_WRLCK && !h.writable():
		return syscall.EBADF
	}
	return c.await(&waiter{node: n, owner: l.owner, flock: flock}, l)
}

// await sets the lock; SETLKW sleeps as long as another is in the way.
func (c *call) await(w *waiter, l lock) syscall.Errno {
	t := &c.fs.locks
	for {
		sleep, e := t.try(w, l, c.Op == proto.OpSetlkw)
		if !sleep {
			return e
		}
		select {
		case <-w.wake:
		case <-c.ctx.Done():
			t.forget(w)
			return syscall.EINTR
		}
	}
}

// try sets the lock if it can. Else, it puts the waiter to sleep or fails.
func (t *lockTable) try(w *waiter, l lock, wait bool) (sleep bool, e syscall.Errno) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := w.node
	if n.locks == nil {
		n.locks = new(fileLocks)
	}
	if w.flock {
		t.convert(n, l)
	}
	k := n.locks.conflict(l, w.flock)
	switch {
	case l.typ == syscall.F_UNLCK || k == nil:
		n.locks.set(l, w.flock)
		t.wakeAll(n)
		return false, 0
	case !wait:
		return false, syscall.EAGAIN
	case !w.flock && t.deadlock(l.owner, k.owner):
		return false, syscall.EDEADLK
	}
	w.blocker, w.wake = k.owner, make(chan struct{})
	t.waiting = append(t.waiting, w)
	return true, 0
}

// convert drops the owner's flock of another type first, as flock(2) warns: a
// conversion that can't be had loses the lock.
func (t *lockTable) convert(n *inode, l lock) {
	had := len(n.locks.flock)
	n.locks.flock = slices.DeleteFunc(n.locks.flock, func(k lock) bool {
		return k.owner == l.owner && k.typ != l.typ
	})
	if len(n.locks.flock) != had {
		t.wakeAll(n)
	}
}

// wakeAll lets all that wait for a lock on the inode try again.
func (t *lockTable) wakeAll(n *inode) {
	t.waiting = slices.DeleteFunc(t.waiting, func(w *waiter) bool {
		if w.node != n {
			return false
		}
		close(w.wake)
		return true
	})
}

func (t *lockTable) forget(w *waiter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting = slices.DeleteFunc(t.waiting, func(k *waiter) bool { return k == w })
}

// deadlock is posix_locks_deadlock(): does blocker, over at most ten others,
// wait for owner?
func (t *lockTable) deadlock(owner, blocker uint64) bool {
	const maxIterations = 10 // MAX_DEADLK_ITERATIONS
	for range maxIterations + 1 {
		if blocker == owner {
			return true
		}
		k := slices.IndexFunc(t.waiting, func(w *waiter) bool { return !w.flock && w.owner == blocker })
		if k < 0 {
			return false
		}
		blocker = t.waiting[k].blocker
	}
	return false
}

// drop removes the locks that match.
func (t *lockTable) drop(n *inode, flock bool, match func(lock) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n.locks == nil {
		return
	}
	list := n.locks.list(flock)
	had := len(*list)
	*list = slices.DeleteFunc(*list, match)
	if len(*list) != had {
		t.wakeAll(n)
	}
}

// unlock drops the POSIX locks of an owner, close those set through a handle:
// open file description locks have no other end.
func (t *lockTable) unlock(n *inode, owner uint64) {
	t.drop(n, false, func(l lock) bool { return l.owner == owner })
}

func (t *lockTable) close(n *inode, fh uint64) {
	t.drop(n, false, func(l lock) bool { return l.fh == fh })
}

func (t *lockTable) unflock(n *inode, owner uint64) {
	t.drop(n, true, func(l lock) bool { return l.owner == owner })
}

func (f *fileLocks) list(flock bool) *[]lock {
	if flock {
		return &f.flock
	}
	return &f.posix
}

// conflict is the first lock in the way of l, or nil.
func (f *fileLocks) conflict(l lock, flock bool) *lock {
	if f == nil {
		return nil
	}
	list := *f.list(flock)
	if k := slices.IndexFunc(list, l.conflicts); k >= 0 {
		return &list[k]
	}
	return nil
}

// set replaces what the owner had on the range of l.
func (f *fileLocks) set(l lock, flock bool) {
	list := f.list(flock)
	at := slices.IndexFunc(*list, func(k lock) bool { return k.owner == l.owner })
	if at < 0 {
		at = len(*list)
	}
	end := at
	for end < len(*list) && (*list)[end].owner == l.owner {
		end++
	}
	*list = slices.Replace(*list, at, end, replaceRange((*list)[at:end], l)...)
}

// replaceRange is the locks of one owner after l: what l covers is cut out of
// the others, and neighbours of one type become one.
func replaceRange(have []lock, l lock) []lock {
	var out []lock
	for _, k := range have {
		if k.start < l.start {
			left := k
			left.end = min(k.end, l.start-1)
			out = append(out, left)
		}
		if k.end > l.end {
			right := k
			right.start = max(k.start, l.end+1)
			out = append(out, right)
		}
	}
	if l.typ != syscall.F_UNLCK {
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b lock) int {
		if a.start < b.start {
			return -1
		}
		return 1
	})
	return merge(out)
}

// merge joins adjacent locks of one type; the newest lock's handle and pid
// may win, they are the same process's.
func merge(in []lock) []lock {
	var out []lock
	for _, l := range in {
		if k := len(out) - 1; k >= 0 && out[k].typ == l.typ && out[k].end+1 == l.start {
			out[k].end = l.end
			continue
		}
		out = append(out, l)
	}
	return out
}

package fuseraw

// How many readers wait for a request, who may leave, and when another is
// needed.
//
// A reader handles what it has read and reads on: for short requests nothing is
// faster, as no other thread has to be woken. Only while one takes longer than
// relief is there need of another.

import (
	"sync/atomic"
	"time"
)

const (
	// relief is how long a request may keep the last reader before another
	// takes over reading.
	relief = time.Millisecond
	// calmTicks of relief without a request put the look-out to sleep.
	calmTicks = 20
)

// idlers counts the readers that wait for a request, or are about to.
type idlers struct {
	n      atomic.Int64
	turns  atomic.Uint64 // requests read
	asleep atomic.Bool   // await sleeps until wake
	wake   chan struct{}
}

func newIdlers() *idlers { return &idlers{wake: make(chan struct{}, 1)} }

// busy takes a reader out, which has a request now.
func (i *idlers) busy() {
	i.turns.Add(1)
	if i.n.Add(-1) == 0 && i.asleep.CompareAndSwap(true, false) {
		i.wake <- struct{}{}
	}
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

// await returns true when a reader has to be started, false when done is closed.
func (i *idlers) await(done <-chan struct{}) bool {
	tick := time.NewTicker(relief)
	defer tick.Stop()
	for calm := 0; ; {
		before := i.turns.Load()
		select {
		case <-done:
			return false
		case <-tick.C:
		}
		switch {
		case i.turns.Load() != before:
			calm = 0
		case i.n.Load() == 0: // one request took it all
			return true
		default:
			calm++
		}
		if calm == calmTicks {
			calm = 0
			i.rest(done)
		}
	}
}

// rest sleeps until the last reader gets busy.
func (i *idlers) rest(done <-chan struct{}) {
	i.asleep.Store(true)
	if i.n.Load() == 0 && i.asleep.CompareAndSwap(true, false) {
		return // it was already
	}
	select {
	case <-i.wake:
	case <-done:
	}
}

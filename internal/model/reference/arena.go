package reference

// The memory of pages, outside the garbage collector's heap: a filesystem that
// holds half of RAM must not take all of it, as a heap that may double would.

import (
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

const (
	firstSlab = 64 << 10 // bytes; each slab is twice the one before
	largeSlab = 4 << 20
	keepPages = 64 << 20 / pageSize // freed pages that keep their memory for the next write
)

// arena hands out pages. Freed ones are handed out again; beyond keepPages
// their memory goes back to the system first.
type arena struct {
	mu    sync.Mutex
	free  []*page
	rest  []byte // of the last slab, not handed out yet
	size  int    // of the next slab
	slabs *slabs
}

// slabs outlive the arena for as long as its clean-up takes.
type slabs struct{ list [][]byte }

func newArena() *arena {
	a := &arena{size: firstSlab, slabs: &slabs{}}
	runtime.AddCleanup(a, (*slabs).unmap, a.slabs)
	return a
}

func (s *slabs) unmap() {
	for _, slab := range s.list {
		_ = unix.Munmap(slab)
	}
}

// get is a page of any content or, where memory has run out, nil.
func (a *arena) get(zeroed bool) *page {
	m, fresh := a.take()
	if zeroed && !fresh && m != nil {
		clear(m[:])
	}
	return m
}

func (a *arena) take() (m *page, fresh bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if k := len(a.free); k > 0 {
		m, a.free = a.free[k-1], a.free[:k-1]
		return m, false
	}
	if len(a.rest) == 0 && !a.grow() {
		return nil, false
	}
	m, a.rest = (*page)(a.rest), a.rest[pageSize:]
	return m, true
}

func (a *arena) grow() bool {
	slab, err := unix.Mmap(-1, 0, a.size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		return false
	}
	if a.size == largeSlab { // one fault for it all: it will be written soon
		_ = unix.Madvise(slab, unix.MADV_POPULATE_WRITE)
	}
	a.slabs.list = append(a.slabs.list, slab)
	a.rest, a.size = slab, min(2*a.size, largeSlab)
	return true
}

func (a *arena) put(m *page) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.free) >= keepPages {
		_ = unix.Madvise(m[:], unix.MADV_DONTNEED)
	}
	a.free = append(a.free, m)
}

package reference

// The content of a regular file: 4 KiB pages in chunks of 64, the chunks
// sorted by position. Holes take no memory however long they are.

import (
	"math/bits"
	"slices"
)

const (
	pageSize   = 4096
	chunkPages = 64
	lastPage   = maxBytes / pageSize
)

type page [pageSize]byte

// chunk is the 64 pages from index*64 on. A page is a hole; or allocated by
// fallocate and not yet written, a hole to SEEK_DATA and to readers; or data.
// Data without memory is all zeros.
type chunk struct {
	index int64
	alloc uint64 // bit i: page i counts as a block
	data  uint64 // bit i: page i is data; a subset of alloc
	mem   [chunkPages]*page
}

type pages struct {
	chunks []*chunk
	blocks int64
}

// find is the position of a chunk in p.chunks, or where it belongs.
func (p *pages) find(index int64) (int, bool) {
	if k := len(p.chunks); k == 0 || p.chunks[k-1].index < index {
		return k, false
	}
	return slices.BinarySearchFunc(p.chunks, index, func(c *chunk, index int64) int {
		return int(min(max(c.index-index, -1), 1))
	})
}

// chunk finds or makes the chunk of a page.
func (p *pages) chunk(pg int64) *chunk {
	index := pg / chunkPages
	k, found := p.find(index)
	if !found {
		p.chunks = slices.Insert(p.chunks, k, &chunk{index: index})
	}
	return p.chunks[k]
}

// drop removes the chunk of a page if nothing of it is left.
func (p *pages) drop(pg int64) {
	if k, found := p.find(pg / chunkPages); found && p.chunks[k].alloc == 0 {
		p.chunks = slices.Delete(p.chunks, k, k+1)
	}
}

// pieces calls f with the part of [off, off+n) that each page holds, until f
// says no.
func pieces(off int64, n int, f func(pg int64, at, from, to int) bool) {
	for from := 0; from < n; {
		pg, at := (off+int64(from))/pageSize, int((off+int64(from))%pageSize)
		to := min(n, from+pageSize-at)
		if !f(pg, at, from, to) {
			return
		}
		from = to
	}
}

// readAt fills b; what is not data reads as zeros.
func (p *pages) readAt(b []byte, off int64) {
	var c *chunk
	cached := int64(-1)
	pieces(off, len(b), func(pg int64, at, from, to int) bool {
		if index := pg / chunkPages; index != cached {
			cached, c = index, nil
			if k, found := p.find(index); found {
				c = p.chunks[k]
			}
		}
		if c == nil || c.mem[pg%chunkPages] == nil {
			clear(b[from:to])
		} else {
			copy(b[from:to], c.mem[pg%chunkPages][at:])
		}
		return true
	})
}

// writeAt writes as much of b as there are blocks for and returns how much.
func (p *pages) writeAt(s *space, b []byte, off int64) (n int) {
	var c *chunk
	pieces(off, len(b), func(pg int64, at, from, to int) bool {
		if c == nil || c.index != pg/chunkPages {
			c = p.chunk(pg)
		}
		i := pg % chunkPages
		if !p.reserve(s, c, i) || !c.fill(s.memory, i, to-from < pageSize) {
			p.drop(pg)
			return false
		}
		copy(c.mem[i][at:], b[from:to])
		n = to
		return true
	})
	return n
}

// fill makes page i data with memory, zeroed if asked; its bytes are what
// others wrote before if not.
func (c *chunk) fill(a *arena, i int64, zeroed bool) bool {
	if c.mem[i] == nil {
		c.mem[i] = a.get(zeroed)
		c.data |= 1 << i
	}
	return c.mem[i] != nil
}

// reserve makes page i of c a block, if it is none.
func (p *pages) reserve(s *space, c *chunk, i int64) bool {
	if c.alloc&(1<<i) != 0 {
		return true
	}
	if !s.takeBlock() {
		return false
	}
	c.alloc |= 1 << i
	p.blocks++
	return true
}

// allocate reserves the pages of [first, end), or none where there are too few
// blocks. As in tmpfs, a page that was already reserved becomes data.
func (p *pages) allocate(s *space, first, end int64) bool {
	for pg := first; pg < end; pg++ {
		c, i := p.chunk(pg), pg%chunkPages
		if c.alloc&(1<<i) != 0 {
			c.data |= 1 << i
			continue
		}
		if !p.reserve(s, c, i) {
			p.drop(pg)
			p.free(s, first, pg, (*chunk).unwritten)
			return false
		}
	}
	return true
}

// zero clears the bytes [from, to) of a page.
func (p *pages) zero(pg, from, to int64) {
	k, found := p.find(pg / chunkPages)
	if !found || from >= to {
		return
	}
	if m := p.chunks[k].mem[pg%chunkPages]; m != nil {
		clear(m[from:to])
	}
}

// truncate drops all that lies beyond size.
func (p *pages) truncate(s *space, size int64) {
	if len(p.chunks) == 0 {
		return
	}
	if size%pageSize != 0 {
		p.zero(size/pageSize, size%pageSize, pageSize)
	}
	p.free(s, pagesOf(size), lastPage+1, (*chunk).allocated)
}

// punch makes [from, to) read as zeros and frees the pages that lie within.
func (p *pages) punch(s *space, from, to int64) {
	first, end := pagesOf(from), to/pageSize
	if first > end {
		p.zero(end, from%pageSize, to%pageSize)
		return
	}
	if from%pageSize != 0 {
		p.zero(from/pageSize, from%pageSize, pageSize)
	}
	p.zero(end, 0, to%pageSize)
	p.free(s, first, end, (*chunk).allocated)
}

// pagesOf is how many pages hold n bytes.
func pagesOf(n int64) int64 {
	if n%pageSize != 0 {
		return n/pageSize + 1
	}
	return n / pageSize
}

func (c *chunk) allocated() uint64 { return c.alloc }
func (c *chunk) unwritten() uint64 { return c.alloc &^ c.data }

// free makes holes of those pages in [first, end) that which selects.
func (p *pages) free(s *space, first, end int64, which func(*chunk) uint64) {
	if first >= end {
		return
	}
	from, _ := p.find(first / chunkPages)
	k := from
	for ; k < len(p.chunks) && p.chunks[k].index <= (end-1)/chunkPages; k++ {
		c := p.chunks[k]
		lo := max(first-c.index*chunkPages, 0)
		hi := min(end-c.index*chunkPages, chunkPages)
		p.freeOf(s, c, which(c)&(^uint64(0)<<lo)&(^uint64(0)>>(chunkPages-hi)))
	}
	rest := slices.DeleteFunc(p.chunks[from:k], func(c *chunk) bool { return c.alloc == 0 })
	p.chunks = slices.Delete(p.chunks, from+len(rest), k)
	if len(p.chunks) == 0 {
		p.chunks = nil
	}
}

// freeOf frees the pages of a chunk that mask has a bit for.
func (p *pages) freeOf(s *space, c *chunk, mask uint64) {
	for rest := mask; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros64(rest)
		if c.mem[i] != nil {
			s.memory.put(c.mem[i])
			c.mem[i] = nil
		}
	}
	n := int64(bits.OnesCount64(mask))
	c.alloc &^= mask
	c.data &^= mask
	p.blocks -= n
	s.giveBlocks(n)
}

// nextData is the first page of data from pg on, or beyond all pages.
func (p *pages) nextData(pg int64) int64 {
	k, _ := p.find(pg / chunkPages)
	for ; k < len(p.chunks); k++ {
		c := p.chunks[k]
		lo := max(pg-c.index*chunkPages, 0)
		if rest := c.data & (^uint64(0) << lo); rest != 0 {
			return c.index*chunkPages + int64(bits.TrailingZeros64(rest))
		}
	}
	return lastPage + 1
}

// nextHole is the first page from pg on that is not data.
func (p *pages) nextHole(pg int64) int64 {
	k, _ := p.find(pg / chunkPages)
	for ; k < len(p.chunks) && p.chunks[k].index == pg/chunkPages; k++ {
		holes := ^p.chunks[k].data & (^uint64(0) << (pg % chunkPages))
		if holes != 0 {
			return p.chunks[k].index*chunkPages + int64(bits.TrailingZeros64(holes))
		}
		pg = (pg/chunkPages + 1) * chunkPages
	}
	return pg
}

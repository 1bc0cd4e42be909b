package session

// What is known of a file's bytes: ranges of data and of zeros. What lies
// between them has never been told.

import (
	"slices"
	"sort"
)

// chunk is a known range: its data, or, where data is nil, so many zeros.
type chunk struct {
	off   uint64
	data  []byte
	zeros uint64
}

func (c *chunk) len() uint64 {
	if c.data != nil {
		return uint64(len(c.data))
	}
	return c.zeros
}

func (c *chunk) end() uint64 { return c.off + c.len() }

// slice is the part of c within [lo, hi), which must overlap it.
func (c chunk) slice(lo, hi uint64) chunk {
	lo, hi = max(lo, c.off), min(hi, c.end())
	if c.data == nil {
		return chunk{off: lo, zeros: hi - lo}
	}
	return chunk{off: lo, data: c.data[lo-c.off : hi-c.off]}
}

// content is sorted and without overlaps.
type content []chunk

// first is the index of the first chunk that ends after off.
func (c content) first(off uint64) int {
	return sort.Search(len(c), func(i int) bool { return c[i].end() > off })
}

// within lists what is known of [lo, hi).
func (c content) within(lo, hi uint64) (found []chunk) {
	for i := c.first(lo); i < len(c) && c[i].off < hi; i++ {
		found = append(found, c[i].slice(lo, hi))
	}
	return found
}

// forget makes [lo, hi) unknown.
func (c *content) forget(lo, hi uint64) {
	if lo >= hi {
		return
	}
	from := c.first(lo)
	to := from
	var rest []chunk
	for ; to < len(*c) && (*c)[to].off < hi; to++ {
		k := (*c)[to]
		if k.off < lo {
			rest = append(rest, k.slice(k.off, lo).clip())
		}
		if k.end() > hi {
			rest = append(rest, k.slice(hi, k.end()))
		}
	}
	if to > from {
		*c = slices.Replace(*c, from, to, rest...)
	}
}

// clip keeps appends to c out of the memory that other chunks see.
func (c chunk) clip() chunk {
	c.data = slices.Clip(c.data)
	return c
}

func (c *content) cut(size uint64) { c.forget(size, ^uint64(0)) }

// put makes the range of k known; k's data is not kept. What was known of the
// range is replaced, and neighbours of the same sort become one.
func (c *content) put(k chunk) {
	if k.len() == 0 {
		return
	}
	c.forget(k.off, k.end())
	i := c.first(k.off)
	if i > 0 && (*c)[i-1].end() == k.off && (*c)[i-1].grow(k) {
		return
	}
	k.data = slices.Clone(k.data)
	c.insert(k)
}

// fill puts those parts of k that nothing was known of: to read zeros does not
// make a hole one of data.
func (c *content) fill(k chunk) {
	if k.len() == 0 {
		return
	}
	at := k.off
	for _, known := range append(c.within(k.off, k.end()), chunk{off: k.end()}) {
		if known.off > at {
			c.put(k.slice(at, known.off))
		}
		at = known.end()
	}
}

// insert puts k, of an unknown range, into its place.
func (c *content) insert(k chunk) { *c = slices.Insert(*c, c.first(k.off), k) }

// grow appends k where both are data or both zeros.
func (c *chunk) grow(k chunk) bool {
	if (c.data == nil) != (k.data == nil) {
		return false
	}
	if c.data == nil {
		c.zeros += k.zeros
		return true
	}
	c.data = append(c.data, k.data...)
	return true
}

// shift moves what is known from off on by delta bytes.
func (c content) shift(off uint64, delta int64) {
	for i := c.first(off); i < len(c); i++ {
		c[i].off += uint64(delta)
	}
}

package trace

// Quantiles of durations in memory that does not grow.

import (
	"math/bits"
	"time"
)

const subBits = 4 // 16 steps to each power of two: a value is off by 3 % at most

// histogram counts durations in steps that grow with the value.
type histogram struct {
	counts [(64 - subBits + 1) << subBits]uint32
	total  int
}

func (h *histogram) add(d time.Duration) {
	h.counts[step(uint64(max(d, 0)))]++
	h.total++
}

// step is the index of v's step. Below 2^subBits each value has its own.
func step(v uint64) int {
	shift := max(bits.Len64(v)-subBits-1, 0)
	return shift<<subBits + int(v>>shift)
}

// middle is the middle of a step, in nanoseconds.
func middle(i int) time.Duration {
	if i < 2<<subBits {
		return time.Duration(i)
	}
	shift := i>>subBits - 1
	low := uint64(i-shift<<subBits) << shift
	return time.Duration(low + uint64(1)<<shift/2)
}

// quantile is the duration that the share q of all does not exceed.
func (h *histogram) quantile(q float64) time.Duration {
	rank := int(q * float64(h.total-1))
	for i, n := range h.counts {
		if rank -= int(n); rank < 0 {
			return middle(i)
		}
	}
	return 0
}

package proto

// Scanning of bytes, sixteen at a time, for what a JSON string can't hold raw.

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special has a high bit set at the first byte of w, the lowest, that is a
// quote, a backslash or a control character; it is zero if there is none. Bits
// above the first may be wrong.
func special(w uint64) uint64 {
	quote, slash := w^ones*'"', w^ones*'\\'
	return ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*' ')&^w) & highs
}

// plain is the length of the longest prefix of s without quote, backslash and
// control characters.
func plain(s []byte) int {
	rest := s
	for ; len(rest) >= 16; rest = rest[16:] {
		low, high := special(binary.LittleEndian.Uint64(rest)), special(binary.LittleEndian.Uint64(rest[8:]))
		if low|high == 0 {
			continue
		}
		at := len(s) - len(rest)
		if low == 0 {
			return at + 8 + bits.TrailingZeros64(high)/8
		}
		return at + bits.TrailingZeros64(low)/8
	}
	i := len(s) - len(rest)
	for i < len(s) && s[i] != '"' && s[i] != '\\' && s[i] >= ' ' {
		i++
	}
	return i
}

func hasNUL(b []byte) bool { return bytes.IndexByte(b, 0) >= 0 }

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

// special has the high bit of each byte of w that is a quote, a backslash or a
// control character, or is not ASCII; and is exact to the first that is special
// where highs&^w is taken of it. Flipping bit 1 moves the quote next to the
// control characters, so that one subtraction finds both.
func special(w uint64) uint64 {
	return (w ^ ones*2 - ones*(' '+1)) | (w ^ ones*'\\' - ones)
}

// plain is the length of the longest prefix of s without quote, backslash and
// control characters. seen has no high bit if the prefix is ASCII.
func plain(s []byte) (n int, seen uint64) {
	rest := s
	for ; len(rest) >= 16; rest = rest[16:] {
		low, high := binary.LittleEndian.Uint64(rest), binary.LittleEndian.Uint64(rest[8:])
		seen |= low | high
		low, high = special(low)&^low, special(high)&^high
		if (low|high)&highs == 0 {
			continue
		}
		at := len(s) - len(rest)
		if low &= highs; low != 0 {
			return at + bits.TrailingZeros64(low)/8, seen
		}
		return at + 8 + bits.TrailingZeros64(high&highs)/8, seen
	}
	i := len(s) - len(rest)
	for i < len(s) && s[i] != '"' && s[i] != '\\' && s[i] >= ' ' {
		seen |= uint64(s[i])
		i++
	}
	return i, seen
}

func hasNUL(b []byte) bool { return bytes.IndexByte(b, 0) >= 0 }

package proto

// Scanning of bytes, eight at a time, for what a JSON string can't hold raw.

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// zeros has a high bit set if, and at or above the place where, a byte of w
// is zero; it is zero if none is.
func zeros(w uint64) uint64 { return (w - ones) &^ w & highs }

// plain is the length of the longest prefix of s without quote, backslash and
// control characters.
func plain(s []byte) int {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := binary.LittleEndian.Uint64(s[i:])
		if found := zeros(w^ones*'"') | zeros(w^ones*'\\') | (w-ones*' ')&^w&highs; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(s) && s[i] != '"' && s[i] != '\\' && s[i] >= ' ' {
		i++
	}
	return i
}

func hasNUL(b []byte) bool { return bytes.IndexByte(b, 0) >= 0 }

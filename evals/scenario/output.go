package scenario

// The output of live commands as text of bounded length.

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	longOutput = 2000 // bytes kept of a command's output
	longCall   = 120  // bytes kept of a mixed call and its result
)

// printable is text as it is, with all bytes that are no UTF-8 as \xNN.
func printable(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	var s strings.Builder
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&s, `\x%02x`, b[0])
		} else {
			s.Write(b[:n])
		}
		b = b[n:]
	}
	return s.String()
}

// cut keeps the beginning of a long text; a hash stands for the rest.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	end := most
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	sum := sha256.Sum256([]byte(s))
	return fmt.Sprintf("%s… %d bytes, SHA-256 %x", s[:end], len(s), sum[:8])
}

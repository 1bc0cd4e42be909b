package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/dustin/go-humanize"
)

// byteSize is a flag's number of bytes. A bare k, m, g or t counts in 1024s,
// as in tmpfs's size=; 0 is the default.
type byteSize int64

func (s *byteSize) Set(text string) error {
	if text != "" && strings.ContainsRune("kKmMgGtT", rune(text[len(text)-1])) {
		text += "iB"
	}
	n, err := humanize.ParseBytes(text)
	if err != nil || n > math.MaxInt64 {
		return fmt.Errorf("want bytes with or without a unit, as 65536, 64k or 1G")
	}
	*s = byteSize(n)
	return nil
}

func (s *byteSize) String() string {
	if *s == 0 {
		return ""
	}
	return strings.ReplaceAll(humanize.IBytes(uint64(*s)), " ", "")
}

func (s *byteSize) Type() string { return "size" }

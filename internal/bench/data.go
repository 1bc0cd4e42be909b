// Sequential and random file I/O.

package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const seed = 42

// binaryBlock is not UTF-8: in JSON it is base64.
func binaryBlock(size int) []byte {
	b := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(b)
	return b
}

// textBlock is lines of ASCII: in JSON it is a string with \n escaped.
func textBlock(size int) []byte {
	line := "the quick brown fox jumps over the lazy dog, 0123456789 times\n"
	return []byte(strings.Repeat(line, size/len(line)+1)[:size])
}

func sequential(kind string, block func(int) []byte, size int) func(w work) ([]sample, error) {
	label := fmt.Sprintf("%s %d KiB", kind, size/kib)
	if size >= mib {
		label = fmt.Sprintf("%s %d MiB", kind, size/mib)
	}
	return func(w work) ([]sample, error) {
		f, err := os.Create(w.path("sequential"))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		buf := block(size)
		write, err := timed(w.bytes, func() error { return writeAll(f, buf, w.bytes) })
		if err != nil {
			return nil, err
		}
		if err := goCold(f); err != nil {
			return nil, err
		}
		read, err := timed(w.bytes, func() error { return readAll(f, buf, w.bytes) })
		return []sample{{"write " + label, mibSec, write}, {"cold read " + label, mibSec, read}}, err
	}
}

// timed returns MiB per second.
func timed(bytes int64, f func() error) (float64, error) {
	start := time.Now()
	err := f()
	return float64(bytes) / mib / time.Since(start).Seconds(), err
}

func writeAll(f *os.File, block []byte, total int64) error {
	for range total / int64(len(block)) {
		if _, err := f.Write(block); err != nil {
			return err
		}
	}
	return nil
}

func readAll(f *os.File, buf []byte, total int64) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	for read := int64(0); read < total; read += int64(len(buf)) {
		if _, err := io.ReadFull(f, buf); err != nil {
			return fmt.Errorf("read %s at %d: %w", f.Name(), read, err)
		}
	}
	return nil
}

// random writes and reads pages in an order without repeats, so that every cold
// read is a request, and without readahead.
func random(w work) ([]sample, error) {
	f, err := os.Create(w.path("random"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	const page = 4 * kib
	if err := writeAll(f, binaryBlock(page), int64(w.ops)*page); err != nil {
		return nil, err
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_RANDOM); err != nil {
		return nil, err
	}
	buf := binaryBlock(page)
	write, err := eachPage(w.ops, func(at int64) error { _, err := f.WriteAt(buf, at*page); return err })
	if err != nil {
		return nil, err
	}
	if err := goCold(f); err != nil {
		return nil, err
	}
	read, err := eachPage(w.ops, func(at int64) error { _, err := f.ReadAt(buf, at*page); return err })
	return []sample{{"random write 4 KiB", opsSec, write}, {"cold random read 4 KiB", opsSec, read}}, err
}

func eachPage(pages int, one func(at int64) error) (float64, error) {
	order := rand.New(rand.NewPCG(seed, seed)).Perm(pages)
	start := time.Now()
	for _, at := range order {
		if err := one(int64(at)); err != nil {
			return 0, err
		}
	}
	return float64(pages) / time.Since(start).Seconds(), nil
}

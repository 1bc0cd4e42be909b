package trace

// Where lines go: a file, or a zstd frame in a file. Both hand a line to the
// kernel by one write(2) before they return.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sys/unix"
)

// Options is how a trace file is made.
type Options struct {
	Overwrite bool // empty an existing file; else one that holds anything is refused
}

// ErrNotEmpty marks the refusal to write over what a file holds.
var ErrNotEmpty = errors.New("holds something already")

// CreateFile opens a file for lines, compressing them where path ends in
// .zst. While it is open, no other CreateFile can have it. Traces hold file
// contents, so nobody but the owner can read the file.
func CreateFile(path string, o Options) (io.WriteCloser, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("trace %s: %w", path, err)
	}
	if err := claim(f, o); err != nil {
		return nil, errors.Join(fmt.Errorf("trace %s: %w", path, err), f.Close())
	}
	if strings.HasSuffix(path, ".zst") {
		return newCompressor(f), nil
	}
	return f, nil
}

// claim locks f and sees that it is empty. The lock comes first, so that a
// trace that is being recorded is not emptied by a second daemon.
func claim(f *os.File, o Options) error {
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() {
		return err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("being recorded by another process: %w", err)
	}
	if st, err = f.Stat(); err != nil || st.Size() == 0 {
		return err
	}
	if !o.Overwrite {
		return fmt.Errorf("%w (%d bytes)", ErrNotEmpty, st.Size())
	}
	return f.Truncate(0)
}

// compressor writes one zstd frame and flushes a block for each Write. What
// is flushed can be decoded though the frame never ends.
type compressor struct {
	to  io.WriteCloser
	enc *zstd.Encoder
	out bytes.Buffer // what the encoder made of one Write
}

func newCompressor(to io.WriteCloser) *compressor {
	c := &compressor{to: to}
	var err error
	// One goroutine, so that Flush returns with everything in out; a window of
	// 1 MiB, which is thousands of pairs, keeps both sides small.
	c.enc, err = zstd.NewWriter(&c.out, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err) // the options are constants
	}
	return c
}

func (c *compressor) Write(b []byte) (int, error) {
	if _, err := c.enc.Write(b); err != nil {
		return 0, err
	}
	if err := c.enc.Flush(); err != nil {
		return 0, err
	}
	if err := c.drain(); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (c *compressor) Close() error {
	err := c.enc.Close()
	return errors.Join(err, c.drain(), c.to.Close())
}

func (c *compressor) drain() error {
	defer c.out.Reset()
	if c.out.Len() == 0 {
		return nil
	}
	_, err := c.to.Write(c.out.Bytes())
	return err
}

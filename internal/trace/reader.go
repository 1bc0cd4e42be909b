package trace

// Reading a trace as a stream: memory holds one line at a time.

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/klauspost/compress/zstd"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// Reader reads one trace, once.
type Reader struct {
	name  string
	close func() error
	in    *lines

	header    Header
	rawHeader []byte // its line, "\n" included
	wire      proto.Wire
	wired     bool
	first     []byte // the first pair's line, where it was read as the header
	raw       []byte // the current pair's line; valid until the next
	truncated bool
}

// Open opens a trace file; "-" is standard input.
func Open(path string) (*Reader, error) {
	if path == "-" {
		return NewReader(os.Stdin, "-")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("trace %s: %w", path, err)
	}
	r, err := NewReader(f, path)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	stop := r.close
	r.close = func() error { return errors.Join(stop(), f.Close()) }
	return r, nil
}

// NewReader reads the header. name is what errors call the trace.
func NewReader(from io.Reader, name string) (*Reader, error) {
	plain, stop, err := sniff(from)
	if err != nil {
		return nil, fmt.Errorf("trace %s: %w", name, err)
	}
	r := &Reader{name: name, close: stop, in: &lines{from: plain}}
	if err := r.readHeader(); err != nil {
		return nil, errors.Join(r.errorf("%w", err), stop())
	}
	return r, nil
}

var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// sniff undoes the compression that the content has.
func sniff(from io.Reader) (*bufio.Reader, func() error, error) {
	in := bufio.NewReaderSize(from, 64<<10)
	head, err := in.Peek(len(zstdMagic))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	if !bytes.Equal(head, zstdMagic) {
		return in, func() error { return nil }, nil
	}
	// One goroutine, so that all whole blocks of a torn frame come out.
	dec, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(1<<30))
	if err != nil {
		return nil, nil, err
	}
	return bufio.NewReaderSize(dec, 64<<10), func() error { dec.Close(); return nil }, nil
}

func (r *Reader) readHeader() error {
	line, err := r.in.next()
	if err == nil && !r.in.whole {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("header: %w", err)
	}
	h, first, err := decodeHeader(line)
	if err != nil {
		return err
	}
	if r.rawHeader = append(bytes.Clone(line), '\n'); first {
		r.first = r.rawHeader[:len(line)]
	}
	if r.header = h; h.Wire != nil {
		r.wire, r.wired = proto.Wire(*h.Wire), true
	}
	return nil
}

// Header is the trace's first line. Its Version is the file's.
func (r *Reader) Header() Header { return r.header }

// Wire is what INIT negotiated, as far as the trace has been read; false
// before INIT.
func (r *Reader) Wire() (proto.Wire, bool) { return r.wire, r.wired }

// Line is the number of the pair that came last, from 1.
func (r *Reader) Line() int { return r.in.n }

// Truncated reports whether the last line was torn, as a killed daemon leaves
// it. It is known once Pairs has ended.
func (r *Reader) Truncated() bool { return r.truncated }

// Close closes what Open opened.
func (r *Reader) Close() error { return r.close() }

// Pairs iterates over the rest of the trace. An error is the last thing it
// yields. The pairs are the caller's to keep.
func (r *Reader) Pairs() iter.Seq2[*Pair, error] {
	return func(yield func(*Pair, error) bool) {
		for {
			p, err := r.next()
			if err == io.EOF {
				return
			}
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}

// next reads one pair; io.EOF after the last one.
func (r *Reader) next() (*Pair, error) {
	line, err := r.nextLine()
	if err == io.EOF {
		return nil, err
	}
	if err != nil {
		return nil, r.errorf("%w", err)
	}
	p, err := decoders[r.header.Version](line)
	if err != nil {
		return nil, r.torn(err)
	}
	if w, ok := p.negotiated(); ok {
		r.wire, r.wired = w, true
	}
	r.raw = line
	return p, nil
}

func (r *Reader) nextLine() ([]byte, error) {
	if line := r.first; line != nil {
		r.first = nil
		return line, nil
	}
	line, err := r.in.next()
	r.truncated = r.truncated || r.in.torn
	return line, err
}

// torn decides what a line means that can't be decoded: the end of the trace
// where the line itself has no end, else an error.
func (r *Reader) torn(err error) error {
	if r.in.whole {
		return r.errorf("%w", err)
	}
	r.truncated = true
	return io.EOF
}

func (r *Reader) errorf(format string, args ...any) error {
	return fmt.Errorf("trace %s:%d: %w", r.name, max(r.in.n, 1), fmt.Errorf(format, args...))
}

package trace

// Recording.

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// Writer records pairs. It is safe for parallel use. An error of the file ends
// the recording, so that nothing follows a torn line; later calls return the
// same error. A pair that has no form in JSON is missing from the trace, and
// the recording goes on. Err and Close report the first error of either kind.
type Writer struct {
	name string
	bufs sync.Pool // of *[]byte

	mu    sync.Mutex
	to    io.WriteCloser
	pairs int
	ended bool
	err   error
}

// Create makes a trace file that begins with h; see [CreateFile].
func Create(path string, h Header, o Options) (*Writer, error) {
	f, err := CreateFile(path, o)
	if err != nil {
		return nil, err
	}
	w, err := newWriter(path, f, h)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return w, nil
}

// NewWriter writes a trace that begins with h to w, one Write a line.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	return newWriter("-", unclosed{w}, h)
}

func newWriter(name string, to io.WriteCloser, h Header) (*Writer, error) {
	if _, err := to.Write(appendHeader(nil, h)); err != nil {
		return nil, fmt.Errorf("trace %s: %w", name, err)
	}
	return &Writer{name: name, to: to, bufs: sync.Pool{New: func() any { return new([]byte) }}}, nil
}

// unclosed is a writer that is somebody else's to close.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// Write records one pair. When it returns nil, the kernel has the line; so
// record first and answer the request then. p is not kept.
func (w *Writer) Write(p *Pair) error {
	buf := w.bufs.Get().(*[]byte)
	defer w.bufs.Put(buf)
	line, err := AppendPair((*buf)[:0], p)
	*buf = line
	return w.write(line, err)
}

func (w *Writer) write(line []byte, err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return w.err
	}
	if err == nil {
		_, err = w.to.Write(line)
		w.ended = err != nil
	}
	if err == nil {
		w.pairs++
		return nil
	}
	err = fmt.Errorf("trace %s: pair %d: %w", w.name, w.pairs+1, err)
	if w.err == nil || w.ended {
		w.err = err
	}
	return err
}

// Pairs is how many pairs have been recorded.
func (w *Writer) Pairs() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pairs
}

// Err is the first error, or the one that ended the recording.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Close ends the trace and reports what Err reports. A second Close does
// nothing.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.to == nil {
		return nil
	}
	err := errors.Join(w.err, w.to.Close())
	w.to, w.ended, w.err = nil, true, fmt.Errorf("trace %s: %w", w.name, os.ErrClosed)
	return err
}

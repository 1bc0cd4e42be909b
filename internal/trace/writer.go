package trace

// Recording.

import (
	"errors"
	"fmt"
	"io"
	"sync"
)

// Writer records pairs. It is safe for parallel use. The first error ends the
// recording: what is written is always the beginning of what happened, without
// a gap. Later calls return the same error.
type Writer struct {
	name string
	bufs sync.Pool // of *[]byte

	mu    sync.Mutex
	to    io.WriteCloser
	pairs int
	err   error
}

var errClosed = errors.New("closed")

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

// write writes a line, or remembers why there is none.
func (w *Writer) write(line []byte, err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	if err == nil {
		_, err = w.to.Write(line)
	}
	if err != nil {
		w.err = fmt.Errorf("trace %s: pair %d: %w", w.name, w.pairs+1, err)
		return w.err
	}
	w.pairs++
	return nil
}

// Pairs is how many pairs have been recorded.
func (w *Writer) Pairs() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pairs
}

// Err is what ended the recording, or nil while it goes on.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Close ends the trace. It reports the error that ended the recording, if one
// did. A second Close does nothing.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if errors.Is(w.err, errClosed) {
		return nil
	}
	err := errors.Join(w.err, w.to.Close())
	w.err = fmt.Errorf("trace %s: %w", w.name, errClosed)
	return err
}

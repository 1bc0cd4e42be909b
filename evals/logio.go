package evals

// Reading a log as a stream: memory holds one line at a time.

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
)

// StepsFiles are the names that the log of a run may have in its directory.
var StepsFiles = []string{"steps.jsonl.zst", "steps.jsonl"}

// LogReader reads one log, once.
type LogReader struct {
	Header LogHeader

	path  string
	in    *bufio.Reader
	line  int
	torn  bool
	close func() error
}

// OpenLog opens the log of a run by its directory, or by the file itself.
func OpenLog(path string) (*LogReader, error) {
	path, err := findLog(path)
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	r, err := NewLogReader(f, path)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	stop := r.close
	r.close = func() error { return errors.Join(stop(), f.Close()) }
	return r, nil
}

func findLog(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return path, err
	}
	for _, name := range StepsFiles {
		file := filepath.Join(path, name)
		if _, err := os.Stat(file); err == nil {
			return file, nil
		}
	}
	return "", fmt.Errorf("%s: have neither %s nor %s", path, StepsFiles[0], StepsFiles[1])
}

// NewLogReader reads the header, compressed or not. path is what errors call the log.
func NewLogReader(from io.Reader, path string) (*LogReader, error) {
	r := &LogReader{path: path, in: bufio.NewReaderSize(from, 1<<16), close: func() error { return nil }}
	if magic, _ := r.in.Peek(4); bytes.Equal(magic, []byte{0x28, 0xB5, 0x2F, 0xFD}) {
		z, err := zstd.NewReader(r.in, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, fmt.Errorf("log %s: %w", path, err)
		}
		r.in, r.close = bufio.NewReaderSize(z, 1<<16), func() error { z.Close(); return nil }
	}
	if err := r.readHeader(); err != nil {
		return nil, errors.Join(fmt.Errorf("log %s: %w", path, err), r.close())
	}
	return r, nil
}

func (r *LogReader) readHeader() error {
	line, err := r.next()
	if err != nil {
		return fmt.Errorf("no header: %w", err)
	}
	if err := json.Unmarshal(line, &r.Header); err != nil || r.Header.Log != LogName {
		return fmt.Errorf("the first line is no header of %q", LogName)
	}
	if r.Header.Version != LogVersion {
		return fmt.Errorf("have version %d, want %d", r.Header.Version, LogVersion)
	}
	return nil
}

// next is the next whole line, or io.EOF.
func (r *LogReader) next() ([]byte, error) {
	line, err := r.in.ReadBytes('\n')
	if err == io.EOF && len(line) == 0 {
		return nil, io.EOF
	}
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		r.torn = true
		return nil, io.EOF
	}
	r.line++
	return line, err
}

// Steps are the lines after the header, up to one that a killed run has left torn.
func (r *LogReader) Steps() iter.Seq2[*StepResult, error] {
	return func(yield func(*StepResult, error) bool) {
		for {
			line, err := r.next()
			if err == io.EOF {
				return
			}
			s := &StepResult{}
			if err == nil {
				err = json.Unmarshal(line, s)
			}
			if err != nil {
				yield(nil, fmt.Errorf("log %s, line %d: %w", r.path, r.line, err))
				return
			}
			if !yield(s, nil) {
				return
			}
		}
	}
}

// Torn reports whether the log ended in the middle of a line.
func (r *LogReader) Torn() bool { return r.torn }

// Close lets go of the file.
func (r *LogReader) Close() error { return r.close() }

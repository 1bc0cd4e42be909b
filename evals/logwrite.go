package evals

// Writing a log, and the summary beside it.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// SummaryFile is the summary's name in the directory of a run.
const SummaryFile = "summary.json"

// Frame packs lines as they stand in a log: one zstd frame. Frames one after the
// other are a log, once there is a header in the first.
type Frame struct{ zstd *zstd.Encoder }

// NewFrame makes a packer. It is safe for parallel use.
func NewFrame() (*Frame, error) {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	return &Frame{e}, err
}

// Pack appends lines to dst as a frame.
func (f *Frame) Pack(dst, lines []byte) []byte { return f.zstd.EncodeAll(lines, dst) }

// LogWriter writes a log to a file that has its name only once it is whole.
type LogWriter struct {
	path  string
	file  *os.File
	frame *Frame
	plain bool
}

// CreateLog begins a log at path, compressed where that ends in .zst.
func CreateLog(path string, h LogHeader) (*LogWriter, error) {
	frame, err := NewFrame()
	if err != nil {
		return nil, err
	}
	f, err := os.Create(path + ".new")
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	w := &LogWriter{path: path, file: f, frame: frame, plain: !strings.HasSuffix(path, ".zst")}
	h.Log, h.Version = LogName, LogVersion
	line, err := AppendLine(nil, h)
	if err == nil {
		err = w.Write(line)
	}
	return w, err
}

// AppendLine appends a value as one line of JSON. Bytes that are no UTF-8 come
// out as U+FFFD.
func AppendLine(dst []byte, v any) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// Write appends whole lines.
func (w *LogWriter) Write(lines []byte) error {
	if !w.plain {
		lines = w.frame.Pack(nil, lines)
	}
	_, err := w.file.Write(lines)
	return err
}

// Copy appends frames that Pack has made; the log must be a compressed one.
func (w *LogWriter) Copy(frames io.Reader) error {
	_, err := io.Copy(w.file, frames)
	return err
}

// Close ends the log and gives it its name, unless err says that it is not whole.
func (w *LogWriter) Close(err error) error {
	err = errors.Join(err, w.file.Close())
	if err != nil {
		return errors.Join(err, os.Remove(w.file.Name()))
	}
	return os.Rename(w.file.Name(), w.path)
}

// Write stores the summary in the directory of a run.
func (s *Summary) Write(dir string) error {
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, SummaryFile), append(b, '\n'), 0o644)
}

// ReadSummary reads a summary by its file, or by the directory of a run.
func ReadSummary(path string) (*Summary, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, SummaryFile)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("summary: %w", err)
	}
	s := &Summary{}
	err = json.Unmarshal(b, s)
	switch {
	case err != nil:
		return nil, fmt.Errorf("summary %s: %w", path, err)
	case s.Log != LogName:
		return nil, fmt.Errorf("summary %s: have no %q, want %q", path, s.Log, LogName)
	case s.Version != LogVersion:
		return nil, fmt.Errorf("summary %s: have version %d, want %d", path, s.Version, LogVersion)
	}
	return s, nil
}

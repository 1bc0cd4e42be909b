package command

// The three pipes of a process.

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// write ends standard input after the last line.
func (p *process) write() {
	defer func() { _ = p.stdin.Close() }()
	for {
		text, ok := p.out.pop()
		if !ok {
			return
		}
		if _, err := p.stdin.Write(text); err != nil {
			return // the process is ending, and p.wait says why
		}
	}
}

// read hands out answers until the end of standard output.
func (p *process) read(stdout io.ReadCloser) {
	defer func() { _ = stdout.Close() }()
	lines := bufio.NewScanner(stdout)
	lines.Buffer(make([]byte, 0, 64<<10), MaxLine)
	for lines.Scan() {
		if err := p.take(lines.Bytes()); err != nil {
			p.broken <- err
			return
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		p.broken <- fmt.Errorf("command wrote a line of more than %d bytes: %w", MaxLine, err)
	}
}

// take hands one answer to the request that waits for it.
func (p *process) take(text []byte) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	var r reply
	if err := json.Unmarshal(text, &r); err != nil {
		return fmt.Errorf("command wrote a line that is no answer, %.200q: %w", text, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.ID == 0 || r.ID > p.highest {
		return fmt.Errorf("command answered request %d, which it was not asked: %.200q", r.ID, text)
	}
	if answer, ok := p.waiting[r.ID]; ok { // else it was cancelled
		delete(p.waiting, r.ID)
		p.answered.Store(true)
		var done result
		done.answer, done.err = r.answer()
		answer <- done
	}
	return nil
}

const maxStderrLine = 64 << 10 // bytes; longer lines are passed on in pieces

// passOn passes standard error on, a prefix before each line.
func (p *process) passOn(stderr io.ReadCloser) {
	defer func() { _ = stderr.Close() }()
	lines := bufio.NewReaderSize(stderr, maxStderrLine)
	for {
		text, err := lines.ReadSlice('\n')
		if text = bytes.TrimRight(text, "\r\n"); len(text) > 0 {
			p.last.Store(string(text[:min(len(text), 200)]))
			_, _ = fmt.Fprintf(p.o.Stderr, "%s%s\n", p.o.Prefix, text)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

package trace

// Splitting a stream into lines of bounded length.

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

type lines struct {
	from  *bufio.Reader
	n     int  // the number of the last line, from 1
	whole bool // the last line ended in "\n"
	torn  bool // the compressed stream ended in the middle
	long  []byte
}

// next is the next line without its "\n", valid until the next call; io.EOF
// after the last one. A torn compressed stream ends where its whole blocks do.
func (l *lines) next() ([]byte, error) {
	line, err := l.read()
	if errors.Is(err, io.ErrUnexpectedEOF) {
		l.torn, err = true, io.EOF
	}
	if err == io.EOF && len(line) == 0 {
		return nil, io.EOF
	}
	l.n++
	if err != nil && err != io.EOF {
		return nil, err
	}
	if l.whole = err == nil; l.whole {
		line = line[:len(line)-1]
	}
	return line, nil
}

// read is bufio.Reader.ReadSlice for lines beyond its buffer.
func (l *lines) read() ([]byte, error) {
	line, err := l.from.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		return line, err
	}
	l.long = append(l.long[:0], line...)
	for err == bufio.ErrBufferFull {
		line, err = l.from.ReadSlice('\n')
		if len(l.long)+len(line) > MaxLine {
			return nil, fmt.Errorf("line: have more than %d bytes", MaxLine)
		}
		l.long = append(l.long, line...)
	}
	return l.long, err
}

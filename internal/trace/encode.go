package trace

// Lines: structs to bytes, in the one form that the format allows.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// MaxLine is the longest line in bytes, its "\n" included. The largest WRITE
// with its kernel bytes takes about a third of it.
const MaxLine = 16 << 20

// AppendPair appends p's line, its "\n" included.
func AppendPair(dst []byte, p *Pair) ([]byte, error) {
	start := len(dst)
	dst, err := appendMessages(dst, p)
	if err != nil {
		return dst[:start], err
	}
	dst = append(dst, `,"ns":`...)
	dst = strconv.AppendInt(dst, p.Took.Nanoseconds(), 10)
	if p.Usage != (Usage{}) {
		dst = appendField(dst, "usage", p.Usage)
	}
	if p.Kernel != nil {
		dst = appendField(dst, "kernel", p.Kernel)
	}
	if p.Note != "" {
		dst = appendField(dst, "note", p.Note)
	}
	dst = append(dst, '}', '\n')
	if n := len(dst) - start; n > MaxLine {
		return dst[:start], fmt.Errorf("encode %v pair: have %d bytes, want at most %d", p.Req.Op, n, MaxLine)
	}
	return dst, nil
}

func appendMessages(dst []byte, p *Pair) (_ []byte, err error) {
	dst = append(dst, `{"req":`...)
	if dst, err = proto.AppendRequestJSON(dst, p.Req); err != nil {
		return dst, err
	}
	dst = append(dst, `,"rep":`...)
	if p.Rep == nil {
		return append(dst, "null"...), nil
	}
	return proto.AppendReplyJSON(dst, p.Req, p.Rep)
}

func appendField(dst []byte, key string, v any) []byte {
	dst = append(dst, ',', '"')
	dst = append(dst, key...)
	return append(append(dst, '"', ':'), compact(v)...)
}

// compact is v as JSON without the escapes that are for HTML. v is one of this
// package's structs or a string, and those can always be encoded.
func compact(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// appendHeader appends h's line, its "\n" included.
func appendHeader(dst []byte, h Header) []byte {
	h.Trace, h.Version = Name, Version
	if h.Options == nil {
		h.Options = map[string]string{}
	}
	return append(append(dst, compact(h)...), '\n')
}

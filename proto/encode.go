package proto

// Messages to JSON. The form is canonical: keys in the order of the structs,
// no white space, text wherever the bytes are text.

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"github.com/segmentio/asm/base64"
)

// maxSafe is 2^53-1, the largest integer that every JSON engine and schema
// compiler carries without loss. Larger ones are written as strings.
const maxSafe = 1<<53 - 1

var (
	headerLayout     = layoutOf((*Header)(nil))
	extLayout        = layoutOf((*Extension)(nil))
	direntLayout     = layoutOf((*Dirent)(nil), "Entry")
	direntPlusLayout = layoutOf((*Dirent)(nil))
)

// AppendRequestJSON appends the request as a model sees it.
func AppendRequestJSON(dst []byte, r *Request) ([]byte, error) {
	row := r.Op.Row()
	if row == nil {
		return dst, fmt.Errorf("write %v as JSON: no such opcode", r.Op)
	}
	if err := r.check(row); err != nil {
		return dst, fmt.Errorf("write %v as JSON: %w", r.Op, err)
	}
	dst = append(append(append(dst, `{"Op":"`...), row.Name...), `","Header":`...)
	dst = appendStruct(dst, headerLayout, unsafe.Pointer(&r.Header))
	if row.in != nil {
		p, _ := row.in.pointer(r.In)
		dst = appendStruct(append(dst, `,"In":`...), row.in, p)
	}
	if row.Names > 0 {
		dst = appendNames(append(dst, `,"Names":`...), r.Names)
	}
	if row.size != nil {
		dst = appendBlob(append(dst, `,"Data":`...), r.Data)
	}
	if row.list != nil {
		dst = appendStructs(append(dst, `,"List":`...), row.list, reflect.ValueOf(r.List))
	}
	if len(r.Ext) > 0 {
		dst = appendStructs(append(dst, `,"Ext":`...), extLayout, reflect.ValueOf(r.Ext))
	}
	return append(dst, '}'), nil
}

// AppendReplyJSON appends the reply to req as a model writes it.
func AppendReplyJSON(dst []byte, req *Request, r *Reply) ([]byte, error) {
	start, row := len(dst), req.Op.Row()
	if row == nil && r.Errno == 0 {
		return dst, fmt.Errorf("write %v reply as JSON: no such opcode", req.Op)
	}
	dst = strconv.AppendUint(append(dst, `{"Errno":`...), uint64(r.Errno), 10)
	if r.Errno != 0 {
		return append(dst, '}'), nil
	}
	dst, err := row.appendReplyJSON(dst, req, r)
	if err != nil {
		return dst[:start], fmt.Errorf("write %v reply as JSON: %w", req.Op, err)
	}
	return append(dst, '}'), nil
}

func (row *Row) appendReplyJSON(dst []byte, req *Request, r *Reply) ([]byte, error) {
	want := row.shape(req)
	if want.out {
		p, err := row.out.pointer(r.Out)
		if err != nil {
			return dst, fmt.Errorf("Out: %w", err)
		}
		dst = appendStruct(append(dst, `,"Out":`...), row.out, p)
	}
	if want.data {
		dst = appendBlob(append(dst, `,"Data":`...), r.Data)
	}
	if want.entries {
		dst = appendStructs(append(dst, `,"Entries":`...), row.entries(), reflect.ValueOf(r.Entries))
	}
	if len(r.Notify) > 0 {
		return appendNotify(append(dst, `,"Notify":`...), r.Notify)
	}
	return dst, nil
}

func (row *Row) entries() *layout {
	if row.Reply == ReplyEntriesPlus {
		return direntPlusLayout
	}
	return direntLayout
}

func appendStruct(dst []byte, l *layout, p unsafe.Pointer) []byte {
	dst = append(dst, '{')
	first := true
	for i := range l.fields {
		f := &l.fields[i]
		at := unsafe.Add(p, f.offset)
		if f.optional && reflect.NewAt(f.typ, at).Elem().Len() == 0 {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = appendField(append(dst, f.key...), f, at)
	}
	return append(dst, '}')
}

func appendField(dst []byte, f *field, p unsafe.Pointer) []byte {
	switch f.kind {
	case kindUint16:
		return strconv.AppendUint(dst, uint64(*(*uint16)(p)), 10)
	case kindUint32:
		return strconv.AppendUint(dst, uint64(*(*uint32)(p)), 10)
	case kindUint64:
		return appendUint(dst, *(*uint64)(p))
	case kindInt32:
		return strconv.AppendInt(dst, int64(*(*int32)(p)), 10)
	case kindInt64:
		return appendInt(dst, *(*int64)(p))
	case kindString:
		return appendName(dst, *(*string)(p))
	case kindBytes:
		return appendBlob(dst, *(*[]byte)(p))
	case kindUint32s:
		return appendUint32s(dst, *(*[]uint32)(p))
	case kindStructs:
		return appendStructs(dst, f.sub, reflect.NewAt(f.typ, p).Elem())
	}
	return appendStruct(dst, f.sub, p)
}

func appendUint(dst []byte, n uint64) []byte {
	if n > maxSafe {
		return append(strconv.AppendUint(append(dst, '"'), n, 10), '"')
	}
	return strconv.AppendUint(dst, n, 10)
}

func appendInt(dst []byte, n int64) []byte {
	if n > maxSafe || n < -maxSafe {
		return append(strconv.AppendInt(append(dst, '"'), n, 10), '"')
	}
	return strconv.AppendInt(dst, n, 10)
}

func appendUint32s(dst []byte, list []uint32) []byte {
	dst = append(dst, '[')
	for i, n := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendUint(dst, uint64(n), 10)
	}
	return append(dst, ']')
}

func appendStructs(dst []byte, l *layout, list reflect.Value) []byte {
	dst = append(dst, '[')
	p, size := list.UnsafePointer(), l.typ.Size()
	for i := range list.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendStruct(dst, l, unsafe.Add(p, uintptr(i)*size))
	}
	return append(dst, ']')
}

func appendNames(dst []byte, names []string) []byte {
	dst = append(dst, '[')
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendName(dst, name)
	}
	return append(dst, ']')
}

func appendName(dst []byte, s string) []byte {
	return appendBlob(dst, unsafe.Slice(unsafe.StringData(s), len(s)))
}

// appendBlob writes bytes as a string where they are text, else as
// {"base64":"…"}. Text is valid UTF-8 without NUL, as git and grep have it.
func appendBlob(dst, b []byte) []byte {
	if out, ok := appendText(dst, b); ok {
		return out
	}
	dst = append(dst, `{"base64":"`...)
	start, size := len(dst), base64.StdEncoding.EncodedLen(len(b))
	dst = slices.Grow(dst, size+2)[:start+size]
	base64.StdEncoding.Encode(dst[start:], b)
	return append(dst, `"}`...)
}

// appendText quotes text: runs of plain bytes are copied whole. What turns out to
// be no text leaves dst as it was, but for its memory.
func appendText(dst, s []byte) (out []byte, ok bool) {
	const head = 256 // bytes in which most of what is not text shows it
	if hasNUL(s[:min(len(s), head)]) {
		return dst, false
	}
	out, rest, wide := append(slices.Grow(dst, len(s)+2), '"'), s, uint64(0)
	for {
		n, seen := plain(rest)
		wide |= seen
		out = append(out, rest[:n]...)
		if n == len(rest) {
			return append(out, '"'), wide&highs == 0 || utf8.Valid(s)
		}
		if rest[n] == 0 {
			return out, false
		}
		out, rest = appendEscape(out, rest[n]), rest[n+1:]
	}
}

const hexDigits = "0123456789abcdef"

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

package proto

// The strict JSON reader under decode.go. It knows what it wants at every
// place, so it needs no tokens, no tree and no recursion deeper than a struct.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/segmentio/asm/base64"
)

type decoder struct {
	b     []byte
	i     int
	spare []byte // memory for the first payload that fits; nil once taken
}

// room is an empty slice that n bytes can be appended to.
func (d *decoder) room(n int) []byte {
	if cap(d.spare) < n || d.spare == nil {
		return make([]byte, 0, n)
	}
	b := d.spare[:0]
	d.spare = nil
	return b
}

// keys are the member names of an object, at most 64.
type keys struct {
	names  []string
	quoted []string // "name": as the canonical form has it
}

func newKeys(names ...string) *keys {
	k := &keys{names: names}
	for _, name := range names {
		k.quoted = append(k.quoted, `"`+name+`":`)
	}
	return k
}

// space skips white space and returns the next byte, 0 at the end.
func (d *decoder) space() byte {
	for ; d.i < len(d.b); d.i++ {
		if c := d.b[d.i]; c > ' ' || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
	}
	return 0
}

// end demands that nothing follows.
func (d *decoder) end() error {
	if d.space() != 0 || d.i < len(d.b) {
		return wrong("have %s after the end", excerpt(d.b[d.i:]))
	}
	return nil
}

// expect consumes c.
func (d *decoder) expect(c byte, want string) error {
	if d.space() != c {
		return wrong("have %s, want %s", excerpt(d.b[d.i:]), want)
	}
	d.i++
	return nil
}

// more goes to the next member or element, past its comma, or past the end.
func (d *decoder) more(first bool, end byte) (bool, error) {
	c := d.space()
	if c == end {
		d.i++
		return false, nil
	}
	if first {
		return true, nil
	}
	if c != ',' {
		return false, wrong("have %s, want ',' or '%c'", excerpt(d.b[d.i:]), end)
	}
	d.i++
	return true, nil
}

// object reads an object whose members are k's; need and may are sets of
// indices in k. value reads the member that it is told.
func (d *decoder) object(k *keys, need, may uint64, value func(int) error) error {
	if err := d.expect('{', "an object"); err != nil {
		return err
	}
	var seen uint64
	for next := 0; ; next++ {
		more, err := d.more(seen == 0, '}')
		if err != nil {
			return err
		}
		if !more {
			return missing(k, need&^seen)
		}
		if next, err = d.key(k, next, may); err != nil {
			return err
		}
		if seen&(1<<next) != 0 {
			return at(k.names[next], wrong("stands twice"))
		}
		seen |= 1 << next
		if err := value(next); err != nil {
			return at(k.names[next], err)
		}
	}
}

func missing(k *keys, set uint64) error {
	for i, name := range k.names {
		if set&(1<<i) != 0 {
			return at(name, wrong("is missing"))
		}
	}
	return nil
}

// key reads a member's name and its colon: most likely that of index next.
func (d *decoder) key(k *keys, next int, may uint64) (int, error) {
	d.space()
	for ; next < len(k.quoted); next++ {
		q := k.quoted[next]
		if may&(1<<next) != 0 && len(d.b)-d.i >= len(q) && string(d.b[d.i:d.i+len(q)]) == q {
			d.i += len(q)
			return next, nil
		}
		if may&(1<<next) != 0 {
			break
		}
	}
	name, err := d.text("a member name")
	if err != nil {
		return 0, err
	}
	if err := d.expect(':', "':'"); err != nil {
		return 0, at(string(name), err)
	}
	for i, known := range k.names {
		if known == string(name) && may&(1<<i) != 0 {
			return i, nil
		}
	}
	return 0, unknown(k, string(name), may)
}

func unknown(k *keys, name string, may uint64) error {
	for i, known := range k.names {
		if strings.EqualFold(known, name) && may&(1<<i) != 0 {
			return at(name, wrong("is unknown; it is written %s", known))
		}
	}
	return at(name, wrong("is unknown"))
}

func (d *decoder) structure(l *layout, p unsafe.Pointer) error {
	return d.object(l.keys, l.need, l.may, func(i int) error {
		f := &l.fields[i]
		return d.field(f, unsafe.Add(p, f.offset))
	})
}

func (d *decoder) field(f *field, p unsafe.Pointer) (err error) {
	var n uint64
	switch f.kind {
	case kindUint16:
		n, err = d.uint(1<<16-1, "uint16")
		*(*uint16)(p) = uint16(n)
	case kindUint32:
		n, err = d.uint(1<<32-1, "uint32")
		*(*uint32)(p) = uint32(n)
	case kindUint64:
		*(*uint64)(p), err = d.uint(1<<64-1, "uint64")
	case kindInt32:
		var v int64
		v, err = d.int(-1<<31, 1<<31-1, "int32")
		*(*int32)(p) = int32(v)
	case kindInt64:
		*(*int64)(p), err = d.int(-1<<63, 1<<63-1, "int64")
	case kindString:
		*(*string)(p), err = d.name()
	case kindBytes:
		*(*[]byte)(p), err = d.blob()
	case kindStruct:
		err = d.structure(f.sub, p)
	case kindUint32s:
		*(*[]uint32)(p), err = d.uint32s()
	case kindStructs:
		err = d.structures(f.sub, reflect.NewAt(f.typ, p).Elem())
	}
	return err
}

// array reads an array; value reads element i.
func (d *decoder) array(value func(i int) error) error {
	if err := d.expect('[', "an array"); err != nil {
		return err
	}
	for i := 0; ; i++ {
		more, err := d.more(i == 0, ']')
		if err != nil || !more {
			return err
		}
		if err := value(i); err != nil {
			return at(fmt.Sprintf("[%d]", i), err)
		}
	}
}

func (d *decoder) structures(l *layout, list reflect.Value) error {
	return d.array(func(i int) error {
		if i == list.Cap() {
			list.Grow(1)
		}
		list.SetLen(i + 1)
		return d.structure(l, list.Index(i).Addr().UnsafePointer())
	})
}

func (d *decoder) uint32s() ([]uint32, error) {
	list := []uint32{}
	err := d.array(func(int) error {
		n, err := d.uint(1<<32-1, "uint32")
		list = append(list, uint32(n))
		return err
	})
	return list, err
}

// names reads an array of names and appends them to list.
func (d *decoder) names(list []string) ([]string, error) {
	err := d.array(func(int) error {
		name, err := d.name()
		list = append(list, name)
		return err
	})
	return list, err
}

// number reads the digits of an integer: a bare one of at most ±(2^53-1), or
// any one in quotes.
func (d *decoder) number(typ string) (digits []byte, bare bool, err error) {
	bare = d.space() != '"'
	if !bare {
		digits, err = d.text("an integer")
	} else {
		start := d.i
		for d.i < len(d.b) && isNumber(d.b[d.i]) {
			d.i++
		}
		digits = d.b[start:d.i]
	}
	if err != nil || isInteger(digits) {
		return digits, bare, err
	}
	have := excerpt(d.b[d.i:])
	if len(digits) > 0 {
		have = excerptOf(digits)
	}
	return nil, bare, wrong("have %s, want an integer (%s)", have, typ)
}

func isNumber(c byte) bool {
	return c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'
}

// isInteger is ^-?(0|[1-9][0-9]*)$ without "-0".
func isInteger(b []byte) bool {
	if len(b) > 1 && b[0] == '-' && b[1] != '0' {
		b = b[1:]
	}
	if len(b) == 0 || b[0] == '0' && len(b) > 1 {
		return false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// uint reads an integer from 0 to max, which typ names.
func (d *decoder) uint(max uint64, typ string) (uint64, error) {
	digits, bare, err := d.number(typ)
	if err != nil {
		return 0, err
	}
	n, ok := parseUint(digits)
	switch {
	case !ok || n > max:
		return 0, outside(digits, typ)
	case bare && n > maxSafe:
		return 0, wrong("%s exceeds 2^53-1; write it as a string", digits)
	}
	return n, nil
}

// int reads an integer from min to max, which typ names.
func (d *decoder) int(min, max int64, typ string) (int64, error) {
	digits, bare, err := d.number(typ)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(string(digits), 10, 64)
	switch {
	case err != nil || n < min || n > max:
		return 0, outside(digits, typ)
	case bare && (n > maxSafe || n < -maxSafe):
		return 0, wrong("%s exceeds 2^53-1; write it as a string", digits)
	}
	return n, nil
}

func outside(digits []byte, typ string) error {
	if digits[0] == '-' {
		return wrong("%s is below %s", excerptOf(digits), typ)
	}
	return wrong("%s exceeds %s", excerptOf(digits), typ)
}

// parseUint is strconv.ParseUint for digits only, without allocating.
func parseUint(digits []byte) (uint64, bool) {
	if len(digits) > 19 || digits[0] == '-' {
		n, err := strconv.ParseUint(string(digits), 10, 64)
		return n, err == nil
	}
	var n uint64
	for _, c := range digits {
		n = n*10 + uint64(c-'0')
	}
	return n, true
}

// text reads a string. The result is part of the input where it can be.
func (d *decoder) text(want string) ([]byte, error) {
	if err := d.expect('"', want); err != nil {
		return nil, err
	}
	start := d.i
	n, seen := plain(d.b[d.i:])
	d.i += n
	if d.i < len(d.b) && d.b[d.i] == '"' {
		s := d.b[start:d.i]
		d.i++
		return s, isUTF8(s, seen)
	}
	return d.escaped(start, seen)
}

// escaped reads on, from the first byte that is not plain.
func (d *decoder) escaped(start int, seen uint64) ([]byte, error) {
	out := d.room(rawLen(d.b[start:]))
	for run := start; ; {
		if d.i == len(d.b) {
			return nil, wrong("the string does not end")
		}
		out = append(out, d.b[run:d.i]...)
		switch c := d.b[d.i]; {
		case c == '"':
			d.i++
			return out, isUTF8(out, seen)
		case c != '\\':
			return nil, wrong("the string has a raw control character 0x%02x", c)
		}
		var err error
		if out, err = d.escape(out); err != nil {
			return nil, err
		}
		run = d.i
		n, more := plain(d.b[d.i:])
		d.i, seen = d.i+n, seen|more
	}
}

// isUTF8 is an error where s is not; seen is what plain has seen of it. Escapes
// stand for whole characters.
func isUTF8(s []byte, seen uint64) error {
	if seen&highs == 0 || utf8.Valid(s) {
		return nil
	}
	return wrong("the string is not UTF-8")
}

// rawLen is the length of the string that b begins in the middle of, escapes
// counted as they stand.
func rawLen(b []byte) int {
	for i := 0; ; i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		i += n
		if slashes := len(b[:i]) - len(bytes.TrimRight(b[:i], `\`)); slashes%2 == 0 {
			return i
		}
	}
}

var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape reads one escape sequence and appends what it stands for.
func (d *decoder) escape(out []byte) ([]byte, error) {
	if d.i+1 < len(d.b) {
		if c := escapes[d.b[d.i+1]]; c != 0 {
			d.i += 2
			return append(out, c), nil
		}
	}
	r, ok := hexEscape(d.b[d.i:])
	if !ok {
		return nil, wrong("bad escape %s", excerpt(d.b[d.i:]))
	}
	d.i += 6
	if r < 0xd800 || r > 0xdfff {
		return utf8.AppendRune(out, r), nil
	}
	low, ok := hexEscape(d.b[d.i:])
	if r > 0xdbff || !ok || low < 0xdc00 || low > 0xdfff {
		return nil, wrong("half a surrogate pair, \\u%04x", r)
	}
	d.i += 6
	return utf8.AppendRune(out, (r-0xd800)<<10|(low-0xdc00)+0x10000), nil
}

// hexEscape reads \uXXXX.
func hexEscape(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}

var base64Keys = newKeys("base64")

// name reads a string or {"base64":"…"}.
func (d *decoder) name() (string, error) {
	b, err := d.textOrBase64()
	return string(b), err
}

// blob is name for payloads. The result is never part of the input.
func (d *decoder) blob() ([]byte, error) {
	if d.space() != '"' {
		return d.textOrBase64()
	}
	start := d.i + 1
	b, err := d.text("")
	if err != nil {
		return nil, err
	}
	if len(b) == 0 {
		return []byte{}, nil
	}
	if start+len(b) <= len(d.b) && &b[0] == &d.b[start] {
		b = append(d.room(len(b)), b...)
	}
	return b, nil
}

func (d *decoder) textOrBase64() (out []byte, err error) {
	switch d.space() {
	case '"':
		return d.text("")
	case '{':
		err = d.object(base64Keys, 1, 1, func(int) error {
			out, err = d.base64()
			return err
		})
		return out, err
	}
	return nil, wrong(`have %s, want a string or {"base64":"…"}`, excerpt(d.b[d.i:]))
}

var strictBase64 = base64.StdEncoding.Strict()

// base64 reads a string of the standard alphabet, padded.
func (d *decoder) base64() ([]byte, error) {
	s, err := d.base64Text()
	if err != nil {
		return nil, err
	}
	size := base64.StdEncoding.DecodedLen(len(s))
	out := d.room(size)[:size]
	n, err := strictBase64.Decode(out, s)
	// A line break, which the decoder skips, makes less of it than its length says.
	if padding := len(s) - len(bytes.TrimRight(s, "=")); err != nil || n != len(out)-padding {
		return nil, wrong("have %s, want base64 (standard alphabet, padded)", excerptOf(s))
	}
	return out[:n], nil
}

// base64Text is text for a string that is long and has most likely no escapes.
func (d *decoder) base64Text() ([]byte, error) {
	if d.space() == '"' {
		rest := d.b[d.i+1:]
		if n := bytes.IndexByte(rest, '"'); n >= 0 && bytes.IndexByte(rest[:n], '\\') < 0 {
			d.i += n + 2
			return rest[:n], nil
		}
	}
	return d.text("a base64 string")
}

// excerpt is the value at the start of b, short enough for a message.
func excerpt(b []byte) string {
	if len(b) == 0 {
		return "nothing"
	}
	var v json.RawMessage
	if json.NewDecoder(bytes.NewReader(b[:min(len(b), 256)])).Decode(&v) == nil {
		b = v
	}
	return excerptOf(b)
}

func excerptOf(b []byte) string {
	const most = 40
	if len(b) > most {
		return strings.ToValidUTF8(string(b[:most]), "\uFFFD") + "…"
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

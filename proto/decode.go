package proto

// JSON to messages. A reply is untrusted input, so decoding is strict: what is
// unknown, missing, duplicate, null, mis-cased or out of range is an error
// that names the path to it.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"syscall"
	"unsafe"
)

// FieldError is what is wrong with one value of a JSON message.
type FieldError struct {
	Path string // "Out.Attr.Mode"; "" is the message itself
	Msg  string
}

func (e *FieldError) Error() string {
	if e.Path == "" {
		return e.Msg
	}
	return e.Path + ": " + e.Msg
}

func wrong(format string, args ...any) error {
	return &FieldError{Msg: fmt.Sprintf(format, args...)}
}

// at puts name in front of the error's path.
func at(name string, err error) error {
	e, ok := err.(*FieldError)
	switch {
	case !ok:
		return fmt.Errorf("%s: %w", name, err)
	case e.Path == "":
		e.Path = name
	case e.Path[0] == '[':
		e.Path = name + e.Path
	default:
		e.Path = name + "." + e.Path
	}
	return e
}

// The members of a request and of a reply.
const (
	memberOp = iota
	memberHeader
	memberIn
	memberNames
	memberData
	memberList
	memberExt
)

const (
	memberErrno = iota
	memberOut
	memberBytes
	memberEntries
	memberNotify
)

var (
	requestKeys = newKeys("Op", "Header", "In", "Names", "Data", "List", "Ext")
	replyKeys   = newKeys("Errno", "Out", "Data", "Entries", "Notify")
)

// ParseRequestJSON reads what AppendRequestJSON writes.
func ParseRequestJSON(b []byte) (*Request, error) {
	r := &Request{}
	if err := r.ParseJSON(b); err != nil {
		return nil, err
	}
	return r, nil
}

// memory is what r.Data, or that of an earlier request, took.
func (r *Request) memory() []byte {
	if cap(r.Data) > cap(r.spare) {
		return r.Data[:0]
	}
	return r.spare
}

// ParseJSON is ParseRequestJSON into r, all of which it overwrites; it uses the
// memory of r.Data again.
func (r *Request) ParseJSON(b []byte) error {
	row, err := requestRow(b)
	if err != nil {
		return fmt.Errorf("parse request: %w", err)
	}
	d := decoder{b: b, spare: r.memory()}
	*r = Request{Op: row.Op, spare: d.spare}
	need := row.requestMembers()
	err = d.object(requestKeys, need, need|1<<memberExt, func(i int) error { return d.requestMember(r, row, i) })
	if err == nil {
		err = d.end()
	}
	if err == nil {
		err = r.check(row)
	}
	if err != nil {
		return fmt.Errorf("parse %s request: %w", row.Name, err)
	}
	return nil
}

// requestRow looks ahead for Op, which says what everything else has to be.
func requestRow(b []byte) (*Row, error) {
	name, ok := leadingOp(b)
	if !ok { // another tool has re-ordered the members
		var top struct{ Op string }
		if err := json.Unmarshal(b, &top); err != nil {
			return nil, err
		}
		name = []byte(top.Op)
	}
	op, ok := byName[string(name)]
	if !ok {
		return nil, at("Op", wrong("%q is no opcode", name))
	}
	return op.Row(), nil
}

func leadingOp(b []byte) ([]byte, bool) {
	const lead = `{"Op":"`
	if len(b) < len(lead) || string(b[:len(lead)]) != lead {
		return nil, false
	}
	name := b[len(lead):]
	n := bytes.IndexByte(name[:min(len(name), 32)], '"')
	if n < 0 {
		return nil, false
	}
	return name[:n], true
}

func (row *Row) requestMembers() uint64 {
	need := uint64(1<<memberOp | 1<<memberHeader)
	for member, has := range [...]bool{memberIn: row.in != nil, memberNames: row.Names > 0, memberData: row.size != nil, memberList: row.list != nil} {
		if has {
			need |= 1 << member
		}
	}
	return need
}

func (d *decoder) requestMember(r *Request, row *Row, member int) (err error) {
	switch member {
	case memberOp:
		_, err = d.name()
	case memberHeader:
		err = d.structure(headerLayout, unsafe.Pointer(&r.Header))
	case memberIn:
		in, p := row.in.alloc()
		r.In, err = in, d.structure(row.in, p)
	case memberNames:
		r.Names, err = d.names(r.names[:0])
	case memberData:
		r.Data, err = d.blob()
	case memberList:
		list := reflect.New(reflect.SliceOf(row.list.typ)).Elem()
		err = d.structures(row.list, list)
		r.List = list.Interface()
	case memberExt:
		err = d.structures(extLayout, reflect.ValueOf(&r.Ext).Elem())
	}
	return err
}

// ParseReplyJSON reads the JSON reply to req. Where Errno is not 0, nothing
// else of it is read.
func ParseReplyJSON(req *Request, b []byte) (*Reply, error) {
	r := &Reply{}
	if err := r.ParseJSON(req, b); err != nil {
		return nil, err
	}
	return r, nil
}

// ParseJSON is ParseReplyJSON into r, all of which it overwrites; it uses the
// memory of r.Data again.
func (r *Reply) ParseJSON(req *Request, b []byte) error {
	row := req.Op.Row()
	if row == nil {
		return fmt.Errorf("parse %v reply: no such opcode", req.Op)
	}
	if err := row.parseReply(req, r, b); err != nil {
		return fmt.Errorf("parse %s reply: %w", row.Name, err)
	}
	return nil
}

func (row *Row) parseReply(req *Request, r *Reply, b []byte) error {
	d, want := decoder{b: b, spare: r.Data[:0]}, row.shape(req)
	*r = Reply{}
	failed, err := d.failed(r)
	if failed || err != nil {
		return err
	}
	need := want.members()
	err = d.object(replyKeys, need, need|1<<memberNotify, func(i int) error { return d.replyMember(r, row, i) })
	if err != nil {
		return err
	}
	return d.end()
}

func (s shape) members() uint64 {
	need := uint64(1 << memberErrno)
	for member, has := range [...]bool{memberOut: s.out, memberBytes: s.data, memberEntries: s.entries} {
		if has {
			need |= 1 << member
		}
	}
	return need
}

func (d *decoder) replyMember(r *Reply, row *Row, member int) (err error) {
	switch member {
	case memberErrno:
		_, err = d.uint(maxErrno-1, "an errno")
	case memberOut:
		out, p := row.out.alloc()
		r.Out, err = out, d.structure(row.out, p)
	case memberBytes:
		r.Data, err = d.blob()
	case memberEntries:
		r.Entries = []Dirent{}
		err = d.structures(row.entries(), reflect.ValueOf(&r.Entries).Elem())
	case memberNotify:
		r.Notify, err = d.notifications()
	}
	return err
}

// errno is the reply's Errno as it stands there, nil where it has none.
func (d *decoder) errno() (json.RawMessage, error) {
	if alone, ok := bytes.CutPrefix(d.b, []byte(`{"Errno":`)); ok && len(alone) > 1 && len(alone) < 5 {
		if n := len(alone) - 1; alone[n] == '}' && isInteger(alone[:n]) {
			return alone[:n], nil
		}
	}
	var top map[string]json.RawMessage
	if err := json.Unmarshal(d.b, &top); err != nil {
		return nil, wrong("have %s, want a JSON object: %v", excerpt(d.b), err)
	}
	return top["Errno"], nil
}

// failed looks ahead for an Errno that is not 0: then the rest of the reply
// only has to be JSON.
func (d *decoder) failed(r *Reply) (bool, error) {
	const ok, okOnly = `{"Errno":0,`, `{"Errno":0}`
	if head := d.b[:min(len(d.b), len(ok))]; string(head) == ok || string(head) == okOnly {
		return false, nil
	}
	raw, err := d.errno()
	if raw == nil || err != nil {
		return false, err // object says what is missing
	}
	errno := decoder{b: raw}
	n, err := errno.uint(maxErrno-1, "an errno")
	if err != nil {
		return false, at("Errno", err)
	}
	r.Errno = syscall.Errno(n)
	return n != 0, nil
}

package schema

// Filling in what a lean reply leaves out.

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// Complete gives a lean reply to req every member that it leaves out and that
// has a default. What has none stays out, and what is wrong stays as it is: it
// is for proto.ParseReplyJSON to refuse. A reply that leaves nothing out keeps
// its meaning. known may be nil; what is kept then has no default.
func Complete(req *proto.Request, reply []byte, known Attrs) ([]byte, error) {
	row := req.Op.Row()
	if row == nil {
		return nil, fmt.Errorf("complete %v reply: no such opcode", req.Op)
	}
	list, err := members(reply)
	if err != nil {
		return nil, fmt.Errorf("complete %v reply: %w", req.Op, err)
	}
	if raw, ok := find(list, "Errno"); !ok || string(raw) != "0" {
		return reply, nil
	}
	s := &scope{req: req, stored: storedIn(list), known: known}
	var out object
	for _, m := range list {
		out.add(m.name, s.part(row, m))
	}
	return out.end(), nil
}

// part completes one member of the reply.
func (s *scope) part(row *proto.Row, m member) []byte {
	switch m.name {
	case "Out":
		if row.Out != nil {
			return s.object(shapeOf(reflect.TypeOf(row.Out).Elem()), m.value)
		}
	case "Entries":
		return s.entries(row, m.value)
	case "Notify":
		return elements(m.value, s.notification)
	}
	return m.value
}

// scope is an object that is being completed, inside of others.
type scope struct {
	up      *scope
	members []member
	shape   shape
	index   int // in Entries

	// Of the outermost scope, the reply.
	req    *proto.Request
	stored map[uint64]uint64 // node id → bytes of content in Notify
	known  Attrs             // or nil
}

func (s *scope) root() *scope {
	for s.up != nil {
		s = s.up
	}
	return s
}

// object completes the JSON object that is to have the given shape. Members
// come out in the order of the shape, unknown ones last.
func (s *scope) object(form shape, raw json.RawMessage) []byte {
	return s.element(form, raw, s.index)
}

func (s *scope) element(form shape, raw json.RawMessage, index int) []byte {
	list, err := members(raw)
	if err != nil {
		return raw
	}
	in := &scope{up: s, members: list, shape: form, index: index}
	var out object
	for _, f := range form.fields {
		if value, ok := in.field(f); ok {
			out.add(f.Name, value)
		}
	}
	seen := map[string]bool{}
	for _, m := range list {
		if !form.has(m.name) || seen[m.name] {
			out.add(m.name, m.value)
		}
		seen[m.name] = true
	}
	return out.end()
}

// field is a field's value: as it stands, completed, or by default.
func (s *scope) field(f proto.FieldInfo) ([]byte, bool) {
	raw, ok := find(s.members, f.Name)
	if ok && f.Type.Kind() == reflect.Struct {
		return s.object(shapeOf(f.Type), raw), true
	}
	if ok {
		return raw, true
	}
	if f.Type.Kind() == reflect.Struct {
		return s.object(shapeOf(f.Type), json.RawMessage("{}")), s.shape.omits(unsaid, f) && s.root().known != nil
	}
	n, ok := s.byDefault(f)
	if n > maxSafe {
		return fmt.Appendf(nil, `"%d"`, n), ok
	}
	return strconv.AppendUint(nil, n, 10), ok
}

func (s *scope) byDefault(f proto.FieldInfo) (uint64, bool) {
	d := defaultOf(f)
	if d == nil || d.beside != "" && !s.shape.has(d.beside) {
		return 0, false
	}
	return d.value(s)
}

// uint is the number with the given name in this object or around it; of the
// reply itself, NodeId is the request's.
func (s *scope) uint(name string) (uint64, bool) {
	switch {
	case s == nil:
		return 0, false
	case s.up == nil:
		return s.req.Header.NodeId, name == "NodeId"
	}
	if raw, ok := find(s.members, name); ok {
		return number(raw)
	}
	for _, f := range s.shape.fields {
		if f.Name == name {
			return s.byDefault(f)
		}
	}
	return s.up.uint(name)
}

// child is the object in a member; nil where there is none.
func (s *scope) child(name string) *scope {
	if s == nil {
		return nil
	}
	raw, ok := find(s.members, name)
	if !ok {
		return nil
	}
	list, err := members(raw)
	if err != nil {
		return nil
	}
	in := &scope{up: s, members: list}
	for _, f := range s.shape.fields {
		if f.Name == name {
			in.shape = shapeOf(f.Type)
		}
	}
	return in
}

// number reads an integer, bare or in quotes.
func number(raw json.RawMessage) (uint64, bool) {
	if len(raw) > 2 && raw[0] == '"' {
		raw = raw[1 : len(raw)-1]
	}
	n, err := strconv.ParseUint(string(raw), 10, 64)
	return n, err == nil
}

// elements replaces each element of an array.
func elements(raw json.RawMessage, f func(int, json.RawMessage) []byte) []byte {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return raw
	}
	return replaced(list, f)
}

func replaced(list []json.RawMessage, f func(int, json.RawMessage) []byte) []byte {
	out := []byte{'['}
	for i, e := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, f(i, e)...)
	}
	return append(out, ']')
}

func (s *scope) notification(_ int, raw json.RawMessage) []byte {
	list, err := members(raw)
	if err != nil {
		return raw
	}
	form, ok := notifyForm(list)
	if !ok {
		return raw
	}
	var out object
	for _, m := range list {
		if m.name == "Out" {
			m.value = s.object(shape{form.Out.Name(), form.Fields}, m.value)
		}
		out.add(m.name, m.value)
	}
	return out.end()
}

func notifyForm(list []member) (proto.NotifyForm, bool) {
	raw, _ := find(list, "Code")
	for _, form := range notifyForms() {
		if string(raw) == `"`+form.Code.String()+`"` {
			return form, true
		}
	}
	return proto.NotifyForm{}, false
}

// storedIn is how far the content that Notify stores reaches, for each node.
func storedIn(reply []member) map[uint64]uint64 {
	ends := map[uint64]uint64{}
	raw, _ := find(reply, "Notify")
	elements(raw, func(_ int, raw json.RawMessage) []byte {
		list, err := members(raw)
		form, ok := notifyForm(list)
		if err != nil || !ok || form.Code != proto.NotifyStore {
			return nil
		}
		data, _ := find(list, "Data")
		n, ok := byteLen(data)
		out := (&scope{up: &scope{}, members: list, shape: shape{fields: []proto.FieldInfo{{Name: "Out", Type: form.Out}}}}).child("Out")
		if id, known := out.uint("Nodeid"); ok && known {
			offset, _ := out.uint("Offset")
			ends[id] = max(ends[id], offset+n)
		}
		return nil
	})
	return ends
}

// byteLen is the length of text or {"base64":"…"}.
func byteLen(raw json.RawMessage) (uint64, bool) {
	var text string
	if json.Unmarshal(raw, &text) == nil && len(raw) > 0 && raw[0] == '"' {
		return uint64(len(text)), true
	}
	list, err := members(raw)
	if err != nil || len(list) != 1 || json.Unmarshal(list[0].value, &text) != nil {
		return 0, false
	}
	b, err := base64.StdEncoding.DecodeString(text)
	return uint64(len(b)), err == nil
}

// requestUint is a number in the in-struct of req.
func requestUint(req *proto.Request, field string) (uint64, bool) {
	if req.In == nil {
		return 0, false
	}
	v := reflect.ValueOf(req.In).Elem().FieldByName(field)
	if !v.IsValid() || !v.CanUint() {
		return 0, false
	}
	return v.Uint(), true
}

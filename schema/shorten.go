package schema

// Leaving out what Complete fills in.

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// Shorten is the lean form of a reply to req as the codec writes it: without
// what Complete gives back. It is the reply itself where that is no lean reply:
// some field that has to go is not as its default.
func Shorten(req *proto.Request, reply []byte, known Attrs) []byte {
	row := req.Op.Row()
	list, err := members(reply)
	if row == nil || err != nil {
		return reply
	}
	s := &scope{req: req, known: known}
	var out object
	for _, m := range list {
		switch {
		case m.name == "Out" && row.Out != nil:
			m.value = s.short(shapeOf(reflect.TypeOf(row.Out).Elem()), m.value, 0)
		case m.name == "Entries":
			form := direntShape(row.Reply == proto.ReplyEntriesPlus)
			m.value = elements(m.value, func(i int, raw json.RawMessage) []byte { return s.short(form, raw, i) })
		}
		out.add(m.name, m.value)
	}
	short := out.end()
	whole, err := Complete(req, short, known)
	if err != nil || !bytes.Equal(whole, reply) || Validate(req.Op, Lean, Wrap(short)) != nil {
		return reply
	}
	return short
}

// short is an object without the fields that have their default.
func (s *scope) short(form shape, raw json.RawMessage, index int) []byte {
	list, err := members(raw)
	if err != nil {
		return raw
	}
	in := &scope{up: s, members: list, shape: form, index: index}
	var out object
	for _, f := range form.fields {
		value, ok := find(list, f.Name)
		if f.Type.Kind() == reflect.Struct {
			if value = in.short(shapeOf(f.Type), value, index); string(value) == "{}" {
				continue
			}
		} else if n, known := in.byDefault(f); known && ok {
			if have, is := number(value); is && have == n {
				continue
			}
		}
		out.add(f.Name, value)
	}
	return out.end()
}

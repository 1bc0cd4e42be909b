package schema

// The object around a reply, and objects in the order in which they are written.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Wrap puts a reply into the object that the schemas describe.
func Wrap(reply []byte) []byte {
	return append(append([]byte(`{"Reply":`), reply...), '}')
}

// Unwrap is the reply in that object, as proto.ParseReplyJSON takes it. There
// must be nothing else in the object.
func Unwrap(b []byte) ([]byte, error) {
	list, err := members(b)
	if err == nil && (len(list) != 1 || list[0].name != "Reply") {
		err = errors.New("other members")
	}
	if err != nil {
		return nil, fmt.Errorf(`unwrap reply: have %s, want {"Reply":{…}}: %w`, excerpt(b), err)
	}
	return list[0].value, nil
}

// member is one of an object's, as it is written.
type member struct {
	name  string
	value json.RawMessage
}

// members reads an object and keeps its order and its duplicates.
func members(b []byte) ([]member, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.Join(errors.New("no object"), err)
	}
	list := []member{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		m := member{name: name.(string)}
		if err := d.Decode(&m.value); err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("more after the object")
	}
	return list, nil
}

func find(list []member, name string) (json.RawMessage, bool) {
	for _, m := range list {
		if m.name == name {
			return m.value, true
		}
	}
	return nil, false
}

// object writes members one after another.
type object struct{ buf []byte }

func (o *object) add(name string, value []byte) {
	if o.buf == nil {
		o.buf = []byte{'{'}
	} else {
		o.buf = append(o.buf, ',')
	}
	quoted, _ := json.Marshal(name) // a string can always be written
	o.buf = append(append(append(o.buf, quoted...), ':'), value...)
}

func (o *object) end() []byte {
	if o.buf == nil {
		return []byte("{}")
	}
	return append(o.buf, '}')
}

// excerpt is short enough for a message.
func excerpt(b []byte) string {
	const most = 60
	if len(b) == 0 {
		return "nothing"
	}
	if len(b) > most {
		return string(bytes.ToValidUTF8(b[:most], []byte("\uFFFD"))) + "…"
	}
	return string(b)
}

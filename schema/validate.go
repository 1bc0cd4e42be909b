package schema

// A reply against its schema.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// Validate holds a reply, with the object around it, against its schema. The
// error is an [*Invalid] that names everything that is wrong.
func Validate(op proto.Opcode, form Form, raw []byte) error {
	s := For(op, form)
	if s == nil {
		return fmt.Errorf("validate %v reply: the kernel takes none", op)
	}
	return s.Validate(raw)
}

// Validate is the function of that name for one schema.
func (s *Schema) Validate(raw []byte) error {
	v, err := tree(raw)
	if err != nil {
		return &Invalid{[]Violation{{Rule: ruleSchema, Have: excerpt(raw), Want: "one JSON value: " + err.Error()}}}
	}
	compiled, err := s.compiled()
	if err != nil {
		return fmt.Errorf("compile %s: %w", s.Name, err)
	}
	var invalid *validator.ValidationError
	if err := compiled.Validate(v); errors.As(err, &invalid) {
		return &Invalid{explain(invalid, v)}
	}
	return nil
}

func (s *Schema) compile() (*validator.Schema, error) {
	doc, err := validator.UnmarshalJSON(bytes.NewReader(s.JSON))
	if err != nil {
		return nil, err
	}
	c := validator.NewCompiler()
	if err := c.AddResource(s.Name, doc); err != nil {
		return nil, err
	}
	return c.Compile(s.Name)
}

// tree reads JSON for the validator. It refuses what encoding/json lets pass
// and the strict decoder does not: duplicate members, integers written as 1.0
// or 1e3, bytes that are no UTF-8.
func tree(raw []byte) (any, error) {
	if !utf8.Valid(raw) {
		return nil, errors.New("in UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	v, err := value(d)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("with nothing after it")
	}
	return v, nil
}

func value(d *json.Decoder) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Delim:
		if t == '{' {
			return objectValue(d)
		}
		return arrayValue(d)
	case json.Number:
		if bytes.ContainsAny([]byte(t), ".eE") || t == "-0" {
			return nil, fmt.Errorf("with integers in plain digits, not %s", t)
		}
	}
	return t, nil
}

func objectValue(d *json.Decoder) (any, error) {
	all := map[string]any{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		if _, twice := all[name.(string)]; twice {
			return nil, fmt.Errorf("with no member twice, not even %q", name)
		}
		if all[name.(string)], err = value(d); err != nil {
			return nil, err
		}
	}
	_, err := d.Token()
	return all, err
}

func arrayValue(d *json.Decoder) (any, error) {
	list := []any{}
	for d.More() {
		v, err := value(d)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := d.Token()
	return list, err
}

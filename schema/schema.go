package schema

import (
	"strings"
	"sync"

	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// Form says what a reply may leave out.
type Form uint8

const (
	All  Form = iota // nothing
	Lean             // what Defaults lists, too
)

var forms = [...]string{All: "all", Lean: "lean"}

// String is the form's name: all or lean.
func (f Form) String() string { return forms[f] }

// Schema is the JSON Schema of the replies to an opcode in one form.
type Schema struct {
	Op   proto.Opcode
	Form Form
	Name string // lookup_reply, lookup_reply_lean
	JSON []byte // the same bytes in every process
	// What servers limit.
	Properties int // members of all objects, each definition counted once
	Depth      int // levels of schemas below one another, the root being 1
	Defs       int // shared definitions

	compiled func() (*validator.Schema, error)
}

type key struct {
	op   proto.Opcode
	form Form
}

var table = sync.OnceValue(func() map[key]*Schema {
	all := map[key]*Schema{}
	for _, row := range proto.Rows() {
		if row.Reply == proto.ReplyNone {
			continue
		}
		for form := range forms {
			all[key{row.Op, Form(form)}] = newSchema(row, Form(form))
		}
	}
	return all
})

// For is the schema of the replies to op; nil where the kernel takes none and
// where there is no such opcode.
func For(op proto.Opcode, form Form) *Schema { return table()[key{op, form}] }

// Schemas lists the schemas of a form in the order of the opcodes.
func Schemas(form Form) []*Schema {
	var list []*Schema
	for _, row := range proto.Rows() {
		if s := For(row.Op, form); s != nil {
			list = append(list, s)
		}
	}
	return list
}

func newSchema(row *proto.Row, form Form) *Schema {
	s := &Schema{Op: row.Op, Form: form, Name: strings.ToLower(row.Name) + "_reply", JSON: reflectReply(row, form)}
	if form == Lean {
		s.Name += "_lean"
	}
	m := measure(s.JSON)
	s.Properties, s.Depth, s.Defs = m.properties, m.depth, m.defs
	s.compiled = sync.OnceValues(s.compile)
	return s
}

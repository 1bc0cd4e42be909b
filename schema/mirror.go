package schema

// Mirrors: for each struct of the protocol a Go type that encoding by name
// reflects to the JSON form, that is nested, without padding, and in the lean
// variants without what has a default.

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// variant says which fields a mirror has.
type variant uint8

const (
	full   variant = iota
	lean           // less what has a default
	stored         // less what follows from a STORE, too
	unsaid         // less what is kept, too
)

var suffixes = [...]string{full: "", lean: "Lean", stored: "Stored", unsaid: "Kept"}

// shape is a struct to mirror.
type shape struct {
	name   string
	fields []proto.FieldInfo
}

var shapes sync.Map // reflect.Type → shape

func shapeOf(t reflect.Type) shape {
	if s, ok := shapes.Load(t); ok {
		return s.(shape)
	}
	s := shape{t.Name(), proto.FieldsOf(t)}
	shapes.Store(t, s)
	return s
}

// direntShapes are those of an entry without and with what LOOKUP would say.
var direntShapes = sync.OnceValue(func() (list [2]shape) {
	list[1] = shapeOf(reflect.TypeFor[proto.Dirent]())
	list[0] = list[1]
	list[0].fields = slices.DeleteFunc(slices.Clone(list[1].fields), func(f proto.FieldInfo) bool { return f.Name == "Entry" })
	list[1].name += "Plus"
	return list
})

func direntShape(plus bool) shape {
	if plus {
		return direntShapes()[1]
	}
	return direntShapes()[0]
}

var notifyForms = sync.OnceValue(proto.NotifyForms)

func (s shape) has(field string) bool {
	return slices.ContainsFunc(s.fields, func(f proto.FieldInfo) bool { return f.Name == field })
}

// omits reports whether a variant of the shape lacks a field.
func (s shape) omits(v variant, f proto.FieldInfo) bool {
	if f.Type.Kind() == reflect.Struct {
		return v >= lean && shapeOf(f.Type).empty(v)
	}
	d := defaultOf(f)
	return d != nil && v >= lean && (!d.stored || v >= stored) && (!d.kept || v >= unsaid) && (d.beside == "" || s.has(d.beside))
}

// empty reports whether a variant of the shape has no fields.
func (s shape) empty(v variant) bool {
	for _, f := range s.fields {
		if !s.omits(v, f) {
			return false
		}
	}
	return true
}

// same reports whether two variants of the shape have the same fields.
func (s shape) same(a, b variant) bool {
	for _, f := range s.fields {
		if s.omits(a, f) != s.omits(b, f) {
			return false
		}
		if f.Type.Kind() == reflect.Struct && !s.omits(a, f) && !shapeOf(f.Type).same(a, b) {
			return false
		}
	}
	return true
}

// least is the first variant with the same fields as v.
func (s shape) least(v variant) variant {
	for v > full && s.same(v, v-1) {
		v--
	}
	return v
}

// mirrors makes mirrors, one for each definition.
type mirrors struct {
	byName map[string]reflect.Type
	names  map[reflect.Type]string
	docs   map[reflect.Type]string
}

func newMirrors() *mirrors {
	return &mirrors{byName: map[string]reflect.Type{}, names: map[reflect.Type]string{}, docs: map[reflect.Type]string{}}
}

// of is the mirror of a variant of s.
func (m *mirrors) of(s shape, v variant) reflect.Type {
	v = s.least(v)
	name := s.name + suffixes[v]
	if t, ok := m.byName[name]; ok {
		return t
	}
	var list []mirrored
	for _, f := range s.fields {
		switch {
		case s.omits(v, f):
		case f.Type.Kind() == reflect.Struct:
			list = append(list, mirrored{f.Name, m.of(shapeOf(f.Type), v), ""})
		default:
			list = append(list, mirrored{f.Name, f.Type, ""})
		}
	}
	return m.define(name, describe(s, v), list)
}

// mirrored is a member of a mirror.
type mirrored struct {
	name string
	typ  reflect.Type
	tag  string // in the terms of invopop/jsonschema
}

// define makes a mirror from its members. The tag "of" keeps mirrors apart
// that have the same members.
func (m *mirrors) define(name, doc string, list []mirrored) reflect.Type {
	var fields []reflect.StructField
	for _, f := range list {
		tag := reflect.StructTag(fmt.Sprintf(`json:"%s" jsonschema:"%s" of:"%s"`, f.name, f.tag, name))
		fields = append(fields, reflect.StructField{Name: f.name, Type: f.typ, Tag: tag})
	}
	t := reflect.StructOf(fields)
	m.byName[name], m.names[t], m.docs[t] = t, name, doc
	return t
}

// describe is the text of a definition. A lean one says what stands for the
// missing members; the whole struct is described beside it.
func describe(s shape, v variant) string {
	var list []string
	for _, f := range s.fields {
		switch d := defaultOf(f); {
		case f.Type.Kind() == reflect.Struct && s.omits(v, f):
			list = append(list, f.Name+" = "+asBefore)
		case f.Type.Kind() == reflect.Struct:
		case v == full:
			list = append(list, f.Name+": "+explainField(f))
		case s.omits(v, f):
			list = append(list, f.Name+" = "+d.Doc)
		}
	}
	if v != full {
		return s.name + " with " + strings.Join(list, "; ")
	}
	return strings.Join(list, "\n")
}

func explainField(f proto.FieldInfo) string {
	text := proto.Describe(f.Struct, f.Name)
	if m, ok := proto.Meanings[f.Struct+"."+f.Name]; ok && len(m.Bits) > 0 {
		text += " (" + m.Legend() + ")"
	}
	return text
}

package proto

// Reflection, done once: where each field of a struct lies and what it is
// called in JSON. go-fuse's structs have the memory layout of the C structs,
// so a struct's wire form is its memory; tests hold the sizes.

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"unsafe"

	"github.com/hanwen/go-fuse/v2/fuse"
)

type layout struct {
	typ    reflect.Type
	ptr    reflect.Type // *typ
	start  uintptr      // where the wire form begins: after an embedded InHeader
	size   int          // bytes of the wire form
	fields []field      // the JSON form
	keys   *keys        // the names of fields
	need   uint64       // a bit for each field that may not be missing
	may    uint64       // a bit for each field
}

type field struct {
	name     string
	key      string // "name": as JSON has it
	offset   uintptr
	typ      reflect.Type
	kind     kind
	sub      *layout // of a struct, or of a slice's elements
	optional bool    // left out where empty
}

type kind uint8

const (
	kindUint16 kind = iota
	kindUint32
	kindUint64
	kindInt32
	kindInt64
	kindString // a name: text or base64
	kindBytes  // a payload: text or base64
	kindStruct
	kindUint32s // a list of numbers
	kindStructs // a list of structs
)

var kinds = map[reflect.Kind]kind{
	reflect.Uint16: kindUint16,
	reflect.Uint32: kindUint32,
	reflect.Uint64: kindUint64,
	reflect.Int32:  kindInt32,
	reflect.Int64:  kindInt64,
	reflect.String: kindString,
	reflect.Struct: kindStruct,
}

var (
	inHeaderType = reflect.TypeFor[fuse.InHeader]()
	filler       = regexp.MustCompile(`^(_.*|Padding|Dummy\d*|Unused\d*|Spare\d*)$`)
)

// layoutOf computes the layout of the struct that v, a pointer, points to;
// fields named in omit are no part of its JSON form.
func layoutOf(v any, omit ...string) *layout {
	if v == nil {
		return nil
	}
	return structLayout(reflect.TypeOf(v).Elem(), omit...)
}

func structLayout(t reflect.Type, omit ...string) *layout {
	if inner, ok := onlyEmbeds(t); ok {
		l := *structLayout(inner)
		l.typ, l.ptr = t, reflect.PointerTo(t)
		return &l
	}
	l := &layout{typ: t, ptr: reflect.PointerTo(t), keys: newKeys()}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Type == inHeaderType {
			l.start = f.Type.Size()
			continue
		}
		l.size = int(f.Offset + f.Type.Size() - l.start)
		if f.IsExported() && !filler.MatchString(f.Name) && !slices.Contains(omit, f.Name) {
			l.add(newField(f))
		}
	}
	return l
}

// onlyEmbeds reports whether t is another struct under a new name, as
// fuse.SetAttrIn is of fuse.SetAttrInCommon.
func onlyEmbeds(t reflect.Type) (reflect.Type, bool) {
	if t.NumField() == 1 && t.Field(0).Anonymous && t.Field(0).Type != inHeaderType {
		return t.Field(0).Type, true
	}
	return nil, false
}

func (l *layout) add(f field) {
	if !f.optional {
		l.need |= 1 << len(l.fields)
	}
	l.may |= 1 << len(l.fields)
	l.fields = append(l.fields, f)
	l.keys = newKeys(append(l.keys.names, f.name)...)
}

func newField(f reflect.StructField) field {
	name := f.Name
	if n := len(name) - 1; name[n] == '_' { // go-fuse's GetAttrIn.Fh_
		name = name[:n]
	}
	out := field{name: name, key: `"` + name + `":`, offset: f.Offset, typ: f.Type, optional: f.Tag.Get("proto") == "optional"}
	out.kind, out.sub = kindOf(f.Type)
	return out
}

func kindOf(t reflect.Type) (kind, *layout) {
	if t.Kind() != reflect.Slice {
		k, ok := kinds[t.Kind()]
		if !ok {
			panic(fmt.Sprintf("proto: no JSON form for %v", t))
		}
		if k == kindStruct {
			return k, structLayout(t)
		}
		return k, nil
	}
	elem := t.Elem()
	switch elem.Kind() {
	case reflect.Uint8:
		return kindBytes, nil
	case reflect.Uint32:
		return kindUint32s, nil
	}
	return kindStructs, structLayout(elem)
}

// field finds a field by its JSON name; it must exist.
func (l *layout) field(name string) *field {
	for i := range l.fields {
		if l.fields[i].name == name {
			return &l.fields[i]
		}
	}
	panic(fmt.Sprintf("proto: %v has no field %s", l.typ, name))
}

// prefix is the layout with the JSON form of the first n bytes only.
func (l *layout) prefix(n int) *layout {
	short := *l
	short.fields, short.keys, short.need, short.may = nil, newKeys(), 0, 0
	for _, f := range l.fields {
		if f.offset+f.typ.Size() <= l.start+uintptr(n) {
			short.add(f)
		}
	}
	return &short
}

// pointer is v's address, after checking that v is what the layout describes.
func (l *layout) pointer(v any) (unsafe.Pointer, error) {
	if v == nil || reflect.TypeOf(v) != l.ptr {
		return nil, fmt.Errorf("have %T, want %v", v, l.ptr)
	}
	p := reflect.ValueOf(v).UnsafePointer()
	if p == nil {
		return nil, fmt.Errorf("have a nil %v", l.ptr)
	}
	return p, nil
}

// wire is the wire form of the struct at p: its memory.
func (l *layout) wire(p unsafe.Pointer) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(p, l.start)), l.size)
}

// alloc makes a zero struct.
func (l *layout) alloc() (any, unsafe.Pointer) {
	v := reflect.New(l.typ)
	return v.Interface(), v.UnsafePointer()
}

// uint reads an unsigned field of the struct that v points to.
func (f *field) uint(v any) uint64 {
	p := unsafe.Add(reflect.ValueOf(v).UnsafePointer(), f.offset)
	if f.kind == kindUint64 {
		return *(*uint64)(p)
	}
	return uint64(*(*uint32)(p))
}

// FieldInfo is one field of a struct's JSON form.
type FieldInfo struct {
	Name     string // as JSON has it
	Struct   string // the struct that declares it, as Meanings and Describe name it
	Type     reflect.Type
	Optional bool // left out where empty
}

// FieldsOf lists the JSON form of a struct of the table, of [Header], [Dirent]
// or of [Extension]: padding left out, embedded structs under their type's
// name. It is nil for other types.
func FieldsOf(t reflect.Type) []FieldInfo {
	if t.Kind() != reflect.Struct {
		return nil
	}
	return structLayout(t).info()
}

func (l *layout) info() []FieldInfo {
	owner := l.typ.Name()
	if inner, ok := onlyEmbeds(l.typ); ok {
		owner = inner.Name()
	}
	var list []FieldInfo
	for _, f := range l.fields {
		list = append(list, FieldInfo{Name: f.name, Struct: owner, Type: f.typ, Optional: f.optional})
	}
	return list
}

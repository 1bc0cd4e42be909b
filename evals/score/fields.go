package score

// Structs as lists of fields with their classes, found by reflection once.

import (
	"fmt"
	"reflect"
	"strconv"
	"sync"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// field is one field with a class, at any depth of a struct.
type field struct {
	path  string // "Attr.Nlink"
	at    []int  // of the field
	owner []int  // of the struct that has it
	nsec  []int  // of a time's nanoseconds
	class *class
}

var plans sync.Map // of reflect.Type to []field

// fieldsOf lists what has a class in a struct.
func fieldsOf(t reflect.Type) []field {
	if known, ok := plans.Load(t); ok {
		return known.([]field)
	}
	var list []field
	collect(&list, t, "", nil)
	plans.Store(t, list)
	return list
}

func collect(list *[]field, t reflect.Type, path string, owner []int) {
	for _, info := range proto.FieldsOf(t) {
		f := goField(t, info)
		at := append(append([]int{}, owner...), f.Index...)
		if c, ok := classes[info.Struct+"."+info.Name]; ok {
			*list = append(*list, field{path: path + info.Name, at: at, owner: owner, nsec: nsecOf(t, f, at, owner, c.nsec), class: &c})
		} else if f.Type.Kind() == reflect.Struct {
			collect(list, f.Type, path+info.Name+".", at)
		}
	}
}

// goField finds a field; go-fuse puts a _ after names that are methods, too.
func goField(t reflect.Type, info proto.FieldInfo) reflect.StructField {
	for _, name := range []string{info.Name, info.Name + "_"} {
		if f, ok := t.FieldByName(name); ok {
			return f
		}
	}
	panic(fmt.Sprintf("score: %v has no field %s", t, info.Name))
}

// nsecOf is the place of a time's nanoseconds: in the field, where that is a
// struct, or beside it.
func nsecOf(t reflect.Type, f reflect.StructField, at, owner []int, name string) []int {
	if name == "" {
		return nil
	}
	base := owner
	if f.Type.Kind() == reflect.Struct {
		t, base = f.Type, at
	}
	n, ok := t.FieldByName(name)
	if !ok {
		panic(fmt.Sprintf("score: %v has no field %s", t, name))
	}
	return append(append([]int{}, base...), n.Index...)
}

// number is an integer field's value, negative ones as two's complement.
func number(v reflect.Value) uint64 {
	if v.CanInt() {
		return uint64(v.Int())
	}
	return v.Uint()
}

// text is an integer as JSON has it.
func text(v reflect.Value) string {
	if v.CanInt() {
		return strconv.FormatInt(v.Int(), 10)
	}
	return strconv.FormatUint(v.Uint(), 10)
}

// timeAt is a time in a struct.
func (f *field) timeAt(s reflect.Value) proto.Time {
	sec := s.FieldByIndex(f.at)
	if sec.Kind() == reflect.Struct {
		sec = sec.Field(0)
	}
	return proto.Time{Sec: int64(number(sec)), Nsec: uint32(number(s.FieldByIndex(f.nsec)))}
}

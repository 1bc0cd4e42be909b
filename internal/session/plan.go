package session

// Where in an opcode's structs its facts are: found once by reflection, from
// the types and names of fields and from the columns of the row.

import (
	"reflect"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// plan is what reflection finds out about a row.
type plan struct {
	row *proto.Row
	in  map[string][]int // unsigned fields of the in-struct, by name
	out outParts
	lk  []int // the lock of the in-struct

	makes bool   // success makes its RoleEntry name anew
	rules []rule // the rules of the projection that apply
}

// outParts are the places of known structs and of the count in an out-struct.
type outParts struct{ entry, attr, statx, open, statfs, count []int }

var plans [64]*plan

func init() {
	for _, row := range proto.Rows() {
		plans[row.Op] = newPlan(row)
	}
}

func newPlan(row *proto.Row) *plan {
	p := &plan{row: row, in: map[string][]int{}}
	if row.In != nil {
		p.inputs(reflect.TypeOf(row.In).Elem())
	}
	if row.Out != nil {
		p.outputs(reflect.TypeOf(row.Out).Elem(), nil)
	}
	p.makes = row.Names > 0 && row.Role(0) == proto.RoleEntry && (row.In != nil || row.Names > 1)
	for _, r := range rules {
		if r.when(p) {
			p.rules = append(p.rules, r)
		}
	}
	return p
}

func (p *plan) inputs(t reflect.Type) {
	for _, f := range reflect.VisibleFields(t) {
		switch {
		case t.FieldByIndex(f.Index[:1]).Type == reflect.TypeFor[fuse.InHeader]():
		case f.Type == reflect.TypeFor[fuse.FileLock]():
			p.lk = f.Index
		case f.Type.Kind() == reflect.Uint64 || f.Type.Kind() == reflect.Uint32:
			p.in[f.Name] = f.Index
		}
	}
}

// outputs walks embedded structs; what lies in a known one is not looked at.
func (p *plan) outputs(t reflect.Type, at []int) {
	known := map[reflect.Type]*[]int{
		reflect.TypeFor[fuse.EntryOut]():  &p.out.entry,
		reflect.TypeFor[fuse.Attr]():      &p.out.attr,
		reflect.TypeFor[fuse.Statx]():     &p.out.statx,
		reflect.TypeFor[fuse.OpenOut]():   &p.out.open,
		reflect.TypeFor[fuse.StatfsOut](): &p.out.statfs,
	}
	if place := known[t]; place != nil {
		*place = append([]int{}, at...)
		return
	}
	for i := range t.NumField() {
		f, here := t.Field(i), append(append([]int{}, at...), i)
		switch {
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			p.outputs(f.Type, here)
		case f.Name == "Size" || f.Name == "BytesCopied":
			p.out.count = here
		}
	}
}

// has tells whether the in-struct has all these fields.
func (p *plan) has(names ...string) bool {
	for _, name := range names {
		if p.in[name] == nil {
			return false
		}
	}
	return true
}

// hasRole tells whether one of the names is of that role.
func (p *plan) hasRole(role proto.Role) bool { return p.name(role) >= 0 }

// name is the index of the first name of that role, or -1.
func (p *plan) name(role proto.Role) int {
	for i := range p.row.Names {
		if p.row.Role(i) == role {
			return i
		}
	}
	return -1
}

// uint reads a field of the request's in-struct; 0 where it has none.
func (p *plan) uint(req *proto.Request, name string) uint64 {
	at := p.in[name]
	if at == nil || req.In == nil {
		return 0
	}
	return reflect.ValueOf(req.In).Elem().FieldByIndex(at).Uint()
}

// part is the address of a part of an out-struct, nil where there is none.
func part[T any](out any, at []int) *T {
	if at == nil || out == nil {
		return nil
	}
	return reflect.ValueOf(out).Elem().FieldByIndex(at).Addr().Interface().(*T)
}

// count is the number of bytes that the reply says were dealt with.
func (p *plan) count(out any) uint64 {
	if p.out.count == nil || out == nil {
		return 0
	}
	return reflect.ValueOf(out).Elem().FieldByIndex(p.out.count).Uint()
}

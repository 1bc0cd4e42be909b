package schema

// What a reply about changed attributes need not say again: those that the
// request sets, and those that are as they were.

import (
	"reflect"
	"strings"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// Attrs tells the attributes of nodes as they were last told.
type Attrs interface {
	Attr(id uint64) (a fuse.Attr, ok bool)
}

const asBefore = "to SETATTR, what it was or In sets"

// keeps reports whether a row's replies may leave out what is kept.
func keeps(row *proto.Row) bool {
	if row.In == nil || row.Out == nil || reflect.TypeOf(row.Out) != reflect.TypeFor[*fuse.AttrOut]() {
		return false
	}
	_, ok := reflect.TypeOf(row.In).Elem().FieldByName("Valid")
	return ok
}

// kept is a field of Attr: as the request sets it, or as it was.
func kept(field string) func(*scope) (uint64, bool) {
	return func(s *scope) (uint64, bool) {
		r := s.root()
		if r.known == nil || !keeps(r.req.Op.Row()) {
			return 0, false
		}
		a, ok := r.known.Attr(r.req.Header.NodeId)
		if !ok {
			return 0, false
		}
		was := reflect.ValueOf(&a).Elem().FieldByName(field).Uint()
		n, set := sets(r.req, field)
		switch {
		case !set:
			return was, true
		case field == "Mode": // the type stays
			return was&^permBits | n&permBits, true
		}
		return n, true
	}
}

const permBits = 0o7777

// sets is what the request sets a field to, if it does.
func sets(req *proto.Request, field string) (n uint64, ok bool) {
	valid, _ := requestUint(req, "Valid")
	bit := "FATTR_" + strings.ToUpper(field)
	switch {
	case valid&fattr(bit+"_NOW") != 0:
		return uint64(req.Header.Now.Sec), true
	case valid&fattr(bit) != 0:
		return requestUint(req, field)
	}
	return 0, false
}

// fattr is the value of a bit of In.Valid; 0 where there is none of that name.
func fattr(name string) uint64 {
	for _, bit := range proto.Meanings["SetAttrInCommon.Valid"].Bits {
		if bit.Name == name {
			return bit.Value
		}
	}
	return 0
}

package schema

// A decoded reply against what the kernel accepts.

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// Known is what the filesystem has said about its nodes so far.
type Known interface {
	// Type is the type bits (S_IFMT) of the mode of a node that the kernel
	// knows, and false for any other.
	Type(node uint64) (bits uint32, ok bool)
}

// Rule is one thing that the kernel asks of replies.
type Rule struct {
	Name   string
	Of     string // the struct that it is about, "Attr"
	Field  string // its field
	Reason string // what the kernel, or who reads the reply next, does otherwise

	ops   []proto.Opcode // nil is every one
	typ   reflect.Type
	check func(*site) (have any, want string) // want is "" where all is well
}

// Rules lists what Check asks.
func Rules() []Rule { return slices.Clone(rules) }

// Check holds a reply to req against what the kernel accepts, and names
// everything else. known may be nil.
func Check(req *proto.Request, r *proto.Reply, known Known) []Violation {
	row := req.Op.Row()
	if row == nil || r.Errno != 0 {
		return nil
	}
	c := &checker{req: req, row: row, reply: r, known: known}
	top := &site{checker: c, index: -1, v: r}
	c.apply(top)
	if r.Out != nil {
		c.walk(top.below("Out", r.Out))
	}
	for i := range r.Entries {
		c.entry(top, i)
	}
	for i := range r.Notify {
		n := top.element("Notify", i, &r.Notify[i])
		c.apply(n)
		if out := r.Notify[i].Out; out != nil {
			c.walk(n.below("Out", out))
		}
	}
	return c.found
}

type checker struct {
	req   *proto.Request
	row   *proto.Row
	reply *proto.Reply
	known Known
	found []Violation
}

// site is a struct of the reply. The outermost one is the reply.
type site struct {
	*checker
	up     *site
	member string
	index  int // in Entries and Notify; -1 elsewhere
	v      any // points to the struct
}

func (s *site) below(member string, v any) *site {
	return &site{checker: s.checker, up: s, member: member, index: -1, v: v}
}

func (s *site) element(member string, i int, v any) *site {
	return &site{checker: s.checker, up: s, member: member, index: i, v: v}
}

func (s *site) path() string {
	switch {
	case s.up == nil:
		return ""
	case s.index < 0:
		return join(s.up.path(), s.member)
	}
	return join(s.up.path(), fmt.Sprintf("%s[%d]", s.member, s.index))
}

func (c *checker) entry(top *site, i int) {
	s := top.element("Entries", i, &c.reply.Entries[i])
	c.apply(s)
	if c.row.Reply == proto.ReplyEntriesPlus && !isDots(c.reply.Entries[i].Name) { // of those the kernel reads no more
		c.walk(s.below("Entry", &c.reply.Entries[i].Entry))
	}
}

// walk applies the rules to a struct and to those in it. The attributes of an
// entry without a node are not read by anyone.
func (c *checker) walk(s *site) {
	c.apply(s)
	if e, ok := s.v.(*fuse.EntryOut); ok && e.NodeId == 0 {
		return
	}
	v := reflect.ValueOf(s.v).Elem()
	for _, f := range shapeOf(v.Type()).fields {
		if f.Type.Kind() == reflect.Struct {
			c.walk(s.below(f.Name, v.FieldByName(f.Name).Addr().Interface()))
		}
	}
}

// apply reports the first rule that a field breaks: the others of the same
// field may follow from it.
func (c *checker) apply(s *site) {
	for _, r := range rulesOf[reflect.TypeOf(s.v)] {
		if r.ops != nil && !slices.Contains(r.ops, c.req.Op) {
			continue
		}
		have, want := r.check(s)
		if want == "" {
			continue
		}
		if path := join(s.path(), r.Field); !hasPath(c.found, path) {
			c.found = append(c.found, Violation{Rule: r.Name, Path: path, Have: fmt.Sprint(have), Want: want, Reason: r.Reason})
		}
	}
}

// rulesOf are the rules about each struct.
var rulesOf = map[reflect.Type][]*Rule{}

func init() {
	for i := range rules {
		r := &rules[i]
		rulesOf[r.typ] = append(rulesOf[r.typ], r)
	}
}

// node is the id of the node that the site tells about.
func (s *site) node() uint64 {
	for ; s.up != nil; s = s.up {
		if e, ok := s.v.(*fuse.EntryOut); ok {
			return e.NodeId
		}
	}
	return s.req.Header.NodeId
}

// asked is a number in the request's in-struct.
func (s *site) asked(field string) (uint64, bool) { return requestUint(s.req, field) }

package evals

// What makes a step hard, computed from its trace alone: by the struct types and
// the names of fields and names' roles that the table has, without an opcode.
//
// A fact is something that a later reply may tell: an attribute of a node, a name
// in a directory, a block of a file, an extended attribute, a handle, a lock. Each
// step asks for facts and may set some. The step that set a fact last is the one
// that decides the answer.

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/internal/trace"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// Tag computes the tags of a trace's pairs, one for each.
func Tag(t *Trace) []Tags {
	g := &tagger{set: map[string]int{}, attrs: map[uint64]fuse.Attr{}, dirs: map[uint64]map[string]uint64{proto.RootID: {}}}
	list := make([]Tags, len(t.Pairs))
	for i, p := range t.Pairs {
		list[i] = g.tag(p)
		if Asked(p) {
			g.steps++
		}
	}
	return list
}

// tagger is what the trace has told so far.
type tagger struct {
	steps int                          // so far
	set   map[string]int               // the step, from 1, that set a fact last
	attrs map[uint64]fuse.Attr         // as last told, with what later steps changed
	dirs  map[uint64]map[string]uint64 // names in directories, as nodes
}

// step is one pair on its way through the tagger.
type step struct {
	*tagger
	*trace.Pair
	row     *proto.Row
	changed int // facts that it set to something else
	dir     int
	read    []string // facts that it asks for
}

func (g *tagger) tag(p *trace.Pair) Tags {
	s := &step{tagger: g, Pair: p, row: p.Req.Op.Row()}
	s.asks()
	distance := s.distance()
	if p.Rep != nil && p.Rep.Errno == 0 {
		s.takes()
	}
	return Tags{
		Mutating: s.changed > 0, Changed: s.changed, Distance: distance,
		Dir: s.dir, History: g.steps, Bytes: s.bytes(),
	}
}

// distance is how far back the latest step is that set one of the facts asked for.
func (s *step) distance() int {
	last := 0
	for _, fact := range s.read {
		last = max(last, s.set[fact])
	}
	if last == 0 {
		return 0
	}
	return s.steps + 1 - last
}

// bytes is the larger of the payloads, names' listing aside.
func (s *step) bytes() int {
	n := len(s.Req.Data)
	if s.Rep != nil {
		n = max(n, len(s.Rep.Data))
	}
	return n
}

// The facts, by name.
func attrFact(node uint64) string               { return fmt.Sprint("attr ", node) }
func nameFact(dir uint64, name string) string   { return fmt.Sprint("name ", dir, " ", name) }
func namesFact(dir uint64) string               { return fmt.Sprint("names ", dir) }
func xattrFact(node uint64, name string) string { return fmt.Sprint("xattr ", node, " ", name) }
func xattrsFact(node uint64) string             { return fmt.Sprint("xattrs ", node) }
func locksFact(node uint64) string              { return fmt.Sprint("locks ", node) }
func targetFact(node uint64) string             { return fmt.Sprint("target ", node) }
func spaceFact() string                         { return "space" }

// blockSize divides files into what is written and read apart.
const blockSize = 512

// maxBlocks bounds how many blocks of a large range are told apart.
const maxBlocks = 512

func blockFacts(node, off, size uint64) (facts []string) {
	for b := off / blockSize; size > 0 && b <= (off+size-1)/blockSize && len(facts) < maxBlocks; b++ {
		facts = append(facts, fmt.Sprint("block ", node, " ", b))
	}
	return facts
}

// in is an unsigned field of the request's struct, and whether there is one.
func (s *step) in(name string) (uint64, bool) {
	if s.Req.In == nil {
		return 0, false
	}
	f := reflect.ValueOf(s.Req.In).Elem().FieldByName(name)
	if !f.IsValid() || !f.CanUint() {
		return 0, false
	}
	return f.Uint(), true
}

func (s *step) has(names ...string) bool {
	return !slices.ContainsFunc(names, func(n string) bool { _, ok := s.in(n); return !ok })
}

func (s *step) field(name string) uint64 { n, _ := s.in(name); return n }

// dirOf is the directory that name i is in.
func (s *step) dirOf(i int) uint64 {
	if s.row.Role(i) == proto.RoleNew {
		return s.field("Newdir")
	}
	return s.Req.Header.NodeId
}

// asks finds the facts that decide the reply, and the directories that it is about.
func (s *step) asks() {
	for i, name := range s.Req.Names {
		switch role := s.row.Role(i); {
		case role.IsEntry():
			dir := s.dirOf(i)
			s.about(dir)
			s.want(nameFact(dir, name))
			if node := s.dirs[dir][name]; node != 0 {
				s.want(attrFact(node))
			}
		case role == proto.RoleXattr:
			s.want(xattrFact(s.Req.Header.NodeId, name))
		}
	}
	if s.row.Names == 0 && s.row.Reply != proto.ReplyNone {
		s.asksNode(s.Req.Header.NodeId)
	}
}

func (s *step) want(facts ...string) { s.read = append(s.read, facts...) }

// about counts the entries of a directory that the step is about.
func (s *step) about(dir uint64) { s.dir = max(s.dir, len(s.dirs[dir])) }

// asksNode: a request without names is about the node itself.
func (s *step) asksNode(node uint64) {
	switch {
	case s.lists():
		s.about(node)
		s.want(namesFact(node))
	case s.row.Reply == proto.ReplySizeOrBytes:
		s.want(xattrsFact(node))
	case s.row.Reply == proto.ReplyBytes && s.row.In == nil:
		s.want(targetFact(node))
	case s.row.Reply == proto.ReplyBytes:
		s.want(blockFacts(node, s.field("Offset"), s.field("Size"))...)
		s.want(attrFact(node))
	case s.lock() != nil:
		s.want(locksFact(node))
	case s.outType(reflect.TypeFor[fuse.StatfsOut]()):
		s.want(spaceFact())
	case s.tells():
		s.want(attrFact(node))
	}
}

// tells says whether a reply has attributes in it, a place that depends on the
// size, or a count that does. All else is an errno, a count or a handle.
func (s *step) tells() bool {
	if s.row.Out == nil {
		return false
	}
	t := reflect.TypeOf(s.row.Out).Elem()
	for _, name := range []string{"Attr", "Statx", "Offset"} {
		if _, ok := t.FieldByName(name); ok {
			return true
		}
	}
	return s.outType(reflect.TypeFor[fuse.StatxOut]()) || s.has("NodeIdOut")
}

func (s *step) lists() bool {
	return s.row.Reply == proto.ReplyEntries || s.row.Reply == proto.ReplyEntriesPlus
}

func (s *step) outType(t reflect.Type) bool {
	return s.row.Out != nil && reflect.TypeOf(s.row.Out).Elem() == t
}

func (s *step) lock() *fuse.LkIn {
	in, _ := s.Req.In.(*fuse.LkIn)
	return in
}

// sets notes that the step decides facts from here on. How many fields have changed
// is counted apart.
func (s *step) sets(facts ...string) {
	for _, fact := range facts {
		s.set[fact] = s.steps + 1
	}
}

// The fields that change together with a fact.
const (
	byData    = 3 // bytes, mtime, ctime
	bySize    = 1
	byName    = 4 // the name; size, mtime and ctime of its directory
	byUnlink  = 2 // nlink and ctime of what loses a name
	byRename  = 4 // both names; mtime and ctime of the directory
	byNewdir  = 2 // mtime and ctime of the other directory
	byChange  = 1 // ctime
	byXattr   = 2 // its value; ctime
	byLinkDir = 1 // nlink of a directory that gets or loses one in it
)

// takes finds what a success changes.
func (s *step) takes() {
	node := s.Req.Header.NodeId
	s.entry(node)
	s.names(node)
	s.content(node)
	s.attributes(node)
	if lk := s.lock(); lk != nil && s.row.Out == nil {
		s.sets(locksFact(node))
		s.changed++
	}
	if s.lists() {
		s.listed(node)
	}
	if s.opens() && s.field("Flags")&syscall.O_TRUNC != 0 && s.attrs[node].Size > 0 {
		s.resized(node, 0)
		s.changed += byData + bySize
	}
}

// opens tells whether the reply opens the request's node.
func (s *step) opens() bool { return s.outType(reflect.TypeFor[fuse.OpenOut]()) }

// entry takes the node that a reply tells of. A name that had another node, or none, is new.
func (s *step) entry(dir uint64) {
	out := part[fuse.EntryOut](s.Rep.Out)
	if out == nil || out.NodeId == 0 {
		return
	}
	old, known := s.attrs[out.NodeId]
	s.attrs[out.NodeId] = out.Attr
	if len(s.Req.Names) > 0 && s.row.Role(0).IsEntry() {
		s.dirOfNode(dir)[s.Req.Names[0]] = out.NodeId
	}
	if !s.makes() {
		return
	}
	if s.row.Role(0).IsEntry() {
		s.sets(nameFact(dir, s.Req.Names[0]), namesFact(dir), attrFact(dir))
		s.changed += byName
	}
	if !known && out.Mode&syscall.S_IFMT == syscall.S_IFDIR {
		s.changed += byLinkDir
	}
	s.sets(attrFact(out.NodeId), spaceFact())
	s.changed += differing(old, out.Attr)
	if slices.Contains(s.row.Roles, proto.RoleTarget) {
		s.sets(targetFact(out.NodeId))
	}
}

// makes tells whether the reply is about a node that the request has made, or a
// name: a row that says only what stands there has neither struct nor target.
func (s *step) makes() bool { return s.row.In != nil || len(s.row.Roles) > 0 }

func (g *tagger) dirOfNode(dir uint64) map[string]uint64 {
	if g.dirs[dir] == nil {
		g.dirs[dir] = map[string]uint64{}
	}
	return g.dirs[dir]
}

// names takes what a request without an entry in its reply does to names.
func (s *step) names(node uint64) {
	for i, name := range s.Req.Names {
		switch s.row.Role(i) {
		case proto.RoleRemoved:
			s.removed(s.dirOf(i), name)
		case proto.RoleMoved:
			s.moved(name, s.Req.Names[i+1])
		case proto.RoleXattr:
			if s.row.Out == nil {
				s.sets(xattrFact(node, name), xattrsFact(node), attrFact(node))
				s.changed += byXattr
			}
		}
	}
}

func (s *step) removed(dir uint64, name string) {
	names := s.dirOfNode(dir)
	s.sets(nameFact(dir, name), namesFact(dir), attrFact(dir), spaceFact())
	s.changed += byName + byUnlink
	if gone := names[name]; gone != 0 {
		s.sets(attrFact(gone))
		if s.attrs[gone].Mode&syscall.S_IFMT == syscall.S_IFDIR {
			s.changed += byLinkDir
		}
	}
	delete(names, name)
}

// moved is a rename; with RENAME_EXCHANGE both names stay.
func (s *step) moved(from, to string) {
	dir, newdir := s.Req.Header.NodeId, s.field("Newdir")
	source, target := s.dirOfNode(dir), s.dirOfNode(newdir)
	node, over := source[from], target[to]
	s.sets(nameFact(dir, from), nameFact(newdir, to), namesFact(dir), attrFact(dir), attrFact(node))
	s.changed += byRename + byChange
	if newdir != dir {
		s.sets(namesFact(newdir), attrFact(newdir))
		s.changed += byNewdir
	}
	if over != 0 {
		s.sets(attrFact(over))
		s.changed += byUnlink
	}
	const exchange = 2 // RENAME_EXCHANGE
	if delete(source, from); s.field("Flags")&exchange != 0 {
		source[from] = over
	}
	target[to] = node
}

// content takes what is written, copied or allocated.
func (s *step) content(node uint64) {
	switch {
	case s.row.Size != "" && s.has("Offset"):
		s.wrote(node, s.field("Offset"), uint64(len(s.Req.Data)))
	case s.has("NodeIdOut", "OffOut", "Len"):
		s.wrote(s.field("NodeIdOut"), s.field("OffOut"), copied(s.Rep.Out))
	case s.has("Offset", "Length", "Mode"):
		s.wrote(node, s.field("Offset"), s.field("Length"))
	}
}

// copied is the count that a reply has as its only field of that kind.
func copied(out any) uint64 {
	for _, name := range []string{"BytesCopied", "Size"} {
		if f := reflect.ValueOf(out).Elem().FieldByName(name); f.IsValid() && f.CanUint() {
			return f.Uint()
		}
	}
	return 0
}

func (s *step) wrote(node, off, size uint64) {
	if size == 0 {
		return
	}
	s.sets(blockFacts(node, off, size)...)
	s.sets(attrFact(node), spaceFact())
	s.changed += byData
	if a := s.attrs[node]; off+size > a.Size {
		a.Size = off + size
		s.attrs[node] = a
		s.changed += bySize
	}
}

// attributes takes those that a reply tells; a request that names which are to be
// set has changed what is different now.
func (s *step) attributes(node uint64) {
	out := part[fuse.AttrOut](s.Rep.Out)
	if out == nil {
		return
	}
	old, known := s.attrs[node]
	if s.attrs[node] = out.Attr; !s.has("Valid") {
		return
	}
	s.sets(attrFact(node))
	if known {
		s.changed += differing(old, out.Attr)
	} else {
		s.changed += byChange
	}
	if s.field("Valid")&fuse.FATTR_SIZE != 0 && old.Size != out.Size {
		s.attrs[node] = old
		s.resized(node, out.Size)
		s.attrs[node] = out.Attr
	}
}

// resized: what lies behind a new end, or between an old one and it, is decided here.
func (s *step) resized(node, size uint64) {
	a := s.attrs[node]
	from, to := min(a.Size, size), max(a.Size, size)
	s.sets(blockFacts(node, from, to-from)...)
	a.Size = size
	s.attrs[node] = a
	s.sets(attrFact(node), spaceFact())
}

// listed learns the names of a listing; that changes nothing.
func (s *step) listed(dir uint64) {
	for _, e := range s.Rep.Entries {
		if e.Name == "." || e.Name == ".." {
			continue
		}
		if names := s.dirOfNode(dir); names[e.Name] == 0 {
			names[e.Name] = e.Ino
		}
	}
	s.about(dir)
}

// part finds a struct of a type in an out-struct, or is nil.
func part[T any](out any) *T {
	if out == nil {
		return nil
	}
	if t, ok := out.(*T); ok {
		return t
	}
	v := reflect.ValueOf(out).Elem()
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() {
			continue
		}
		if t, ok := v.Field(i).Addr().Interface().(*T); ok {
			return t
		}
	}
	return nil
}

// differing counts the fields of two attributes that are not the same; seconds and
// nanoseconds of a time are one.
func differing(a, b fuse.Attr) (n int) {
	v, w := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if strings.HasSuffix(name, "nsec") || !v.Field(i).CanInterface() {
			continue
		}
		same := v.Field(i).Interface() == w.Field(i).Interface()
		if nsec := v.FieldByName(name + "nsec"); nsec.IsValid() {
			same = same && nsec.Interface() == w.FieldByName(name+"nsec").Interface()
		}
		if !same {
			n++
		}
	}
	return n
}

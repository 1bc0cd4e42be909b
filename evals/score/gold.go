package score

// What a whole trace says, found once and then only read: the moments of its
// requests, how long each number names something, types, listings.

import (
	"reflect"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/internal/trace"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// Gold is a trace, ready to score against. It is safe for parallel use.
type Gold struct {
	Pairs []*trace.Pair
	Steps []int // indices of the pairs that are asked

	wire  proto.Wire
	nows  instants
	lives map[name][]span
	ends  map[int][]name // what a request ends, by its index
	types map[uint64]uint32
	pages map[int]page
	names map[uint64]map[string]bool // that were ever seen in a directory
}

// name is a number and what it is a number of.
type name struct {
	kind  Kind
	scope uint64 // of Generation: its node, by the gold number
	n     uint64
}

// span is a life: after pair from, up to pair to.
type span struct{ from, to int }

const forever = int(^uint(0) >> 1)

// NewGold reads a trace.
func NewGold(t *evals.Trace) *Gold {
	g := &Gold{
		Pairs: t.Pairs, lives: map[name][]span{}, ends: map[int][]name{}, types: map[uint64]uint32{proto.RootID: syscall.S_IFDIR},
		pages: map[int]page{}, names: map[uint64]map[string]bool{}, wire: wireOf(t),
	}
	root := name{kind: Node, n: proto.RootID}
	g.lives[root] = []span{{-1, forever}}
	var nows []proto.Time
	life := census{g: g, known: map[uint64]uint64{}, inos: map[uint64]uint64{}}
	for i, p := range t.Pairs {
		nows = append(nows, p.Req.Header.Now)
		if evals.Asked(p) {
			g.Steps = append(g.Steps, i)
		}
		if p.Rep != nil && p.Rep.Errno == 0 {
			life.born(i, p)
			g.see(p)
		}
		life.ended(i, p.Req)
	}
	g.nows = newInstants(nows)
	g.readListings()
	return g
}

// wireOf is what was negotiated: before the recording began, or in it.
func wireOf(t *evals.Trace) proto.Wire {
	if w := t.Header.Wire; w != nil {
		return proto.Wire{Minor: w.Minor, SetxattrExt: w.SetxattrExt}
	}
	for _, p := range t.Pairs {
		if out, ok := replyOut[*fuse.InitOut](p); ok {
			return proto.WireOf(out)
		}
	}
	return proto.Wire{Minor: proto.Minor, SetxattrExt: true}
}

func replyOut[T any](p *trace.Pair) (out T, ok bool) {
	if p.Rep != nil {
		out, ok = p.Rep.Out.(T)
	}
	return out, ok
}

func (g *Gold) alive(n name, at int) bool {
	if n.kind == Generation {
		n = name{kind: Node, n: n.scope}
	}
	for _, s := range g.lives[n] {
		if s.from < at && at <= s.to {
			return true
		}
	}
	return false
}

// see notes types and names.
func (g *Gold) see(p *trace.Pair) {
	for _, e := range entriesOf(p.Rep) {
		if e.NodeId != 0 {
			g.types[e.NodeId] = e.Attr.Mode & syscall.S_IFMT
		}
	}
	eachName(p.Req, g.seeName)
	for i := range p.Rep.Entries {
		g.seeName(p.Req.Header.NodeId, p.Rep.Entries[i].Name)
	}
}

func (g *Gold) seeName(dir uint64, n string) {
	if g.names[dir] == nil {
		g.names[dir] = map[string]bool{}
	}
	g.names[dir][n] = true
}

// eachName visits the names of entries in a request.
func eachName(req *proto.Request, visit func(dir uint64, n string)) {
	row := req.Op.Row()
	for i, n := range req.Names {
		in, moved := req.In.(*fuse.RenameIn)
		switch role := row.Role(i); {
		case role == proto.RoleNew && moved:
			visit(in.Newdir, n)
		case role.IsEntry():
			visit(req.Header.NodeId, n)
		}
	}
}

// entriesOf are the entries by which a reply tells the kernel of nodes.
func entriesOf(r *proto.Reply) (list []*fuse.EntryOut) {
	switch out := r.Out.(type) {
	case *fuse.EntryOut:
		list = append(list, out)
	case *fuse.CreateOut:
		list = append(list, &out.EntryOut)
	}
	for i := range r.Entries {
		if e := &r.Entries[i]; e.Entry.NodeId != 0 && !isDots(e.Name) {
			list = append(list, &e.Entry)
		}
	}
	return list
}

func isDots(n string) bool { return n == "." || n == ".." }

// census follows what is born and what ends. A node ends when the kernel has
// forgotten it as often as it was told of it.
type census struct {
	g     *Gold
	known map[uint64]uint64 // lookups of nodes
	inos  map[uint64]uint64
}

func (c *census) born(at int, p *trace.Pair) {
	for _, e := range entriesOf(p.Rep) {
		if e.NodeId == 0 {
			continue
		}
		c.known[e.NodeId]++
		c.inos[e.NodeId] = e.Attr.Ino
		c.begin(at, name{kind: Node, n: e.NodeId})
	}
	eachRenamed(p.Rep.Out, func(f *field, v reflect.Value) {
		if f.class.kind == Fh || f.class.kind == Ino && number(v) != 0 {
			c.begin(at, name{kind: f.class.kind, n: number(v)})
		}
	})
	for i := range p.Rep.Entries {
		c.begin(at, name{kind: Ino, n: p.Rep.Entries[i].Ino})
	}
}

// eachRenamed visits the renamed fields of a struct.
func eachRenamed(s any, visit func(*field, reflect.Value)) {
	if s == nil {
		return
	}
	v := reflect.ValueOf(s).Elem()
	list := fieldsOf(v.Type())
	for i := range list {
		if f := &list[i]; f.class.Class == Renamed {
			visit(f, v.FieldByIndex(f.at))
		}
	}
}

func (c *census) begin(at int, n name) {
	lives := c.g.lives[n]
	if len(lives) == 0 || lives[len(lives)-1].to != forever {
		c.g.lives[n] = append(lives, span{at, forever})
	}
}

func (c *census) end(at int, n name) {
	lives := c.g.lives[n]
	if len(lives) == 0 || lives[len(lives)-1].to != forever {
		return
	}
	lives[len(lives)-1].to = at
	c.g.ends[at] = append(c.g.ends[at], n)
}

// ended reads what a request takes back.
func (c *census) ended(at int, req *proto.Request) {
	switch in := req.In.(type) {
	case *fuse.ForgetIn:
		c.forget(at, req.Header.NodeId, in.Nlookup)
	case *fuse.ReleaseIn:
		c.end(at, name{kind: Fh, n: in.Fh})
	}
	if list, ok := req.List.([]proto.ForgetOne); ok {
		for _, one := range list {
			c.forget(at, one.NodeId, one.Nlookup)
		}
	}
}

func (c *census) forget(at int, node, times uint64) {
	c.known[node] -= min(times, c.known[node])
	if c.known[node] > 0 || node == proto.RootID {
		return
	}
	c.end(at, name{kind: Node, n: node})
	c.end(at, name{kind: Ino, n: c.inos[node]})
}

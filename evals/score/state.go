package score

// One way through a trace.

import (
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
	"github.com/llmfs-raw/llmfs-raw/schema"
)

// State is a way through a trace: what the model has been told and has said.
type State struct {
	// Fields is the form of the answers; Bare says that they come without the
	// object around them, as embedded models give them.
	Fields schema.Form
	Bare   bool
	// Number gives numbers to what Adopt finds new; nil keeps gold's where they
	// are free. It must not give one twice.
	Number func(kind Kind, gold uint64) uint64

	gold     *Gold
	renaming *renaming // nil where the history is gold
	told     map[*pass]*listing
	said     *renaming // what the reply that was scored last binds
}

// listing is what the model has told of a pass.
type listing struct {
	order   []told
	cookies map[uint64]uint64 // gold's to the model's
}

// Forced is for steps that each have the gold history. It is safe for parallel use.
func (g *Gold) Forced() *State { return &State{gold: g} }

// Rollout is for the model's own history, step by step from the first pair on.
func (g *Gold) Rollout() *State {
	return &State{gold: g, renaming: newRenaming(), told: map[*pass]*listing{}}
}

// ids is the renaming under which pair i is asked and answered.
func (s *State) ids(i int) *renaming {
	if s.renaming != nil {
		return s.renaming
	}
	return forcedRenaming(s.gold, i)
}

// before is what the model has told of the listing that pair i goes on with.
func (s *State) before(i int) []told {
	p, ok := s.gold.pages[i]
	if !ok {
		return nil
	}
	if s.renaming == nil {
		return p.before
	}
	l := s.told[p.pass]
	if l == nil {
		return nil
	}
	in := s.gold.Pairs[i].Req.In.(*fuse.ReadIn)
	n, _ := after(l.order, l.cookies[in.Offset])
	return l.order[:n]
}

// nodes implements schema.Known for pair i.
type nodes struct {
	s  *State
	at int
}

// Type implements schema.Known.
func (k nodes) Type(node uint64) (bits uint32, ok bool) {
	gold, ok := k.s.ids(k.at).goldOf(name{kind: Node, n: node})
	if !ok {
		return 0, false
	}
	bits, ok = k.s.gold.types[gold]
	return bits, ok
}

// Accept makes the reply to pair i that was scored last, and found correct, part
// of a rollout.
func (s *State) Accept(i int, r *proto.Reply) {
	if s.said != nil {
		s.renaming.accept(s.said)
		s.said = nil
	}
	if p, ok := s.gold.pages[i]; ok && r.Errno == 0 {
		s.accepted(i, p, r)
	}
	s.Pass(i)
}

// accepted takes a page in, and finds the cookie that each of gold's stands for:
// that after the same name, and after the last entry that after the last.
func (s *State) accepted(i int, p page, r *proto.Reply) {
	l := s.told[p.pass]
	if l == nil {
		l = &listing{cookies: map[uint64]uint64{}}
	}
	offs := map[string]uint64{}
	before := s.before(i)
	l.order = before[:len(before):len(before)]
	for k := range r.Entries {
		e := &r.Entries[k]
		offs[e.Name] = e.Off
		l.order = append(l.order, told{e.Name, e.Off})
	}
	for _, t := range p.told {
		if off, ok := offs[t.name]; ok {
			l.cookies[t.off] = off
		}
	}
	if n := len(r.Entries); n > 0 && len(p.told) > 0 {
		l.cookies[p.told[len(p.told)-1].off] = r.Entries[n-1].Off
	}
	s.told[p.pass] = l
}

// Pass goes beyond pair i, whoever has answered it.
func (s *State) Pass(i int) {
	if s.renaming == nil {
		return
	}
	for _, n := range s.gold.ends[i] {
		s.renaming.end(n)
	}
}

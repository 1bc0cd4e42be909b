package score

// Requests and replies of the trace in the model's numbers.

import (
	"reflect"
	"slices"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// Request is what the model is asked at pair i: gold's request, in a rollout
// with the model's numbers.
func (s *State) Request(i int) *proto.Request {
	gold := s.gold.Pairs[i].Req
	if s.renaming == nil {
		return gold
	}
	req := *gold
	req.Header.NodeId = s.number(Node, gold.Header.NodeId)
	if gold.In != nil {
		req.In = s.rewrite(gold.In, s.number)
	}
	if list, ok := gold.List.([]proto.ForgetOne); ok {
		list = slices.Clone(list)
		for k := range list {
			list[k].NodeId = s.number(Node, list[k].NodeId)
		}
		req.List = list
	}
	if in, ok := req.In.(*fuse.ReadIn); ok && lists(&req) {
		in.Offset = s.cookie(i, in.Offset)
	}
	return &req
}

// number is the model's, or gold's where it has none.
func (s *State) number(kind Kind, n uint64) uint64 {
	if model, ok := s.renaming.model(name{kind: kind, n: n}); ok {
		return model
	}
	return n
}

func (s *State) cookie(i int, gold uint64) uint64 {
	if l := s.told[s.gold.pages[i].pass]; l != nil {
		if model, ok := l.cookies[gold]; ok {
			return model
		}
	}
	return gold
}

// rewrite copies a struct with other numbers in its renamed fields.
func (s *State) rewrite(of any, renumber func(Kind, uint64) uint64) any {
	old := reflect.ValueOf(of).Elem()
	fresh := reflect.New(old.Type())
	fresh.Elem().Set(old)
	eachRenamed(fresh.Interface(), func(f *field, v reflect.Value) {
		if f.class.kind != Generation {
			v.SetUint(renumber(f.class.kind, number(v)))
		}
	})
	return fresh.Interface()
}

// Adopt makes gold's reply to pair i part of a rollout that goes on although the
// model has said something else, and returns that reply in the model's numbers.
// What is new in it gets numbers that the model has not used.
func (s *State) Adopt(i int) *proto.Reply {
	s.said = nil
	gold := s.gold.Pairs[i].Rep
	r := *gold
	if gold.Out != nil {
		r.Out = s.rewrite(gold.Out, s.fresh)
	}
	r.Entries = slices.Clone(gold.Entries)
	for k := range r.Entries {
		e := &r.Entries[k]
		e.Ino = s.fresh(Ino, e.Ino)
		e.Entry = *s.rewrite(&e.Entry, s.fresh).(*fuse.EntryOut)
	}
	s.Accept(i, &r)
	return &r
}

// fresh is the model's number, found or given.
func (s *State) fresh(kind Kind, n uint64) uint64 {
	gold := name{kind: kind, n: n}
	if n == 0 {
		return 0
	}
	if _, known := s.renaming.model(gold); !known && s.Number != nil {
		s.renaming.bind(gold, s.Number(kind, n))
	}
	return s.renaming.fresh(gold)
}

// Numbers are the node id and the handle that gold's reply to pair i gives out,
// 0 where it gives none.
func (g *Gold) Numbers(i int) (node, fh uint64) {
	r := g.Pairs[i].Rep
	if r == nil || r.Errno != 0 {
		return 0, 0
	}
	if entries := entriesOf(r); len(entries) > 0 && r.Out != nil {
		node = entries[0].NodeId
	}
	eachRenamed(r.Out, func(f *field, v reflect.Value) {
		if f.class.kind == Fh {
			fh = number(v)
		}
	})
	return node, fh
}

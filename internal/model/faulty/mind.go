package faulty

// What a mutant remembers beside the filesystem's own state.

import (
	"maps"
	"slices"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

type mind struct {
	step   uint64                    // requests so far
	seen   map[uint64]uint64         // the step at which a node was last spoken of
	more   map[uint64]uint32         // links that a node is wrongly said to have
	known  map[uint64]uint64         // the size of the file that a handle knows
	values map[uint64][]byte         // bytes that a node should have lost
	places map[uint64]uint64         // where in the file those began
	gone   map[uint64][]proto.Dirent // entries that a directory should have lost
	last   map[proto.Opcode]*proto.Reply
}

func newMind() mind {
	return mind{
		seen: map[uint64]uint64{}, more: map[uint64]uint32{}, known: map[uint64]uint64{},
		values: map[uint64][]byte{}, places: map[uint64]uint64{}, gone: map[uint64][]proto.Dirent{},
		last: map[proto.Opcode]*proto.Reply{},
	}
}

// clone shares what is never changed in place.
func (m *mind) clone() mind {
	n := mind{
		step: m.step, seen: maps.Clone(m.seen), more: maps.Clone(m.more), known: maps.Clone(m.known),
		values: maps.Clone(m.values), places: maps.Clone(m.places), gone: maps.Clone(m.gone), last: maps.Clone(m.last),
	}
	for dir, list := range n.gone {
		n.gone[dir] = slices.Clone(list)
	}
	return n
}

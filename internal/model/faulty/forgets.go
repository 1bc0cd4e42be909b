package faulty

// Forgetting: a file that has not been spoken of for N steps is unknown.

import (
	"fmt"
	"syscall"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

func forgetful(steps int) Mutant {
	return Mutant{
		Name: fmt.Sprintf("forgets:%d", steps), Area: "model",
		Bug: fmt.Sprintf("what was last spoken of more than %d steps ago is unknown, as beyond a window of context", steps),
		answer: func(c *call) *proto.Reply {
			c.mind.step++
			r := c.remembered(uint64(steps))
			c.mind.spoken(c.req.Header.NodeId, r)
			return r
		},
	}
}

// remembered does not know the node that is asked about, or that is found, if
// it is too long ago. Requests without a reply are heard all the same.
func (c *call) remembered(steps uint64) *proto.Reply {
	id, row := c.req.Header.NodeId, c.req.Op.Row()
	silent := row.Reply == proto.ReplyNone || row.Reply == proto.ReplyIgnored
	if !silent && c.mind.forgot(id, steps) {
		return fail(syscall.ESTALE)
	}
	if c.req.Op == proto.OpLookup {
		if e, ok := c.peek(id, c.req.Names[0]); ok && c.mind.forgot(e.NodeId, steps) {
			return fail(syscall.ENOENT)
		}
	}
	return c.next()
}

// forgot says whether a node was spoken of too long ago. The root is in every
// prompt.
func (m *mind) forgot(id, steps uint64) bool {
	at, spoken := m.seen[id]
	return id != proto.RootID && spoken && m.step-at > steps
}

func (m *mind) spoken(id uint64, r *proto.Reply) {
	m.seen[id] = m.step
	if made := node(r); made != 0 {
		m.seen[made] = m.step
	}
	for i := range r.Entries {
		if e := r.Entries[i].Entry.NodeId; e != 0 {
			m.seen[e] = m.step
		}
	}
}

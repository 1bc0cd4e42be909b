package session

// A conversation that somebody else keeps up: the prompts of a session without
// the model, for whoever knows the replies already.

import (
	"strings"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/proto"
	"github.com/llmfs-raw/llmfs-raw/schema"
)

// Transcript makes the prompts that a session of the same options would send. It
// is not for parallel use; the prompts that it has made are.
type Transcript struct {
	memory *memory
	fields schema.Form
}

// NewTranscript begins a conversation. The options are those for language models.
func NewTranscript(o Options) *Transcript { return &Transcript{newMemory(&o), o.Fields} }

// StrictAtime says that reading sets atime, as on a mount with strictatime, so
// that a ledger brings it forward as well.
func (t *Transcript) StrictAtime() { t.memory.ledger.atime = true }

// Prompt is the question for a request, after all that was accepted before.
func (t *Transcript) Prompt(req *proto.Request) (*model.Prompt, error) {
	text, err := proto.AppendRequestJSON(nil, req)
	if err != nil {
		return nil, err
	}
	q := t.memory.ask(req, string(text))
	return &model.Prompt{Op: req.Op, Request: text, Messages: q.messages, Schema: schemaOf(req.Op, t.fields)}, nil
}

// Accept makes a reply part of the past. said is what the model will read as its
// own words; where it is nil they are the reply's in the form that is asked for.
func (t *Transcript) Accept(req *proto.Request, reply *proto.Reply, said []byte) error {
	text, err := proto.AppendRequestJSON(nil, req)
	if err != nil {
		return err
	}
	reply = t.sayable(req, reply)
	if said == nil {
		if said, err = t.Said(req, reply); err != nil {
			return err
		}
	}
	t.memory.remember(&question{req: req, request: string(text), past: t.memory.history.past()}, reply, string(said))
	return nil
}

// sayable is a reply without notifications where the schema has none.
func (t *Transcript) sayable(req *proto.Request, reply *proto.Reply) *proto.Reply {
	if len(reply.Notify) == 0 || strings.Contains(string(schemaOf(req.Op, t.fields).JSON), `"Notify"`) {
		return reply
	}
	r := *reply
	r.Notify = nil
	return &r
}

// Said is a reply in the form that is asked for, after all that was accepted
// before: what a model would say that is right.
func (t *Transcript) Said(req *proto.Request, reply *proto.Reply) ([]byte, error) {
	said, err := proto.AppendReplyJSON(nil, req, t.sayable(req, reply))
	if err != nil {
		return nil, err
	}
	if t.fields == schema.Lean {
		said = schema.Shorten(req, said, t.memory.ledger)
	}
	return schema.Wrap(said), nil
}

// Attrs is what has been told of the node of a request so far, which a lean reply
// to it need not say again.
func (t *Transcript) Attrs(req *proto.Request) schema.Attrs {
	attr, ok := t.memory.ledger.Attr(req.Header.NodeId)
	return toldAttr{req.Header.NodeId, attr, ok}
}

// toldAttr implements schema.Attrs for one node at one moment.
type toldAttr struct {
	id   uint64
	attr fuse.Attr
	ok   bool
}

func (a toldAttr) Attr(id uint64) (fuse.Attr, bool) { return a.attr, a.ok && a.id == id }

// Quiet takes in a request that needs no answer.
func (t *Transcript) Quiet(req *proto.Request) { t.memory.quiet(req) }

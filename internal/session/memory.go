package session

// A session's memory: the turns and the table of facts, and the strategy that
// chooses from them.

import (
	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

type memory struct {
	system   model.Message
	ledger   *ledger
	history  *history
	strategy strategy
}

func newMemory(o *Options) *memory {
	m := &memory{ledger: newLedger()}
	if o.Seed != nil {
		m.ledger.seed(o.Seed)
	}
	switch o.Context.Kind {
	case Full:
		m.history, m.strategy = &history{since: true}, full{}
	case Window:
		m.history, m.strategy = &history{since: true, keep: o.Context.Pairs}, window{}
	default:
		m.history, m.strategy = &history{keep: o.Context.Pairs}, selected{m.ledger, o.promptTokens()}
	}
	m.system = model.Message{Role: model.RoleSystem, Content: SystemMessage(o)}
	return m
}

// question is a request on its way through a conversation.
type question struct {
	req      *proto.Request
	request  string // as JSON
	past     past
	messages []model.Message
}

// ask makes the messages that end in the request.
func (m *memory) ask(req *proto.Request, request string) *question {
	q := &question{req: req, request: request, past: m.history.past()}
	turns, e := m.strategy.recall(req, q.past)
	e.request = request
	q.messages = make([]model.Message, 0, len(turns)+4)
	q.messages = append(append(q.messages, m.system), turns...)
	q.messages = append(q.messages, model.Message{Role: model.RoleUser, Content: e.text()})
	return q
}

// remember takes an accepted reply in; text is what the model will read as its
// own words.
func (m *memory) remember(q *question, reply *proto.Reply, text string) {
	m.ledger.apply(q.req, reply)
	m.history.append(q.request, text, q.past)
}

// quiet takes in a request that needs no answer.
func (m *memory) quiet(req *proto.Request) {
	m.ledger.apply(req, &proto.Reply{})
	if text, err := proto.AppendRequestJSON(nil, req); err == nil {
		m.history.add(string(text))
	}
}

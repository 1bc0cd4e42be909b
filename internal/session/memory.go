package session

// A session's memory: the turns and the table of facts, and the strategy that
// chooses from them.

import (
	"sync"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

type memory struct {
	system   model.Message
	sheets   sync.Pool // of *sheet
	ledger   *ledger
	history  *history
	strategy strategy
}

func newMemory(o *Options) *memory {
	m := &memory{ledger: newLedger()}
	m.ledger.atime = o.StrictAtime
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
	tokens   int // the estimated length of messages
	sheet    *sheet
}

// sheet is memory for messages that is used again. Where every turn is shown,
// most of them stand there already.
type sheet struct {
	messages []model.Message
	turns    int // behind the system message, as they will stay; 0 where turns are dropped
	tokens   int // of the system message and those turns
}

// write puts the system message and turns on a sheet.
func (m *memory) write(turns []model.Message) *sheet {
	s, _ := m.sheets.Get().(*sheet)
	if s == nil {
		s = &sheet{messages: []model.Message{m.system}, tokens: textTokens(len(m.system.Content))}
	}
	s.messages = append(s.messages[:1+s.turns], turns[s.turns:]...)
	return s
}

// finish gives a question's sheet back: nobody looks at its messages any more.
func (m *memory) finish(q *question) {
	s, turns := q.sheet, len(q.messages)-2
	s.messages = q.messages
	if _, all := m.strategy.(full); all && m.history.keep == 0 {
		for _, t := range s.messages[1+s.turns : 1+turns] {
			s.tokens += textTokens(len(t.Content))
		}
		s.turns = turns
	}
	m.sheets.Put(s)
}

// ask makes the messages that end in the request.
func (m *memory) ask(req *proto.Request, request string) *question {
	q := &question{req: req, request: request, past: m.history.past()}
	turns, e := m.strategy.recall(req, q.past)
	e.request = request
	q.sheet = m.write(turns)
	q.messages = append(q.sheet.messages, model.Message{Role: model.RoleUser, Content: e.text()})
	q.tokens = q.sheet.tokens
	for _, t := range q.messages[1+q.sheet.turns:] {
		q.tokens += textTokens(len(t.Content))
	}
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

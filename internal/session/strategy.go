package session

// What of the past a model is shown: the context strategies.

import (
	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// strategy chooses from the past what goes into the prompt for a request.
type strategy interface {
	recall(req *proto.Request, p past) (turns []model.Message, e envelope)
}

// full shows every pair. What was sent stays in front of what is sent next,
// byte for byte, so that servers can cache it.
type full struct{}

func (full) recall(_ *proto.Request, p past) ([]model.Message, envelope) {
	return p.turns, envelope{since: p.since}
}

// window shows the last pairs, as many as the history keeps, and says how many
// came before.
type window struct{}

func (window) recall(_ *proto.Request, p past) ([]model.Message, envelope) {
	return p.turns, envelope{since: p.since, left: leftOut{Pairs: p.dropped}}
}

// selected shows the last pairs and those facts of the ledger that can decide
// the request, within a budget of tokens.
type selected struct {
	ledger *ledger
	tokens int
}

// turnsShare is the part of the budget that turns may take: a quarter. They
// are an example of the model's own ways; the facts are in the ledger.
const turnsShare = 4

func (s selected) recall(req *proto.Request, p past) ([]model.Message, envelope) {
	turns, used := lastTurns(p.turns, s.tokens/turnsShare)
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	chosen := s.ledger.choose(req, s.tokens-used)
	return turns, envelope{ledger: chosen.json(), left: chosen.left}
}

// lastTurns are the last pairs that fit, and their estimated tokens.
func lastTurns(turns []model.Message, tokens int) ([]model.Message, int) {
	used := 0
	for from := len(turns); from > 0; from -= 2 {
		cost := textTokens(len(turns[from-2].Content)) + textTokens(len(turns[from-1].Content))
		if used+cost > tokens {
			return turns[from:], used
		}
		used += cost
	}
	return turns, used
}

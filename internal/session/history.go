package session

// The pairs so far, as turns of a conversation, in the order of their replies.

import (
	"slices"
	"sync"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
)

// history is safe for parallel use.
type history struct {
	keep  int  // pairs to keep; 0 is all
	since bool // turns tell of requests that needed no answer, too

	mu      sync.Mutex
	turns   []model.Message // user and assistant by turns
	dropped int             // pairs that are no longer kept
	quiet   []quietRequest  // since the last pair
	number  uint64          // of the last one
}

// quietRequest is one that needed no answer.
type quietRequest struct {
	number  uint64
	request string
}

// past is what a history knows at the time of a question.
type past struct {
	turns   []model.Message // not to be changed
	dropped int
	since   []string
	number  uint64 // of the last of since
}

// add notes a request that needed no answer.
func (h *history) add(request string) {
	if !h.since {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.number++
	h.quiet = append(h.quiet, quietRequest{h.number, request})
}

func (h *history) past() past {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := past{turns: slices.Clip(h.turns), dropped: h.dropped, number: h.number}
	for _, q := range h.quiet {
		p.since = append(p.since, q.request)
	}
	return p
}

// append adds a pair. Its turn tells of what needed no answer until it was
// asked, and that no earlier turn tells of, so that in a session without
// parallel requests each turn is byte for byte what was sent.
func (h *history) append(request, reply string, asked past) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := envelope{request: request}
	for len(h.quiet) > 0 && h.quiet[0].number <= asked.number {
		e.since = append(e.since, h.quiet[0].request)
		h.quiet = h.quiet[1:]
	}
	h.turns = append(h.turns, model.Message{Role: model.RoleUser, Content: e.text()}, model.Message{Role: model.RoleAssistant, Content: reply})
	if drop := len(h.turns)/2 - h.keep; h.keep > 0 && drop > 0 {
		h.turns = h.turns[2*drop:]
		h.dropped += drop
	}
}

package command

import (
	"slices"
	"sync"
)

// queue holds the lines to the command until its standard input takes them.
// Adding never blocks, so a command that does not read holds up nobody but
// those that wait for its answer. It holds no more than the requests in flight
// and the cancellations of those that were sent.
type queue struct {
	mu    sync.Mutex
	some  sync.Cond // there are lines, or it has ended
	lines []queued
	ended bool
}

type queued struct {
	id   uint64 // 0 for a cancellation
	text []byte
}

func newQueue() *queue {
	q := &queue{}
	q.some.L = &q.mu
	return q
}

func (q *queue) push(id uint64, text []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lines = append(q.lines, queued{id, text})
	q.some.Signal()
}

// cancel takes back the line of id or, where it is gone, adds text.
func (q *queue) cancel(id uint64, text []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.IndexFunc(q.lines, func(l queued) bool { return l.id == id }); i >= 0 {
		q.lines = slices.Delete(q.lines, i, i+1)
		return
	}
	q.lines = append(q.lines, queued{text: text})
	q.some.Signal()
}

// pop waits for the next line; false after the end.
func (q *queue) pop() ([]byte, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.lines) == 0 && !q.ended {
		q.some.Wait()
	}
	if q.ended {
		return nil, false
	}
	text := q.lines[0].text
	q.lines = slices.Delete(q.lines, 0, 1)
	return text, true
}

func (q *queue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.some.Broadcast()
}

package fuseraw

// The requests that are being worked on, and who answers them.

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// Why a request's context ended: its [context.Cause].
var (
	ErrInterrupted = errors.New("the caller was interrupted")
	ErrDeadline    = fmt.Errorf("the request's time is over: %w", context.DeadlineExceeded)
	ErrUnmounted   = errors.New("the filesystem was unmounted")
)

// Grace is how long a handler has from the end of its context to its return
// before it is answered for. It lets a handler that has just changed something
// still say so.
const Grace = 50 * time.Millisecond

// call is one request with its handler.
type call struct {
	req      *proto.Request
	raw      []byte // the message; it stays until the handler has returned
	start    time.Time
	ctx      callContext
	answered atomic.Bool // whoever sets it answers
}

// claim gives the right to answer to its first caller.
func (cl *call) claim() bool { return cl.answered.CompareAndSwap(false, true) }

func newCall(req *proto.Request, raw []byte, start time.Time, limit time.Duration) *call {
	cl := &call{req: req, raw: raw, start: start}
	if limit > 0 {
		cl.ctx.deadline = time.Now().Add(limit)
	}
	return cl
}

// inflight maps uniques to calls. Its lock is a leaf: nothing else is locked,
// called or waited for while it is held.
type inflight struct {
	mu    sync.Mutex
	calls map[uint64]*call
	early earlyInterrupts
}

// add registers cl and tells whether its INTERRUPT has come already.
func (f *inflight) add(cl *call) (interrupted bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls == nil {
		f.calls = map[uint64]*call{}
	}
	f.calls[cl.req.Header.Unique] = cl
	return f.early.take(cl.req.Header.Unique)
}

func (f *inflight) remove(cl *call) {
	f.mu.Lock()
	delete(f.calls, cl.req.Header.Unique)
	f.mu.Unlock()
}

// target finds the call that an INTERRUPT names. An unknown one is remembered:
// another reader may be about to register it.
func (f *inflight) target(unique uint64) *call {
	f.mu.Lock()
	defer f.mu.Unlock()
	cl := f.calls[unique]
	if cl == nil {
		f.early.put(unique)
	}
	return cl
}

func (f *inflight) all() []*call {
	f.mu.Lock()
	defer f.mu.Unlock()
	calls := make([]*call, 0, len(f.calls))
	for _, cl := range f.calls {
		calls = append(calls, cl)
	}
	return calls
}

func (f *inflight) len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.calls)
}

// earlyInterrupts are the targets of INTERRUPTs that no call was found for: one
// reader may overtake another by microseconds. Most of them were in fact
// answered already, and since the kernel never reuses a unique they just stay
// until they are the oldest of 256.
type earlyInterrupts struct {
	set  map[uint64]bool
	ring [256]uint64
	next int
}

func (e *earlyInterrupts) put(unique uint64) {
	if e.set == nil {
		e.set = map[uint64]bool{}
	}
	slot := &e.ring[e.next%len(e.ring)]
	e.next++
	delete(e.set, *slot)
	*slot = unique
	e.set[unique] = true
}

func (e *earlyInterrupts) take(unique uint64) bool {
	if !e.set[unique] {
		return false
	}
	delete(e.set, unique)
	return true
}

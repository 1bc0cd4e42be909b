package scenario

// The tape: what was asked and answered, as it came, with where it belongs.

import (
	"fmt"
	"sync"
	"time"

	"github.com/llmfs-raw/llmfs-raw/fuseraw"
	"github.com/llmfs-raw/llmfs-raw/internal/trace"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// taken is a pair on the tape.
type taken struct {
	mount  int
	window int
	late   bool // it was answered in a later window than it was asked in
	pair   *trace.Pair
}

type tape struct {
	mu      sync.Mutex
	over    bool // what comes is not recorded any more
	count   int  // exchanges so far, recorded or not
	windows int
	pairs   []taken
	waiting map[*proto.Request]int // requests that may wait, by the window that they came in
	err     error
}

// begin notes that a request that may wait has come.
func (t *tape) begin(req *proto.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting == nil {
		t.waiting = map[*proto.Request]int{}
	}
	t.waiting[req] = t.windows
}

// record takes a copy of an exchange, asked by a process.
func (t *tape) record(mount int, x fuseraw.Exchange, process uint32) {
	p, err := copyPair(x)
	if err == nil {
		p.Req.Header.Pid = process
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count++
	if err != nil && t.err == nil {
		t.err = fmt.Errorf("record %v: %w", x.Req.Op, err)
	}
	came, waited := t.waiting[x.Req]
	delete(t.waiting, x.Req)
	if err == nil && !t.over {
		t.pairs = append(t.pairs, taken{mount, t.windows, waited && came != t.windows, p})
	}
}

// pass counts an exchange that is not to be recorded.
func (t *tape) pass(x fuseraw.Exchange) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count++
	delete(t.waiting, x.Req)
}

// copyPair goes through JSON, the form in which all that matters is kept.
func copyPair(x fuseraw.Exchange) (*trace.Pair, error) {
	b, err := proto.AppendRequestJSON(nil, x.Req)
	if err != nil {
		return nil, err
	}
	p := &trace.Pair{Note: x.Note}
	if p.Req, err = proto.ParseRequestJSON(b); err != nil || x.Req.Op.Row().Reply == proto.ReplyNone {
		return p, err
	}
	if b, err = proto.AppendReplyJSON(b[:0:0], x.Req, x.Reply); err != nil {
		return nil, err
	}
	p.Rep, err = proto.ParseReplyJSON(p.Req, b)
	return p, err
}

func (t *tape) window() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.windows++
}

// stop ends the tape: what comes now belongs to the unmount.
func (t *tape) stop() ([]taken, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	return t.pairs, t.err
}

func (t *tape) len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.count
}

// pause is how long nothing may happen before it counts as calm. Where a request
// waits, its end needs a moment after what ended it.
func (t *tape) pause() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) > 0 {
		return 10 * time.Millisecond
	}
	return 300 * time.Microsecond
}

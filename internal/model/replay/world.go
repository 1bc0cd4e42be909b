package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"syscall"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/internal/trace"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// Unrecorded is the errno of a request that has no recorded reply. No
// filesystem, and nothing in the kernel on the way to one, gives or treats it
// by itself: ENOENT or ENODATA would be taken for an answer, ESTALE is tried
// again, ENXIO means something to lseek(2), and EIO is what a reply that is
// wrong gets.
const Unrecorded = syscall.ENOMEDIUM

// World implements model.Model. It is safe for parallel use.
type World struct {
	log     *slog.Logger
	answers map[key]*answers
	served  map[proto.Opcode]bool // the opcodes with a reply other than ENOSYS

	mu    sync.Mutex
	state state
	stats Stats
}

// Stats counts requests.
type Stats struct {
	Replayed   uint64
	Unrecorded uint64 // requests that failed with Unrecorded or ENOSYS
	Changes    int    // those of Replayed that changed the state
}

// Open reads the trace in the file path; "-" is standard input. log is told of
// what was never recorded; nil is slog.Default().
func Open(path string, log *slog.Logger) (*World, error) {
	r, err := trace.Open(path)
	if err != nil {
		return nil, err
	}
	w, err := New(r, log)
	return w, errors.Join(err, r.Close())
}

// New reads the rest of a trace. A torn last line is left out, with a warning.
func New(r *trace.Reader, log *slog.Logger) (*World, error) {
	w := &World{log: log, answers: map[key]*answers{}, served: map[proto.Opcode]bool{}, state: state{now: -1}}
	if w.log == nil {
		w.log = slog.Default()
	}
	place := 0
	for pair, err := range r.Pairs() {
		if err == nil {
			err = w.add(place, pair)
		}
		if err != nil {
			return nil, fmt.Errorf("replay: %w", err)
		}
		place++
	}
	if r.Truncated() {
		w.log.Warn("replay: the trace has a torn last line, which is left out", "line", r.Line())
	}
	return w, nil
}

func (w *World) add(place int, pair *trace.Pair) error {
	if pair.Rep == nil || pair.Note != "" && pair.Rep.Errno != 0 {
		return nil
	}
	k, err := keyOf(pair.Req)
	if err != nil {
		return err
	}
	reply, err := proto.AppendReplyJSON(nil, pair.Req, pair.Rep)
	if err != nil {
		return err
	}
	a := w.answers[k]
	if a == nil {
		a = &answers{}
		w.answers[k] = a
	}
	change := isChange(pair.Req, pair.Rep.Errno)
	a.list = append(a.list, answer{at: place, change: change, reply: reply})
	if change {
		w.state.changes = append(w.state.changes, place)
	}
	if pair.Rep.Errno != syscall.ENOSYS {
		w.served[pair.Req.Op] = true
	}
	return nil
}

// Answer implements model.Model. It reads the request alone.
func (w *World) Answer(ctx context.Context, p *model.Prompt) (*model.Answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	req, err := proto.ParseRequestJSON(p.Request)
	if err != nil {
		return nil, &model.Error{Kind: model.Rejected, Err: err}
	}
	k, err := keyOf(req)
	if err != nil {
		return nil, &model.Error{Kind: model.Rejected, Err: err}
	}
	reply := w.replay(k)
	if reply == nil {
		reply = w.unrecorded(req)
	}
	return &model.Answer{Reply: bytes.Clone(reply)}, nil
}

// replay is the recorded reply, or nil.
func (w *World) replay(k key) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.answers[k]
	if a == nil {
		return nil
	}
	found := a.next(&w.state)
	if found == nil {
		return nil
	}
	if found.change {
		w.state.now = max(w.state.now, found.at)
		w.stats.Changes++
	}
	w.stats.Replayed++
	return found.reply
}

func (w *World) unrecorded(req *proto.Request) []byte {
	errno := Unrecorded
	switch kind := req.Op.Row().Reply; {
	case kind == proto.ReplyNone || kind == proto.ReplyIgnored:
		return []byte(`{"Errno":0}`)
	case !w.served[req.Op]:
		errno = syscall.ENOSYS
	}
	w.mu.Lock()
	w.stats.Unrecorded++
	w.mu.Unlock()
	w.log.Warn("replay: never recorded", "op", req.Op, "node", req.Header.NodeId, "names", req.Names, "errno", proto.ErrnoName(errno))
	return fmt.Appendf(nil, `{"Errno":%d}`, errno)
}

// Stats is a snapshot of the counters.
func (w *World) Stats() Stats {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stats
}

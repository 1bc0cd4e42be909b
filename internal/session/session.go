// Package session is one mount's conversation with a model: a request becomes
// the JSON that the model sees, its JSON becomes the reply, and every failure
// on the way becomes an errno that is counted.
package session

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// Options of a session.
type Options struct {
	Log *slog.Logger // nil is slog.Default()
}

// Session answers requests from a model. It is safe for parallel use.
type Session struct {
	model model.Model
	log   *slog.Logger
	count counters
	usage sync.Map // unique → model.Usage, until TakeUsage
	texts sync.Pool
}

// Stats counts what became of requests.
type Stats struct {
	Calls   uint64 // answered by the model
	Failed  uint64 // the model gave no answer
	Invalid uint64 // the answer was no valid reply
}

type counters struct{ calls, failed, invalid atomic.Uint64 }

// New begins a session with m.
func New(m model.Model, o Options) *Session {
	s := &Session{model: m, log: o.Log}
	if s.log == nil {
		s.log = slog.Default()
	}
	s.texts.New = func() any { b := make([]byte, 0, 1024); return &b }
	return s
}

// Handle implements fuseraw.Handler.
func (s *Session) Handle(ctx context.Context, req *proto.Request) *proto.Reply {
	reply, err := s.ask(ctx, req)
	if err == nil {
		return reply
	}
	f := failureOf(ctx, err)
	f.counter(&s.count).Add(1)
	s.log.Log(ctx, f.level, "no answer", "op", req.Op, "unique", req.Header.Unique, "errno", proto.ErrnoName(f.errno), "err", err)
	return &proto.Reply{Errno: f.errno}
}

func (s *Session) ask(ctx context.Context, req *proto.Request) (*proto.Reply, error) {
	text := s.texts.Get().(*[]byte)
	defer s.texts.Put(text)
	var err error
	if *text, err = proto.AppendRequestJSON((*text)[:0], req); err != nil {
		return nil, err
	}
	s.count.calls.Add(1)
	answer, err := s.model.Answer(ctx, &model.Prompt{Op: req.Op, Request: *text})
	if err != nil {
		return nil, err
	}
	if answer.Usage != (model.Usage{}) {
		s.usage.Store(req.Header.Unique, answer.Usage)
	}
	reply, err := proto.ParseReplyJSON(req, answer.Reply)
	if err != nil {
		return nil, invalidReply{err}
	}
	return reply, nil
}

// TakeUsage is what the answer to the request cost; it is asked for once.
func (s *Session) TakeUsage(unique uint64) model.Usage {
	if u, ok := s.usage.LoadAndDelete(unique); ok {
		return u.(model.Usage)
	}
	return model.Usage{}
}

// Stats is a snapshot of the counters.
func (s *Session) Stats() Stats {
	return Stats{Calls: s.count.calls.Load(), Failed: s.count.failed.Load(), Invalid: s.count.invalid.Load()}
}

// invalidReply marks an answer that is no valid reply.
type invalidReply struct{ error }

func (e invalidReply) Unwrap() error { return e.error }

// failure says what the caller gets for one way of having no answer.
type failure struct {
	is      func(ctx context.Context, err error) bool
	errno   syscall.Errno
	level   slog.Level
	counter func(*counters) *atomic.Uint64
}

func failed(c *counters) *atomic.Uint64  { return &c.failed }
func invalid(c *counters) *atomic.Uint64 { return &c.invalid }

// failures are tried in order; the last one fits all.
var failures = []failure{
	{isInvalid, syscall.EIO, slog.LevelError, invalid},
	{isTimeout, syscall.ETIMEDOUT, slog.LevelWarn, failed},
	{isCanceled, syscall.EINTR, slog.LevelDebug, failed},
	{isAny, syscall.EIO, slog.LevelError, failed},
}

func isInvalid(_ context.Context, err error) bool {
	var e invalidReply
	return errors.As(err, &e)
}

func isTimeout(_ context.Context, err error) bool { return errors.Is(err, context.DeadlineExceeded) }

func isCanceled(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, context.Canceled)
}

func isAny(context.Context, error) bool { return true }

func failureOf(ctx context.Context, err error) failure {
	for _, f := range failures {
		if f.is(ctx, err) {
			return f
		}
	}
	return failures[len(failures)-1]
}

package session

// A session: what answers a mount's requests.

import (
	"context"
	"log/slog"
	"sync"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// Session answers requests from a model. It is safe for parallel use: no lock
// is held while a model works.
type Session struct {
	model  model.Model
	log    *slog.Logger
	opts   Options
	memory *memory     // nil for embedded models
	xattrs *bearers    // nil unless NoXattrs is set
	attrs  *attributes // nil unless KeepAttrs is set
	budget budget
	turn   sync.Mutex // held by the one request of Baseline
	count  counters
	usage  usages
	texts  sync.Pool // of *texts

	replies sync.Pool // of *proto.Reply with much Data
}

// New begins a session with m.
func New(m model.Model, o Options) *Session {
	s := &Session{model: m, log: o.Log, opts: o, budget: budget{Budget: o.Budget, price: o.Price}}
	if s.log == nil {
		s.log = slog.Default()
	}
	if o.Context.Kind != None {
		s.memory = newMemory(&o)
	}
	if o.NoXattrs {
		s.xattrs = newBearers()
	}
	if o.KeepAttrs {
		s.attrs = newAttributes()
	}
	s.texts.New = func() any { return &texts{request: make([]byte, 0, 1024), reply: make([]byte, 0, 1024)} }
	s.replies.New = func() any { return &proto.Reply{} }
	return s
}

// Handle implements fuseraw.Handler.
func (s *Session) Handle(ctx context.Context, req *proto.Request) *proto.Reply {
	reply, err := s.answer(ctx, req)
	if err == nil {
		return reply
	}
	f := failureOf(ctx, err)
	s.count.fail(f)
	s.log.Log(ctx, f.level, "no answer", "op", req.Op, "unique", req.Header.Unique, "errno", proto.ErrnoName(f.errno), "why", f.name, "err", err)
	return &proto.Reply{Errno: f.errno}
}

func (s *Session) answer(ctx context.Context, req *proto.Request) (*proto.Reply, error) {
	if s.opts.Baseline {
		return s.oneByOne(ctx, req)
	}
	if reply := s.shortcut(req); reply != nil {
		return reply, nil
	}
	s.xattrs.before(req)
	began := s.attrs.begin(req)
	reply, err := s.consult(ctx, req)
	s.attrs.end(req, reply, began)
	s.xattrs.after(req, reply)
	return reply, err
}

// consult asks the model.
func (s *Session) consult(ctx context.Context, req *proto.Request) (*proto.Reply, error) {
	if s.memory == nil {
		return s.ask(ctx, req)
	}
	return s.converse(ctx, req)
}

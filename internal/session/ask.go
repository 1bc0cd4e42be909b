package session

// One request: asked, answered, read.

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// ask is for embedded models: the request is all they need.
func (s *Session) ask(ctx context.Context, req *proto.Request) (*proto.Reply, error) {
	texts := s.texts.Get().(*texts)
	defer s.texts.Put(texts)
	var err error
	if texts.request, err = proto.AppendRequestJSON(texts.request[:0], req); err != nil {
		return nil, err
	}
	large := texts.makeRoom(req)
	answer, err := s.call(ctx, req, &model.Prompt{Op: req.Op, Request: texts.request, Scratch: texts.reply}, 0)
	if err != nil {
		return nil, err
	}
	reply := &proto.Reply{}
	if unread(req.Op) {
		return reply, nil
	}
	if large {
		reply = s.replies.Get().(*proto.Reply)
	}
	if err := reply.ParseJSON(req, answer.Reply); err != nil {
		s.count.invalid.Add(1)
		return nil, invalidReply{err}
	}
	if large {
		reply.Release = func() { s.replies.Put(reply) }
	}
	return reply, nil
}

// texts are a request and its reply as JSON, whose memory is used again.
type texts struct{ request, reply []byte }

const (
	largeData = 32 << 10 // bytes from which on a reply's memory is used again
	maxData   = 4 << 20  // bytes that are made room for before they are there
)

// makeRoom tells whether the reply may be large, and sees to it that it fits.
func (t *texts) makeRoom(req *proto.Request) (large bool) {
	n, ok := req.DataLimit()
	if !ok || n < largeData || n > maxData {
		return false
	}
	const base64, rest = 3, 1024 // a third more, and what stands around it
	t.reply = slices.Grow(t.reply[:0], int(n+n/base64+rest))
	return true
}

// converse is for language models: the request is the end of a conversation.
func (s *Session) converse(ctx context.Context, req *proto.Request) (*proto.Reply, error) {
	text, err := proto.AppendRequestJSON(nil, req)
	if err != nil {
		return nil, err
	}
	q := s.memory.ask(req, string(text))
	defer s.memory.finish(q)
	p := &model.Prompt{Op: req.Op, Request: text, Messages: q.messages, Schema: s.schemaOf(req.Op)}
	for repairs := 0; ; repairs++ {
		answer, err := s.call(ctx, req, p, q.tokens)
		if err != nil {
			return nil, err
		}
		reply, said, wrong := s.read(req, answer.Reply)
		if len(wrong) == 0 {
			return s.accept(ctx, q, reply, said)
		}
		s.count.invalid.Add(1)
		if repairs == maxRepairs {
			return nil, invalidReply{errors.New(wrong[0])}
		}
		s.count.repairs.Add(1)
		p.Messages = q.repair(answer.Reply, wrong)
	}
}

// accept makes a reply part of the session, unless the caller has been
// answered without it.
func (s *Session) accept(ctx context.Context, q *question, reply *proto.Reply, said string) (*proto.Reply, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	s.memory.remember(q, reply, said)
	return reply, nil
}

// call asks the model, within the budget, and counts. tokens is the estimated
// length of the prompt.
func (s *Session) call(ctx context.Context, req *proto.Request, p *model.Prompt, tokens int) (*model.Answer, error) {
	if err := s.budget.begin(tokens); err != nil {
		return nil, err
	}
	s.count.call(req.Op)
	start := time.Now()
	answer, err := s.model.Answer(ctx, p)
	s.count.latency.add(time.Since(start))
	used := usageOf(answer, err)
	s.budget.end(tokens, used)
	s.usage.add(req.Header.Unique, used)
	return answer, err
}

// usageOf is what a call cost, whether or not it was answered.
func usageOf(answer *model.Answer, err error) model.Usage {
	if err == nil {
		return answer.Usage
	}
	var e *model.Error
	if errors.As(err, &e) {
		return e.Usage
	}
	return model.Usage{}
}

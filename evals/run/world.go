package run

// Embedded filesystems as contestants.

import (
	"context"
	"time"

	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/evals/score"
	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/internal/model/reference"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// World is a filesystem that keeps its own books: the reference, or a mutant of it.
type World interface {
	model.Model
	Numbers() reference.Numbers
	SetNumbers(reference.Numbers)
	Free(reference.Numbers) bool
	Adopt(*proto.Request, *proto.Reply)
}

// patience is how long a world may wait for a lock that nobody is going to
// release.
const patience = 200 * time.Millisecond

// say is a world's answer, nothing where it has none.
func say(ctx context.Context, w World, req *proto.Request) []byte {
	text, err := proto.AppendRequestJSON(nil, req)
	if err != nil {
		return nil
	}
	if req.Op.Row().Blocking {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, patience)
		defer stop()
	}
	answer, err := w.Answer(ctx, &model.Prompt{Op: req.Op, Request: text})
	if err != nil {
		return nil
	}
	return answer.Reply
}

// forcedWorld asks a world all steps. What it gives out has gold's numbers, and
// what gold says becomes part of it after each step, as far as that is new.
func (j *job) forcedWorld(ctx context.Context, w World) error {
	s := j.gold.Forced()
	s.Bare = true
	for i, p := range j.gold.Pairs {
		if !reaches(p) {
			continue
		}
		said := numbered(ctx, w, j.gold, i)
		if !evals.Asked(p) {
			continue
		}
		r := s.Step(i, said, nil)
		if err := j.add(i, p.Req, answered{reply: said}, r, nil); err != nil {
			return err
		}
		if r.Stage != evals.Correct {
			w.Adopt(p.Req, p.Rep)
		}
	}
	return ctx.Err()
}

// numbered answers a request with the numbers that gold gives out, as far as
// they are free.
func numbered(ctx context.Context, w World, g *score.Gold, i int) []byte {
	before := w.Numbers()
	next := before
	node, fh := g.Numbers(i)
	if node > 0 && w.Free(reference.Numbers{Node: node}) {
		next.Node = node - 1
	}
	if fh > 0 && w.Free(reference.Numbers{Fh: fh}) {
		next.Fh = fh - 1
	}
	w.SetNumbers(next)
	said := say(ctx, w, g.Pairs[i].Req)
	after := w.Numbers()
	w.SetNumbers(reference.Numbers{Node: max(before.Node, after.Node), Fh: max(before.Fh, after.Fh)})
	return said
}

// rolloutWorld lets a world go its own way until it goes wrong.
func (j *job) rolloutWorld(ctx context.Context, w World) error {
	s := j.gold.Rollout()
	s.Bare = true
	way := rollout{job: j, state: s}
	for i, p := range j.gold.Pairs {
		if !reaches(p) {
			continue
		}
		req := s.Request(i)
		said := say(ctx, w, req)
		if !evals.Asked(p) {
			s.Pass(i)
			continue
		}
		adopted, goes, err := way.step(i, req, answered{reply: said})
		if err != nil || !goes {
			return err
		}
		if adopted != nil {
			w.Adopt(req, adopted)
		}
	}
	return ctx.Err()
}

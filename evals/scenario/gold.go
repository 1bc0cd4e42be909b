package scenario

// Gold replies: a fresh filesystem answers the canonical requests, one after the
// other. It must say what the recorded one said, or the recording depended on
// something that the trace does not show.

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/internal/model/reference"
	"github.com/llmfs-raw/llmfs-raw/internal/session"
	"github.com/llmfs-raw/llmfs-raw/internal/trace"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// patience is how long a replayed request may take. One that waits for a lock
// waits for ever: what would release it comes later.
const patience = 5 * time.Second

// Replay answers requests with a filesystem of these settings: those that reach a
// filesystem. It calls got with each reply; nil where there is none.
func Replay(settings map[string]string, pairs []*trace.Pair, got func(*trace.Pair, *proto.Reply) error) error {
	opts, err := reference.FromSettings(settings)
	if err != nil {
		return err
	}
	sess := session.New(reference.New(opts), session.Options{})
	for i, p := range pairs {
		rep, err := replay(sess, p)
		if err == nil {
			err = got(p, rep)
		}
		if err != nil {
			return fmt.Errorf("pair %d, %v: %w", i, p.Req.Op, err)
		}
	}
	return nil
}

// replay answers one request. What the daemon has answered by itself stays.
func replay(sess *session.Session, p *trace.Pair) (*proto.Reply, error) {
	if p.Note != "" || own(p) {
		return p.Rep, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	rep := sess.Handle(ctx, p.Req)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("waits for what comes later: %w", syscall.EDEADLK)
	}
	if p.Rep == nil {
		return nil, nil
	}
	if p.Req.Op.Row().Reply == proto.ReplyIgnored {
		return &proto.Reply{}, nil
	}
	return rep, nil
}

// own are the requests that never reach a filesystem.
func own(p *trace.Pair) bool {
	switch p.Req.In.(type) {
	case *fuse.InitIn, *fuse.InterruptIn:
		return true
	}
	return false
}

// gild replaces the replies by gold ones.
func gild(settings map[string]string, pairs []*trace.Pair) error {
	return Replay(settings, pairs, func(p *trace.Pair, rep *proto.Reply) error {
		if err := Same(p, rep); err != nil && !counts(rep) {
			return fmt.Errorf("depends on more than the requests: %w", err)
		}
		p.Rep = rep
		return nil
	})
}

// counts tells whether a reply says what is free: that depends on when FORGETs
// came, and those are moved.
func counts(rep *proto.Reply) bool {
	if rep == nil {
		return false
	}
	_, ok := rep.Out.(*fuse.StatfsOut)
	return ok
}

// Same holds a reply against the recorded one.
func Same(p *trace.Pair, rep *proto.Reply) error {
	have, err := line(p.Req, rep)
	if err != nil {
		return err
	}
	want, err := line(p.Req, p.Rep)
	if err != nil {
		return err
	}
	if have != want {
		return fmt.Errorf("have %s, want %s", have, want)
	}
	return nil
}

func line(req *proto.Request, rep *proto.Reply) (string, error) {
	if rep == nil {
		return "no reply", nil
	}
	b, err := proto.AppendReplyJSON(nil, req, rep)
	return string(b), err
}

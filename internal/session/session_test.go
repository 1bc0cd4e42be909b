package session

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

type answerer func(context.Context, *model.Prompt) (*model.Answer, error)

func (f answerer) Answer(ctx context.Context, p *model.Prompt) (*model.Answer, error) {
	return f(ctx, p)
}

func saying(json string) answerer {
	return func(context.Context, *model.Prompt) (*model.Answer, error) {
		return &model.Answer{Reply: []byte(json)}, nil
	}
}

var quiet = Options{Log: slog.New(slog.NewTextHandler(io.Discard, nil))}

func TestAModelSeesTheRequestAsJSON(t *testing.T) {
	var seen string
	s := New(answerer(func(_ context.Context, p *model.Prompt) (*model.Answer, error) {
		seen = string(p.Request)
		return &model.Answer{Reply: []byte(`{"Errno":0,"Out":{"Size":5}}`), Usage: model.Usage{InputTokens: 7}}, nil
	}), quiet)
	req := &proto.Request{Op: proto.OpWrite, Header: proto.Header{Unique: 4, NodeId: 2}, In: &fuse.WriteIn{Fh: 1, Size: 5}, Data: []byte("hello")}
	reply := s.Handle(context.Background(), req)
	assert.Equal(t, &proto.Reply{Out: &fuse.WriteOut{Size: 5}}, reply)
	want, err := proto.AppendRequestJSON(nil, req)
	require.NoError(t, err)
	assert.Equal(t, string(want), seen)
	assert.Equal(t, model.Usage{InputTokens: 7}, s.TakeUsage(4))
	assert.Zero(t, s.TakeUsage(4), "a usage is counted once")
}

func TestEveryFailureHasAnErrno(t *testing.T) {
	dead, cancel := context.WithCancel(context.Background())
	cancel()
	broken := func(err error) answerer {
		return func(context.Context, *model.Prompt) (*model.Answer, error) { return nil, err }
	}
	for name, c := range map[string]struct {
		ctx   context.Context
		model answerer
		errno syscall.Errno
		stats Stats
	}{
		"not JSON":      {model: saying("Sure! Here is the reply:"), errno: syscall.EIO, stats: Stats{Calls: 1, Failed: 1, Invalid: 1}},
		"empty":         {model: saying(""), errno: syscall.EIO, stats: Stats{Calls: 1, Failed: 1, Invalid: 1}},
		"wrong shape":   {model: saying(`{"Errno":0}`), errno: syscall.EIO, stats: Stats{Calls: 1, Failed: 1, Invalid: 1}},
		"out of range":  {model: saying(`{"Errno":4096}`), errno: syscall.EIO, stats: Stats{Calls: 1, Failed: 1, Invalid: 1}},
		"broken":        {model: broken(errors.New("no route to host")), errno: syscall.EIO, stats: Stats{Calls: 1, Failed: 1}},
		"too late":      {model: broken(context.DeadlineExceeded), errno: syscall.ETIMEDOUT, stats: Stats{Calls: 1, Failed: 1}},
		"interrupted":   {ctx: dead, model: broken(errors.New("aborted")), errno: syscall.EINTR, stats: Stats{Calls: 1, Failed: 1}},
		"an errno":      {model: saying(`{"Errno":13}`), errno: syscall.EACCES, stats: Stats{Calls: 1}},
		"errno and all": {model: saying(`{"Errno":2,"Out":{"NodeId":9}}`), errno: syscall.ENOENT, stats: Stats{Calls: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := c.ctx
			if ctx == nil {
				ctx = context.Background()
			}
			s := New(c.model, quiet)
			reply := s.Handle(ctx, &proto.Request{Op: proto.OpStatfs})
			assert.Equal(t, &proto.Reply{Errno: c.errno}, reply)
			assert.Equal(t, c.stats, s.Stats())
		})
	}
}

package session

import (
	"context"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/assert"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// An embedded model keeps its own books, so it hears of every request.
func TestEmbeddedModelsHearOfEverything(t *testing.T) {
	var heard []string
	s := New(answerer(func(_ context.Context, p *model.Prompt) (*model.Answer, error) {
		heard = append(heard, p.Op.String())
		assert.Empty(t, p.Messages)
		return &model.Answer{Reply: []byte(`{"Errno":0,"Entries":[]}`)}, nil
	}), quiet)
	c := callerOf(t, s)
	c.do(proto.OpRelease, 1, nil, "")
	c.do(proto.OpForget, 1, nil, "")
	c.do(proto.OpReaddir, 1, &fuse.ReadIn{Offset: 2}, "")
	c.do(proto.OpReaddir, 1, &fuse.ReadIn{Offset: proto.EndCookie}, "")
	assert.Equal(t, []string{"RELEASE", "FORGET", "READDIR"}, heard, "the end that a page has announced is not asked for")
}

func TestTheAccount(t *testing.T) {
	o := conversation(Full, 0)
	o.Price = &Price{Input: 1, Cached: 0.5, Output: 10}
	s := New(&script{lines: []string{"?", missing}}, o)
	c := callerOf(t, s)
	c.lookup(1, "a")
	c.lookup(1, "b")
	c.do(proto.OpGetattr, 1, nil, "")
	c.do(proto.OpRelease, 1, nil, "")
	totals := s.Totals()
	totals.P50, totals.P95 = 0, 0
	assert.Equal(t, `model: 4 calls, p50 0s, p95 0s
tokens: 400 in (160 of them cached), 40 out, $0.0007
calls: LOOKUP 3, GETATTR 1
without a call: 1 that needed no answer, 0 ends of listings, 0 of opcodes that are off, 0 for known attributes, 0 for xattrs that are not there, 0 that follow from what was said
repairs: 1
`, totals.String())
	assert.Equal(t, "4 calls, 400+40 tokens (160 cached), $0.0007, p50 0s", totals.Line())
}

func BenchmarkEmbedded(b *testing.B) {
	answer := &model.Answer{Reply: []byte(`{"Errno":2}`)}
	s := New(answerer(func(context.Context, *model.Prompt) (*model.Answer, error) { return answer, nil }), quiet)
	req := callerOf(b, s).request(proto.OpLookup, 1, nil, "", "name")
	for b.Loop() {
		s.Handle(context.Background(), req)
	}
}

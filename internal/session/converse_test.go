package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/proto"
	"github.com/llmfs-raw/llmfs-raw/schema"
)

// script answers with one line after the other, the last one for ever.
type script struct {
	mu      sync.Mutex
	lines   []string
	prompts []*model.Prompt
}

func (s *script) Answer(_ context.Context, p *model.Prompt) (*model.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prompts = append(s.prompts, kept(p))
	line := s.lines[0]
	if len(s.lines) > 1 {
		s.lines = s.lines[1:]
	}
	return &model.Answer{Reply: []byte(line), Usage: model.Usage{InputTokens: 100, CachedTokens: 40, OutputTokens: 10}}, nil
}

const (
	fine    = `{"Reply":{"Errno":0,"Data":"target"}}`
	missing = `{"Reply":{"Errno":2}}`
)

func TestAnInvalidAnswerIsAskedAgain(t *testing.T) {
	long := strings.Repeat("blah ", 1000)
	for name, c := range map[string]struct {
		lines   []string
		errno   syscall.Errno
		calls   int
		invalid string // in the last question
	}{
		"valid":          {[]string{fine}, 0, 1, ""},
		"once":           {[]string{"Sure!", fine}, 0, 2, "Sure!"},
		"twice":          {[]string{"Sure!", `{"Reply":{"Errno":0}}`, fine}, 0, 3, `{"Reply":{"Errno":0}}`},
		"thrice":         {[]string{"Sure!"}, syscall.EIO, 3, "Sure!"},
		"unwrapped":      {[]string{`{"Errno":0,"Data":"x"}`, fine}, 0, 2, `{"Errno":0`},
		"nothing":        {[]string{"", fine}, 0, 2, "(nothing)"},
		"too long":       {[]string{long, fine}, 0, 2, long[:maxInvalid] + "…"},
		"not for kernel": {[]string{`{"Reply":{"Errno":0,"Data":"` + strings.Repeat("x", 5000) + `"}}`, fine}, 0, 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := &script{lines: c.lines}
			s := New(m, conversation(Full, 0))
			r := callerOf(t, s).do(proto.OpReadlink, 5, nil, "")
			assert.Equal(t, c.errno, r.Errno)
			require.Len(t, m.prompts, c.calls)
			last := m.prompts[c.calls-1].Messages
			if c.calls > 1 {
				require.Len(t, last, 4, "system, request, the invalid answer, what is wrong with it")
				assert.Contains(t, last[2].Content, c.invalid)
				assert.Regexp(t, `^\{"Invalid":\[".*"\],"Request":\{"Op":"READLINK",.*\}\}$`, last[3].Content)
			}
			assert.EqualValues(t, c.calls-1, s.Stats().Repairs)
			assert.Equal(t, model.Usage{InputTokens: 100 * c.calls, CachedTokens: 40 * c.calls, OutputTokens: 10 * c.calls}, s.TakeUsage(2))
			want := 2
			if c.errno != 0 {
				want = 0
			}
			assert.Len(t, s.memory.history.past().turns, want, "repairs and failures are no history")
		})
	}
}

func TestEveryFailureOfALanguageModel(t *testing.T) {
	dead, cancel := context.WithCancel(context.Background())
	cancel()
	late, stop := context.WithTimeout(context.Background(), 0)
	defer stop()
	kind := func(k model.Kind) error {
		return &model.Error{Kind: k, Err: errors.New("why"), Usage: model.Usage{InputTokens: 7}}
	}
	for name, c := range map[string]struct {
		ctx   context.Context
		err   error
		errno syscall.Errno
	}{
		"outage":           {nil, kind(model.Outage), syscall.EIO},
		"refusal":          {nil, kind(model.Refused), syscall.EACCES},
		"content filter":   {nil, kind(model.Filtered), syscall.EACCES},
		"truncated":        {nil, kind(model.Truncated), syscall.EFBIG},
		"empty answer":     {nil, kind(model.Empty), syscall.EIO},
		"access denied":    {nil, kind(model.Denied), syscall.EPERM},
		"request rejected": {nil, kind(model.Rejected), syscall.EINVAL},
		"rate limit":       {nil, kind(model.Limited), syscall.EBUSY},
		"deadline":         {late, context.DeadlineExceeded, syscall.ETIMEDOUT},
		"interrupt":        {dead, kind(model.Outage), syscall.EINTR},
		"other":            {nil, errors.New("boom"), syscall.EIO},
	} {
		t.Run(name, func(t *testing.T) {
			if c.ctx == nil {
				c.ctx = context.Background()
			}
			s := New(answerer(func(context.Context, *model.Prompt) (*model.Answer, error) { return nil, c.err }), conversation(Ledger, 8))
			reply := s.Handle(c.ctx, callerOf(t, s).request(proto.OpLookup, 1, nil, "", "x"))
			assert.Equal(t, &proto.Reply{Errno: c.errno}, reply)
			totals := s.Totals()
			assert.Equal(t, map[string]uint64{name: 1}, totals.Failures)
			assert.Contains(t, totals.String(), "without an answer: "+name+" 1")
			assert.Contains(t, FailureTable(), "| "+name+" | "+proto.ErrnoName(c.errno)+" |")
			assert.Empty(t, s.memory.history.past().turns)
		})
	}
}

func TestAnAnswerThatIsTooLateIsNoPartOfTheWorld(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	s := New(answerer(func(context.Context, *model.Prompt) (*model.Answer, error) {
		cancel(errors.New("interrupted"))
		return &model.Answer{Reply: []byte(fine)}, nil
	}), conversation(Full, 0))
	reply := s.Handle(ctx, callerOf(t, s).request(proto.OpReadlink, 5, nil, ""))
	assert.Equal(t, syscall.EINTR, reply.Errno)
	assert.Empty(t, s.memory.history.past().turns)
}

func TestBudgets(t *testing.T) {
	price := &Price{Input: 1, Cached: 0.5, Output: 10} // a call: 60 + 20 + 100 millionths
	for name, c := range map[string]struct {
		budget Budget
		price  *Price
		calls  int
	}{
		"none":           {Budget{}, nil, 10},
		"calls":          {Budget{MaxCalls: 3}, nil, 3},
		"cost":           {Budget{MaxCost: 0.00050}, price, 3},
		"cost, no price": {Budget{MaxCost: 1}, nil, 0},
		"tokens":         {Budget{MaxTokens: 8000}, nil, 2},
	} {
		t.Run(name, func(t *testing.T) {
			o := conversation(Window, 1)
			o.Budget, o.Price = c.budget, c.price
			m := &script{lines: []string{missing}}
			s := New(m, o)
			caller := callerOf(t, s)
			for range 10 {
				caller.lookup(1, "x")
			}
			totals := s.Totals()
			if name == "tokens" {
				assert.Positive(t, totals.Calls)
				assert.Less(t, totals.Calls, uint64(50))
			} else {
				assert.EqualValues(t, c.calls, totals.Calls)
			}
			assert.EqualValues(t, 10-totals.Calls, totals.Failures["budget"])
			if c.price != nil {
				assert.InDelta(t, 0.00018*float64(c.calls), totals.Cost, 1e-9)
				assert.Contains(t, totals.Line(), "$0.0005")
			} else {
				assert.Contains(t, totals.Line(), "price unknown")
			}
		})
	}
	assert.Error(t, Budget{MaxCost: 1}.Check("some-model", nil))
	assert.NoError(t, Budget{MaxCost: 1}.Check("some-model", price))
}

func TestIndependentRequestsAreInFlightTogether(t *testing.T) {
	for _, o := range []Options{conversation(Full, 0), conversation(Window, 4), conversation(Ledger, 4)} {
		const together = 8
		var arrived atomic.Int32
		all := make(chan struct{})
		right := newRight()
		s := New(answerer(func(ctx context.Context, p *model.Prompt) (*model.Answer, error) {
			if arrived.Add(1) == together {
				close(all)
			}
			select {
			case <-all:
			case <-time.After(10 * time.Second):
				return nil, errors.New("alone")
			}
			return right.Answer(ctx, p)
		}), o)
		c := callerOf(t, s)
		var group sync.WaitGroup
		for i := range together {
			req := c.request(proto.OpMkdir, 1, &fuse.MkdirIn{Mode: 0o755}, "", fmt.Sprint(i))
			forget := c.request(proto.OpForget, 99, &fuse.ForgetIn{Nlookup: 1}, "")
			group.Go(func() {
				s.Handle(context.Background(), forget)
				assert.Zero(t, s.Handle(context.Background(), req).Errno)
				s.Totals()
			})
		}
		group.Wait()
		past := s.memory.history.past()
		assert.Equal(t, together, len(past.turns)/2+past.dropped)
		if o.Context.Kind == Full {
			text := transcript(past.turns) + strings.Join(past.since, "\n")
			assert.Equal(t, together, strings.Count(text, `"FORGET"`), "each is told once")
		}
		holdAgainst(t, s.memory.ledger, oracleOf(t, right, c.now))
	}
}

func TestRequestsThatNeedNoModel(t *testing.T) {
	m := &script{lines: []string{
		`{"Reply":{"Errno":0,"Entries":[{"Ino":1,"Off":1,"Type":4,"Name":"."},{"Ino":1,"Off":2147483647,"Type":4,"Name":".."}]}}`,
		`{"Reply":{"Errno":38}}`,
	}}
	s := New(m, conversation(Ledger, 8))
	c := callerOf(t, s)
	for range 2 {
		r := c.do(proto.OpReaddir, 1, &fuse.ReadIn{Size: 4096}, "")
		if r.Errno == 0 {
			assert.True(t, s.memory.ledger.nodes[1].complete)
			assert.Equal(t, []proto.Dirent{}, c.do(proto.OpReaddir, 1, &fuse.ReadIn{Size: 4096, Offset: proto.EndCookie}, "").Entries)
		}
	}
	for range 3 {
		assert.Equal(t, syscall.ENOSYS, c.do(proto.OpGetxattr, 1, &fuse.GetXAttrIn{}, "", "user.a").Errno)
		assert.Equal(t, syscall.ENOSYS, c.do(proto.OpIoctl, 1, &fuse.IoctlIn{}, "").Errno)
	}
	c.do(proto.OpRelease, 1, nil, "")
	c.do(proto.OpForget, 1, nil, "")
	c.do(proto.OpBatchForget, 1, &proto.BatchForgetIn{}, "")
	totals := s.Totals()
	assert.EqualValues(t, 1, totals.Ended)
	assert.EqualValues(t, 3, totals.Quiet)
	assert.EqualValues(t, 2, totals.Off, "the kernel forgets that IOCTL is off, so it is asked again")
	assert.EqualValues(t, 6, totals.Calls)
}

func TestOpenStaysOn(t *testing.T) {
	for _, off := range []bool{false, true} {
		o := conversation(Full, 0)
		o.OpenOff = off
		s := New(&script{lines: []string{`{"Reply":{"Errno":38}}`}}, o)
		want := map[bool]syscall.Errno{false: syscall.EIO, true: syscall.ENOSYS}[off]
		assert.Equal(t, want, callerOf(t, s).do(proto.OpOpen, 2, nil, "").Errno)
	}
}

func TestLeanRepliesAreCompleted(t *testing.T) {
	o := conversation(Full, 0)
	o.Fields = schema.Lean
	said := `{"Reply": {"Errno":0, "Out":{"NodeId":7,"Attr":{"Size":3,"Atime":5,"Mtime":5,"Ctime":5,"Mode":33188,"Nlink":1,"Owner":{"Uid":0,"Gid":0}}}}}`
	m := &script{lines: []string{said}}
	s := New(m, o)
	r := callerOf(t, s).do(proto.OpLookup, 1, nil, "", "x")
	require.Zero(t, r.Errno, "%v", s.Totals())
	out := r.Out.(*fuse.EntryOut)
	assert.EqualValues(t, 3600, out.EntryValid)
	assert.EqualValues(t, 7, out.Ino)
	turns := s.memory.history.past().turns
	assert.Equal(t, strings.ReplaceAll(said, " ", ""), turns[1].Content, "as the model gave it")
	assert.True(t, strings.HasSuffix(m.prompts[0].Schema.Name, "_lean"))
}

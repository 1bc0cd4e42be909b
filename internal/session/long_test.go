package session

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// untar makes directories of files, about 5 requests a file, as tar does.
func untar(c *caller, requests int, after func(n int)) {
	dir := uint64(1)
	for file := 0; int(c.unique/2) < requests; file++ {
		if file%40 == 0 {
			dir = c.mkdir(1, fmt.Sprintf("dir-%d", file))
		}
		name := fmt.Sprintf("file-%d.txt", file)
		c.lookup(dir, name)
		id := c.file(dir, name, strings.Repeat(name+"\n", 20))
		c.do(proto.OpGetattr, id, nil, "")
		if file%40 == 39 {
			c.list(dir)
			c.read(id)
		}
		after(int(c.unique / 2))
	}
}

// TestPromptsStayBounded prints the curve: prompt tokens by requests so far.
func TestPromptsStayBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("5,000 requests")
	}
	m := newRight()
	c := callerOf(t, New(m, conversation(Ledger, 8)))
	fmt.Println("requests  tokens of the prompt behind the system message: largest and mean of the last 12")
	largest := map[int]int{}
	next := 100
	untar(c, 5000, func(n int) {
		if n < next {
			return
		}
		most, total := 0, 0
		last := m.prompts[len(m.prompts)-12:]
		for _, p := range last {
			tokens := 0
			for _, message := range p.Messages[1:] {
				exact, err := CountTokens(message.Content)
				require.NoError(t, err)
				tokens += exact
			}
			most, total = max(most, tokens), total+tokens
		}
		fmt.Printf("%8d  %6d %6d\n", n, most, total/len(last))
		largest[next] = most
		next = map[int]int{100: 500, 500: 1000, 1000: 2000, 2000: 3000, 3000: 4000, 4000: 4990, 4990: 1 << 30}[next]
	})
	assert.Less(t, largest[4990], largest[100]*2+500)
}

func TestEstimatesOfTokens(t *testing.T) {
	m := newRight()
	story(callerOf(t, New(m, conversation(Full, 0))))
	exact, estimate := 0, 0
	for _, message := range m.last().Messages[1:] {
		n, err := CountTokens(message.Content)
		require.NoError(t, err)
		exact, estimate = exact+n, estimate+textTokens(len(message.Content))
	}
	fmt.Printf("a small session: %d tokens, estimated %d\n", exact, estimate)
	assert.GreaterOrEqual(t, estimate, exact*9/10)
	assert.Less(t, estimate, exact*3/2)
}

func TestTheBudgetLeavesOutWhatMattersLess(t *testing.T) {
	m := newRight()
	o := conversation(Ledger, 4)
	o.PromptTokens = 1500
	c := callerOf(t, New(m, o))
	dir := c.mkdir(1, "d")
	for i := range 60 {
		c.file(dir, fmt.Sprint(i), "some text\n")
	}
	big := c.file(dir, "big", strings.Repeat("x", 100_000))
	c.do(proto.OpReaddirplus, dir, &fuse.ReadIn{Fh: c.open(proto.OpOpendir, dir, 0), Size: 32768}, "")
	listing := m.last().Messages[len(m.last().Messages)-1].Content
	assert.Contains(t, listing, `"LeftOut":{"Entries":`)
	c.read(big)
	text := m.last().Messages[len(m.last().Messages)-1].Content
	assert.Contains(t, text, `"LeftOut":{"Bytes":100000}`)
	assert.Contains(t, text, `"Content":[{"Offset":0,"Length":100000}]`)
	for _, p := range m.prompts {
		tokens := 0
		for _, message := range p.Messages[1:] {
			n, err := CountTokens(message.Content)
			require.NoError(t, err)
			tokens += n
		}
		if p.Op != proto.OpWrite { // what is written has to be told
			assert.Less(t, tokens, 2200, "%v", p.Op)
		}
	}
}

// BenchmarkLedger is one request's projection and selection after 5,000.
func BenchmarkLedger(b *testing.B) {
	m := newRight()
	s := New(m, conversation(Ledger, 8))
	c := callerOf(b, s)
	untar(c, 5000, func(int) {})
	dir, large := c.lookup(1, "dir-0"), c.mkdir(1, "large")
	for i := range 2000 {
		c.create(large, fmt.Sprint(i))
	}
	c.list(large)
	requests := map[string]func() (*proto.Request, *proto.Reply){}
	for name, req := range map[string]*proto.Request{
		"lookup":      c.request(proto.OpLookup, dir, nil, "", "file-7.txt"),
		"getattr":     c.request(proto.OpGetattr, c.lookup(dir, "file-7.txt"), nil, ""),
		"read":        c.request(proto.OpRead, c.lookup(dir, "file-7.txt"), &fuse.ReadIn{Size: 4096}, ""),
		"write":       c.request(proto.OpWrite, c.lookup(dir, "file-7.txt"), &fuse.WriteIn{Size: 4096}, strings.Repeat("y", 4096)),
		"readdirplus": c.request(proto.OpReaddirplus, dir, &fuse.ReadIn{Size: 4096}, ""),
		"in 2,000":    c.request(proto.OpLookup, large, nil, "", "77"),
		"list 2,000":  c.request(proto.OpReaddirplus, large, &fuse.ReadIn{Size: 4096}, ""),
		"root":        c.request(proto.OpReaddirplus, 1, &fuse.ReadIn{Size: 32768}, ""),
	} {
		reply := s.Handle(context.Background(), req)
		requests[name] = func() (*proto.Request, *proto.Reply) { return req, reply }
	}
	for name, pair := range requests {
		req, reply := pair()
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s.memory.ledger.apply(req, reply)
				s.memory.strategy.recall(req, s.memory.history.past())
			}
		})
	}
}

// BenchmarkOverhead is a whole request at 5,000, without the model.
func BenchmarkOverhead(b *testing.B) {
	for name, o := range map[string]Options{"ledger": conversation(Ledger, 8), "full": conversation(Full, 0), "window": conversation(Window, 8)} {
		b.Run(name, func(b *testing.B) {
			m := newRight()
			s := New(m, o)
			c := callerOf(b, s)
			untar(c, 5000, func(int) {})
			req := c.request(proto.OpLookup, c.lookup(1, "dir-0"), nil, "", "file-7.txt")
			reply := m.answerTo(b, s, req)
			s.model = answerer(func(context.Context, *model.Prompt) (*model.Answer, error) { return reply, nil })
			b.ResetTimer()
			for b.Loop() {
				s.Handle(context.Background(), req)
			}
		})
	}
}

func (r *right) answerTo(b *testing.B, s *Session, req *proto.Request) *model.Answer {
	text, err := proto.AppendRequestJSON(nil, req)
	require.NoError(b, err)
	answer, err := r.Answer(context.Background(), &model.Prompt{Op: req.Op, Request: text})
	require.NoError(b, err)
	return answer
}

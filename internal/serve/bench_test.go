package serve

import (
	"fmt"
	"testing"

	"github.com/llmfs-raw/llmfs-raw/internal/model/openai"
	"github.com/llmfs-raw/llmfs-raw/internal/session"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// benchmark is requests through session, client and server, with so many
// behind them.
func benchmark(b *testing.B, context session.Context, history int) {
	base, _, stop := started(b, Options{})
	defer stop()
	c := mounted(b, client(b, base, func(o *openai.Options) { o.Stream = openai.StreamNever }), session.Options{Context: context, PromptTokens: 32_000})
	c.same = func(*proto.Request, *proto.Reply, *proto.Reply) {}
	dir, n := uint64(1), 0
	more := func() {
		if n%40 == 0 {
			dir = c.mkdir(1, fmt.Sprint("dir", n))
		}
		name := fmt.Sprint("file", n)
		c.lookup(dir, name)
		c.file(dir, name, "some text of a line or so\n")
		n++
	}
	for int(c.unique/2) < history {
		more()
	}
	begun := c.session.Totals().Calls
	for b.Loop() {
		more()
	}
	calls := float64(c.session.Totals().Calls - begun)
	b.ReportMetric(calls/b.Elapsed().Seconds(), "calls/s")
	b.ReportMetric(0, "ns/op")
}

func BenchmarkFull1000(b *testing.B)   { benchmark(b, shown(session.Full, 0), 1000) }
func BenchmarkLedger5000(b *testing.B) { benchmark(b, shown(session.Ledger, 8), 5000) }

package run

// Traces in memory: the last few, so that memory does not grow with the corpus.

import (
	"sync"

	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/evals/score"
)

const mostTraces = 4

type traces struct {
	corpus *evals.Corpus
	tag    func(*evals.Trace) []evals.Tags

	mu   sync.Mutex
	last []*readTrace // the oldest first
}

type readTrace struct {
	file  string
	once  sync.Once
	trace *evals.Trace
	gold  *score.Gold
	tags  []evals.Tags
	err   error
}

func newTraces(c *evals.Corpus, tag func(*evals.Trace) []evals.Tags) *traces {
	return &traces{corpus: c, tag: tag}
}

// get reads a trace, unless it is one of the last.
func (t *traces) get(info evals.TraceInfo) (*readTrace, error) {
	r := t.entry(info.File)
	r.once.Do(func() {
		if r.trace, r.err = t.corpus.Trace(info); r.err != nil {
			return
		}
		r.gold = score.NewGold(r.trace)
		if t.tag != nil {
			r.tags = t.tag(r.trace)
		}
	})
	return r, r.err
}

func (t *traces) entry(file string) *readTrace {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.last {
		if r.file == file {
			return r
		}
	}
	r := &readTrace{file: file}
	t.last = append(t.last, r)
	if len(t.last) > mostTraces {
		t.last = t.last[1:]
	}
	return r
}

package serve

// What a server can be told.

import (
	"cmp"
	"log/slog"
	"slices"
	"time"

	"github.com/llmfs-raw/llmfs-raw/internal/model/reference"
)

// Options of a server. The zero value is a server without faults.
type Options struct {
	Models []string          // names that are served beside DefaultModel
	Key    string            // the only key that is let in; "" lets every key in but none
	World  reference.Options // the filesystem that a conversation begins with

	Faults  *Faults       // nil is none; see ReadFaults
	Latency Latency       // of every answer, unless a rule of Faults has another
	Grace   time.Duration // that requests under way get when a server ends; 0 is 1 s

	MaxBody       int64 // bytes of a request's body; 0 is 64 MiB
	ContextTokens int   // that prompt and answer may have together; 0 is no limit
	CacheBytes    int64 // memory for worlds of conversations that may go on; 0 is 256 MiB

	Log *slog.Logger // a line for each request; nil is none
}

// DefaultModel is the name that is always served.
const DefaultModel = "gpt-test"

// Latency is how long an answer takes; the zero value is no time.
type Latency struct {
	FirstToken      time.Duration
	TokensPerSecond float64 // 0 is all at once
}

func (o Options) withDefaults() Options {
	o.Grace = cmp.Or(o.Grace, time.Second)
	o.MaxBody = cmp.Or(o.MaxBody, 64<<20)
	o.CacheBytes = cmp.Or(o.CacheBytes, 256<<20)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Faults == nil {
		o.Faults = new(Faults)
	}
	if !slices.Contains(o.Models, DefaultModel) {
		o.Models = append([]string{DefaultModel}, o.Models...)
	}
	return o
}

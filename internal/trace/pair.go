package trace

// What a line holds, as structs.

import (
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// Version is the version of the format that this package writes.
const Version = 1

// Name is the header's "trace".
const Name = "llmfs-raw"

// Header is a trace's first line.
type Header struct {
	Trace   string            `json:"trace"`   // Name; set by the writer
	Version int               `json:"version"` // set by the writer
	Created time.Time         `json:"created"`
	Wire    *Wire             `json:"wire"` // nil until INIT
	Model   string            `json:"model"`
	Options map[string]string `json:"options"` // no secrets: traces are passed on
}

// Wire is [proto.Wire] under the names of the format.
type Wire struct {
	Minor       uint32 `json:"minor"`
	SetxattrExt bool   `json:"setxattr_ext"`
}

// Pair is one request and what was answered.
type Pair struct {
	Req    *proto.Request
	Rep    *proto.Reply  // nil where the request takes no reply
	Took   time.Duration // from reading the request to having its reply
	Usage  Usage
	Kernel *Kernel // nil unless kernel bytes are recorded
	Note   string  // what the daemon did by itself, "" where nothing
}

// Usage is what an answer cost, in tokens.
type Usage struct {
	InputTokens  int `json:"input_tokens"` // cached ones included
	CachedTokens int `json:"cached_tokens"`
	OutputTokens int `json:"output_tokens"`
}

// Add adds v.
func (u *Usage) Add(v Usage) {
	u.InputTokens += v.InputTokens
	u.CachedTokens += v.CachedTokens
	u.OutputTokens += v.OutputTokens
}

// Kernel is a pair as bytes of /dev/fuse.
type Kernel struct {
	Req []byte `json:"req"`
	Rep []byte `json:"rep"` // nil where there was none
}

// negotiated is what p says about the messages after it: something only where
// p is an INIT that succeeded.
func (p *Pair) negotiated() (proto.Wire, bool) {
	if p.Rep == nil || p.Rep.Errno != 0 {
		return proto.Wire{}, false
	}
	out, ok := p.Rep.Out.(*fuse.InitOut)
	if !ok {
		return proto.Wire{}, false
	}
	return proto.WireOf(out), true
}

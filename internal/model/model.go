// Package model is the one question that a filesystem asks of whatever serves
// it. Each answerer is a sub-package.
package model

import (
	"context"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// A Model answers requests. Answer is called from many goroutines at once and
// returns soon after ctx is done.
type Model interface {
	Answer(ctx context.Context, p *Prompt) (*Answer, error)
}

// Prompt is one question.
type Prompt struct {
	Op      proto.Opcode
	Request []byte // the request as JSON; valid until Answer returns
}

// Answer is what came back, not yet checked.
type Answer struct {
	Reply []byte // JSON
	Usage Usage
}

// Usage is what an answer cost; all zero for answerers without tokens.
type Usage struct {
	InputTokens  int // prompt tokens, cached ones included
	CachedTokens int
	OutputTokens int
}

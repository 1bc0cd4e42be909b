// Package model is the one question that a filesystem asks of whatever serves
// it. Each answerer is a sub-package.
package model

import (
	"context"
	"fmt"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// A Model answers requests. Answer is called from many goroutines at once and
// returns soon after ctx is done. An error that says why is an *[Error].
type Model interface {
	Answer(ctx context.Context, p *Prompt) (*Answer, error)
}

// Prompt is one question.
type Prompt struct {
	Op      proto.Opcode
	Request []byte // the request as JSON; valid until Answer returns
	Scratch []byte // memory that the reply may be appended to, at Scratch[:0]
	// Messages are the conversation that ends in the request, for models that
	// read text, and valid until Answer returns; Schema is what its answer must be. Both are empty for models
	// that need the request alone.
	Messages []Message
	Schema   Schema
}

// Message is one turn of a conversation.
type Message struct {
	Role    string `json:"role"` // RoleSystem, RoleUser or RoleAssistant
	Content string `json:"content"`
}

// The roles of a conversation, as chat completions name them.
const (
	RoleSystem    = "system"
	RoleUser      = "user"
	RoleAssistant = "assistant"
)

// Schema is a JSON Schema of replies. Its bytes are always the same for the
// same name, so that servers can compile it once.
type Schema struct {
	Name string
	JSON []byte
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

// Kind is a reason for having no answer.
type Kind uint8

const (
	Outage    Kind = iota // the server can't be reached or fails, after all retries
	Refused               // the model refuses to answer
	Filtered              // a content filter cut the answer
	Truncated             // the answer reached the limit on output tokens
	Empty                 // there was no choice, or nothing in it
	Denied                // key, account or permission: 401, 403, 404
	Rejected              // the server takes no such request, its schema say: 400
	Limited               // the rate limit lasted through all retries: 429
)

var kinds = [...]string{
	Outage: "outage", Refused: "refusal", Filtered: "content filter", Truncated: "truncated",
	Empty: "empty answer", Denied: "access denied", Rejected: "request rejected", Limited: "rate limit",
}

func (k Kind) String() string { return kinds[k] }

// Error is why there is no answer, and what that cost all the same.
type Error struct {
	Kind  Kind
	Err   error
	Usage Usage
}

func (e *Error) Error() string { return fmt.Sprintf("%v: %v", e.Kind, e.Err) }
func (e *Error) Unwrap() error { return e.Err }

package fuseraw

// The context of a request. Most handlers return before they look at it, so
// the standard library's, with its channel and lock, is made when somebody does.

import (
	"context"
	"sync"
	"time"
)

// callContext implements [context.Context]; the loop keeps its deadline.
type callContext struct {
	deadline time.Time // zero where there is none

	mu     sync.Mutex
	inner  context.Context // nil until it is looked at
	cancel context.CancelCauseFunc
	cause  error // nil until the end
}

// end ends the context; the first cause counts.
func (c *callContext) end(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause != nil {
		return
	}
	c.cause = cause
	if c.cancel != nil {
		c.cancel(cause)
	}
}

func (c *callContext) standard() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inner == nil {
		c.inner, c.cancel = context.WithCancelCause(context.Background())
		if c.cause != nil {
			c.cancel(c.cause)
		}
	}
	return c.inner
}

func (c *callContext) Deadline() (time.Time, bool) { return c.deadline, !c.deadline.IsZero() }
func (c *callContext) Done() <-chan struct{}       { return c.standard().Done() }
func (c *callContext) Value(key any) any           { return c.standard().Value(key) }

func (c *callContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil {
		return nil
	}
	return context.Canceled
}

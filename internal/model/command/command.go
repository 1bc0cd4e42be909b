package command

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/cenkalti/backoff/v5"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
)

var errClosed = errors.New("command is closed")

// Command implements model.Model. It is safe for parallel use.
type Command struct {
	text   string // the command
	o      Options
	stop   context.CancelFunc
	ended  chan struct{} // closed once the last process is gone
	mu     sync.Mutex
	now    *process
	change chan struct{} // closed when now changes
	over   error         // why there will be no other process
	id     uint64
}

// New starts the command.
func New(command string, o Options) (*Command, error) {
	o = o.withDefaults()
	p, err := start(command, o)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	c := &Command{text: command, o: o, stop: stop, ended: make(chan struct{}), now: p, change: make(chan struct{})}
	go c.supervise(ctx)
	return c, nil
}

// Close ends the command: its standard input ends, and what is left of its
// process group after the grace is killed. Requests that wait fail.
func (c *Command) Close() error {
	c.stop()
	<-c.ended
	return nil
}

// Answer implements model.Model.
func (c *Command) Answer(ctx context.Context, p *model.Prompt) (*model.Answer, error) {
	proc, id, err := c.process(ctx)
	if err != nil {
		return nil, err
	}
	text, err := questionLine(id, p)
	if err != nil {
		return nil, &model.Error{Kind: model.Rejected, Err: err}
	}
	return proc.ask(ctx, id, text)
}

// process waits for a process that runs.
func (c *Command) process(ctx context.Context) (*process, uint64, error) {
	for {
		c.mu.Lock()
		now, change, over := c.now, c.change, c.over
		c.id++
		id := c.id
		c.mu.Unlock()
		switch {
		case over != nil:
			return nil, 0, &model.Error{Kind: model.Outage, Err: over}
		case now != nil:
			return now, id, nil
		}
		select {
		case <-change:
		case <-ctx.Done():
			return nil, 0, ended(ctx)
		}
	}
}

// ended is the error of a request whose context is done.
func ended(ctx context.Context) error {
	if ctx.Err() == context.DeadlineExceeded {
		return &model.Error{Kind: model.Outage, Err: ctx.Err()}
	}
	return ctx.Err()
}

// supervise starts the next process when one has ended, until ctx is done or
// there were too many.
func (c *Command) supervise(ctx context.Context) {
	defer close(c.ended)
	pause, left := c.pauses(), c.o.Restarts
	for p := c.now; p != nil; {
		died := p.wait(ctx)
		if p.answered.Load() {
			pause.Reset()
			left = c.o.Restarts
		}
		final := c.final(ctx, died, left)
		c.set(nil, final) // before those that wait are told: they may ask again
		if p.end(died); final != nil {
			return
		}
		left--
		if sleep(ctx, pause.NextBackOff()); ctx.Err() != nil {
			c.set(nil, errClosed)
			return
		}
		p = c.restart()
	}
}

// final is why there is no next process, or nil.
func (c *Command) final(ctx context.Context, died error, left int) error {
	switch {
	case ctx.Err() != nil:
		return errClosed
	case left == 0:
		return fmt.Errorf("%w; it is not started again", died)
	}
	return nil
}

func (c *Command) pauses() *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.Multiplier, b.MaxInterval, b.RandomizationFactor = c.o.Backoff, 2, maxBackoff, 0
	b.Reset()
	return b
}

// restart is nil where not even sh can be started.
func (c *Command) restart() *process {
	p, err := start(c.text, c.o)
	c.set(p, err)
	return p
}

func (c *Command) set(p *process, over error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now, c.over = p, over
	close(c.change)
	c.change = make(chan struct{})
}

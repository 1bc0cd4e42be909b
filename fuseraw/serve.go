package fuseraw

// A connection's life, from INIT to the unmount.

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// Serve answers requests until the filesystem is unmounted: from outside, or
// because ctx ends, which unmounts it even where it is busy. Both are nil. It
// returns when every request has been answered and every handler has returned,
// and says how many have not after 5 s.
func (c *Conn) Serve(ctx context.Context, h Handler) error {
	c.handler = h
	c.serving.Store(true)
	go c.notify.run()
	c.idle.n.Add(1)
	c.readers.Go(c.serveInit)
	c.readers.Go(c.relieve)
	shut := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { c.shutdown(); close(shut) })
	<-c.ended
	if !stop() {
		<-shut
	}
	return errors.Join(c.endErr, c.wait())
}

// relieve starts a reader whenever the others are all busy for long.
func (c *Conn) relieve() {
	for c.idle.await(c.ended) {
		c.idle.n.Add(1)
		c.readers.Go(c.read)
	}
}

// finish is called by whoever first finds that the connection has ended.
func (c *Conn) finish(err error) {
	c.end.Do(func() {
		c.endErr = err
		close(c.ended)
	})
}

// serveInit answers the first request, then goes on as a reader.
func (c *Conn) serveInit() {
	buf := c.buffers.Get().(*[]byte)
	n, err := c.dev.read(*buf)
	if err == nil {
		err = c.answerInit((*buf)[:n])
	}
	if err != nil {
		c.finish(endError(err))
		return
	}
	c.buffers.Put(buf)
	close(c.ready)
	c.read()
}

func (c *Conn) answerInit(b []byte) error {
	start := c.opts.Now()
	c.count.requests.Add(1)
	req, err := c.wire.DecodeRequest(b)
	if err != nil {
		return fmt.Errorf("serve: first request: %w", err)
	}
	offer, ok := req.In.(*fuse.InitIn)
	if !ok {
		return fmt.Errorf("serve: first request: have %v, want INIT", req.Op)
	}
	c.complete(req, start)
	cl := &call{req: req, raw: b, start: start}
	c.unanswered.Add(1)
	c.out, c.flags, err = proto.Negotiate(offer, c.opts.Init)
	if err != nil {
		c.answer(cl, &proto.Reply{Errno: syscall.EPROTO}, "")
		return fmt.Errorf("serve: INIT: %w", err)
	}
	c.answer(cl, &proto.Reply{Out: c.out}, "")
	c.wire = proto.WireOf(c.out)
	return nil
}

// endError is nil for the normal end.
func endError(err error) error {
	if errors.Is(err, errGone) {
		return nil
	}
	return err
}

// shutdown ends the connection because Serve's context has ended.
func (c *Conn) shutdown() {
	if c.mount != nil && c.unmountIdle() {
		return
	}
	c.abort()
	if c.mount != nil {
		_ = c.mount.detach() // hanging up ends it where this fails
	}
	// The readers go on and refuse what comes, so that a notification that
	// waits for a lock gets it, and locks held over requests in flight end.
	within(c.limits.patience, func() bool { return c.unanswered.Load() == 0 && isClosed(c.notify.done) })
	if err := c.dev.hangup(); err != nil {
		c.finish(fmt.Errorf("serve: hang up: %w", err))
	}
}

// unmountIdle unmounts what is not busy; requests are served meanwhile. It
// gives up where that takes long, or where another mount namespace keeps the
// filesystem.
func (c *Conn) unmountIdle() bool {
	result := make(chan error, 1)
	go func() { result <- c.mount.unmount() }()
	select {
	case err := <-result:
		return err == nil && within(c.limits.patience, func() bool { return isClosed(c.ended) })
	case <-time.After(c.limits.lingering):
		return false
	}
}

// abort ends every request in flight and every notification that waits.
func (c *Conn) abort() {
	c.ending.Store(true)
	c.die(ErrUnmounted)
	for _, cl := range c.inflight.all() {
		c.stop(cl, ErrUnmounted)
	}
	c.notify.stop()
}

// wait ends what is left after the connection's end.
func (c *Conn) wait() error {
	c.abort()
	if err := c.dev.hangup(); err != nil {
		return fmt.Errorf("serve: hang up: %w", err)
	}
	done := make(chan struct{})
	go func() { c.readers.Wait(); <-c.notify.done; close(done) }()
	select {
	case <-done:
	case <-time.After(c.limits.lingering):
		return fmt.Errorf("serve: %d handlers still running %v after the unmount", c.inflight.len(), c.limits.lingering)
	}
	c.dev.close()
	c.callers.close()
	if c.mount == nil {
		return nil
	}
	return c.mount.clear()
}

// within polls until ok, at most for d.
func within(d time.Duration, ok func() bool) bool {
	for end := time.Now().Add(d); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

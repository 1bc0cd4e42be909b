package fuseraw

// Deadlines, kept by one timer: every request has the same time, so the first
// to run out is the oldest.

import "time"

// watch has the deadlines looked after while there are requests.
func (c *Conn) watch(limit time.Duration) {
	if c.watching.Load() || !c.watching.CompareAndSwap(false, true) {
		return
	}
	time.AfterFunc(limit, c.overdue)
}

// overdue ends the requests whose time is over, and comes again for the next.
func (c *Conn) overdue() {
	c.watching.Store(false)
	now, next := time.Now(), time.Duration(-1)
	for _, cl := range c.inflight.all() {
		left := cl.ctx.deadline.Sub(now)
		switch {
		case cl.ctx.deadline.IsZero():
		case left <= 0:
			c.stop(cl, ErrDeadline)
		case next < 0 || left < next:
			next = left
		}
	}
	if next >= 0 {
		c.watch(next)
	}
}

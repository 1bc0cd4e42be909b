package run

// How many questions a server gets at the same time: one more for each round of
// answers, half as many after it said that this is too much.

import (
	"context"
	"sync"
)

type limiter struct {
	mu    sync.Mutex
	freed *sync.Cond
	inUse int
	limit float64
	most  int
}

func newLimiter(most int) *limiter {
	l := &limiter{limit: float64(most), most: most}
	l.freed = sync.NewCond(&l.mu)
	return l
}

// acquire waits for a place.
func (l *limiter) acquire(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.freed.Broadcast()
	})
	defer stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.inUse >= int(l.limit) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		l.freed.Wait()
	}
	l.inUse++
	return context.Cause(ctx)
}

func (l *limiter) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inUse--
	l.freed.Broadcast()
}

// answered lets more in.
func (l *limiter) answered() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.limit = min(l.limit+1/l.limit, float64(l.most))
	l.freed.Broadcast()
}

// limited lets fewer in.
func (l *limiter) limited() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.limit = max(l.limit/2, 1)
}

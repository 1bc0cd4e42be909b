package fuseraw

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// However many readers are about to leave, and however requests come, somebody
// always reads.
func TestSomebodyAlwaysReads(t *testing.T) {
	for _, enough := range []int64{1, 2, 3} {
		hammer(t, enough)
	}
}

// hammer has 8 readers take turns; each that is started takes a token.
func hammer(t *testing.T, enough int64) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8)) // more interleavings
	const most = 300_000
	var (
		idle    = newIdlers()
		rounds  atomic.Int64
		readers sync.WaitGroup
		starts  = make(chan struct{}, 1000)
		done    = make(chan struct{})
		end     = sync.OnceFunc(func() { close(done) })
	)
	idle.n.Add(1)
	starts <- struct{}{}
	read := func() {
		for stay := true; stay && rounds.Add(1) < most; stay = idle.back(enough) {
			idle.busy()
		}
		if rounds.Load() >= most {
			end()
		}
	}
	readers.Go(func() {
		for idle.await(done) {
			idle.n.Add(1)
			starts <- struct{}{}
		}
	})
	for range 8 {
		readers.Go(func() {
			for {
				select {
				case <-starts:
					read()
				case <-done:
					return
				}
			}
		})
	}
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		assert.Fail(t, "nobody reads", "%d rounds, %d idle", rounds.Load(), idle.n.Load())
		end()
	}
	readers.Wait()
}

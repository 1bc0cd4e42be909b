package fuseraw

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A reader may only leave while another one waits, however many are about to.
// Counting itself in for a moment, one once made others leave that relied on
// it: then nobody read, and the mount hung.
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
		idle    idlers
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
			if idle.busy() {
				starts <- struct{}{}
			}
		}
		if rounds.Load() >= most {
			end()
		}
	}
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

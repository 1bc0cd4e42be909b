package fuseraw

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A reader may only leave while another one waits, however many are about to.
// Counting itself in for a moment, one once made others leave that relied on
// it: then nobody read, and the mount hung.
func TestSomebodyAlwaysReads(t *testing.T) {
	for enough := range int64(3) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8)) // more interleavings
		var idle idlers
		var rounds atomic.Int64
		starts := make(chan struct{}, 1000)
		done := make(chan struct{})
		idle.n.Add(1)
		starts <- struct{}{}
		for range 8 {
			go func() {
				for range starts {
					for stay := true; stay; stay = idle.back(enough + 1) {
						if rounds.Add(1) == 300_000 {
							close(done)
						}
						if idle.busy() {
							starts <- struct{}{}
						}
					}
				}
			}()
		}
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			require.FailNow(t, "nobody reads", "after %d rounds with %d idle", rounds.Load(), idle.n.Load())
		}
	}
}

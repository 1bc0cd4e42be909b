package main

// How many threads may run Go code at once.

import (
	"os"
	"runtime"
)

// moreProcs gives the scheduler twice as many processors as there are. A thread
// that comes back from a blocking read of /dev/fuse then finds its own free, as
// good as always; else it has to wait for one. GOMAXPROCS overrides it.
func moreProcs() {
	const spare = 2
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(spare * runtime.GOMAXPROCS(0))
	}
}

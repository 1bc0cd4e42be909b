package main

// How often garbage is collected: by default whenever the heap has doubled,
// which for a small filesystem is all the time.

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// slack is how many bytes of garbage a small heap may gather. Above that size
// the default holds, so that memory a file stays as it is.
const slack = 32 << 20

// collectLater adjusts the collector after each collection. GOGC overrides it.
func collectLater(gogc string) {
	if gogc != "" {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetGCPercent(int(max(100, slack*100/max(live[0].Value.Uint64(), 1<<20))))
	runtime.AddCleanup(new([16]byte), collectLater, gogc)
}

// The list of workloads and what each is given and gives back.

package main

import "path/filepath"

// A workload runs in an empty directory that is its own and measures one or more
// rows of the table.
type workload struct {
	name string // matched by -only
	run  func(w work) ([]sample, error)
}

// work is where and how much.
type work struct {
	dir   string
	files int   // of a metadata storm
	bytes int64 // of a sequential file
	ops   int   // of random access
	repo  string
}

func (w work) path(name string) string { return filepath.Join(w.dir, name) }

// A sample is one measurement of one row. More is better.
type sample struct {
	row, unit string
	rate      float64
}

const (
	mib    = 1 << 20
	kib    = 1 << 10
	opsSec = "ops/s"
	mibSec = "MiB/s"
)

var workloads = []workload{
	{"create stat unlink, 1 thread", storm(1)},
	{"create stat unlink, 8 threads", storm(8)},
	{"sequential binary 1 MiB", sequential("binary", binaryBlock, mib)},
	{"sequential binary 128 KiB", sequential("binary", binaryBlock, 128*kib)},
	{"sequential text 1 MiB", sequential("text", textBlock, mib)},
	{"sequential text 128 KiB", sequential("text", textBlock, 128*kib)},
	{"random 4 KiB", random},
	{"git clone", clone},
}

// targets are the least acceptable ratios to go-fuse's loopback.
var targets = map[string]float64{
	"create, 1 thread":         0.8,
	"create, 8 threads":        0.8,
	"unlink, 1 thread":         0.8,
	"unlink, 8 threads":        0.8,
	"write binary 1 MiB":       0.5,
	"write binary 128 KiB":     0.5,
	"write text 1 MiB":         0.5,
	"write text 128 KiB":       0.5,
	"cold read binary 1 MiB":   0.3,
	"cold read binary 128 KiB": 0.3,
	"cold read text 1 MiB":     0.3,
	"cold read text 128 KiB":   0.3,
}

package command

import (
	"cmp"
	"io"
	"os"
	"time"
)

// MaxLine is the longest line in bytes, in either direction.
const MaxLine = 8 << 20

// Options of a command. Zero values are good defaults.
type Options struct {
	Dir      string        // where it runs; "" is here
	Env      []string      // "NAME=value"; nil is our own
	Stderr   io.Writer     // gets its standard error; nil is ours
	Prefix   string        // before each line of it; "" is "exec: "
	Restarts int           // without an answer in between; 0 is 5, below 0 is none
	Backoff  time.Duration // before the first restart; 0 is 100 ms, at most 10 s
	Grace    time.Duration // for it to end by itself; 0 is 2 s
}

func (o Options) withDefaults() Options {
	if o.Stderr == nil {
		o.Stderr = os.Stderr
	}
	o.Prefix = cmp.Or(o.Prefix, "exec: ")
	o.Restarts = max(cmp.Or(o.Restarts, 5), 0)
	o.Backoff = cmp.Or(o.Backoff, 100*time.Millisecond)
	o.Grace = cmp.Or(o.Grace, 2*time.Second)
	return o
}

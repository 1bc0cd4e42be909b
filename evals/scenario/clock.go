package scenario

// The clock of a recording. It begins at a fixed moment and goes on by a fixed
// step with each request whose reply somebody waits for, so what programs see of
// it is the same each time, and never stands still between two steps.

import (
	"sync"
	"time"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// epoch lies in the past, so that no program finds files from the future.
var epoch = time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)

const clockStep = 125*time.Millisecond + time.Nanosecond

// Live, how many requests a command needs is the model's choice, so the seconds
// are those of the commands.
const (
	commandStep = time.Second
	requestStep = time.Microsecond
)

type clock struct {
	mu       sync.Mutex
	live     bool
	ticks    int64 // requests
	commands int64 // only where live
}

// command begins the next command's second.
func (c *clock) command() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.commands++
}

// ticking tells whether a request moves the clock. One that may wait does not, as
// when it is answered depends on others; nor does INIT, which other mounts have, too.
func ticking(op proto.Opcode) bool {
	row := op.Row()
	return row.Reply != proto.ReplyNone && row.Reply != proto.ReplyIgnored && !row.Blocking && op != proto.OpInit
}

// tick is the moment of a request of this opcode.
func (c *clock) tick(op proto.Opcode) proto.Time {
	c.mu.Lock()
	if ticking(op) {
		c.ticks++
	}
	c.mu.Unlock()
	return c.current()
}

func (c *clock) current() proto.Time {
	now := c.now()
	return proto.Time{Sec: now.Unix(), Nsec: uint32(now.Nanosecond())}
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.live {
		return epoch.Add(time.Duration(c.commands)*commandStep + time.Duration(c.ticks)*requestStep)
	}
	return epoch.Add(time.Duration(c.ticks) * clockStep)
}

package scenario

// Programs' names and processes, without what depends on who records.

import (
	"bytes"
	"os"
	"strconv"
	"sync"
)

// shell is what our own processes are called: those that have been forked and not
// yet become the program that they are for.
const shell = "sh"

// program is what is known of a caller.
type program struct {
	comm    string
	process uint32 // the process of the thread
}

// programs remembers callers, for those that end before their last request is read.
type programs struct {
	self string

	mu   sync.Mutex
	last map[uint32]program // by thread
}

func newPrograms() *programs {
	self, _ := look("self")
	return &programs{self: self.comm, last: map[uint32]program{}}
}

// comm is the name of a thread's program.
func (n *programs) comm(thread uint32) string {
	p, ok := look(strconv.FormatUint(uint64(thread), 10))
	n.mu.Lock()
	defer n.mu.Unlock()
	if !ok {
		return n.last[thread].comm
	}
	if p.comm == n.self {
		p.comm = shell
	}
	n.last[thread] = p
	return p.comm
}

// process is a thread's process. The kernel tells requests by thread, but locks by
// process.
func (n *programs) process(thread uint32) uint32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p := n.last[thread].process; p != 0 {
		return p
	}
	return thread
}

// look reads what /proc says of a process or thread.
func look(name string) (p program, ok bool) {
	status, err := os.ReadFile("/proc/" + name + "/status")
	if err != nil {
		return p, false
	}
	for line := range bytes.Lines(status) {
		key, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(":\t"))
		switch string(key) {
		case "Name":
			p.comm = string(value)
		case "Tgid":
			n, err := strconv.ParseUint(string(value), 10, 32)
			p.process = uint32(n)
			return p, err == nil
		}
	}
	return p, false
}

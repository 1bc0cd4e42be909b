package fuseraw

// What /proc says about the program behind a request.

import (
	"bytes"
	"strconv"
	"sync"
	"time"

	"github.com/llmfs-raw/llmfs-raw/proto"
	"golang.org/x/sys/unix"
)

// complete adds to a request's header what a replay could not know.
func (c *Conn) complete(req *proto.Request, now time.Time) {
	h := &req.Header
	h.Now = proto.Time{Sec: now.Unix(), Nsec: uint32(now.Nanosecond())}
	if h.Pid == 0 { // the kernel itself, or a process that is not in the mount's pid namespace
		return
	}
	h.Comm = c.callers.comm(h.Pid)
	if c.opts.Init.OwnPermissions {
		h.Groups = c.callers.groups(h.Pid)
	}
}

// callers is how a Conn learns of callers. The pids are the kernel's, those of
// threads; /proc finds threads by number, too.
type callers struct {
	comm   func(pid uint32) string
	groups func(pid uint32) []uint32
	close  func()
}

func newCallers(o Options) *callers {
	comm, status := &procFiles{name: "comm"}, &procFiles{name: "status"}
	c := &callers{comm: o.Comm, groups: o.Groups, close: func() { comm.close(); status.close() }}
	if c.comm == nil {
		c.comm = func(pid uint32) string {
			var buf [64]byte
			return string(bytes.TrimSuffix(comm.read(pid, buf[:]), []byte("\n")))
		}
	}
	if c.groups == nil {
		c.groups = func(pid uint32) []uint32 {
			var buf [4096]byte
			return parseGroups(status.read(pid, buf[:]))
		}
	}
	return c
}

func parseGroups(status []byte) (groups []uint32) {
	line, _ := statusField(status, "Groups:")
	for field := range bytes.FieldsSeq(line) {
		gid, err := strconv.ParseUint(string(field), 10, 32)
		if err != nil {
			return groups
		}
		groups = append(groups, uint32(gid))
	}
	return groups
}

// procFiles keeps /proc/PID/name of recent callers open: reading an open one
// again takes 1 µs, opening it 10. The descriptor stays with its task: a new
// process with an old number gives ESRCH and is opened anew.
type procFiles struct {
	name string

	mu  sync.Mutex // held while reading, so that no descriptor is closed meanwhile
	fds map[uint32]int
}

const maxProcFiles = 64

// read is the file's start as far as buf can hold it; empty where the task is gone.
func (p *procFiles) read(pid uint32, buf []byte) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if fd, ok := p.fds[pid]; ok {
		if n, err := unix.Pread(fd, buf, 0); err == nil {
			return buf[:n]
		}
		unix.Close(fd)
		delete(p.fds, pid)
	}
	fd, err := unix.Open("/proc/"+strconv.FormatUint(uint64(pid), 10)+"/"+p.name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	p.keep(pid, fd)
	n, _ := unix.Pread(fd, buf, 0)
	return buf[:max(n, 0)]
}

// keep stores a descriptor, for which any other may have to go.
func (p *procFiles) keep(pid uint32, fd int) {
	if p.fds == nil {
		p.fds = map[uint32]int{}
	}
	for old, oldFd := range p.fds {
		if len(p.fds) < maxProcFiles {
			break
		}
		unix.Close(oldFd)
		delete(p.fds, old)
	}
	p.fds[pid] = fd
}

func (p *procFiles) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, fd := range p.fds {
		unix.Close(fd)
	}
	p.fds = nil
}

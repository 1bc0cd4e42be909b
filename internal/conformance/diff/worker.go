// The worker: a process of one side that makes the system calls. It is the test binary, executed
// again; it confines itself to the filesystem by chroot, takes its actor's identity and then answers
// requests on stdin until that is closed.

package diff

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// workerEnv tells the test binary to be a worker: "ACTOR DIR".
const workerEnv = "DIFF_WORKER"

// request is what the test asks a worker to do: a key of duties, with what the duty needs.
type request struct {
	Do    string
	Dir   string
	Op    Op
	Quiet bool
}

// result is what a system call gave.
type result struct {
	Errno int
	Val   int64
	Text  []byte
	Pid   int // process that F_GETLK named
	Stats []Stat
	Tree  []Node
	Bad   string // the worker itself went wrong
}

// worker is the state of the process.
type worker struct {
	proc  int // /proc, which is outside the chroot
	slots map[string]*slot
}

// slot is an open descriptor.
type slot struct {
	fd              int
	flocked, ofdSet bool
}

var duties = map[string]func(*worker, request) result{
	"create": (*worker).create,
	"begin":  (*worker).begin,
	"op":     (*worker).op,
	"fds":    (*worker).descriptors,
	"tree":   (*worker).tree,
	"end":    (*worker).end,
	"remove": (*worker).remove,
}

// RunWorker makes the process a worker if its environment says so, and then does not return.
func RunWorker() {
	spec := os.Getenv(workerEnv)
	if spec == "" {
		return
	}
	if err := workerMain(spec); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func workerMain(spec string) error {
	var index int
	var dir string
	if _, err := fmt.Sscanf(spec, "%d %s", &index, &dir); err != nil {
		return fmt.Errorf("%s=%q: %w", workerEnv, spec, err)
	}
	w := &worker{slots: make(map[string]*slot)}
	if err := w.enter(dir, actors[index]); err != nil {
		return err
	}
	debug.SetPanicOnFault(true)
	// AT_EMPTY_PATH compares the credentials of the opener by address, and each thread has its own.
	runtime.LockOSThread()
	return w.serve(os.Stdin, os.Stdout)
}

// enter confines the process to dir and gives it the actor's identity.
func (w *worker) enter(dir string, who actor) (err error) {
	if w.proc, err = unix.Open("/proc", unix.O_PATH|unix.O_CLOEXEC, 0); err != nil {
		return fmt.Errorf("open /proc: %w", err)
	}
	if err = unix.Chroot(dir); err != nil {
		return fmt.Errorf("chroot %s: %w", dir, err)
	}
	unix.Umask(0)
	if err = syscall.Setgroups(who.groups); err != nil {
		return fmt.Errorf("setgroups %v: %w", who.groups, err)
	}
	if err = syscall.Setgid(who.gid); err != nil {
		return fmt.Errorf("setgid %d: %w", who.gid, err)
	}
	if err = syscall.Setuid(who.uid); err != nil {
		return fmt.Errorf("setuid %d: %w", who.uid, err)
	}
	return unix.Chdir("/")
}

func (w *worker) serve(in io.Reader, out io.Writer) error {
	requests, results := gob.NewDecoder(in), gob.NewEncoder(out)
	for {
		var req request
		if err := requests.Decode(&req); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read request: %w", err)
		}
		res := duties[req.Do](w, req)
		if err := results.Encode(&res); err != nil {
			return fmt.Errorf("write result: %w", err)
		}
	}
}

// create makes the sequence's directory.
func (w *worker) create(req request) result {
	old := unix.Umask(0)
	defer unix.Umask(old)
	return done(unix.Mkdir(req.Dir, 0o777))
}

func (w *worker) begin(req request) result {
	return done(unix.Chdir(req.Dir))
}

// op makes one system call and then looks at the objects that it named.
func (w *worker) op(req request) result {
	row, _ := callNamed(req.Op.Call)
	res := row.run(w, args{w, req.Op})
	if !req.Quiet {
		res.Stats = append(res.Stats, w.touched(row, req.Op)...)
	}
	return res
}

// end forgets the sequence: descriptors, umask, working directory and changes to the root directory.
func (w *worker) end(request) result {
	for name := range w.slots {
		w.release(name)
	}
	unix.Umask(0)
	if unix.Getuid() == 0 {
		restoreRoot()
	}
	return done(unix.Chdir("/"))
}

// bind keeps fd in the slot, whose former descriptor is closed.
func (w *worker) bind(name string, fd int) {
	w.release(name)
	w.slots[name] = &slot{fd: fd}
}

// release closes a slot. Locks of the open file are given back first: see "locks end before close".
func (w *worker) release(name string) error {
	s, open := w.slots[name]
	if !open {
		return unix.EBADF
	}
	delete(w.slots, name)
	if s.flocked {
		unix.Flock(s.fd, unix.LOCK_UN)
	}
	if s.ofdSet {
		unix.FcntlFlock(uintptr(s.fd), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_UNLCK})
	}
	return unix.Close(s.fd)
}

// args gives an executor the arguments of its operation. The script was checked before.
type args struct {
	w  *worker
	op Op
}

func (a args) path(i int) string {
	s, _ := parseText(a.op.Args[i])
	return s
}

func (a args) num(i int) int64 {
	n, _ := parseNum(a.op.Args[i])
	return n
}

func (a args) int(i int) int { return int(a.num(i)) }

func (a args) data(i int) []byte {
	b, _ := parseData(a.op.Args[i])
	return b
}

func (a args) time(i int) unix.Timespec {
	t, _ := parseTime(a.op.Args[i])
	return t
}

// fd is the descriptor in the slot, or -1.
func (a args) fd(i int) int {
	if s := a.slot(i); s != nil {
		return s.fd
	}
	return -1
}

func (a args) slot(i int) *slot { return a.w.slots[a.op.Args[i]] }

// procPath names an open file below /proc.
func (a args) procPath(i int) string { return "self/fd/" + strconv.Itoa(a.fd(i)) }

func done(err error) result { return value(0, err) }

func value[N int | int64](n N, err error) result {
	var errno unix.Errno
	switch {
	case errors.As(err, &errno):
		return result{Errno: int(errno)}
	case err != nil:
		return result{Bad: err.Error()}
	}
	return result{Val: int64(n)}
}

// content is the result of a call that filled the first n bytes of buf.
func content(buf []byte, n int, err error) result {
	res := value(n, err)
	if err == nil {
		res.Text = buf[:min(n, len(buf))]
	}
	return res
}

package scenario

// The worker: a process that makes system calls as its actor, one after the other.

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// hands are a worker's open descriptors.
type hands struct {
	fds     map[string]int
	handles map[string]unix.FileHandle
}

func workerMain(actor, dir string, in io.Reader, out io.Writer) error {
	uid, gid, groups, err := actorNamed(actor)
	if err != nil {
		return err
	}
	debug.SetGCPercent(-1)
	runtime.LockOSThread() // the kernel tells requests by thread, and locks, too
	if err := become(actor, dir, uid, gid, groups); err != nil {
		return err
	}
	w := &hands{fds: map[string]int{"cwd": unix.AT_FDCWD}, handles: map[string]unix.FileHandle{}}
	demands, outcomes := gob.NewDecoder(in), gob.NewEncoder(out)
	if err := outcomes.Encode(outcome{}); err != nil {
		return err
	}
	for {
		var d demand
		if err := demands.Decode(&d); errors.Is(err, io.EOF) {
			return w.closeAll()
		} else if err != nil {
			return err
		}
		if err := outcomes.Encode(w.do(d)); err != nil {
			return err
		}
	}
}

// closeAll closes what the script left open, in an order that is always the same.
func (w *hands) closeAll() (err error) {
	delete(w.fds, "cwd")
	for _, name := range slices.Sorted(maps.Keys(w.fds)) {
		err = errors.Join(err, unix.Close(w.fds[name]))
	}
	return err
}

// become enters the directory and takes the actor's name and identity.
func become(actor, dir string, uid, gid int, groups []int) error {
	if err := os.WriteFile("/proc/thread-self/comm", []byte(actor), 0); err != nil {
		return err
	}
	unix.Umask(0o022)
	if err := unix.Chdir(dir); err != nil {
		return fmt.Errorf("chdir: %w", err)
	}
	return errors.Join(syscall.Setgroups(groups), syscall.Setgid(gid), syscall.Setuid(uid))
}

// do makes one call.
func (w *hands) do(d demand) (o outcome) {
	c, ok := calls[d.Call]
	if !ok {
		return outcome{Bad: fmt.Sprintf("have no call %q", d.Call)}
	}
	a := &args{hands: w, demand: d}
	if len(d.Args) < c.args {
		return outcome{Bad: fmt.Sprintf("%s: have %d arguments, want %d", d.Call, len(d.Args), c.args)}
	}
	text, err := c.do(a)
	var errno unix.Errno
	switch {
	case a.bad != nil:
		o.Bad = fmt.Sprintf("%s: %v", d.Call, a.bad)
	case errors.As(err, &errno):
		o.Errno = int(errno)
	case err != nil:
		o.Bad = err.Error()
	default:
		o.Text, o.Times = text, a.times
	}
	return o
}

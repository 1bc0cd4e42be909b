package fuseraw

// The descriptor of /dev/fuse: one read is one request, one write one reply.

import (
	"errors"
	"os"
	"strconv"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// errGone says that the kernel's side of the device has ended.
var errGone = errors.New("the mount has ended")

// device is /dev/fuse, or one end of a SOCK_SEQPACKET socketpair in tests. The
// descriptor is raw and blocking: with the runtime's poller every request would
// cost two system calls more.
type device struct {
	fd   int
	over atomic.Bool // nothing may be read or written any more

	end    sync.Mutex   // held by hangup and close, so that neither acts on a number given back
	mu     sync.RWMutex // held for reading by writers, for writing by close; after end
	closed bool
}

func newDevice(fd int) (*device, error) {
	unix.CloseOnExec(fd)
	if err := unix.SetNonblock(fd, false); err != nil {
		return nil, err
	}
	return &device{fd: fd}, nil
}

// read waits for the next message; errGone is the end. ENOENT says that the
// request was taken back while it was being read.
func (d *device) read(buf []byte) (int, error) {
	for !d.over.Load() {
		n, err := unix.Read(d.fd, buf)
		switch err {
		case nil:
			if n == 0 {
				return 0, errGone
			}
			return n, nil
		case unix.EINTR, unix.EAGAIN, unix.ENOENT:
		case unix.ENODEV, unix.ECONNABORTED, unix.ECONNRESET:
			return 0, errGone
		default:
			if !d.over.Load() {
				return 0, err
			}
		}
	}
	return 0, errGone
}

// write sends head and tail as one message.
func (d *device) write(head, tail []byte) error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.closed || d.over.Load() {
		return errGone
	}
	for {
		err := d.writeOnce(head, tail)
		switch err {
		case unix.EINTR, unix.EAGAIN:
			continue
		case unix.ENODEV, unix.ECONNABORTED, unix.ECONNRESET, unix.EPIPE, unix.EBADF:
			return errGone
		}
		return err
	}
}

func (d *device) writeOnce(head, tail []byte) error {
	if len(tail) == 0 {
		_, err := unix.Write(d.fd, head)
		return err
	}
	_, err := unix.Writev(d.fd, [][]byte{head, tail})
	return err
}

// hangup ends the connection from this side: it takes the descriptor away
// under blocked readers, which ends them, and with the last of them the kernel
// aborts what is left. It needs neither privileges nor a mount point.
//
// A read that sleeps in the kernel keeps the file open even when its
// descriptor is closed. So the descriptor is replaced by one that can't be
// read, and every thread gets SIGURG, with which the runtime preempts
// goroutines and of which spurious ones are harmless: the sleeping reads are
// restarted by number, find the replacement and return EBADF.
func (d *device) hangup() error {
	d.end.Lock()
	defer d.end.Unlock()
	if d.over.Swap(true) {
		return nil
	}
	unix.Shutdown(d.fd, unix.SHUT_RDWR) // a socketpair's end; ENOTSOCK otherwise
	dead, err := unix.Open("/", unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(dead)
	if err := unix.Dup3(dead, d.fd, unix.O_CLOEXEC); err != nil {
		return err
	}
	return signalThreads(unix.SIGURG)
}

func signalThreads(sig unix.Signal) error {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, t := range threads {
		if tid, err := strconv.Atoi(t.Name()); err == nil {
			unix.Tgkill(os.Getpid(), tid, sig)
		}
	}
	return nil
}

// close gives the descriptor back; nobody may be reading.
func (d *device) close() {
	d.end.Lock()
	defer d.end.Unlock()
	d.over.Store(true)
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.closed = true
		unix.Close(d.fd)
	}
}

// waiting tells whether the kernel has a message that nobody has read.
func (d *device) waiting() bool {
	fds := []unix.PollFd{{Fd: int32(d.fd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n == 1 && fds[0].Revents&unix.POLLIN != 0
}

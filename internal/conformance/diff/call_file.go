// Executors of calls on open files: open, data, size, mapping.

package diff

import (
	"os"

	"golang.org/x/sys/unix"
)

// openFlags are added to every open: nothing may block on a FIFO, or be kept by a child.
const openFlags = unix.O_NONBLOCK | unix.O_CLOEXEC | unix.O_NOCTTY

// maxRead bounds the buffer of reads.
const maxRead = 1 << 17

func opened(a args, fd int, err error) result {
	if err == nil {
		a.w.bind(a.op.To, fd)
	}
	return done(err)
}

func doOpen(_ *worker, a args) result {
	fd, err := unix.Open(a.path(0), a.int(1)|openFlags, uint32(a.num(2)))
	return opened(a, fd, err)
}

func doOpenat(_ *worker, a args) result {
	fd, err := unix.Openat(a.fd(0), a.path(1), a.int(2)|openFlags, uint32(a.num(3)))
	return opened(a, fd, err)
}

// doReopen opens the file behind a descriptor again, by /proc.
func doReopen(w *worker, a args) result {
	fd, err := unix.Openat(w.proc, a.procPath(0), a.int(1)|openFlags, 0)
	return opened(a, fd, err)
}

func doDup(_ *worker, a args) result {
	fd, err := unix.FcntlInt(uintptr(a.fd(0)), unix.F_DUPFD_CLOEXEC, 0)
	return opened(a, fd, err)
}

func doClose(w *worker, a args) result { return done(w.release(a.op.Args[0])) }

func buffer(n int64) []byte { return make([]byte, min(max(n, 0), maxRead)) }

func doRead(_ *worker, a args) result {
	buf := buffer(a.num(1))
	n, err := unix.Read(a.fd(0), buf)
	return content(buf, n, err)
}

func doPread(_ *worker, a args) result {
	buf := buffer(a.num(1))
	n, err := unix.Pread(a.fd(0), buf, a.num(2))
	return content(buf, n, err)
}

func doWrite(_ *worker, a args) result { return value(unix.Write(a.fd(0), a.data(1))) }

func doPwrite(_ *worker, a args) result {
	return value(unix.Pwrite(a.fd(0), a.data(1), a.num(2)))
}

// doLseek leaves directories at their start: see "directory positions".
func doLseek(_ *worker, a args) result {
	var st unix.Stat_t
	if unix.Fstat(a.fd(0), &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return value(unix.Seek(a.fd(0), 0, unix.SEEK_SET))
	}
	return value(unix.Seek(a.fd(0), a.num(1), a.int(2)))
}

// doSetfl sets the status flags and reads them back.
func doSetfl(_ *worker, a args) result {
	if _, err := unix.FcntlInt(uintptr(a.fd(0)), unix.F_SETFL, a.int(1)|unix.O_NONBLOCK); err != nil {
		return done(err)
	}
	return value(unix.FcntlInt(uintptr(a.fd(0)), unix.F_GETFL, 0))
}

func doTruncate(_ *worker, a args) result { return done(unix.Truncate(a.path(0), a.num(1))) }

func doFtruncate(_ *worker, a args) result { return done(unix.Ftruncate(a.fd(0), a.num(1))) }

func doFallocate(_ *worker, a args) result {
	return done(unix.Fallocate(a.fd(0), uint32(a.num(1)), a.num(2), a.num(3)))
}

// offset is nil where the descriptor's own position is meant.
func (a args) offset(i int) *int64 {
	if n := a.num(i); n != current {
		return &n
	}
	return nil
}

func doCopyRange(_ *worker, a args) result {
	from, to := a.offset(1), a.offset(3)
	return value(unix.CopyFileRange(a.fd(0), from, a.fd(2), to, a.int(4), 0))
}

// doSendfile copies nothing from a file to itself: see "sendfile within a file".
func doSendfile(_ *worker, a args) result {
	var out, in unix.Stat_t
	if unix.Fstat(a.fd(0), &out) == nil && unix.Fstat(a.fd(1), &in) == nil && out.Ino == in.Ino {
		return result{}
	}
	return value(unix.Sendfile(a.fd(0), a.fd(1), a.offset(2), a.int(3)))
}

func doMmapRead(_ *worker, a args) result {
	m, err := unix.Mmap(a.fd(0), a.num(1), a.int(2), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return done(err)
	}
	defer unix.Munmap(m)
	buf := make([]byte, len(m))
	n, err := copyFaulting(buf, m[:mappedLen(a, len(m))])
	return content(buf, n, err)
}

func doMmapWrite(_ *worker, a args) result {
	data := a.data(2)
	m, err := unix.Mmap(a.fd(0), a.num(1), len(data), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return done(err)
	}
	defer unix.Munmap(m)
	n, err := copyFaulting(m[:mappedLen(a, len(m))], data)
	if err == nil {
		err = unix.Msync(m, unix.MS_SYNC)
	}
	return value(n, err)
}

// mappedLen is how much of n mapped bytes lies in the file, or 1 if that is nothing, for a page
// behind the end to be touched. Bytes between the end and its page's end are left alone: what
// becomes of them when the file grows is not defined.
func mappedLen(a args, n int) int {
	var st unix.Stat_t
	if err := unix.Fstat(a.fd(0), &st); err != nil {
		return 0
	}
	inside := st.Size - a.num(1)
	if inside <= 0 {
		return 1
	}
	return int(min(int64(n), inside))
}

// copyFaulting copies, and returns EFAULT for what would have been a SIGBUS.
func copyFaulting(dst, src []byte) (n int, err error) {
	defer func() {
		if recover() != nil {
			err = unix.EFAULT
		}
	}()
	for n < len(src) && n < len(dst) {
		end := min(len(src), len(dst), n+os.Getpagesize())
		n += copy(dst[n:end], src[n:end])
	}
	return n, nil
}

func doFsync(_ *worker, a args) result { return done(unix.Fsync(a.fd(0))) }

func doFdatasync(_ *worker, a args) result { return done(unix.Fdatasync(a.fd(0))) }

func doPoll(_ *worker, a args) result {
	fds := []unix.PollFd{{Fd: int32(a.fd(0)), Events: int16(a.num(1))}}
	n, err := unix.Poll(fds, 0)
	for err == unix.EINTR { // a signal of the runtime, which is of no interest
		n, err = unix.Poll(fds, 0)
	}
	res := value(n, err)
	res.Val = res.Val<<16 | int64(fds[0].Revents)
	return res
}

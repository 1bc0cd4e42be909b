package proto

// What the kernel takes as an error, and what it is called.

import (
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxErrno: fuse_dev_do_write refuses an error of -512 (ERESTARTSYS) or less,
// and the caller would then wait for ever.
const maxErrno = 512

// ClampErrno is e where the kernel takes it, and EIO where it does not.
func ClampErrno(e syscall.Errno) syscall.Errno {
	if e >= maxErrno {
		return syscall.EIO
	}
	return e
}

// ErrnoName is the name of errno(3), "ENOENT" say, or the number.
func ErrnoName(e syscall.Errno) string {
	if name := unix.ErrnoName(e); name != "" {
		return name
	}
	return strconv.Itoa(int(e))
}

func itoa(n uint64) string { return strconv.FormatUint(n, 10) }

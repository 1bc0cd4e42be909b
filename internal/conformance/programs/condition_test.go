package programs

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// condition answers [io_uring]: containers often forbid it.
func condition(name string) (bool, error) {
	if name != "io_uring" {
		return false, fmt.Errorf("condition %s: want io_uring", name)
	}
	// Entries without a params struct are EFAULT where the call is allowed.
	_, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, 0, 0)
	return errno == unix.EFAULT, nil
}

// Taking everything out of the filesystem after a sequence, whatever that did to it.

package diff

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// restoreRoot undoes what a sequence did to the root directory by "/" or "..".
func restoreRoot() {
	clearFlags("/")
	list := make([]byte, 1<<16)
	if n, err := unix.Llistxattr("/", list); err == nil {
		for _, attr := range attrNames(list[:n]) {
			unix.Lremovexattr("/", attr)
		}
	}
	unix.Chown("/", 0, 0)
	unix.Chmod("/", 0o755)
	unix.UtimesNano("/", []unix.Timespec{{Nsec: unix.UTIME_NOW}, {Nsec: unix.UTIME_NOW}})
}

// remove empties the filesystem.
func (w *worker) remove(request) result {
	for _, e := range listDir("/") {
		if err := removeAll("/" + e.Name); err != nil {
			return result{Bad: err.Error()}
		}
	}
	return result{}
}

func removeAll(name string) error {
	st := statNode(name)
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return removeFile(name)
	}
	clearFlags(name)
	for _, e := range listDir(name) {
		if err := removeAll(name + "/" + e.Name); err != nil {
			return err
		}
	}
	if err := unix.Rmdir(name); err != nil {
		return fmt.Errorf("rmdir %s: %w", name, err)
	}
	return nil
}

func removeFile(name string) error {
	err := unix.Unlink(name)
	if err == unix.EPERM {
		clearFlags(name)
		err = unix.Unlink(name)
	}
	if err != nil {
		return fmt.Errorf("unlink %s: %w", name, err)
	}
	return nil
}

// clearFlags lets immutable and append-only objects be removed.
func clearFlags(name string) {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_NOFOLLOW|openFlags, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if flags, err := unix.IoctlGetUint32(fd, unix.FS_IOC_GETFLAGS); err == nil && flags != 0 {
		unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, 0)
	}
}

// Emptying the kernel's caches, so that what is measured reaches the daemon.

package main

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// forgetTime is for the daemons to read the FORGETs that follow.
const forgetTime = 100 * time.Millisecond

// dropDentries makes the kernel forget all names and attributes that it can ask
// for again: the next stat of a FUSE file is a LOOKUP. tmpfs keeps its own.
func dropDentries() error {
	if err := os.WriteFile("/proc/sys/vm/drop_caches", []byte("2"), 0); err != nil {
		return fmt.Errorf("drop dentries: %w", err)
	}
	time.Sleep(forgetTime)
	return nil
}

// goCold empties the page cache of one file. On tmpfs, where the page cache is the
// file, it does nothing; on FUSE it makes certain that no page is left.
func goCold(f *os.File) error {
	if err := unix.Fdatasync(int(f.Fd())); err != nil {
		return fmt.Errorf("fdatasync %s: %w", f.Name(), err)
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		return fmt.Errorf("fadvise %s: %w", f.Name(), err)
	}
	var fs unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &fs); err != nil {
		return fmt.Errorf("statfs %s: %w", f.Name(), err)
	}
	if fs.Type != unix.FUSE_SUPER_MAGIC {
		return nil
	}
	return wantNoPages(f)
}

func wantNoPages(f *os.File) error {
	var cached unix.Cachestat_t
	if err := unix.Cachestat(uint(f.Fd()), &unix.CachestatRange{}, &cached, 0); err != nil {
		return fmt.Errorf("cachestat %s: %w", f.Name(), err)
	}
	if cached.Cache != 0 {
		return fmt.Errorf("cachestat %s: %d pages cached after DONTNEED, want 0", f.Name(), cached.Cache)
	}
	return nil
}

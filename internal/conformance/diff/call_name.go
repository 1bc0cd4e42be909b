// Executors of calls on names: create, remove, link, rename, list.

package diff

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

const cwd = unix.AT_FDCWD

func doMkdir(_ *worker, a args) result { return done(unix.Mkdir(a.path(0), uint32(a.num(1)))) }

func doRmdir(_ *worker, a args) result { return done(unix.Rmdir(a.path(0))) }

func doMknod(_ *worker, a args) result {
	return done(unix.Mknod(a.path(0), uint32(a.num(1)), a.int(2)))
}

func doSymlink(_ *worker, a args) result { return done(unix.Symlink(a.path(0), a.path(1))) }

func doReadlink(_ *worker, a args) result {
	buf := make([]byte, 5000)
	n, err := unix.Readlink(a.path(0), buf)
	return content(buf, n, err)
}

func doLink(_ *worker, a args) result { return done(unix.Link(a.path(0), a.path(1))) }

func doLinkat(_ *worker, a args) result {
	return done(unix.Linkat(cwd, a.path(0), cwd, a.path(1), a.int(2)))
}

// doLinkFD gives an open file a name, as is done for files of O_TMPFILE.
func doLinkFD(w *worker, a args) result {
	return done(unix.Linkat(w.proc, a.procPath(0), cwd, a.path(1), unix.AT_SYMLINK_FOLLOW))
}

func doLinkEmpty(_ *worker, a args) result {
	return done(unix.Linkat(a.fd(0), "", cwd, a.path(1), unix.AT_EMPTY_PATH))
}

func doUnlink(_ *worker, a args) result { return done(unix.Unlink(a.path(0))) }

func doRename(_ *worker, a args) result { return done(unix.Rename(a.path(0), a.path(1))) }

func doRenameat2(_ *worker, a args) result {
	return done(unix.Renameat2(cwd, a.path(0), cwd, a.path(1), uint(a.num(2))))
}

func doChdir(_ *worker, a args) result { return done(unix.Chdir(a.path(0))) }

func doFchdir(_ *worker, a args) result { return done(unix.Fchdir(a.fd(0))) }

// dirent is an entry of a directory as getdents64 gives it.
type dirent struct {
	Ino  uint64
	Off  int64
	Type byte
	Name string
}

// getdents reads one buffer of entries; none is the end.
func getdents(fd, size int) ([]dirent, error) {
	buf := make([]byte, size)
	n, err := unix.Getdents(fd, buf)
	if err != nil {
		return nil, err
	}
	var entries []dirent
	for buf = buf[:n]; len(buf) > 0; {
		length := binary.NativeEndian.Uint16(buf[16:])
		name, _, _ := strings.Cut(string(buf[19:length]), "\x00")
		entries = append(entries, dirent{binary.NativeEndian.Uint64(buf),
			int64(binary.NativeEndian.Uint64(buf[8:])), buf[18], name})
		buf = buf[length:]
	}
	return entries, nil
}

// listing reads entries to the end.
func listing(fd, size int) ([]dirent, error) {
	var all []dirent
	for {
		entries, err := getdents(fd, size)
		if err != nil || len(entries) == 0 {
			return all, err
		}
		all = append(all, entries...)
	}
}

// listed is a whole listing as text: sorted, as the order is the filesystem's own business.
func listed(fd int) result {
	entries, err := listing(fd, 1<<15)
	slices.SortFunc(entries, func(x, y dirent) int { return cmp.Compare(x.Name, y.Name) })
	res := done(err)
	for _, e := range entries {
		res.Text = fmt.Appendf(res.Text, "%d %s\n", e.Type, e.Name)
	}
	return res
}

func doLs(_ *worker, a args) result {
	fd, err := unix.Open(a.path(0), unix.O_RDONLY|unix.O_DIRECTORY|openFlags, 0)
	if err != nil {
		return done(err)
	}
	defer unix.Close(fd)
	return listed(fd)
}

func doList(_ *worker, a args) result {
	if _, err := unix.Seek(a.fd(0), 0, unix.SEEK_SET); err != nil {
		return done(err)
	}
	return listed(a.fd(0))
}

package scenario

// The system calls that a worker makes, by name.

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// systemCall is one call: how many arguments it needs at least, and what makes it.
type systemCall struct {
	args int
	do   func(*args) (string, error)
}

// plain is a call that returns nothing but an error.
func plain(n int, do func(*args) error) systemCall {
	return systemCall{n, func(a *args) (string, error) { return "", do(a) }}
}

// counting is a call that returns a number.
func counting[N int | int64](n int, do func(*args) (N, error)) systemCall {
	return systemCall{n, func(a *args) (string, error) {
		v, err := do(a)
		return strconv.FormatInt(int64(v), 10), err
	}}
}

// opening is a call that returns a descriptor.
func opening(n int, do func(*args) (int, error)) systemCall {
	return systemCall{n, func(a *args) (string, error) { return a.opened(do(a)) }}
}

// filling is a call that fills a buffer of the size that argument i says.
func filling(n, i int, do func(*args, []byte) (int, error)) systemCall {
	return systemCall{n, func(a *args) (string, error) {
		buf := make([]byte, a.int(i))
		got, err := do(a, buf)
		if err != nil {
			return "", err
		}
		return string(buf[:min(got, len(buf))]), nil
	}}
}

var calls = map[string]systemCall{
	// open files
	"open":       opening(2, func(a *args) (int, error) { return unix.Open(a.text(0), a.int(1)|unix.O_CLOEXEC, a.mode(2)) }),
	"openat":     opening(3, func(a *args) (int, error) { return unix.Openat(a.fd(0), a.text(1), a.int(2)|unix.O_CLOEXEC, a.mode(3)) }),
	"reopen":     opening(2, func(a *args) (int, error) { return unix.Open(a.proc(0), a.int(1)|unix.O_CLOEXEC, 0) }),
	"dup":        opening(1, func(a *args) (int, error) { return unix.Dup(a.fd(0)) }),
	"handle":     plain(2, keepHandle),
	"openhandle": opening(2, openHandle),
	"close": plain(1, func(a *args) error {
		fd := a.fd(0)
		delete(a.fds, a.Args[0])
		return unix.Close(fd)
	}),
	"read":      filling(2, 1, func(a *args, b []byte) (int, error) { return unix.Read(a.fd(0), b) }),
	"pread":     filling(3, 1, func(a *args, b []byte) (int, error) { return unix.Pread(a.fd(0), b, a.num(2)) }),
	"write":     counting(2, func(a *args) (int, error) { return unix.Write(a.fd(0), []byte(a.text(1))) }),
	"pwrite":    counting(3, func(a *args) (int, error) { return unix.Pwrite(a.fd(0), []byte(a.text(1)), a.num(2)) }),
	"lseek":     counting(3, func(a *args) (int64, error) { return unix.Seek(a.fd(0), a.num(1), a.int(2)) }),
	"ftruncate": plain(2, func(a *args) error { return unix.Ftruncate(a.fd(0), a.num(1)) }),
	"truncate":  plain(2, func(a *args) error { return unix.Truncate(a.text(0), a.num(1)) }),
	"fallocate": plain(4, func(a *args) error { return unix.Fallocate(a.fd(0), a.mode(1), a.num(2), a.num(3)) }),
	"copyrange": counting(5, func(a *args) (int, error) {
		from, to := a.num(1), a.num(3)
		return unix.CopyFileRange(a.fd(0), &from, a.fd(2), &to, a.int(4), a.int(5))
	}),
	"fsync":     plain(1, func(a *args) error { return unix.Fsync(a.fd(0)) }),
	"fdatasync": plain(1, func(a *args) error { return unix.Fdatasync(a.fd(0)) }),
	"poll":      counting(2, poll),
	"mmapwrite": counting(3, mmapWrite),
	"setfl": plain(2, func(a *args) error {
		_, err := unix.FcntlInt(uintptr(a.fd(0)), unix.F_SETFL, a.int(1))
		return err
	}),
	"dropcaches": plain(1, func(a *args) error { return unix.Fadvise(a.fd(0), 0, 0, unix.FADV_DONTNEED) }),

	// names
	"mkdir":   plain(2, func(a *args) error { return unix.Mkdir(a.text(0), a.mode(1)) }),
	"rmdir":   plain(1, func(a *args) error { return unix.Rmdir(a.text(0)) }),
	"mknod":   plain(2, func(a *args) error { return unix.Mknod(a.text(0), a.mode(1), a.int(2)) }),
	"symlink": plain(2, func(a *args) error { return unix.Symlink(a.text(0), a.text(1)) }),
	"link":    plain(2, func(a *args) error { return unix.Link(a.text(0), a.text(1)) }),
	"linkat":  plain(3, func(a *args) error { return unix.Linkat(unix.AT_FDCWD, a.text(0), unix.AT_FDCWD, a.text(1), a.int(2)) }),
	"linkfd": plain(2, func(a *args) error {
		return unix.Linkat(unix.AT_FDCWD, a.proc(0), unix.AT_FDCWD, a.text(1), unix.AT_SYMLINK_FOLLOW)
	}),
	"unlink":   plain(1, func(a *args) error { return unix.Unlink(a.text(0)) }),
	"unlinkat": plain(3, func(a *args) error { return unix.Unlinkat(a.fd(0), a.text(1), a.int(2)) }),
	"mkdirat":  plain(3, func(a *args) error { return unix.Mkdirat(a.fd(0), a.text(1), a.mode(2)) }),
	"rename":   plain(2, func(a *args) error { return unix.Rename(a.text(0), a.text(1)) }),
	"renameat2": plain(3, func(a *args) error {
		return unix.Renameat2(unix.AT_FDCWD, a.text(0), unix.AT_FDCWD, a.text(1), uint(a.num(2)))
	}),
	"readlink": filling(2, 1, func(a *args, b []byte) (int, error) { return unix.Readlink(a.text(0), b) }),
	"ls":       {1, list},
	"getdents": {2, getdents},
	"chdir":    plain(1, func(a *args) error { return unix.Chdir(a.text(0)) }),
	"umask":    plain(1, func(a *args) error { unix.Umask(a.int(0)); return nil }),

	// attributes
	"stat":   {1, func(a *args) (string, error) { return a.stat(unix.AT_FDCWD, a.text(0), 0) }},
	"lstat":  {1, func(a *args) (string, error) { return a.stat(unix.AT_FDCWD, a.text(0), unix.AT_SYMLINK_NOFOLLOW) }},
	"fstat":  {1, func(a *args) (string, error) { return a.stat(a.fd(0), "", unix.AT_EMPTY_PATH) }},
	"statx":  {3, statx},
	"statfs": plain(1, func(a *args) error { return unix.Statfs(a.text(0), new(unix.Statfs_t)) }),
	"access": plain(2, func(a *args) error { return unix.Access(a.text(0), a.mode(1)) }),
	"chmod":  plain(2, func(a *args) error { return unix.Chmod(a.text(0), a.mode(1)) }),
	"fchmod": plain(2, func(a *args) error { return unix.Fchmod(a.fd(0), a.mode(1)) }),
	"chown":  plain(3, func(a *args) error { return unix.Chown(a.text(0), a.int(1), a.int(2)) }),
	"lchown": plain(3, func(a *args) error { return unix.Lchown(a.text(0), a.int(1), a.int(2)) }),
	"fchown": plain(3, func(a *args) error { return unix.Fchown(a.fd(0), a.int(1), a.int(2)) }),
	"utimensat": plain(3, func(a *args) error {
		return unix.UtimesNanoAt(unix.AT_FDCWD, a.text(0), []unix.Timespec{a.time(1), a.time(2)}, a.int(3))
	}),
	"futimens": plain(3, func(a *args) error {
		return unix.UtimesNanoAt(a.fd(0), "", []unix.Timespec{a.time(1), a.time(2)}, unix.AT_EMPTY_PATH)
	}),
	"getflags": counting(1, func(a *args) (int, error) {
		n, err := unix.IoctlGetUint32(a.fd(0), unix.FS_IOC_GETFLAGS)
		return int(n), err
	}),
	"setflags": plain(2, func(a *args) error { return unix.IoctlSetPointerInt(a.fd(0), unix.FS_IOC_SETFLAGS, a.int(1)) }),
	"ioctl":    plain(2, func(a *args) error { return unix.IoctlSetPointerInt(a.fd(0), uint(a.num(1)), a.int(2)) }),

	// extended attributes
	"setxattr":    plain(3, func(a *args) error { return unix.Setxattr(a.text(0), a.text(1), a.value(2), a.int(3)) }),
	"lsetxattr":   plain(3, func(a *args) error { return unix.Lsetxattr(a.text(0), a.text(1), a.value(2), a.int(3)) }),
	"fsetxattr":   plain(3, func(a *args) error { return unix.Fsetxattr(a.fd(0), a.text(1), a.value(2), a.int(3)) }),
	"getxattr":    filling(3, 2, func(a *args, b []byte) (int, error) { return unix.Getxattr(a.text(0), a.text(1), b) }),
	"lgetxattr":   filling(3, 2, func(a *args, b []byte) (int, error) { return unix.Lgetxattr(a.text(0), a.text(1), b) }),
	"sizexattr":   counting(2, func(a *args) (int, error) { return unix.Getxattr(a.text(0), a.text(1), nil) }),
	"listxattr":   {2, listXattr},
	"removexattr": plain(2, func(a *args) error { return unix.Removexattr(a.text(0), a.text(1)) }),

	// locks
	"setlk":    plain(4, func(a *args) error { return unix.FcntlFlock(uintptr(a.fd(0)), unix.F_SETLK, a.lock()) }),
	"setlkw":   plain(4, func(a *args) error { return unix.FcntlFlock(uintptr(a.fd(0)), unix.F_SETLKW, a.lock()) }),
	"getlk":    {4, func(a *args) (string, error) { return getlk(a, unix.F_GETLK) }},
	"ofdsetlk": plain(4, func(a *args) error { return unix.FcntlFlock(uintptr(a.fd(0)), unix.F_OFD_SETLK, a.lock()) }),
	"ofdgetlk": {4, func(a *args) (string, error) { return getlk(a, unix.F_OFD_GETLK) }},
	"flock":    plain(2, func(a *args) error { return unix.Flock(a.fd(0), a.int(1)) }),
}

// proc is a descriptor's name below /proc.
func (a *args) proc(i int) string { return "/proc/self/fd/" + strconv.Itoa(a.fd(i)) }

func poll(a *args) (int, error) {
	fds := []unix.PollFd{{Fd: int32(a.fd(0)), Events: int16(a.num(1))}}
	_, err := unix.Poll(fds, 0)
	return int(fds[0].Revents), err
}

func mmapWrite(a *args) (int, error) {
	data := []byte(a.text(1))
	m, err := unix.Mmap(a.fd(0), a.num(2), len(data), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return 0, err
	}
	n := copy(m, data)
	if err := unix.Msync(m, unix.MS_SYNC); err != nil {
		return 0, err
	}
	return n, unix.Munmap(m)
}

// keepHandle keeps what name_to_handle_at(2) says of a file, under a name.
func keepHandle(a *args) error {
	h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, a.text(0), 0)
	a.handles[a.Args[1]] = h
	return err
}

// openHandle opens a file by what was kept of it.
func openHandle(a *args) (int, error) {
	root, err := unix.Open(".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(root)
	return unix.OpenByHandleAt(root, a.handles[a.Args[0]], a.int(1)|unix.O_CLOEXEC)
}

func list(a *args) (string, error) {
	fd, err := unix.Open(a.text(0), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	var all []string
	for {
		names, err := entries(fd, 1<<15)
		if err != nil || len(names) == 0 {
			slices.Sort(all)
			return strings.Join(all, " "), err
		}
		all = append(all, names...)
	}
}

// getdents reads one buffer of a directory that is open.
func getdents(a *args) (string, error) {
	names, err := entries(a.fd(0), a.int(1))
	return strings.Join(names, " "), err
}

func entries(fd, size int) (names []string, err error) {
	buf := make([]byte, size)
	n, err := unix.Getdents(fd, buf)
	if err != nil {
		return nil, err
	}
	for buf = buf[:n]; len(buf) > 0; {
		length := binary.NativeEndian.Uint16(buf[16:])
		name, _, _ := strings.Cut(string(buf[19:length]), "\x00")
		if name != "." && name != ".." {
			names = append(names, name)
		}
		buf = buf[length:]
	}
	return names, nil
}

// stat says what a script can rely on: type and permissions, links, owner, size
// where it is no directory's. Times are for live runs alone.
func (a *args) stat(dir int, path string, flags int) (string, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(dir, path, &st, flags); err != nil {
		return "", err
	}
	text := fmt.Sprintf("%o %d %d:%d", st.Mode, st.Nlink, st.Uid, st.Gid)
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		text += fmt.Sprintf(" %d", st.Size)
	}
	a.times = fmt.Sprintf(" mtime %d ctime %d", st.Mtim.Sec, st.Ctim.Sec)
	return text, nil
}

func statx(a *args) (string, error) {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, a.text(0), a.int(1), int(a.num(2)), &st)
	return fmt.Sprintf("%o %d %d", st.Mode, st.Nlink, st.Size), err
}

// value is an extended attribute's: text, or an ACL as "acl:u=7,U1000=4,g=5,m=7,o=4".
func (a *args) value(i int) []byte {
	s := a.text(i)
	list, ok := strings.CutPrefix(s, "acl:")
	if !ok {
		return []byte(s)
	}
	b, err := parseACL(list)
	if err != nil {
		a.fail(err)
	}
	return b
}

// aclTags are the letters of an ACL, in the order that the kernel demands.
const aclTags = "uUgGmo"

func parseACL(list string) ([]byte, error) {
	out := binary.LittleEndian.AppendUint32(nil, 2)
	for entry := range strings.SplitSeq(list, ",") {
		who, perm, ok := strings.Cut(entry, "=")
		bits, err := strconv.ParseUint(perm, 8, 16)
		if !ok || err != nil || who == "" || !strings.Contains(aclTags, who[:1]) {
			return nil, fmt.Errorf("acl %q: entry %q is not WHO=DIGIT", list, entry)
		}
		id, err := strconv.ParseUint(who[1:], 10, 32)
		if err != nil {
			id = 1<<32 - 1
		}
		out = binary.LittleEndian.AppendUint16(out, 1<<strings.Index(aclTags, who[:1]))
		out = binary.LittleEndian.AppendUint16(out, uint16(bits))
		out = binary.LittleEndian.AppendUint32(out, uint32(id))
	}
	return out, nil
}

func listXattr(a *args) (string, error) {
	buf := make([]byte, a.int(1))
	n, err := unix.Listxattr(a.text(0), buf)
	if err != nil || n == 0 {
		return "", err
	}
	if len(buf) == 0 {
		return strconv.Itoa(n), nil
	}
	names := strings.Split(strings.TrimSuffix(string(buf[:n]), "\x00"), "\x00")
	slices.Sort(names)
	return strings.Join(names, " "), nil
}

func (a *args) lock() *unix.Flock_t {
	return &unix.Flock_t{Type: int16(a.num(1)), Start: a.num(2), Len: a.num(3)}
}

func getlk(a *args, cmd int) (string, error) {
	lk := a.lock()
	err := unix.FcntlFlock(uintptr(a.fd(0)), cmd, lk)
	return fmt.Sprintf("%d %d %d", lk.Type, lk.Start, lk.Len), err
}

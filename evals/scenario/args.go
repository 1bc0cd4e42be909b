package scenario

// The arguments of a call, as a script writes them.

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// args are a call's. The first that can't be read is kept in bad.
type args struct {
	*hands
	demand
	times string // what stat(2) says of them
	bad   error
}

func (a *args) fail(err error) {
	if a.bad == nil {
		a.bad = err
	}
}

// text takes escapes of Go's strings, and {N*TEXT} for N times TEXT.
func (a *args) text(i int) string {
	s, err := expand(a.Args[i])
	if err != nil {
		a.fail(err)
	}
	return s
}

var repeated = regexp.MustCompile(`\{(\d+)\*([^}]*)\}`)

func expand(s string) (string, error) {
	s = repeated.ReplaceAllStringFunc(s, func(m string) string {
		parts := repeated.FindStringSubmatch(m)
		n, _ := strconv.Atoi(parts[1]) // digits, by the expression
		return strings.Repeat(parts[2], n)
	})
	if !strings.Contains(s, `\`) {
		return s, nil
	}
	return strconv.Unquote(`"` + strings.ReplaceAll(s, `"`, `\"`) + `"`)
}

// num takes numbers, and names of constants, joined by |.
func (a *args) num(i int) int64 {
	if i >= len(a.Args) {
		return 0
	}
	var sum int64
	for part := range strings.SplitSeq(a.Args[i], "|") {
		n, ok := constants[part]
		if !ok {
			var err error
			if n, err = strconv.ParseInt(part, 0, 64); err != nil {
				a.fail(fmt.Errorf("number %q: %q is neither a number nor a constant", a.Args[i], part))
			}
		}
		sum |= n
	}
	return sum
}

func (a *args) int(i int) int     { return int(a.num(i)) }
func (a *args) mode(i int) uint32 { return uint32(a.num(i)) }

// fd takes the name of a descriptor; "cwd" is the mount's root.
func (a *args) fd(i int) int {
	fd, ok := a.fds[a.Args[i]]
	if !ok {
		a.fail(fmt.Errorf("have no descriptor %q", a.Args[i]))
		return -1
	}
	return fd
}

// time takes seconds with a fraction of up to nine digits, "now" or "omit".
func (a *args) time(i int) unix.Timespec {
	switch s := a.Args[i]; s {
	case "now":
		return unix.Timespec{Nsec: unix.UTIME_NOW}
	case "omit":
		return unix.Timespec{Nsec: unix.UTIME_OMIT}
	default:
		sec, frac, _ := strings.Cut(s, ".")
		n, err := strconv.ParseInt(sec, 10, 64)
		nsec, err2 := strconv.ParseInt((frac + "000000000")[:9], 10, 64)
		if err != nil || err2 != nil {
			a.fail(fmt.Errorf("time %q: want seconds, now or omit", s))
		}
		return unix.Timespec{Sec: n, Nsec: nsec}
	}
}

// opened keeps a new descriptor, by the name that the script gives it.
func (a *args) opened(fd int, err error) (string, error) {
	if err != nil {
		return "", err
	}
	if a.To == "" {
		return "", unix.Close(fd)
	}
	if old, ok := a.fds[a.To]; ok {
		unix.Close(old)
	}
	a.fds[a.To] = fd
	return "", nil
}

var constants = map[string]int64{
	"MAX": math.MaxInt64, "2^31": 1 << 31, "2^32": 1 << 32, "2^40": 1 << 40, "2^62": 1 << 62,

	"O_RDONLY": unix.O_RDONLY, "O_WRONLY": unix.O_WRONLY, "O_RDWR": unix.O_RDWR, "O_CREAT": unix.O_CREAT,
	"O_EXCL": unix.O_EXCL, "O_TRUNC": unix.O_TRUNC, "O_APPEND": unix.O_APPEND, "O_DIRECTORY": unix.O_DIRECTORY,
	"O_NOFOLLOW": unix.O_NOFOLLOW, "O_TMPFILE": unix.O_TMPFILE, "O_DIRECT": unix.O_DIRECT, "O_PATH": unix.O_PATH,
	"O_NOATIME": unix.O_NOATIME, "O_SYNC": unix.O_SYNC, "O_DSYNC": unix.O_DSYNC, "O_NONBLOCK": unix.O_NONBLOCK,

	"SEEK_SET": unix.SEEK_SET, "SEEK_CUR": unix.SEEK_CUR, "SEEK_END": unix.SEEK_END,
	"SEEK_DATA": unix.SEEK_DATA, "SEEK_HOLE": unix.SEEK_HOLE,

	"KEEP_SIZE": unix.FALLOC_FL_KEEP_SIZE, "PUNCH_HOLE": unix.FALLOC_FL_PUNCH_HOLE,
	"COLLAPSE_RANGE": unix.FALLOC_FL_COLLAPSE_RANGE, "ZERO_RANGE": unix.FALLOC_FL_ZERO_RANGE,
	"INSERT_RANGE": unix.FALLOC_FL_INSERT_RANGE, "UNSHARE_RANGE": unix.FALLOC_FL_UNSHARE_RANGE,

	"S_IFREG": unix.S_IFREG, "S_IFIFO": unix.S_IFIFO, "S_IFSOCK": unix.S_IFSOCK,
	"S_IFCHR": unix.S_IFCHR, "S_IFBLK": unix.S_IFBLK, "S_IFDIR": unix.S_IFDIR,

	"AT_SYMLINK_FOLLOW": unix.AT_SYMLINK_FOLLOW, "AT_SYMLINK_NOFOLLOW": unix.AT_SYMLINK_NOFOLLOW,
	"AT_EMPTY_PATH": unix.AT_EMPTY_PATH, "AT_REMOVEDIR": unix.AT_REMOVEDIR,
	"AT_STATX_FORCE_SYNC": unix.AT_STATX_FORCE_SYNC,
	"STATX_BASIC_STATS":   unix.STATX_BASIC_STATS, "STATX_BTIME": unix.STATX_BTIME, "STATX_ALL": unix.STATX_ALL,

	"RENAME_NOREPLACE": unix.RENAME_NOREPLACE, "RENAME_EXCHANGE": unix.RENAME_EXCHANGE,
	"RENAME_WHITEOUT": unix.RENAME_WHITEOUT,

	"F_OK": unix.F_OK, "R_OK": unix.R_OK, "W_OK": unix.W_OK, "X_OK": unix.X_OK,

	"XATTR_CREATE": unix.XATTR_CREATE, "XATTR_REPLACE": unix.XATTR_REPLACE,

	"F_RDLCK": unix.F_RDLCK, "F_WRLCK": unix.F_WRLCK, "F_UNLCK": unix.F_UNLCK,
	"LOCK_SH": unix.LOCK_SH, "LOCK_EX": unix.LOCK_EX, "LOCK_UN": unix.LOCK_UN, "LOCK_NB": unix.LOCK_NB,

	"POLLIN": unix.POLLIN, "POLLOUT": unix.POLLOUT, "POLLPRI": unix.POLLPRI,

	"FS_IMMUTABLE_FL": 0x10, "FS_APPEND_FL": 0x20, "FS_NODUMP_FL": 0x40, "FS_NOATIME_FL": 0x80, "FS_COMPR_FL": 0x4,
}

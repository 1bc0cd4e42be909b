// The names of constants that scripts may use for numbers.

package diff

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// current is the offset argument "-" of calls that then use the descriptor's own position.
const current = math.MinInt64

var constants = map[string]int64{
	"-": current, "MAX": math.MaxInt64, "2^62": 1 << 62, "2^40": 1 << 40, "2^31": 1 << 31,

	"O_RDONLY": unix.O_RDONLY, "O_WRONLY": unix.O_WRONLY, "O_RDWR": unix.O_RDWR,
	"O_CREAT": unix.O_CREAT, "O_EXCL": unix.O_EXCL, "O_TRUNC": unix.O_TRUNC,
	"O_APPEND": unix.O_APPEND, "O_DIRECTORY": unix.O_DIRECTORY, "O_NOFOLLOW": unix.O_NOFOLLOW,
	"O_TMPFILE": unix.O_TMPFILE, "O_DIRECT": unix.O_DIRECT, "O_PATH": unix.O_PATH,
	"O_NOATIME": unix.O_NOATIME, "O_SYNC": unix.O_SYNC,

	"SEEK_SET": unix.SEEK_SET, "SEEK_CUR": unix.SEEK_CUR, "SEEK_END": unix.SEEK_END,
	"SEEK_DATA": unix.SEEK_DATA, "SEEK_HOLE": unix.SEEK_HOLE,

	"KEEP_SIZE": unix.FALLOC_FL_KEEP_SIZE, "PUNCH_HOLE": unix.FALLOC_FL_PUNCH_HOLE,
	"COLLAPSE_RANGE": unix.FALLOC_FL_COLLAPSE_RANGE, "ZERO_RANGE": unix.FALLOC_FL_ZERO_RANGE,
	"INSERT_RANGE": unix.FALLOC_FL_INSERT_RANGE, "UNSHARE_RANGE": unix.FALLOC_FL_UNSHARE_RANGE,

	"S_IFREG": unix.S_IFREG, "S_IFIFO": unix.S_IFIFO, "S_IFSOCK": unix.S_IFSOCK,
	"S_IFCHR": unix.S_IFCHR, "S_IFBLK": unix.S_IFBLK, "S_IFDIR": unix.S_IFDIR,

	"AT_SYMLINK_FOLLOW": unix.AT_SYMLINK_FOLLOW, "AT_SYMLINK_NOFOLLOW": unix.AT_SYMLINK_NOFOLLOW,
	"AT_EACCESS": unix.AT_EACCESS, "AT_EMPTY_PATH": unix.AT_EMPTY_PATH,
	"AT_REMOVEDIR": unix.AT_REMOVEDIR,

	"RENAME_NOREPLACE": unix.RENAME_NOREPLACE, "RENAME_EXCHANGE": unix.RENAME_EXCHANGE,
	"RENAME_WHITEOUT": unix.RENAME_WHITEOUT,

	"F_OK": unix.F_OK, "R_OK": unix.R_OK, "W_OK": unix.W_OK, "X_OK": unix.X_OK,

	"XATTR_CREATE": unix.XATTR_CREATE, "XATTR_REPLACE": unix.XATTR_REPLACE,

	"F_RDLCK": unix.F_RDLCK, "F_WRLCK": unix.F_WRLCK, "F_UNLCK": unix.F_UNLCK,
	"LOCK_SH": unix.LOCK_SH, "LOCK_EX": unix.LOCK_EX, "LOCK_UN": unix.LOCK_UN,

	"POLLIN": unix.POLLIN, "POLLOUT": unix.POLLOUT, "POLLPRI": unix.POLLPRI,

	"FS_IMMUTABLE_FL": 0x10, "FS_APPEND_FL": 0x20, "FS_NODUMP_FL": 0x40, "FS_NOATIME_FL": 0x80,
}

// parseNum reads numbers in Go's notation and names of constants, joined by |.
func parseNum(s string) (int64, error) {
	var sum int64
	for part := range strings.SplitSeq(s, "|") {
		n, known := constants[part]
		if !known {
			var err error
			if n, err = strconv.ParseInt(part, 0, 64); err != nil {
				return 0, fmt.Errorf("number %q: %q is neither a number nor a constant", s, part)
			}
		}
		sum |= n
	}
	return sum, nil
}

var errnoNames = func() map[unix.Errno]string {
	names := map[unix.Errno]string{0: "ok"}
	for e := unix.Errno(1); e < 200; e++ {
		names[e] = unix.ErrnoName(e)
	}
	return names
}()

// errnoName is the kernel's name of an errno, "ok" of zero.
func errnoName(e int) string {
	if name := errnoNames[unix.Errno(e)]; name != "" {
		return name
	}
	return "errno " + strconv.Itoa(e)
}

// aclTags are the letters of an ACL in a script, in the order that the kernel demands.
var aclTags = []string{"u", "U", "g", "G", "m", "o"}

// parseACL reads "acl:u=7,U1000=4,g=5,G2000=1,m=7,o=4" as a system.posix_acl_* value.
func parseACL(s string) ([]byte, error) {
	out := []byte{2, 0, 0, 0}
	for entry := range strings.SplitSeq(strings.TrimPrefix(s, "acl:"), ",") {
		who, perm, found := strings.Cut(entry, "=")
		if !found || who == "" {
			return nil, fmt.Errorf("acl %q: entry %q is not WHO=DIGIT", s, entry)
		}
		tag := slices.Index(aclTags, who[:1])
		bits, err := strconv.ParseUint(perm, 8, 16)
		if tag < 0 || err != nil {
			return nil, fmt.Errorf("acl %q: entry %q is not WHO=DIGIT", s, entry)
		}
		id, err := strconv.ParseUint(who[1:], 10, 32)
		if err != nil {
			id = math.MaxUint32
		}
		out = append(out, byte(1<<tag), 0, byte(bits), byte(bits>>8),
			byte(id), byte(id>>8), byte(id>>16), byte(id>>24))
	}
	return out, nil
}

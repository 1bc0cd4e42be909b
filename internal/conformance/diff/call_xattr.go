// Executors of calls on extended attributes.

package diff

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

func doSetxattr(_ *worker, a args) result {
	return done(unix.Setxattr(a.path(0), a.path(1), a.data(2), a.int(3)))
}

func doLsetxattr(_ *worker, a args) result {
	return done(unix.Lsetxattr(a.path(0), a.path(1), a.data(2), a.int(3)))
}

func doFsetxattr(_ *worker, a args) result {
	return done(unix.Fsetxattr(a.fd(0), a.path(1), a.data(2), a.int(3)))
}

func doGetxattr(_ *worker, a args) result {
	buf := make([]byte, a.int(2))
	n, err := unix.Getxattr(a.path(0), a.path(1), buf)
	return content(buf, n, err)
}

func doLgetxattr(_ *worker, a args) result {
	buf := make([]byte, a.int(2))
	n, err := unix.Lgetxattr(a.path(0), a.path(1), buf)
	return content(buf, n, err)
}

func doListxattr(_ *worker, a args) result {
	buf := make([]byte, a.int(1))
	n, err := unix.Listxattr(a.path(0), buf)
	res := content(buf, n, err)
	res.Text = []byte(strings.Join(attrNames(res.Text), " "))
	return res
}

// attrNames are the names of a list of NUL-terminated names, sorted.
func attrNames(list []byte) []string {
	if len(list) == 0 {
		return nil
	}
	names := strings.Split(strings.TrimSuffix(string(list), "\x00"), "\x00")
	slices.Sort(names)
	return names
}

func doRemovexattr(_ *worker, a args) result {
	return done(unix.Removexattr(a.path(0), a.path(1)))
}

func doLremovexattr(_ *worker, a args) result {
	return done(unix.Lremovexattr(a.path(0), a.path(1)))
}

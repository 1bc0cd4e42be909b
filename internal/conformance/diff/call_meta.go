// Executors of calls on attributes: stat, permissions, owners, times, flags.

package diff

import (
	"fmt"

	"golang.org/x/sys/unix"
)

func looked(st Stat) result { return result{Errno: st.Errno, Stats: []Stat{st}} }

func doStat(_ *worker, a args) result { return looked(statAt("stat", cwd, a.path(0), 0)) }

func doLstat(_ *worker, a args) result {
	return looked(statAt("lstat", cwd, a.path(0), unix.AT_SYMLINK_NOFOLLOW))
}

func doFstat(_ *worker, a args) result {
	return looked(statAt("fstat", a.fd(0), "", unix.AT_EMPTY_PATH))
}

func doAccess(_ *worker, a args) result { return done(unix.Access(a.path(0), uint32(a.num(1)))) }

func doFaccessat2(_ *worker, a args) result {
	return done(unix.Faccessat(cwd, a.path(0), uint32(a.num(1)), a.int(2)))
}

func doChmod(_ *worker, a args) result { return done(unix.Chmod(a.path(0), uint32(a.num(1)))) }

func doFchmod(_ *worker, a args) result { return done(unix.Fchmod(a.fd(0), uint32(a.num(1)))) }

func doFchmodat2(_ *worker, a args) result {
	return done(unix.Fchmodat(cwd, a.path(0), uint32(a.num(1)), a.int(2)))
}

func doChown(_ *worker, a args) result { return done(unix.Chown(a.path(0), a.int(1), a.int(2))) }

func doLchown(_ *worker, a args) result { return done(unix.Lchown(a.path(0), a.int(1), a.int(2))) }

func doFchown(_ *worker, a args) result { return done(unix.Fchown(a.fd(0), a.int(1), a.int(2))) }

func doUtimensat(_ *worker, a args) result {
	times := []unix.Timespec{a.time(1), a.time(2)}
	return done(unix.UtimesNanoAt(cwd, a.path(0), times, a.int(3)))
}

func doFutimens(_ *worker, a args) result {
	times := []unix.Timespec{a.time(1), a.time(2)}
	return done(unix.UtimesNanoAt(a.fd(0), "", times, unix.AT_EMPTY_PATH))
}

func doUmask(_ *worker, a args) result { return result{Val: int64(unix.Umask(a.int(0)))} }

func doStatfs(_ *worker, a args) result {
	var st unix.Statfs_t
	return statfsResult(&st, unix.Statfs(a.path(0), &st))
}

func doFstatfs(_ *worker, a args) result {
	var st unix.Statfs_t
	return statfsResult(&st, unix.Fstatfs(a.fd(0), &st))
}

// statfsResult leaves out type, flags, id and what is free: see "statfs".
func statfsResult(st *unix.Statfs_t, err error) result {
	res := done(err)
	res.Text = fmt.Appendf(nil, "namelen %d bsize %d frsize %d", st.Namelen, st.Bsize, st.Frsize)
	return res
}

func doGetFlags(_ *worker, a args) result {
	flags, err := unix.IoctlGetUint32(a.fd(0), unix.FS_IOC_GETFLAGS)
	return value(int64(flags), err)
}

func doSetFlags(_ *worker, a args) result {
	return done(unix.IoctlSetPointerInt(a.fd(0), unix.FS_IOC_SETFLAGS, a.int(1)))
}

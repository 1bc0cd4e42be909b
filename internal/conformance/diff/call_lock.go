// Executors of calls on locks. None waits.

package diff

import (
	"fmt"

	"golang.org/x/sys/unix"
)

func (a args) lock() *unix.Flock_t {
	return &unix.Flock_t{Type: int16(a.num(1)), Start: a.num(2), Len: a.num(3)}
}

func doSetlk(_ *worker, a args) result {
	return done(unix.FcntlFlock(uintptr(a.fd(0)), unix.F_SETLK, a.lock()))
}

func doOFDSetlk(_ *worker, a args) result {
	err := unix.FcntlFlock(uintptr(a.fd(0)), unix.F_OFD_SETLK, a.lock())
	if err == nil {
		a.slot(0).ofdSet = true
	}
	return done(err)
}

func doGetlk(_ *worker, a args) result { return getlk(a, unix.F_GETLK) }

func doOFDGetlk(_ *worker, a args) result { return getlk(a, unix.F_OFD_GETLK) }

func getlk(a args, cmd int) result {
	lk := a.lock()
	res := done(unix.FcntlFlock(uintptr(a.fd(0)), cmd, lk))
	res.Pid = int(lk.Pid)
	res.Text = fmt.Appendf(nil, "type %d from %d length %d", lk.Type, lk.Start, lk.Len)
	return res
}

func doFlock(_ *worker, a args) result {
	err := unix.Flock(a.fd(0), a.int(1)|unix.LOCK_NB)
	if err == nil {
		a.slot(0).flocked = true
	}
	return done(err)
}

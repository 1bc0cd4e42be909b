package faulty

// Locks of fcntl(2) and flock(2).

import (
	"math"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

var setlks = on(proto.OpSetlk, proto.OpSetlkw)

var locks = []Mutant{
	{"locks-never-conflict", "locks", "every lock is granted, as with -o nolock; fcntl_locking(2): EAGAIN", on(proto.OpSetlk, proto.OpSetlkw, proto.OpGetlk), locksNeverConflict},
	{"locks-kept-at-close", "locks", "a close leaves the process's locks; fcntl_locking(2): they are released", on(proto.OpFlush, proto.OpRelease), locksKept},
	{"unlock-ignored", "locks", "F_UNLCK and LOCK_UN succeed and leave the lock", setlks, unlockIgnored},
	{"locks-whole-file", "locks", "a lock is on the whole file whatever its range, as with flock under fcntl; fcntl_locking(2): on those bytes", setlks, asking(func(in *fuse.LkIn) { in.Lk.Start, in.Lk.End = 0, math.MaxInt64 })},
	{"read-locks-exclude", "locks", "read locks exclude each other; fcntl_locking(2): they are shared", setlks, readLocksExclude},
	{"getlk-forgets-pid", "locks", "F_GETLK does not say who holds the lock; fcntl_locking(2): l_pid does", on(proto.OpGetlk), saying(func(_ *call, r *proto.Reply) { r.Out.(*fuse.LkOut).Lk.Pid = 0 })},
	{"getlk-finds-nothing", "locks", "F_GETLK never finds a lock", on(proto.OpGetlk), saying(func(_ *call, r *proto.Reply) { r.Out.(*fuse.LkOut).Lk.Typ = syscall.F_UNLCK })},
}

func locksNeverConflict(c *call) *proto.Reply {
	if c.req.Op == proto.OpGetlk {
		r := c.next()
		if out, ok := r.Out.(*fuse.LkOut); ok && r.Errno == 0 {
			out.Lk = in[fuse.LkIn](c).Lk
			out.Lk.Typ = syscall.F_UNLCK
		}
		return r
	}
	impatient := *c.req
	impatient.Op = proto.OpSetlk
	r := c.ask(&impatient)
	if r.Errno == syscall.EAGAIN {
		return &proto.Reply{}
	}
	return r
}

// locksKept closes for somebody else, and does not close a handle that locks.
func locksKept(c *call) *proto.Reply {
	if c.req.Op == proto.OpFlush {
		return nextWith(c, func(in *fuse.FlushIn) { in.LockOwner ^= math.MaxUint64 })
	}
	return &proto.Reply{}
}

func unlockIgnored(c *call) *proto.Reply {
	if in[fuse.LkIn](c).Lk.Typ == syscall.F_UNLCK {
		return &proto.Reply{}
	}
	return c.next()
}

// readLocksExclude asks first whether a write lock would be granted.
func readLocksExclude(c *call) *proto.Reply {
	in := in[fuse.LkIn](c)
	if in.Lk.Typ != syscall.F_RDLCK {
		return c.next()
	}
	probe := edited(c.req, func(in *fuse.LkIn) { in.Lk.Typ = syscall.F_WRLCK })
	probe.Op = proto.OpGetlk
	if out, ok := c.ask(probe).Out.(*fuse.LkOut); ok && out.Lk.Typ != syscall.F_UNLCK {
		return fail(syscall.EAGAIN)
	}
	return c.next()
}

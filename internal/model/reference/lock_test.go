package reference

// Locks: who is in whose way, who waits and who wakes.

import (
	"context"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

const (
	rd = syscall.F_RDLCK
	wr = syscall.F_WRLCK
	un = syscall.F_UNLCK
)

// locker locks one file by one owner.
type locker struct {
	*user
	n, fh, owner uint64
	flock        uint32
}

func (l locker) in(typ uint32, start, end uint64) *fuse.LkIn {
	return &fuse.LkIn{Fh: l.fh, Owner: l.owner, LkFlags: l.flock,
		Lk: fuse.FileLock{Start: start, End: end, Typ: typ, Pid: uint32(l.owner)}}
}

func (l locker) set(typ uint32, start, end uint64) syscall.Errno {
	return l.errno(proto.OpSetlk, l.n, l.in(typ, start, end))
}

func (l locker) get(typ uint32, start, end uint64) fuse.FileLock {
	r := l.do(proto.OpGetlk, l.n, l.in(typ, start, end), nil)
	require.Equal(l.t, OK, r.Errno)
	return r.Out.(*fuse.LkOut).Lk
}

// wait asks for the lock and returns where the answer will come.
func (l locker) wait(ctx context.Context, typ uint32, start, end uint64) <-chan syscall.Errno {
	answer, r := make(chan syscall.Errno, 1), l.request(proto.OpSetlkw, l.n, l.in(typ, start, end), nil)
	go func() { answer <- l.fs.serve(ctx, r).Errno }()
	return answer
}

func lockers(t testing.TB, count int, flock uint32) []locker {
	u := mounted(t, Options{})
	n, fh := u.create(rootIno, "f")
	all := make([]locker, count)
	for i := range all {
		all[i] = locker{u, n, fh, uint64(i + 1), flock}
	}
	return all
}

// sleeping waits until that many requests wait for locks.
func sleeping(t testing.TB, f *FS, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		f.locks.mu.Lock()
		defer f.locks.mu.Unlock()
		return len(f.locks.waiting) == n
	}, 5*time.Second, time.Millisecond)
}

func TestPosixLocks(t *testing.T) {
	l := lockers(t, 2, 0)
	require.Equal(t, OK, l[0].set(wr, 10, 19))
	assert.Equal(t, syscall.EAGAIN, l[1].set(rd, 15, 30))
	assert.Equal(t, OK, l[1].set(rd, 20, 30))
	assert.Equal(t, fuse.FileLock{Start: 10, End: 19, Typ: wr, Pid: 1}, l[1].get(rd, 0, 100))
	assert.Equal(t, uint32(un), l[1].get(rd, 0, 9).Typ)
	assert.Equal(t, uint32(un), l[0].get(wr, 10, 19).Typ, "one's own lock is in nobody's way")
	assert.Equal(t, uint32(wr), l[0].get(un, 0, 100).Typ, "F_UNLCK asks for one's own")
	assert.Equal(t, fuse.FileLock{Start: 20, End: 30, Typ: rd, Pid: 2}, l[1].get(un, 0, 100))
	require.Equal(t, OK, l[0].set(un, 13, 14), "a split")
	assert.Equal(t, OK, l[1].set(wr, 13, 14))
	assert.Equal(t, fuse.FileLock{Start: 15, End: 19, Typ: wr, Pid: 1}, l[1].get(rd, 15, 15))
	require.Equal(t, OK, l[1].errno(proto.OpFlush, l[1].n, &fuse.FlushIn{Fh: l[1].fh, LockOwner: 2}))
	require.Equal(t, OK, l[0].set(wr, 0, uint64(maxBytes)))
	assert.Equal(t, fuse.FileLock{End: uint64(maxBytes), Typ: wr, Pid: 1}, l[1].get(rd, 3, 3), "merged")
	assert.Equal(t, syscall.EINVAL, l[0].set(wr, 5, 4))
	assert.Equal(t, syscall.EINVAL, l[0].set(wr, 0, 1<<63))
	assert.Equal(t, syscall.EINVAL, l[0].set(3, 0, 1))
	readOnly := l[1]
	readOnly.fh = l[0].open(l[0].n, rdonly)
	assert.Equal(t, syscall.EBADF, readOnly.set(wr, 0, 1))
}

// TestLockRanges compares random locks with one lock type a byte.
func TestLockRanges(t *testing.T) {
	const size = 24
	var want [3][size]uint32
	l := lockers(t, 3, 0)
	for i := range want {
		for k := range want[i] {
			want[i][k] = un
		}
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		who, typ, start := rnd.IntN(3), uint32(rnd.IntN(3)), rnd.IntN(size)
		end := start + rnd.IntN(size-start)
		expect := OK
		for other := range want {
			for k := start; k <= end; k++ {
				if other != who && (typ == wr && want[other][k] != un || typ == rd && want[other][k] == wr) {
					expect = syscall.EAGAIN
				}
			}
		}
		require.Equal(t, expect, l[who].set(typ, uint64(start), uint64(end)))
		for k := start; k <= end && expect == OK; k++ {
			want[who][k] = typ
		}
	}
	locks := l[0].fs.inodes[l[0].n].locks.posix
	var got [3][size]uint32
	for i := range got {
		for k := range got[i] {
			got[i][k] = un
		}
	}
	for i, k := range locks {
		for b := k.start; b <= k.end; b++ {
			got[k.owner-1][b] = k.typ
		}
		if i > 0 && locks[i-1].owner == k.owner {
			assert.True(t, locks[i-1].end < k.start, "sorted")
			assert.False(t, locks[i-1].end+1 == k.start && locks[i-1].typ == k.typ, "merged")
		}
	}
	assert.Equal(t, want, got)
}

func TestFlock(t *testing.T) {
	l := lockers(t, 2, fuse.LK_FLOCK)
	require.Equal(t, OK, l[0].set(rd, 0, 0))
	require.Equal(t, OK, l[1].set(rd, 0, 0))
	assert.Equal(t, syscall.EAGAIN, l[0].set(wr, 0, 0))
	require.Equal(t, OK, l[1].set(wr, 0, 0), "the failed conversion lost the other's lock, as flock(2) warns")
	assert.Equal(t, syscall.EAGAIN, l[0].set(rd, 0, 0))
	posix := l[0]
	posix.flock = 0
	assert.Equal(t, OK, posix.set(wr, 0, 100), "the two kinds do not meet")
	in := &fuse.ReleaseIn{Fh: l[1].open(l[1].n, rdonly), ReleaseFlags: releaseFlockUnlock, LockOwner: 2}
	require.Equal(t, OK, l[1].errno(proto.OpRelease, l[1].n, in))
	assert.Equal(t, OK, l[0].set(wr, 0, 0))
}

func TestWaitingForLocks(t *testing.T) {
	for _, flock := range []uint32{0, fuse.LK_FLOCK} {
		l := lockers(t, 3, flock)
		require.Equal(t, OK, l[0].set(wr, 0, 9))
		a, b := l[1].wait(t.Context(), rd, 0, 9), l[2].wait(t.Context(), rd, 5, 6)
		sleeping(t, l[0].fs, 2)
		require.Equal(t, OK, l[0].set(un, 0, 9))
		assert.Equal(t, []syscall.Errno{OK, OK}, []syscall.Errno{<-a, <-b})
		ctx, cancel := context.WithCancel(t.Context())
		c := l[0].wait(ctx, wr, 0, 9)
		sleeping(t, l[0].fs, 1)
		cancel()
		assert.Equal(t, syscall.EINTR, <-c)
		sleeping(t, l[0].fs, 0)
	}
}

func TestDeadlock(t *testing.T) {
	l := lockers(t, 3, 0)
	for i := range l {
		require.Equal(t, OK, l[i].set(wr, uint64(i), uint64(i)))
	}
	a := l[0].wait(t.Context(), wr, 1, 1)
	sleeping(t, l[0].fs, 1)
	b := l[1].wait(t.Context(), wr, 2, 2)
	sleeping(t, l[0].fs, 2)
	assert.Equal(t, syscall.EDEADLK, <-l[2].wait(t.Context(), wr, 0, 0))
	require.Equal(t, OK, l[2].set(un, 2, 2))
	assert.Equal(t, OK, <-b)
	require.Equal(t, OK, l[1].set(un, 1, 1))
	assert.Equal(t, OK, <-a)
}

func TestReleaseEndsLocksOfTheHandle(t *testing.T) {
	l := lockers(t, 2, 0)
	l[0].fh = l[0].open(l[0].n, rdwr)
	require.Equal(t, OK, l[0].set(wr, 0, 9))
	w := l[1].wait(t.Context(), wr, 0, 9)
	sleeping(t, l[0].fs, 1)
	l[0].release(l[0].n, l[0].fh)
	assert.Equal(t, OK, <-w)
}

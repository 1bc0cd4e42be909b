package score

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

type errno = syscall.Errno

// errnos are those that filesystems give.
func errnos() []errno {
	return []errno{
		syscall.EPERM, syscall.ENOENT, syscall.EIO, syscall.EBADF, syscall.EACCES, syscall.EEXIST, syscall.ENOTDIR, syscall.EISDIR, syscall.EINVAL,
		syscall.EFBIG, syscall.ENOSPC, syscall.EROFS, syscall.ERANGE, syscall.ENAMETOOLONG, syscall.ENOSYS, syscall.ENOTEMPTY, syscall.ENODATA, syscall.EOPNOTSUPP,
	}
}

func TestErrnosThatAreAsRight(t *testing.T) {
	for _, c := range []struct {
		op         proto.Opcode
		want, have errno
		same       bool
	}{
		{proto.OpRmdir, syscall.ENOTEMPTY, syscall.EEXIST, true},
		{proto.OpRmdir, syscall.EEXIST, syscall.ENOTEMPTY, true},
		{proto.OpMkdir, syscall.EEXIST, syscall.ENOTEMPTY, false},
		{proto.OpUnlink, syscall.EISDIR, syscall.EPERM, true},
		{proto.OpRmdir, syscall.EISDIR, syscall.EPERM, false},
		{proto.OpLookup, syscall.ENOENT, syscall.ENOTDIR, false},
		{proto.OpRead, syscall.ESTALE, syscall.ENOENT, true},
		{proto.OpRead, 0, syscall.ENOENT, false},
		{proto.OpFlush, 0, syscall.ENOSYS, false},
	} {
		assert.Equal(t, c.same, sameErrno(c.op, c.want, c.have), "%v: %v, %v", c.op, c.want, c.have)
	}
	for _, e := range either {
		assert.NotEmpty(t, e.why)
		assert.NotContains(t, e.errnos, errno(0), "a success is never as right as an error")
	}
}

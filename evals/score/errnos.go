package score

// Errnos that are as right as the one that the reference gave.

import (
	"slices"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// either are errnos of which POSIX or Linux lets a filesystem choose.
var either = []struct {
	ops    []proto.Opcode // nil is every one
	errnos []syscall.Errno
	why    string
}{
	{[]proto.Opcode{proto.OpRmdir, proto.OpRename, proto.OpRename2}, []syscall.Errno{syscall.ENOTEMPTY, syscall.EEXIST}, "rmdir(3p), rename(3p): [EEXIST] or [ENOTEMPTY]"},
	{[]proto.Opcode{proto.OpUnlink}, []syscall.Errno{syscall.EISDIR, syscall.EPERM}, "unlink(3p) of a directory is EPERM, Linux says EISDIR"},
	{[]proto.Opcode{proto.OpUnlink, proto.OpRmdir, proto.OpRename, proto.OpRename2}, []syscall.Errno{syscall.EPERM, syscall.EACCES}, "unlink(3p): [EPERM] or [EACCES] for S_ISVTX"},
	{[]proto.Opcode{proto.OpSetlk, proto.OpSetlkw}, []syscall.Errno{syscall.EAGAIN, syscall.EACCES}, "fcntl(3p): [EACCES] or [EAGAIN]"},
	{[]proto.Opcode{proto.OpSetattr}, []syscall.Errno{syscall.EFBIG, syscall.EINVAL}, "ftruncate(3p): [EFBIG] or [EINVAL]"},
	{[]proto.Opcode{proto.OpIoctl}, []syscall.Errno{syscall.ENOTTY, syscall.ENOSYS}, "fuse_do_ioctl: the caller gets ENOTTY for both"},
	{[]proto.Opcode{proto.OpFallocate}, []syscall.Errno{syscall.EOPNOTSUPP, syscall.ENOSYS}, "fuse_file_fallocate: the caller gets EOPNOTSUPP for both"},
	{nil, []syscall.Errno{syscall.ESTALE, syscall.ENOENT}, "a node that is gone"},
	{nil, []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT}, "write(3p): no room, or none for this user"},
}

// sameErrno tells whether have is as right as want.
func sameErrno(op proto.Opcode, want, have syscall.Errno) bool {
	if want == have {
		return true
	}
	for _, e := range either {
		if (e.ops == nil || slices.Contains(e.ops, op)) && slices.Contains(e.errnos, want) && slices.Contains(e.errnos, have) {
			return true
		}
	}
	return false
}

// errnoOf is a reply's errno. A negative entry is ENOENT that may be cached.
func errnoOf(op proto.Opcode, r *proto.Reply) syscall.Errno {
	if out, ok := r.Out.(*fuse.EntryOut); ok && op == proto.OpLookup && r.Errno == 0 && out.NodeId == 0 {
		return syscall.ENOENT
	}
	return r.Errno
}

// errnoText is an errno as the log has it.
func errnoText(e syscall.Errno) string {
	if e == 0 {
		return "0"
	}
	return proto.ErrnoName(e)
}

func errnoNumber(n int64) syscall.Errno { return syscall.Errno(uint32(n)) }

// The table of system calls: one row each.

package diff

// call is a row of the table.
type call struct {
	name   string
	weight int // how often it is drawn
	args   []kind
	opens  bool // the result is a descriptor, kept in the slot Op.To
	run    func(w *worker, a args) result
}

var (
	argOpen = argNum("3×O_RDWR|O_CREAT", "4×O_RDWR", "2×O_RDONLY", "O_WRONLY", "2×O_RDWR|O_CREAT|O_EXCL",
		"2×O_RDWR|O_TRUNC", "2×O_RDWR|O_APPEND|O_CREAT", "2×O_RDONLY|O_DIRECTORY", "O_RDONLY|O_NOFOLLOW",
		"2×O_RDWR|O_TMPFILE", "O_WRONLY|O_TMPFILE|O_EXCL", "O_RDWR|O_DIRECT", "O_PATH", "O_PATH|O_NOFOLLOW",
		"O_RDONLY|O_NOATIME", "O_RDONLY|O_CREAT", "O_RDONLY|O_CREAT|O_DIRECTORY", "O_WRONLY|O_CREAT|O_TRUNC",
		"O_RDONLY|O_TRUNC", "O_RDWR|O_SYNC|O_CREAT", "O_WRONLY|O_APPEND", "O_RDWR|O_CREAT|O_NOFOLLOW")
	argMode = argNum("3×0644", "3×0755", "3×0777", "2×0666", "0600", "0700", "0", "01777", "02755", "04755", "02777",
		"06711", "0444", "07777", "0111")
	argOffset   = argNum("4×0", "2×1", "2×4095", "2×4096", "4097", "8192", "70000", "2^62", "MAX", "-1", "2^31")
	argOwnPos   = argNum("4×-", "2×0", "4096", "1", "-1", "70000")
	argLength   = argNum("2×1", "5", "4095", "3×4096", "4097", "2×8192", "2×70000")
	argSize     = argNum("4×0", "2×1", "3×5", "4095", "2×4096", "4097", "8192", "70000", "2^62", "MAX", "-1", "2^31")
	argUID      = argNum("2×0", "3×1000", "2×1001", "4×-1", "77")
	argGID      = argNum("2×0", "3×1000", "2×2000", "1001", "4×-1", "77")
	argNoFol    = argNum("3×0", "2×AT_SYMLINK_NOFOLLOW")
	argLinkFlag = argNum("2×0", "2×AT_SYMLINK_FOLLOW", "0x80")
	argLock     = argNum("2×F_RDLCK", "3×F_WRLCK", "2×F_UNLCK")
	argXFlags   = argNum("5×0", "2×XATTR_CREATE", "2×XATTR_REPLACE", "XATTR_CREATE|XATTR_REPLACE")
	argXSize    = argNum("6×70000", "2×0", "1", "300")
	argDev      = argNum("3×0x103", "0x105", "0", "0x10ff02", "-1")
	argType     = argNum("3×S_IFREG|0644", "3×S_IFIFO|0666", "S_IFSOCK|0777", "2×S_IFCHR|0666", "S_IFBLK|0600",
		"S_IFDIR|0755", "0644", "0170644")
	argWhence = argNum("3×SEEK_SET", "2×SEEK_CUR", "3×SEEK_END", "3×SEEK_DATA", "3×SEEK_HOLE", "9")
	argPunch  = argNum("3×0", "3×KEEP_SIZE", "4×PUNCH_HOLE|KEEP_SIZE", "2×ZERO_RANGE", "ZERO_RANGE|KEEP_SIZE",
		"COLLAPSE_RANGE", "INSERT_RANGE", "PUNCH_HOLE", "UNSHARE_RANGE", "0x80")
	argAllocOff = argNum("4×0", "2×1", "2×4096", "4097", "70000", "2^62", "MAX", "-1")
	argAllocLen = argNum("0", "2×1", "3×4096", "2×5000", "2×70000", "MAX", "-1")
	argAccess   = argNum("F_OK", "2×R_OK", "2×W_OK", "3×X_OK", "R_OK|W_OK", "8")
	argUmask    = argNum("2×022", "2×0", "077", "0777", "027")
	argRename   = argNum("2×0", "3×RENAME_NOREPLACE", "4×RENAME_EXCHANGE", "2×RENAME_WHITEOUT",
		"RENAME_WHITEOUT|RENAME_NOREPLACE", "RENAME_EXCHANGE|RENAME_NOREPLACE", "8")
	argFlock   = argNum("2×LOCK_SH", "3×LOCK_EX", "2×LOCK_UN")
	argEvents  = argNum("POLLIN", "POLLOUT|POLLIN", "POLLPRI")
	argStatus  = argNum("O_APPEND", "0", "O_DIRECT", "O_NOATIME")
	argCount   = argNum("4×3", "2×20", "90")
	argBuffer  = argNum("24", "2×64", "200", "1000")
	argAccFlag = argNum("2×0", "2×AT_EACCESS", "AT_SYMLINK_NOFOLLOW")
	argInode   = argNum("FS_NODUMP_FL", "0", "FS_NOATIME_FL")
)

func kinds(k ...kind) []kind { return k }

// calls has one row per system call. Descriptor calls have a descriptor slot as first argument.
var calls = []call{
	{name: "open", weight: 30, args: kinds(argPath, argOpen, argMode), opens: true, run: doOpen},
	{name: "openat", weight: 4, args: kinds(argFD, argPath, argOpen, argMode), opens: true, run: doOpenat},
	{name: "reopen", weight: 4, args: kinds(argFD, argOpen), opens: true, run: doReopen},
	{name: "dup", weight: 3, args: kinds(argFD), opens: true, run: doDup},
	{name: "close", weight: 6, args: kinds(argFD), run: doClose},
	{name: "read", weight: 10, args: kinds(argFD, argLength), run: doRead},
	{name: "pread", weight: 10, args: kinds(argFD, argLength, argOffset), run: doPread},
	{name: "write", weight: 16, args: kinds(argFD, argData), run: doWrite},
	{name: "pwrite", weight: 16, args: kinds(argFD, argData, argOffset), run: doPwrite},
	{name: "lseek", weight: 10, args: kinds(argFD, argOffset, argWhence), run: doLseek},
	{name: "setfl", weight: 2, args: kinds(argFD, argStatus), run: doSetfl},
	{name: "truncate", weight: 8, args: kinds(argFile, argSize), run: doTruncate},
	{name: "ftruncate", weight: 10, args: kinds(argFD, argSize), run: doFtruncate},
	{name: "fallocate", weight: 12, args: kinds(argFD, argPunch, argAllocOff, argAllocLen), run: doFallocate},
	{name: "copy_file_range", weight: 8, args: kinds(argFD, argOwnPos, argFD2, argOwnPos, argLength), run: doCopyRange},
	{name: "sendfile", weight: 4, args: kinds(argFD, argFD2, argOwnPos, argLength), run: doSendfile},
	{name: "mmapread", weight: 4, args: kinds(argFD, argMapOffset, argMapLength), run: doMmapRead},
	{name: "mmapwrite", weight: 6, args: kinds(argFD, argMapOffset, argData), run: doMmapWrite},
	{name: "fsync", weight: 2, args: kinds(argFD), run: doFsync},
	{name: "fdatasync", weight: 2, args: kinds(argFD), run: doFdatasync},
	{name: "poll", weight: 2, args: kinds(argFD, argEvents), run: doPoll},

	{name: "mkdir", weight: 20, args: kinds(argNew, argMode), run: doMkdir},
	{name: "rmdir", weight: 10, args: kinds(argDir), run: doRmdir},
	{name: "mknod", weight: 10, args: kinds(argNew, argType, argDev), run: doMknod},
	{name: "symlink", weight: 14, args: kinds(argTarget, argNew), run: doSymlink},
	{name: "readlink", weight: 6, args: kinds(argLink), run: doReadlink},
	{name: "link", weight: 14, args: kinds(argFile, argNew), run: doLink},
	{name: "linkat", weight: 4, args: kinds(argPath, argNew, argLinkFlag), run: doLinkat},
	{name: "linkfd", weight: 5, args: kinds(argFD, argNew), run: doLinkFD},
	{name: "linkempty", weight: 2, args: kinds(argFD, argNew), run: doLinkEmpty},
	{name: "unlink", weight: 14, args: kinds(argPath), run: doUnlink},
	{name: "rename", weight: 22, args: kinds(argPath, argNew), run: doRename},
	{name: "renameat2", weight: 16, args: kinds(argPath, argPath, argRename), run: doRenameat2},
	{name: "chdir", weight: 5, args: kinds(argDir), run: doChdir},
	{name: "fchdir", weight: 2, args: kinds(argFD), run: doFchdir},
	{name: "ls", weight: 8, args: kinds(argDir), run: doLs},
	{name: "list", weight: 5, args: kinds(argFD), run: doList},
	{name: "listwhile", weight: 2, args: kinds(argNew, argCount, argBuffer), run: doListWhile},

	{name: "stat", weight: 6, args: kinds(argPath), run: doStat},
	{name: "lstat", weight: 6, args: kinds(argPath), run: doLstat},
	{name: "fstat", weight: 6, args: kinds(argFD), run: doFstat},
	{name: "access", weight: 10, args: kinds(argPath, argAccess), run: doAccess},
	{name: "faccessat2", weight: 4, args: kinds(argPath, argAccess, argAccFlag), run: doFaccessat2},
	{name: "chmod", weight: 14, args: kinds(argPath, argMode), run: doChmod},
	{name: "fchmod", weight: 5, args: kinds(argFD, argMode), run: doFchmod},
	{name: "fchmodat2", weight: 2, args: kinds(argPath, argMode, argNoFol), run: doFchmodat2},
	{name: "chown", weight: 10, args: kinds(argPath, argUID, argGID), run: doChown},
	{name: "lchown", weight: 4, args: kinds(argPath, argUID, argGID), run: doLchown},
	{name: "fchown", weight: 3, args: kinds(argFD, argUID, argGID), run: doFchown},
	{name: "utimensat", weight: 12, args: kinds(argPath, argTime, argTime, argNoFol), run: doUtimensat},
	{name: "futimens", weight: 4, args: kinds(argFD, argTime, argTime), run: doFutimens},
	{name: "umask", weight: 6, args: kinds(argUmask), run: doUmask},
	{name: "statfs", weight: 1, args: kinds(argPath), run: doStatfs},
	{name: "fstatfs", weight: 1, args: kinds(argFD), run: doFstatfs},
	{name: "getflags", weight: 2, args: kinds(argFD), run: doGetFlags},
	{name: "setflags", weight: 3, args: kinds(argFD, argInode), run: doSetFlags},

	{name: "setxattr", weight: 14, args: kinds(argPath, argXattr, argValue, argXFlags), run: doSetxattr},
	{name: "lsetxattr", weight: 4, args: kinds(argPath, argXattr, argValue, argXFlags), run: doLsetxattr},
	{name: "fsetxattr", weight: 4, args: kinds(argFD, argXattr, argValue, argXFlags), run: doFsetxattr},
	{name: "getxattr", weight: 8, args: kinds(argPath, argXattr, argXSize), run: doGetxattr},
	{name: "lgetxattr", weight: 3, args: kinds(argPath, argXattr, argXSize), run: doLgetxattr},
	{name: "listxattr", weight: 6, args: kinds(argPath, argXSize), run: doListxattr},
	{name: "removexattr", weight: 6, args: kinds(argPath, argXattr), run: doRemovexattr},
	{name: "lremovexattr", weight: 2, args: kinds(argPath, argXattr), run: doLremovexattr},

	{name: "setlk", weight: 8, args: kinds(argFD, argLock, argLockStart, argLockLen), run: doSetlk},
	{name: "getlk", weight: 5, args: kinds(argFD, argLock, argLockStart, argLockLen), run: doGetlk},
	{name: "ofdsetlk", weight: 5, args: kinds(argFD, argLock, argLockStart, argLockLen), run: doOFDSetlk},
	{name: "ofdgetlk", weight: 3, args: kinds(argFD, argLock, argLockStart, argLockLen), run: doOFDGetlk},
	{name: "flock", weight: 6, args: kinds(argFD, argFlock), run: doFlock},
}

var (
	argFD2       = kind{gen: genBound, check: checkFD, fd: true}
	argMapOffset = argNum("12×0", "3×4096", "1", "65536")
	argMapLength = argNum("2×1", "4×4096", "4097", "70000", "0")
	argLockStart = argNum("3×0", "2×10", "100", "-1", "2^62")
	argLockLen   = argNum("2×0", "3×10", "2×5", "100", "MAX", "-3")
)

var callsByName = func() map[string]call {
	byName := make(map[string]call)
	for _, row := range calls {
		byName[row.name] = row
	}
	return byName
}()

func callNamed(name string) (call, bool) {
	row, found := callsByName[name]
	return row, found
}

// onDescriptor reports whether the call works on a descriptor slot.
func (c call) onDescriptor() bool { return c.args[0].fd }

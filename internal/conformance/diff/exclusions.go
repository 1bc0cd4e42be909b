// What need not be equal on a FUSE mount and a tmpfs, each with the reason. Nothing else is left out.

package diff

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// exclusion is a difference that is not the filesystem's. Skip recognises it in a comparison; where
// it is nil, By names the part of the package that keeps the difference from arising.
type exclusion struct {
	Name, Reason string
	By           string
	Skip         func(d difference) bool
	// Ends says that both sides are no longer in the same state: the sequence stops there.
	Ends bool
}

var exclusions = []exclusion{
	{Name: "numbers", By: "snapshot.go",
		Reason: "st_dev and st_ino are the filesystem's own; which names share an inode is compared instead"},
	{Name: "statx attributes", By: "snapshot.go",
		Reason: "the kernel's FUSE client takes no stx_attributes from a STATX reply"},
	{Name: "statfs", By: "call_meta.go",
		Reason: "type, id, flags and free space belong to the mount"},
	{Name: "order of listings", By: "call_name.go, call_xattr.go",
		Reason: "POSIX gives directories and attribute lists no order"},
	{Name: "directory positions", By: "call_file.go",
		Reason: "d_off is an opaque cookie: only positions that a listing gave may be sought"},
	{Name: "locks end before close", By: "worker.go",
		Reason: "RELEASE is asynchronous and frees flock locks late; the kernel's FUSE client never sends the " +
			"unlock of an OFD lock at close (fuse_setlk returns early for FL_CLOSE_POSIX)"},
	{Name: "immutable and append-only", By: "table.go",
		Reason: "the kernel checks these flags in its own inode, where its FUSE client never sets them"},
	{Name: "reads of no bytes", By: "table.go",
		Reason: "tmpfs updates atime, but the kernel's FUSE client sends no request"},
	{Name: "search permission of . and ..", Skip: unsearchedStat,
		Reason: "without default_permissions the kernel leaves search permission to LOOKUP, which it does not send for dots"},
	{Name: "search permission of . and .. in calls", Skip: unsearchedCall, Ends: true,
		Reason: "the same: the call goes on where tmpfs refuses"},
	{Name: "order of errors", Skip: otherError,
		Reason: "without default_permissions the kernel finds other errors before the filesystem can refuse permission"},
	{Name: "protected hard links", Skip: unprotectedLink, Ends: true,
		Reason: "without default_permissions the kernel's check for fs.protected_hardlinks finds everything readable"},
	{Name: "atime through the page cache", Skip: cachedAtime,
		Reason: "reads from the page cache and of cached symbolic links never reach the filesystem; with direct I/O, " +
			"sendfile, copying and mapping still use the page cache"},
	{Name: "blocks of mapped files", Skip: mappedBlocks,
		Reason: "a read fault of a hole makes tmpfs allocate the page; on FUSE pages are the kernel's cache"},
	{Name: "holes of mapped files", Skip: mappedHoles, Ends: true,
		Reason: "the same: the page that tmpfs has allocated is data to SEEK_DATA"},
	{Name: "ctime after FS_IOC_SETFLAGS", Skip: staleAfterIoctl,
		Reason: "the kernel's FUSE client keeps its attributes over an ioctl for as long as they are valid"},
	{Name: "privileges before fallocate", Skip: killedBeforeFallocate, Ends: true,
		Reason: "fuse_file_fallocate takes the setuid and setgid bits away before it asks the filesystem, which may refuse"},
	{Name: "flags of special files", Skip: flagsOfSpecial,
		Reason: "the kernel's FUSE client has flags for inodes of every type, and so checks the owner before it says ENOTTY"},
	{Name: "flags of unreadable files", Skip: flagsUnreadable, Ends: true,
		Reason: "for FS_IOC_GETFLAGS and FS_IOC_SETFLAGS the kernel's FUSE client opens the file anew, which may be refused"},
	{Name: "sendfile within a file", By: "call_file.go",
		Reason: "the pipe between holds pages of the page cache, which the writing half changes before they are copied"},
	{Name: "setgid after removing an ACL", Skip: setgidOfACL, Ends: true,
		Reason: "fuse_set_acl removes an ACL by a plain REMOVEXATTR, which does not say that the caller is not in the group"},
	{Name: "hard links to stale modes", Skip: staleMode, Ends: true,
		Reason: "fs.protected_hardlinks goes by the mode that the kernel remembers, with the setuid bit that a write, or an open with O_TRUNC, has removed"},
	{Name: "chown to nobody", Skip: chownToNobody,
		Reason: "chown(-1, -1) is a SETATTR of nothing, as is the removal of setuid bits before a write: nobody could refuse it"},
	{Name: "opening special files", Skip: openedSpecial, Ends: true,
		Reason: "without default_permissions nobody checks: the kernel opens FIFOs and devices itself and asks nobody"},
	{Name: "process of OFD locks", Skip: ofdProcess,
		Reason: "the protocol does not say that a lock is an OFD lock; the kernel names -1 by who asks, not by who holds"},
	{Name: "times of FIFOs", Skip: pipeTimes,
		Reason: "FIFOs are written in the kernel, and inodes of FUSE have S_NOCMTIME: nobody is told"},
	{Name: "times of what is truncated to nothing", Skip: truncatedEmpty,
		Reason: "without OPEN truncate(2) and O_TRUNC are the same SETATTR; of a file that is empty already, the second changes the times"},
	{Name: "directory times after link and unlink", Skip: borrowedTime,
		Reason: "shmem_link and shmem_unlink give the directory the file's new ctime, which can be what the " +
			"directory already had: tmpfs then shows no change"},
}

// exclusionOf is the exclusion that recognises the difference, or nil.
func exclusionOf(d difference) *exclusion {
	for i, x := range exclusions {
		if x.Skip != nil && x.Skip(d) {
			return &exclusions[i]
		}
	}
	return nil
}

// after reports whether one of the calls was made on the object, as far as that is known.
func (d difference) after(calls ...string) bool {
	return d.Object != nil && slices.ContainsFunc(calls, func(name string) bool { return d.Object.calls[name] })
}

// earlier reports whether one of the calls has succeeded in the sequence.
func (d difference) earlier(calls ...string) bool {
	return slices.ContainsFunc(d.History, func(name string) bool { return slices.Contains(calls, name) })
}

func (d difference) fileType() uint32 { return d.WantStat.Mode & unix.S_IFMT }

func cachedAtime(d difference) bool {
	direct := d.Mode.Direct && d.fileType() == unix.S_IFREG && !d.after("sendfile", "copy_file_range",
		"mmapread", "mmapwrite", "mmapread failed", "mmapwrite failed")
	return d.Field == "atime" && !direct
}

func mappedBlocks(d difference) bool {
	return d.Field == "blocks" && d.after("mmapread", "mmapwrite")
}

var linkCalls = []string{"link", "linkat", "linkfd", "linkempty", "unlink", "rmdir", "rename", "renameat2", "listwhile"}

func borrowedTime(d difference) bool {
	tmpfsUnchanged := d.Want == "unchanged" || d.Mode.Twin && d.Got == "unchanged"
	linked := slices.ContainsFunc(d.Since, func(call string) bool { return slices.Contains(linkCalls, call) })
	return tmpfsUnchanged && d.fileType() == unix.S_IFDIR && linked
}

func staleAfterIoctl(d difference) bool {
	return d.Field == "ctime" && d.after("setflags") && !d.Mode.Uncached
}

func chownToNobody(d difference) bool {
	nobody := strings.HasSuffix(strings.Join(d.Op.Args, " "), " -1 -1")
	return nobody && d.Field == "errno" && d.Want == "EPERM" && d.Got == "ok"
}

func ofdProcess(d difference) bool {
	return d.Field == "process" && (d.Op.Call == "ofdgetlk" || d.Want == "-1")
}

func truncatedEmpty(d difference) bool {
	return d.Mode.Aggressive && (d.Field == "mtime" || d.Field == "ctime") &&
		(d.Want == "unchanged" && slices.Contains(d.Since, "truncate") || d.Got == "now" && d.earlier("truncate"))
}

func openedSpecial(d difference) bool {
	return d.Mode.OwnPermissions && strings.HasPrefix(d.Op.Call, "open") && d.Field == "errno" &&
		d.Want == "EACCES" && d.Got == "ok" && d.earlier("mknod")
}

func pipeTimes(d difference) bool {
	return (d.Field == "mtime" || d.Field == "ctime") && d.fileType() == unix.S_IFIFO &&
		d.after("write", "pwrite", "sendfile", "copy_file_range")
}

func unsearchedStat(d difference) bool {
	return d.Mode.OwnPermissions && d.WantStat.Errno == int(unix.EACCES) && hasDots(d.What)
}

func unsearchedCall(d difference) bool {
	return d.Mode.OwnPermissions && d.Field == "errno" && d.Want == "EACCES" && slices.ContainsFunc(d.Op.Args, hasDots)
}

// hasDots reports whether a path, or the path at the end of a text, has a component . or ..
func hasDots(text string) bool {
	name := text[strings.LastIndex(text, " ")+1:]
	return slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return part == "." || part == ".." })
}

func mappedHoles(d difference) bool {
	return d.Op.Call == "lseek" && d.earlier("mmapread", "mmapwrite")
}

func otherError(d difference) bool {
	denied := d.Want == "EACCES" || d.Want == "EPERM"
	return d.Mode.OwnPermissions && d.Field == "errno" && denied && d.Got != "ok"
}

func unprotectedLink(d difference) bool {
	links := strings.HasPrefix(d.Op.Call, "link")
	return d.Mode.OwnPermissions && links && d.Field == "errno" && d.Want == "EPERM" && d.Got == "ok"
}

func killedBeforeFallocate(d difference) bool {
	return (d.Field == "mode" || d.Field == "ctime") && d.after("fallocate failed")
}

func aboutFlags(d difference) bool {
	return d.Field == "errno" && (d.Op.Call == "getflags" || d.Op.Call == "setflags")
}

func flagsOfSpecial(d difference) bool {
	return aboutFlags(d) && d.Want == "ENOTTY" && d.Got == "EPERM"
}

func flagsUnreadable(d difference) bool {
	return aboutFlags(d) && d.Mode.OwnPermissions && d.Want == "ok" && d.Got == "EACCES"
}

func setgidOfACL(d difference) bool {
	return d.Field == "mode" && d.WantStat.Mode|unix.S_ISGID == d.GotStat.Mode &&
		d.earlier("setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr")
}

func staleMode(d difference) bool {
	later := d.Want == "ok" || d.Want == "EACCES" // of the directory
	return strings.HasPrefix(d.Op.Call, "link") && d.Field == "errno" && later && d.Got == "EPERM" &&
		d.earlier("open", "write", "pwrite", "ftruncate", "truncate", "fallocate", "copy_file_range", "sendfile", "mmapwrite")
}

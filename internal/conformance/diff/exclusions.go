// What need not be equal on a FUSE mount and a tmpfs, each with the reason. Nothing else is left out.

package diff

import (
	"slices"

	"golang.org/x/sys/unix"
)

// exclusion is a difference that is not the filesystem's. Skip recognises it in a comparison; where
// it is nil, By names the part of the package that keeps the difference from arising.
type exclusion struct {
	Name, Reason string
	By           string
	Skip         func(d difference) bool
}

var exclusions = []exclusion{
	{Name: "numbers", By: "snapshot.go",
		Reason: "st_dev and st_ino are the filesystem's own; which names share an inode is compared instead"},
	{Name: "statx attributes", By: "snapshot.go",
		Reason: "the FUSE protocol has no field for stx_attributes"},
	{Name: "statfs", By: "call_meta.go",
		Reason: "type, id, flags and free space belong to the mount"},
	{Name: "order of listings", By: "call_name.go, call_xattr.go",
		Reason: "POSIX gives directories and attribute lists no order"},
	{Name: "directory positions", By: "call_file.go",
		Reason: "d_off is an opaque cookie: only positions that a listing gave may be sought"},
	{Name: "locks end before close", By: "worker.go",
		Reason: "RELEASE is asynchronous and frees flock locks late; the kernel's FUSE client never sends the " +
			"unlock of an OFD lock at close (fuse_setlk returns early for FL_CLOSE_POSIX)"},
	{Name: "atime through the page cache", Skip: cachedAtime,
		Reason: "reads from the page cache and of cached symbolic links never reach the filesystem"},
	{Name: "blocks of mapped files", Skip: mappedBlocks,
		Reason: "a read fault of a hole makes tmpfs allocate the page; on FUSE pages are the kernel's cache"},
	{Name: "directory times after link and unlink", Skip: borrowedTime,
		Reason: "shmem_link and shmem_unlink give the directory the file's new ctime, which can be what the " +
			"directory already had: tmpfs then shows no change"},
}

func excluded(d difference) bool {
	for _, x := range exclusions {
		if x.Skip != nil && x.Skip(d) {
			return true
		}
	}
	return false
}

func (d difference) fileType() uint32 { return d.WantStat.Mode & unix.S_IFMT }

func cachedAtime(d difference) bool {
	return d.Field == "atime" && !(d.Mode.Direct && d.fileType() == unix.S_IFREG)
}

func mappedBlocks(d difference) bool {
	return d.Field == "blocks" && d.Object != nil && d.Object.wasMapped
}

var linkCalls = []string{"link", "linkat", "linkfd", "linkempty", "unlink", "rmdir", "rename", "renameat2", "listwhile"}

func borrowedTime(d difference) bool {
	tmpfsUnchanged := d.Want == "unchanged" || d.Mode.Twin && d.Got == "unchanged"
	return tmpfsUnchanged && d.fileType() == unix.S_IFDIR && d.OpOK && slices.Contains(linkCalls, d.Op.Call)
}

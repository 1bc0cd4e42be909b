// Package fuseraw is the kernel's side of a filesystem: it mounts /dev/fuse,
// reads requests as bytes, hands them decoded to a [Handler] and writes each
// reply back exactly once.
//
//	program → kernel → /dev/fuse → fuseraw → Handler → fuseraw → /dev/fuse
//
// No caller may ever hang: a request is answered by its handler, or with EINTR
// after an INTERRUPT, ETIMEDOUT after [Options].Deadline, ECONNABORTED at the
// unmount and EIO after a panic. Whoever comes first answers; the others'
// results are dropped and counted in [Stats].
//
// A process must not use the filesystem that it serves: some system calls of
// the Go runtime hold up its scheduler, and would wait for a reply that then
// can't be written. (os.Open registers a file with epoll_ctl(2), which sends POLL.)
//
// The protocol is linux/fuse.h 7.45 and fs/fuse/dev.c of Linux 6.18.
package fuseraw

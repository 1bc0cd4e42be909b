package faulty

// How each mutant is made to show its bug.

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

var nameScripts = map[string]script{
	"rename-leaves-source": {func(p *player) func() {
		p.file("a", "x")
		p.rename(root, "a", root, "b", 0)
		return func() { p.lookup(root, "a") }
	}, "LOOKUP"},
	"rename-refuses-target": {func(p *player) func() {
		p.file("a", "x")
		p.rename(root, "a", root, "b", 0)
		p.file("a", "y")
		return func() { p.rename(root, "a", root, "b", 0) }
	}, "RENAME2"},
	"rename-into-itself": {func(p *player) func() {
		d := p.mkdir(root, "d", 0o755)
		p.mkdir(d, "e", 0o755)
		p.rename(root, "d", root, "f", 0)
		return func() { p.rename(root, "f", d, "g", 0) }
	}, "RENAME2"},
	"rename-noreplace-ignored": {func(p *player) func() {
		p.file("a", "x")
		p.rename(root, "a", root, "b", unix.RENAME_NOREPLACE)
		p.file("a", "y")
		return func() { p.rename(root, "a", root, "b", unix.RENAME_NOREPLACE) }
	}, "RENAME2"},
	"rename-exchange-plain": {func(p *player) func() {
		p.file("a", "x")
		p.file("b", "y")
		p.rename(root, "a", root, "b", unix.RENAME_EXCHANGE)
		return func() { p.lookup(root, "a") }
	}, "LOOKUP"},
	"rename-flags-refused": {func(p *player) func() {
		p.file("a", "x")
		p.rename(root, "a", root, "b", 0)
		return func() { p.rename(root, "b", root, "c", unix.RENAME_NOREPLACE) }
	}, "RENAME2"},
	"rename-over-full-directory": {func(p *player) func() {
		p.mkdir(root, "a", 0o755)
		b := p.mkdir(root, "b", 0o755)
		p.rename(root, "a", root, "c", 0)
		p.mkdir(p.mkdir(b, "full", 0o755), "deep", 0o755)
		return func() { p.rename(root, "c", root, "b", 0) }
	}, "RENAME2"},
	"rename-drops-same-file": {func(p *player) func() {
		id, _ := p.file("a", "x")
		p.link(id, "b")
		p.rename(root, "a", root, "b", 0)
		return func() { p.lookup(root, "a") }
	}, "LOOKUP"},
	"enoent-for-enotdir": {func(p *player) func() {
		id, _ := p.file("a", "x")
		p.lookup(root, "b")
		return func() { p.lookup(id, "b") }
	}, "LOOKUP"},
	"eio-for-enoent": {func(p *player) func() {
		p.file("a", "x")
		p.lookup(root, "a")
		return func() { p.lookup(root, "b") }
	}, "LOOKUP"},
	"unlink-of-directory": {func(p *player) func() {
		p.file("a", "x")
		p.unlink(root, "a")
		p.mkdir(root, "d", 0o755)
		return func() { p.unlink(root, "d") }
	}, "UNLINK"},
	"rmdir-of-file": {func(p *player) func() {
		p.mkdir(root, "d", 0o755)
		p.rmdir(root, "d")
		p.file("a", "x")
		return func() { p.rmdir(root, "a") }
	}, "RMDIR"},
	"rmdir-of-full": {fullDirectory, "RMDIR"},
	"mkdir-over-existing": {func(p *player) func() {
		p.mkdir(root, "d", 0o755)
		return func() { p.do(proto.OpMkdir, root, &fuse.MkdirIn{Mode: 0o755}, "", "d") }
	}, "MKDIR"},
	"exclusive-ignored": {func(p *player) func() {
		in := &fuse.CreateIn{Flags: syscall.O_RDWR | syscall.O_CREAT | syscall.O_EXCL, Mode: syscall.S_IFREG | 0o644}
		p.do(proto.OpCreate, root, in, "", "a")
		return func() { p.do(proto.OpCreate, root, in, "", "a") }
	}, "CREATE"},
	"link-over-existing": {func(p *player) func() {
		id, _ := p.file("a", "x")
		p.link(id, "b")
		return func() { p.link(id, "b") }
	}, "LINK"},
	"names-fold-case": {func(p *player) func() {
		p.file("README", "x")
		p.lookup(root, "README")
		p.lookup(root, "other")
		return func() { p.lookup(root, "readme") }
	}, "LOOKUP"},
	"names-cut-at-255": {func(p *player) func() {
		p.mknod(strings.Repeat("n", 255), syscall.S_IFREG|0o644)
		return func() { p.lookup(root, strings.Repeat("n", 256)) }
	}, "LOOKUP"},
	"names-trimmed": {func(p *player) func() {
		p.file("a.b c", "x")
		p.lookup(root, "a.b c")
		return func() { p.lookup(root, "a.b c.") }
	}, "LOOKUP"},
	"lookup-invents": {func(p *player) func() {
		p.file("a", "x")
		p.lookup(root, "a")
		return func() { p.lookup(root, "b") }
	}, "LOOKUP"},
	"unlinked-comes-back": {func(p *player) func() {
		p.file("a", "x")
		p.lookup(root, "a")
		p.unlink(root, "a")
		return func() { p.lookup(root, "a") }
	}, "LOOKUP"},
}

func fullDirectory(p *player) func() {
	d := p.mkdir(root, "d", 0o755)
	p.mkdir(root, "e", 0o755)
	p.rmdir(root, "e")
	p.mkdir(p.mkdir(d, "full", 0o755), "deep", 0o755)
	return func() { p.rmdir(root, "d") }
}

// twoNames is a file with two names, of which one goes.
func twoNames(p *player) (id, fh uint64) {
	id, fh = p.file("a", "x")
	p.link(id, "b")
	p.stat(id)
	p.unlink(root, "b")
	return id, fh
}

var linkScripts = map[string]script{
	"unlink-keeps-nlink": {func(p *player) func() {
		id, _ := twoNames(p)
		return func() { p.stat(id) }
	}, "GETATTR"},
	"rmdir-keeps-nlink": {func(p *player) func() {
		p.mkdir(root, "d", 0o755)
		p.stat(root)
		p.rmdir(root, "d")
		return func() { p.stat(root) }
	}, "GETATTR"},
	"mkdir-keeps-nlink": {func(p *player) func() {
		p.stat(root)
		p.mkdir(root, "d", 0o755)
		return func() { p.stat(root) }
	}, "GETATTR"},
	"unlinked-has-a-link": {func(p *player) func() {
		id, _ := p.file("a", "x")
		p.stat(id)
		p.unlink(root, "a")
		return func() { p.stat(id) }
	}, "GETATTR"},
	"link-copies": {func(p *player) func() {
		id, _ := p.file("a", "x")
		return func() { p.link(id, "b") }
	}, "LINK"},
	"link-keeps-nlink": {func(p *player) func() {
		id, _ := p.file("a", "x")
		return func() { p.link(id, "b") }
	}, "LINK"},
	"links-refused": {func(p *player) func() {
		id, _ := p.file("a", "x")
		return func() { p.link(id, "b") }
	}, "LINK"},
	"unlink-frees-open": {func(p *player) func() {
		id, fh := twoNames(p)
		p.read(id, fh, 0, 9)
		p.unlink(root, "a")
		return func() { p.read(id, fh, 0, 9) }
	}, "READ"},
	"symlink-loses-last-byte": {func(p *player) func() {
		id := p.symlink("s", "target")
		return func() { p.do(proto.OpReadlink, id, nil, "") }
	}, "READLINK"},
	"symlink-cut": {func(p *player) func() {
		p.do(proto.OpReadlink, p.symlink("s", strings.Repeat("t", 59)), nil, "")
		return func() { p.symlink("l", strings.Repeat("t", 60)) }
	}, "SYMLINK"},
	"symlink-without-size": {func(p *player) func() {
		p.file("a", "x")
		return func() { p.symlink("s", "a") }
	}, "SYMLINK"},
	"symlink-resolved": {func(p *player) func() {
		p.file("a", "x")
		p.symlink("s", "a")
		p.lookup(root, "a")
		return func() { p.lookup(root, "s") }
	}, "LOOKUP"},
	"mknod-loses-rdev": {func(p *player) func() {
		p.mknod("f", syscall.S_IFIFO|0o644)
		return func() {
			p.do(proto.OpMknod, root, &fuse.MknodIn{Mode: syscall.S_IFCHR | 0o644, Rdev: 0x103}, "", "null")
		}
	}, "MKNOD"},
	"mknod-makes-files": {func(p *player) func() {
		p.mknod("a", syscall.S_IFREG|0o644)
		return func() { p.mknod("f", syscall.S_IFIFO|0o644) }
	}, "MKNOD"},
	"tmpfile-has-a-link": {func(p *player) func() {
		p.create("a", 0o644)
		return func() {
			p.do(proto.OpTmpfile, root, &fuse.CreateIn{Flags: syscall.O_RDWR, Mode: syscall.S_IFREG | 0o600}, "", "/")
		}
	}, "TMPFILE"},
}

// texted is a script about a file of some content, read before and after.
func texted(text string, trigger func(p *player, id, fh uint64)) func(p *player) func() {
	return func(p *player) func() {
		id, fh := p.file("a", text)
		p.stat(id)
		return func() { trigger(p, id, fh) }
	}
}

func readAll(p *player, id, fh uint64) { p.read(id, fh, 0, 1<<16) }

var contentScripts = map[string]script{
	"truncate-keeps-tail": {func(p *player) func() {
		id, fh := p.file("a", "secret")
		p.truncate(id, 2)
		p.read(id, fh, 0, 9)
		return func() { p.truncate(id, 6); p.read(id, fh, 0, 9) }
	}, "READ"},
	"truncate-to-zero-ignored": {func(p *player) func() {
		id, _ := p.file("a", "text")
		p.truncate(id, 2)
		return func() { p.truncate(id, 0) }
	}, "SETATTR"},
	"append-ignored": {func(p *player) func() {
		id, fh := p.file("a", "one")
		p.do(proto.OpWrite, id, &fuse.WriteIn{Fh: fh, Offset: 3, Size: 3, Flags: syscall.O_APPEND | syscall.O_RDWR}, "two")
		return func() { readAll(p, id, fh) }
	}, "READ"},
	"hole-is-garbage": {func(p *player) func() {
		id, fh := p.file("a", "one")
		p.write(id, fh, 3, "two")
		readAll(p, id, fh)
		p.write(id, fh, 10, "far")
		return func() { readAll(p, id, fh) }
	}, "READ"},
	"stale-size-by-handle": {func(p *player) func() {
		id, fh := p.file("a", "one")
		other := p.open(id, syscall.O_RDONLY)
		p.read(id, other, 0, 9)
		p.write(id, fh, 3, "two")
		readAll(p, id, fh)
		return func() { readAll(p, id, other) }
	}, "READ"},
	"short-write": {texted("x", func(p *player, id, fh uint64) { p.write(id, fh, 0, strings.Repeat("w", 4097)) }), "WRITE"},
	"short-write-hidden": {func(p *player) func() {
		id, fh := p.file("a", strings.Repeat("w", 4096))
		readAll(p, id, fh)
		p.write(id, fh, 0, strings.Repeat("v", 5000))
		return func() { readAll(p, id, fh) }
	}, "READ"},
	"read-past-end": {func(p *player) func() {
		id, fh := p.file("a", "text")
		p.read(id, fh, 0, 4)
		return func() { p.read(id, fh, 0, 5) }
	}, "READ"},
	"eof-off-by-one": {func(p *player) func() {
		id, fh := p.file("a", "text")
		p.read(id, fh, 0, 3)
		return func() { p.read(id, fh, 0, 4) }
	}, "READ"},
	"read-ignores-offset": {func(p *player) func() {
		id, fh := p.file("a", "text")
		p.read(id, fh, 0, 4)
		return func() { p.read(id, fh, 1, 4) }
	}, "READ"},
	"write-ends-at-nul": {func(p *player) func() {
		id, fh := p.file("a", "text")
		readAll(p, id, fh)
		p.write(id, fh, 0, "a\x00b")
		return func() { readAll(p, id, fh) }
	}, "READ"},
	"bytes-as-text": {func(p *player) func() {
		id, fh := p.file("a", "täxt")
		readAll(p, id, fh)
		p.write(id, fh, 0, "\xff\xfe")
		return func() { readAll(p, id, fh) }
	}, "READ"},
	"text-mode":             {texted("a\r\nb\n", readAll), "READ"},
	"trailing-newline-lost": {texted("a\n", readAll), "READ"},
	"overwrite-truncates": {func(p *player) func() {
		id, fh := p.file("a", "one")
		p.write(id, fh, 3, "two")
		p.stat(id)
		p.write(id, fh, 0, "O")
		return func() { p.stat(id) }
	}, "GETATTR"},
	"first-write-wins": {func(p *player) func() {
		id, fh := p.file("a", "one")
		p.write(id, fh, 3, "two")
		readAll(p, id, fh)
		p.write(id, fh, 0, "O")
		return func() { readAll(p, id, fh) }
	}, "READ"},
	"large-offset-refused":  {texted("x", func(p *player, id, fh uint64) { p.write(id, fh, 1<<31, "x") }), "WRITE"},
	"copy-range-short":      {texted("text", func(p *player, id, fh uint64) { copyRange(p, id, fh, 0, 2) }), "COPY_FILE_RANGE_64"},
	"copy-range-from-start": {copyFrom, "READ"},
	"fsync-unsupported": {texted("x", func(p *player, id, fh uint64) {
		p.do(proto.OpFsync, id, &fuse.FsyncIn{Fh: fh}, "")
	}), "FSYNC"},
}

func copyRange(p *player, id, fh, from, n uint64) {
	p.do(proto.OpCopyFileRange64, id, &fuse.CopyFileRangeIn{FhIn: fh, OffIn: from, NodeIdOut: id, FhOut: fh, OffOut: 10, Len: n}, "")
}

func copyFrom(p *player) func() {
	id, fh := p.file("a", "text")
	copyRange(p, id, fh, 0, 2)
	readAll(p, id, fh)
	copyRange(p, id, fh, 2, 2)
	return func() { readAll(p, id, fh) }
}

// sparse is a file of data, a hole and data, a page each.
func sparse(trigger func(p *player, id, fh uint64)) func(p *player) func() {
	return func(p *player) func() {
		id, fh := p.file("a", "text")
		p.lseek(id, fh, 0, unix.SEEK_DATA)
		p.lseek(id, fh, 0, unix.SEEK_HOLE)
		p.write(id, fh, 2*page, strings.Repeat("x", page))
		p.lseek(id, fh, 0, unix.SEEK_DATA)
		return func() { trigger(p, id, fh) }
	}
}

var spaceScripts = map[string]script{
	"seek-hole-at-end": {func(p *player) func() {
		id, fh := p.file("a", strings.Repeat("x", page))
		p.lseek(id, fh, 0, unix.SEEK_HOLE)
		p.write(id, fh, 2*page, "x")
		return func() { p.lseek(id, fh, 0, unix.SEEK_HOLE) }
	}, "LSEEK"},
	"seek-data-stays": {sparse(func(p *player, id, fh uint64) { p.lseek(id, fh, page, unix.SEEK_DATA) }), "LSEEK"},
	"seek-past-end": {sparse(func(p *player, id, fh uint64) {
		p.truncate(id, 10*page)
		p.lseek(id, fh, 3*page, unix.SEEK_DATA)
	}), "LSEEK"},
	"fallocate-grows": {func(p *player) func() {
		id, fh := p.file("a", "text")
		p.fallocate(id, fh, 0, 0, page)
		p.fallocate(id, fh, unix.FALLOC_FL_KEEP_SIZE, 0, 2*page)
		return func() { p.stat(id) }
	}, "GETATTR"},
	"fallocate-keeps-size": {func(p *player) func() {
		id, fh := p.file("a", "text")
		p.fallocate(id, fh, unix.FALLOC_FL_KEEP_SIZE, 0, 2*page)
		p.stat(id)
		p.fallocate(id, fh, 0, 0, 2*page)
		return func() { p.stat(id) }
	}, "GETATTR"},
	"punch-does-nothing": {func(p *player) func() {
		id, fh := p.file("a", "text")
		p.fallocate(id, fh, 0, 0, page)
		p.fallocate(id, fh, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, page)
		return func() { readAll(p, id, fh) }
	}, "READ"},
	"sizes-of-32-bits":   {texted("x", func(p *player, id, _ uint64) { p.truncate(id, 1<<32+1) }), "SETATTR"},
	"sizes-in-pages":     {func(p *player) func() { id, _ := p.create("a", 0o644); return func() { p.truncate(id, 5) } }, "SETATTR"},
	"statfs-constant":    {texted("x", statfs), "STATFS"},
	"statfs-unsupported": {texted("x", statfs), "STATFS"},
}

func statfs(p *player, _, _ uint64) { p.do(proto.OpStatfs, root, nil, "") }

var timeScripts = map[string]script{
	"write-keeps-mtime":    {wrote, "GETATTR"},
	"write-keeps-ctime":    {wrote, "GETATTR"},
	"truncate-keeps-mtime": {texted("x", func(p *player, id, _ uint64) { p.truncate(id, 0) }), "SETATTR"},
	"chmod-keeps-ctime":    {texted("x", func(p *player, id, _ uint64) { p.chmod(id, 0o600) }), "SETATTR"},
	"link-keeps-ctime":     {texted("x", func(p *player, id, _ uint64) { p.link(id, "b") }), "LINK"},
	"rename-keeps-ctime": {func(p *player) func() {
		id, _ := p.file("a", "x")
		p.rename(root, "a", root, "b", 0)
		return func() { p.stat(id) }
	}, "GETATTR"},
	"unlink-keeps-ctime": {func(p *player) func() {
		id, _ := twoNames(p)
		return func() { p.stat(id) }
	}, "GETATTR"},
	"xattr-keeps-ctime": {func(p *player) func() {
		id, _ := p.file("a", "x")
		p.setxattr(id, "user.a", "v", 0)
		return func() { p.stat(id) }
	}, "GETATTR"},
	"create-keeps-parent": {func(p *player) func() {
		p.stat(root)
		p.file("a", "x")
		return func() { p.stat(root) }
	}, "GETATTR"},
	"remove-keeps-parent": {func(p *player) func() {
		p.file("a", "x")
		p.stat(root)
		p.unlink(root, "a")
		return func() { p.stat(root) }
	}, "GETATTR"},
	"read-keeps-atime": {func(p *player) func() {
		id, fh := p.file("a", "x")
		readAll(p, id, fh)
		return func() { p.stat(id) }
	}, "GETATTR"},
	"write-touches-atime": {wrote, "GETATTR"},
	"stat-touches-atime":  {func(p *player) func() { id, _ := p.file("a", "x"); return func() { p.stat(id) } }, "GETATTR"},
	"now-is-never": {texted("x", func(p *player, id, _ uint64) {
		p.set(id, fuse.SetAttrInCommon{Valid: fuse.FATTR_MTIME | fuse.FATTR_MTIME_NOW})
	}), "SETATTR"},
	"omit-ignored":  {texted("x", setMtime(1000, 5)), "SETATTR"},
	"times-ignored": {texted("x", setMtime(1000, 5)), "SETATTR"},
	"nanoseconds-lost": {func(p *player) func() {
		p.lookup(root, "a")
		return func() { p.file("a", "x") }
	}, "CREATE"},
	"seconds-of-32-bits": {texted("x", setMtime(1<<31, 0)), "SETATTR"},
	"before-1970-lost":   {texted("x", setMtime(math.MaxUint64, 0)), "SETATTR"},
}

func wrote(p *player) func() {
	id, fh := p.create("a", 0o644)
	p.stat(id)
	p.write(id, fh, 0, "x")
	return func() { p.stat(id) }
}

func setMtime(sec uint64, nsec uint32) func(p *player, id, _ uint64) {
	return func(p *player, id, _ uint64) {
		p.set(id, fuse.SetAttrInCommon{Valid: fuse.FATTR_MTIME, Mtime: sec, Mtimensec: nsec})
	}
}

// special is a file of user 1000 with a setuid bit.
func setuid(p *player) (id, fh uint64) {
	id, fh = p.file("a", "x")
	p.chown(id, 1000, 1000)
	p.chmod(id, 0o4755)
	p.stat(id)
	return id, fh
}

// inSetgid is a setgid directory of group 50.
func inSetgid(p *player) uint64 {
	d := p.mkdir(root, "d", 0o777)
	p.chown(d, 0, 50)
	p.chmod(d, 0o2777)
	return d
}

// ofUser is a directory of user 1000 with a file in it.
func ofUser(p *player, mode uint32) uint64 {
	d := p.mkdir(root, "d", 0o777)
	p.as(1000, func() {
		p.do(proto.OpMknod, d, &fuse.MknodIn{Mode: syscall.S_IFREG | 0o644}, "", "f")
	})
	p.chmod(d, mode)
	return d
}

func created(in *fuse.CreateIn) func(p *player) func() {
	return func(p *player) func() {
		p.mknod("n", syscall.S_IFIFO|0o600)
		return func() { p.do(proto.OpCreate, root, in, "", "a") }
	}
}

var ownerScripts = map[string]script{
	"write-keeps-setuid": {func(p *player) func() {
		id, fh := setuid(p)
		in := &fuse.WriteIn{Fh: fh, Size: 1, WriteFlags: fuse.WRITE_KILL_SUIDGID}
		p.do(proto.OpLookup, root, nil, "", "a")
		return func() { p.do(proto.OpWrite, id, in, "y"); p.stat(id) }
	}, "GETATTR"},
	"truncate-keeps-setuid": {func(p *player) func() {
		id, _ := setuid(p)
		return func() {
			p.set(id, fuse.SetAttrInCommon{Valid: fuse.FATTR_SIZE | fuse.FATTR_KILL_SUIDGID})
		}
	}, "SETATTR"},
	"chown-keeps-setuid": {func(p *player) func() {
		id, _ := setuid(p)
		return func() { p.chown(id, 0, 0) }
	}, "SETATTR"},
	"setgid-not-inherited": {func(p *player) func() {
		d := inSetgid(p)
		p.mkdir(root, "e", 0o755)
		return func() { p.mkdir(d, "e", 0o755) }
	}, "MKDIR"},
	"setgid-not-passed-on": {func(p *player) func() {
		d := inSetgid(p)
		p.mkdir(root, "e", 0o755)
		return func() { p.mkdir(d, "e", 0o755) }
	}, "MKDIR"},
	"umask-ignored":    {created(&fuse.CreateIn{Flags: syscall.O_RDWR, Mode: syscall.S_IFREG | 0o666, Umask: 0o27}), "CREATE"},
	"umask-of-its-own": {created(&fuse.CreateIn{Flags: syscall.O_RDWR, Mode: syscall.S_IFREG | 0o666}), "CREATE"},
	"modes-invented":   {created(&fuse.CreateIn{Flags: syscall.O_RDWR, Mode: syscall.S_IFREG | 0o600}), "CREATE"},
	"sticky-ignored": {func(p *player) func() {
		d := ofUser(p, 0o1777)
		return func() { p.as(2000, func() { p.unlink(d, "f") }) }
	}, "UNLINK"},
	"eperm-eacces-swapped": {func(p *player) func() {
		d := ofUser(p, 0o755)
		return func() { p.as(2000, func() { p.unlink(d, "f") }) }
	}, "UNLINK"},
	"access-granted": {func(p *player) func() {
		d := ofUser(p, 0o755)
		return func() { p.as(2000, func() { p.unlink(d, "f") }) }
	}, "UNLINK"},
	"chown-by-anybody": {func(p *player) func() {
		id, _ := p.file("a", "x")
		p.chown(id, 1000, 1000)
		return func() { p.as(2000, func() { p.chmod(id, 0o777) }) }
	}, "SETATTR"},
	"chmod-drops-special": {texted("x", func(p *player, id, _ uint64) { p.chmod(id, 0o1644) }), "SETATTR"},
	"chmod-ignored":       {texted("x", func(p *player, id, _ uint64) { p.chmod(id, 0o600) }), "SETATTR"},
	"chgrp-ignored":       {texted("x", func(p *player, id, _ uint64) { p.chown(id, 1000, 1000) }), "SETATTR"},
	"files-of-root": {func(p *player) func() {
		p.file("a", "x")
		return func() { p.as(1000, func() { p.file("b", "x") }) }
	}, "CREATE"},
}

// filled is a directory of n entries.
func filled(p *player, n int) {
	for i := range n {
		p.mknod(fmt.Sprintf("file-%03d", i), syscall.S_IFREG|0o644)
	}
}

// listed lists the root in one page, then has it listed in pages.
func listed(n int, size uint32) func(p *player) func() {
	return func(p *player) func() {
		filled(p, n)
		return func() { p.list(root, size, false) }
	}
}

var directoryScripts = map[string]script{
	"readdir-drops-between-pages": {listed(20, 256), "READDIR"},
	"readdir-repeats":             {listed(20, 256), "READDIR"},
	"readdir-starts-again":        {listed(2, 1<<15), "READDIR"},
	"readdir-first-page-only":     {listed(20, 256), "READDIR"},
	"readdir-shows-removed": {func(p *player) func() {
		filled(p, 3)
		p.list(root, 1<<15, false)
		p.unlink(root, "file-001")
		return func() { p.list(root, 1<<15, false) }
	}, "READDIR"},
	"readdir-without-types": {listed(2, 1<<15), "READDIR"},
	"readdir-without-dots":  {listed(2, 1<<15), "READDIR"},
	"readdir-hides-dotfiles": {func(p *player) func() {
		filled(p, 3)
		p.list(root, 1<<15, false)
		p.mknod(".hidden", syscall.S_IFREG|0o644)
		return func() { p.list(root, 1<<15, false) }
	}, "READDIR"},
	"readdirplus-without-sizes": {func(p *player) func() {
		id, _ := p.create("a", 0o644)
		p.list(root, 1<<15, true)
		p.truncate(id, 5)
		return func() { p.list(root, 1<<15, true) }
	}, "READDIRPLUS"},
	"readdir-all-are-files": {listed(2, 1<<15), "READDIR"},
	"readdir-at-most-64": {func(p *player) func() {
		filled(p, 62)
		p.list(root, 1<<15, false)
		p.mkdir(root, "d", 0o755)
		return func() { p.list(root, 1<<15, false) }
	}, "READDIR"},
}

// attributed is a script about a file with one attribute.
func attributed(trigger func(p *player, id uint64)) func(p *player) func() {
	return func(p *player) func() {
		id, _ := p.file("a", "x")
		p.setxattr(id, "user.a", "value", 0)
		p.getxattr(id, "user.a", 100)
		return func() { trigger(p, id) }
	}
}

var xattrScripts = map[string]script{
	"xattr-create-ignored":   {attributed(func(p *player, id uint64) { p.setxattr(id, "user.a", "w", unix.XATTR_CREATE) }), "SETXATTR"},
	"xattr-replace-ignored":  {attributed(func(p *player, id uint64) { p.setxattr(id, "user.b", "w", unix.XATTR_REPLACE) }), "SETXATTR"},
	"xattr-probe-counts-nul": {attributed(func(p *player, id uint64) { p.getxattr(id, "user.a", 0) }), "GETXATTR"},
	"xattr-cut-to-buffer":    {attributed(func(p *player, id uint64) { p.getxattr(id, "user.a", 2) }), "GETXATTR"},
	"xattr-ends-at-nul": {attributed(func(p *player, id uint64) {
		p.setxattr(id, "user.a", "a\x00b", 0)
		p.getxattr(id, "user.a", 100)
	}), "GETXATTR"},
	"listxattr-forgets-last": {attributed(func(p *player, id uint64) { p.do(proto.OpListxattr, id, &fuse.GetXAttrIn{}, "") }), "LISTXATTR"},
	"removexattr-silent":     {attributed(func(p *player, id uint64) { p.do(proto.OpRemovexattr, id, nil, "", "user.b") }), "REMOVEXATTR"},
	"removexattr-empties": {attributed(func(p *player, id uint64) {
		p.do(proto.OpRemovexattr, id, nil, "", "user.a")
		p.getxattr(id, "user.a", 100)
	}), "GETXATTR"},
	"xattrs-unsupported": {func(p *player) func() {
		id, _ := p.file("a", "x")
		return func() { p.setxattr(id, "user.a", "v", 0) }
	}, "SETXATTR"},
	"enoent-for-enodata": {attributed(func(p *player, id uint64) { p.getxattr(id, "user.b", 100) }), "GETXATTR"},
	"acl-mask-kept": {func(p *player) func() {
		id, _ := p.file("a", "x")
		p.setxattr(id, accessACL, aclOf(7), 0)
		p.getxattr(id, accessACL, 1000)
		p.chmod(id, 0o600)
		return func() { p.getxattr(id, accessACL, 1000) }
	}, "GETXATTR"},
	"acl-keeps-mode": {func(p *player) func() {
		id, _ := p.file("a", "x")
		p.setxattr(id, accessACL, aclOf(4), 0)
		return func() { p.setxattr(id, accessACL, aclOf(7), 0); p.stat(id) }
	}, "GETATTR"},
	"default-acl-not-inherited": {func(p *player) func() {
		d := p.mkdir(root, "d", 0o755)
		p.mkdir(d, "plain", 0o755)
		p.setxattr(d, defaultACL, aclOf(7), 0)
		e := p.mkdir(d, "e", 0o755)
		return func() { p.getxattr(e, defaultACL, 1000) }
	}, "GETXATTR"},
}

// locked is a script about a file whose first ten bytes are write-locked by 1.
func locked(trigger func(p *player, id, fh uint64)) func(p *player) func() {
	return func(p *player) func() {
		id, fh := p.file("a", "x")
		p.lock(proto.OpSetlk, id, fh, 1, syscall.F_WRLCK, 0, 9)
		return func() { trigger(p, id, fh) }
	}
}

func conflicting(p *player, id, fh uint64) {
	p.lock(proto.OpSetlk, id, fh, 2, syscall.F_WRLCK, 0, 9)
}

func asksLock(p *player, id, fh uint64) { p.lock(proto.OpGetlk, id, fh, 2, syscall.F_WRLCK, 0, 9) }

var lockScripts = map[string]script{
	"locks-never-conflict": {locked(conflicting), "SETLK"},
	"locks-kept-at-close": {locked(func(p *player, id, fh uint64) {
		p.do(proto.OpFlush, id, &fuse.FlushIn{Fh: fh, LockOwner: 1}, "")
		conflicting(p, id, fh)
	}), "SETLK"},
	"unlock-ignored": {locked(func(p *player, id, fh uint64) {
		p.lock(proto.OpSetlk, id, fh, 1, syscall.F_UNLCK, 0, 9)
		conflicting(p, id, fh)
	}), "SETLK"},
	"locks-whole-file": {locked(func(p *player, id, fh uint64) { p.lock(proto.OpSetlk, id, fh, 2, syscall.F_WRLCK, 10, 19) }), "SETLK"},
	"read-locks-exclude": {func(p *player) func() {
		id, fh := p.file("a", "x")
		p.lock(proto.OpSetlk, id, fh, 1, syscall.F_RDLCK, 0, 9)
		return func() { p.lock(proto.OpSetlk, id, fh, 2, syscall.F_RDLCK, 0, 9) }
	}, "SETLK"},
	"getlk-forgets-pid":   {locked(asksLock), "GETLK"},
	"getlk-finds-nothing": {locked(asksLock), "GETLK"},
}

var attributeScripts = map[string]script{
	"types-lost": {texted("x", func(p *player, _, _ uint64) { p.symlink("s", "a") }), "SYMLINK"},
	"owner-is-caller": {func(p *player) func() {
		id, _ := p.file("a", "x")
		p.stat(id)
		return func() { p.as(1000, func() { p.stat(id) }) }
	}, "GETATTR"},
	"owner-of-16-bits": {texted("x", func(p *player, id, _ uint64) { p.chown(id, 70_000, 70_000) }), "SETATTR"},
	"inode-per-name":   {texted("x", func(p *player, _, _ uint64) { p.lookup(root, "a") }), "LOOKUP"},
	"statx-without-birth": {texted("x", func(p *player, id, _ uint64) {
		p.do(proto.OpStatx, id, &fuse.StatxIn{}, "")
	}), "STATX"},
	"chattr-ignored": {func(p *player) func() {
		id, fh := p.file("a", "x")
		return func() {
			flags := binary.NativeEndian.AppendUint32(nil, 0x10)
			p.do(proto.OpIoctl, id, &fuse.IoctlIn{Fh: fh, Cmd: unix.FS_IOC_SETFLAGS, InSize: 4}, string(flags))
			p.truncate(id, 0)
		}
	}, "SETATTR"},
}

// from the first request on.
func atOnce(trigger func(p *player)) func(p *player) func() {
	return func(p *player) func() { return func() { trigger(p) } }
}

func statRoot(p *player) { p.stat(root) }

// remembering speaks of other things for so many steps.
func remembering(steps int) func(p *player) func() {
	return func(p *player) func() {
		id, _ := p.create("a", 0o644)
		for range steps - 1 {
			p.stat(root)
		}
		p.stat(id)
		for range steps {
			p.stat(root)
		}
		return func() { p.stat(id) }
	}
}

// noisy asks until there is noise.
func noisy(p *player) {
	for range 2000 {
		p.stat(root)
	}
}

var modelScripts = map[string]script{
	"null":     {atOnce(statRoot), "GETATTR"},
	"enosys":   {atOnce(statRoot), "GETATTR"},
	"eio":      {atOnce(statRoot), "GETATTR"},
	"enoent":   {atOnce(statRoot), "GETATTR"},
	"constant": {func(p *player) func() { p.file("a", "x"); return func() { p.file("b", "x") } }, "CREATE"},
	"late":     {func(p *player) func() { p.file("a", "x"); return func() { p.file("b", "x") } }, "CREATE"},
	"amnesiac": {func(p *player) func() { p.create("a", 0o644); return func() { p.lookup(root, "a") } }, "LOOKUP"},
	"never-fails": {func(p *player) func() {
		id, _ := p.file("a", "x")
		return func() { p.lookup(id, "b") }
	}, "LOOKUP"},
	"forgets:32":  {remembering(32), "GETATTR"},
	"forgets:128": {remembering(128), "GETATTR"},
	"noise:1":     {atOnce(noisy), "GETATTR"},
	"noise:5":     {atOnce(noisy), "GETATTR"},
	"noise:20":    {atOnce(noisy), "GETATTR"},
}

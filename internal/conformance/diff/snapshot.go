// What a process sees of objects: stat of one, the contents of its descriptors, the whole tree.

package diff

import (
	"crypto/sha256"
	"fmt"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// Stat is one statx answer, or the errno instead of it.
type Stat struct {
	What                       string // the call and what it was asked about
	Errno                      int
	Mode, Nlink, UID, GID      uint32
	Size, Blocks, Ino          uint64
	Blksize, RdevMaj, RdevMin  uint32
	HasBirth                   bool
	Atime, Mtime, Ctime, Birth unix.StatxTimestamp
}

// Node is one object of the tree.
type Node struct {
	Path    string
	Stat    Stat
	DirIno  bool     // the directory's entry has the inode number of the object
	DirType byte     // type of the directory's entry
	Content string   // hash of a file, target of a symbolic link
	Xattrs  []string // NAME=VALUE, sorted
}

// statAt asks for the basic fields and the time of birth.
func statAt(what string, dir int, name string, flags int) Stat {
	return statMask(what, dir, name, flags, unix.STATX_BASIC_STATS|unix.STATX_BTIME)
}

func statMask(what string, dir int, name string, flags, mask int) Stat {
	var sx unix.Statx_t
	st := Stat{What: what + " " + name}
	if err := unix.Statx(dir, name, flags, mask, &sx); err != nil {
		st.Errno = done(err).Errno
		return st
	}
	st.Mode, st.Nlink, st.UID, st.GID = uint32(sx.Mode), sx.Nlink, sx.Uid, sx.Gid
	st.Size, st.Blocks, st.Ino, st.Blksize = sx.Size, sx.Blocks, sx.Ino, sx.Blksize
	st.RdevMaj, st.RdevMin = sx.Rdev_major, sx.Rdev_minor
	st.HasBirth = sx.Mask&uint32(mask)&unix.STATX_BTIME != 0
	st.Atime, st.Mtime, st.Ctime, st.Birth = sx.Atime, sx.Mtime, sx.Ctime, sx.Btime
	return st
}

// touched looks at the objects that an operation names, and at the directories of its paths.
func (w *worker) touched(row call, op Op) []Stat {
	var stats []Stat
	a := args{w, op}
	for i, kind := range row.args {
		switch {
		case kind.path:
			stats = append(stats, lookAt(a.path(i))...)
		case kind.fd && a.slot(i) != nil:
			stats = append(stats, statAt("fstat "+op.Args[i], a.fd(i), "", unix.AT_EMPTY_PATH))
		}
	}
	if s := w.slots[op.To]; s != nil {
		stats = append(stats, statAt("fstat "+op.To, s.fd, "", unix.AT_EMPTY_PATH))
	}
	return stats
}

// lookAt stats a path, what it points to if it is a symbolic link, and its directory.
func lookAt(name string) []Stat {
	const mask = unix.STATX_BASIC_STATS
	stats := []Stat{statMask("lstat", cwd, name, unix.AT_SYMLINK_NOFOLLOW, mask)}
	if stats[0].Errno == 0 && stats[0].Mode&unix.S_IFMT == unix.S_IFLNK {
		stats = append(stats, statMask("stat", cwd, name, 0, mask))
	}
	if dir := path.Dir(strings.TrimRight(name, "/")); name != "" && name != dir {
		stats = append(stats, statMask("lstat", cwd, dir, unix.AT_SYMLINK_NOFOLLOW, mask))
	}
	return stats
}

// descriptors reads what every descriptor of the process still gives.
func (w *worker) descriptors(request) result {
	var res result
	for _, name := range slots {
		s := w.slots[name]
		if s == nil {
			continue
		}
		res.Stats = append(res.Stats, statAt("fstat "+name, s.fd, "", unix.AT_EMPTY_PATH))
		res.Text = fmt.Appendf(res.Text, "%s reads %s\n", name, contentHash(s.fd))
	}
	return res
}

// contentHash stands for the first maxRead bytes of a file and those before its end.
func contentHash(fd int) string {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return "nothing"
	}
	buf := buffer(max(st.Size, 1))
	n, err := unix.Pread(fd, buf, 0)
	if err != nil {
		return err.Error()
	}
	hash := sha256.Sum256(buf[:n])
	text := fmt.Sprintf("%d bytes, sha256 %x", n, hash[:6])
	if st.Size > maxRead {
		n, err = unix.Pread(fd, buf, st.Size-maxRead)
		hash = sha256.Sum256(buf[:max(n, 0)])
		text += fmt.Sprintf(", at the end %d bytes (%v), sha256 %x", n, err, hash[:6])
	}
	return text
}

// tree walks everything below the sequence's directory, and that itself.
func (w *worker) tree(req request) result {
	root := Node{Path: req.Dir, DirIno: true, Stat: statNode(req.Dir)}
	root.Xattrs = xattrs(req.Dir)
	return result{Tree: walk([]Node{root}, req.Dir)}
}

func walk(nodes []Node, dir string) []Node {
	for _, e := range listDir(dir) {
		name := dir + "/" + e.Name
		st := statNode(name)
		nodes = append(nodes, Node{Path: name, Stat: st, DirIno: e.Ino == st.Ino, DirType: e.Type,
			Content: contentOf(name, st), Xattrs: xattrs(name)})
		if st.Mode&unix.S_IFMT == unix.S_IFDIR {
			nodes = walk(nodes, name)
		}
	}
	return nodes
}

func statNode(name string) Stat { return statAt("lstat", cwd, name, unix.AT_SYMLINK_NOFOLLOW) }

// listDir lists a directory without . and .. and without changing its atime.
func listDir(dir string) []dirent {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOATIME|openFlags, 0)
	if err != nil {
		return []dirent{{Name: "?" + err.Error()}}
	}
	defer unix.Close(fd)
	all, err := listing(fd, 1<<15)
	if err != nil {
		return []dirent{{Name: "?" + err.Error()}}
	}
	var entries []dirent
	for _, e := range all {
		if e.Name != "." && e.Name != ".." {
			entries = append(entries, e)
		}
	}
	return entries
}

// contentOf is what a file or symbolic link holds.
func contentOf(name string, st Stat) string {
	switch {
	case st.Mode&unix.S_IFMT == unix.S_IFLNK:
		buf := make([]byte, 5000)
		n, err := unix.Readlink(name, buf)
		return fmt.Sprintf("%s %v", buf[:max(n, 0)], err)
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return ""
	}
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_NOATIME|openFlags, 0)
	if err != nil {
		return err.Error()
	}
	defer unix.Close(fd)
	return contentHash(fd)
}

func xattrs(name string) []string {
	list := make([]byte, 1<<16)
	n, err := unix.Llistxattr(name, list)
	if err != nil {
		return []string{err.Error()}
	}
	var all []string
	for _, attr := range attrNames(list[:n]) {
		value := make([]byte, 1<<16)
		n, err := unix.Lgetxattr(name, attr, value)
		if err != nil {
			all = append(all, attr+": "+err.Error())
			continue
		}
		all = append(all, fmt.Sprintf("%s=%q", attr, value[:n]))
	}
	return all
}

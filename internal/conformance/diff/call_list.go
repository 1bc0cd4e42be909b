// The executor of listwhile: a directory is read by small buffers while it changes. POSIX leaves
// open whether an entry that comes or goes is seen; one that stays must be seen exactly once.

package diff

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// doListWhile makes a directory of COUNT files, reads one buffer of it, removes every third file,
// adds as many, reads on to the end and says which of the untouched names did not come once. Then it
// goes back to where the first buffer ended and reads on again.
func doListWhile(_ *worker, a args) result {
	dir, count, size := a.path(0), a.int(1), a.int(2)
	if err := unix.Mkdir(dir, 0o755); err != nil {
		return done(err)
	}
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return done(err)
	}
	defer unix.Close(fd)
	names := makeFiles(fd, "k", count)
	entries, err := getdents(fd, size)
	if err != nil || len(entries) == 0 {
		return done(err)
	}
	var kept []string
	for i, name := range names {
		if i%3 == 1 {
			unix.Unlinkat(fd, name, 0)
		} else {
			kept = append(kept, name)
		}
	}
	names = append(kept, makeFiles(fd, "new", count/3)...)
	rest, err := listing(fd, size)
	res := done(err)
	res.Text = report(res.Text, "once", kept, append(entries, rest...))
	res.Text = report(res.Text, "again", kept, append(entries, resumed(fd, entries)...))
	for _, name := range names {
		unix.Unlinkat(fd, name, 0)
	}
	return res
}

// resumed reads on from the position of the last of the entries.
func resumed(fd int, entries []dirent) []dirent {
	if _, err := unix.Seek(fd, entries[len(entries)-1].Off, unix.SEEK_SET); err != nil {
		return nil
	}
	rest, _ := listing(fd, 1<<15)
	return rest
}

func makeFiles(dir int, prefix string, count int) []string {
	var names []string
	for i := range count {
		name := fmt.Sprintf("%s%d", prefix, i)
		if fd, err := unix.Openat(dir, name, unix.O_CREAT|unix.O_WRONLY, 0o644); err == nil {
			unix.Close(fd)
			names = append(names, name)
		}
	}
	return names
}

// report names the kept entries that are not listed exactly once.
func report(text []byte, what string, kept []string, entries []dirent) []byte {
	seen := make(map[string]int)
	for _, e := range entries {
		seen[e.Name]++
	}
	for _, name := range slices.Concat(kept, []string{".", ".."}) {
		if seen[name] != 1 {
			text = fmt.Appendf(text, "%s: %s %d times\n", what, name, seen[name])
		}
	}
	return text
}

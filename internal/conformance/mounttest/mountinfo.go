// Whether a directory is a FUSE mount, read from /proc/self/mountinfo.

package mounttest

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// mountinfo writes these four bytes of a path in octal.
var unescapeMountinfo = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

func isFuseMount(dir string) (bool, error) {
	resolved, err := filepath.EvalSymlinks(filepath.Dir(dir))
	if err != nil {
		return false, err
	}
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return false, err
	}
	defer f.Close()
	return hasFuseMount(f, filepath.Join(resolved, filepath.Base(dir)))
}

// hasFuseMount looks for lines such as
//
//	36 35 0:42 / /mnt/a\040b rw,nosuid shared:1 - fuse.llmfs-raw llmfs-raw rw,user_id=0
func hasFuseMount(mountinfo io.Reader, dir string) (bool, error) {
	lines := bufio.NewScanner(mountinfo)
	for lines.Scan() {
		mount, fs, _ := strings.Cut(lines.Text(), " - ")
		fields := strings.Fields(mount)
		if len(fields) < 5 || unescapeMountinfo.Replace(fields[4]) != dir {
			continue
		}
		if fstype, _, _ := strings.Cut(fs, " "); fstype == "fuse" || strings.HasPrefix(fstype, "fuse.") {
			return true, nil
		}
	}
	return false, lines.Err()
}

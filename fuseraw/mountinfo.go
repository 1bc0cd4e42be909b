package fuseraw

// /proc/self/mountinfo: which mounts there are, without touching them. A
// stat(2) of a mount point would wait for its daemon.

import (
	"fmt"
	"os"
	"strings"
)

// mountPoint is one line of mountinfo.
type mountPoint struct {
	id     string // unique among the mounts there are
	device string // major:minor, unique among the filesystems there are
	dir    string
	fstype string
}

// findMount finds the mount on dir, the topmost if there are several.
func findMount(dir string) (*mountPoint, error) {
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	var found *mountPoint
	for line := range strings.Lines(string(b)) {
		if m, ok := parseMount(line); ok && m.dir == dir {
			found = &m
		}
	}
	if found == nil {
		return nil, fmt.Errorf("%s: have no mount there, want one", dir)
	}
	return found, nil
}

// parseMount reads a line: ID PARENT MAJOR:MINOR ROOT DIR OPTIONS … - TYPE SOURCE SUPER.
func parseMount(line string) (m mountPoint, ok bool) {
	front, back, ok := strings.Cut(line, " - ")
	fields, rest := strings.Fields(front), strings.Fields(back)
	if !ok || len(fields) < 5 || len(rest) < 1 {
		return m, false
	}
	return mountPoint{id: fields[0], device: fields[2], dir: unescape.Replace(fields[4]), fstype: rest[0]}, true
}

// unescape undoes what the kernel's mangle_path does.
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

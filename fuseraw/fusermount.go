package fuseraw

// fusermount3, the set-user-id helper of libfuse that mounts for users who may
// not. It passes the descriptor back through a socket.

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/sys/unix"
)

// fusermountPaths are where to look; a daemon's PATH may be empty.
var fusermountPaths = []string{"fusermount3", "/bin/fusermount3"}

func findFusermount() (bin string, err error) {
	for _, path := range fusermountPaths {
		if bin, err = exec.LookPath(path); err == nil {
			break
		}
	}
	return bin, err
}

// runFusermount runs it with files from descriptor 3 on. Its words are the error.
func runFusermount(files []*os.File, args ...string) error {
	bin, err := findFusermount()
	if err != nil {
		return fmt.Errorf("have user %d and no fusermount3, want root or the package fuse3: %w", os.Geteuid(), err)
	}
	var said bytes.Buffer
	cmd := exec.Command(bin, args...)
	cmd.Env = append(os.Environ(), "_FUSE_COMMFD=3")
	cmd.ExtraFiles = files
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s (%w)", firstLine(&said), err)
	}
	return nil
}

func firstLine(b *bytes.Buffer) string {
	line, _, _ := strings.Cut(strings.TrimSpace(b.String()), "\n")
	if line == "" {
		return "fusermount3 said nothing"
	}
	return line
}

// mountFusermount mounts as a user.
func mountFusermount(dir string, o Options) (fd int, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	theirs := os.NewFile(uintptr(pair[1]), "fusermount3")
	defer unix.Close(pair[0])
	err = runFusermount([]*os.File{theirs}, "-o", strings.Join(fusermountOptions(o), ","), "--", dir)
	theirs.Close() // before reading, so that an empty socket is at its end
	if err != nil {
		return -1, err
	}
	return receiveDescriptor(pair[0])
}

func fusermountOptions(o Options) []string {
	escape := strings.NewReplacer(`\`, `\\`, `,`, `\,`)
	list := append(kernelOptions(o), "fsname="+escape.Replace(o.FsName), "subtype="+subtype)
	for option, on := range map[string]bool{"ro": o.ReadOnly, "dev": o.Dev, "suid": o.Suid} {
		if on {
			list = append(list, option)
		}
	}
	return list
}

// receiveDescriptor reads one byte and the descriptor that comes with it.
func receiveDescriptor(socket int) (fd int, err error) {
	var data [1]byte
	oob := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(socket, data[:], oob, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("receive from fusermount3: %w", err)
	}
	messages, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil {
		return -1, fmt.Errorf("receive from fusermount3: %w", err)
	}
	if len(messages) != 1 {
		return -1, errors.New("receive from fusermount3: have no descriptor, want one")
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return -1, fmt.Errorf("receive from fusermount3: %w", err)
	}
	if len(fds) != 1 {
		return -1, fmt.Errorf("receive from fusermount3: have %d descriptors, want 1", len(fds))
	}
	return fds[0], nil
}

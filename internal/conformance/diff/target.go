// The filesystems that are compared.

package diff

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Target is a filesystem that can be mounted on an empty directory.
type Target interface {
	// Start mounts the filesystem. The function returned unmounts it.
	Start(dir string) (stop func() error, err error)
}

// Mode is a way to mount the filesystem under test.
type Mode struct {
	Name   string
	Target Target
	Direct bool // regular files are read past the page cache
	Twin   bool // the target is a tmpfs as well
	Fresh  bool // every sequence has a new mount
}

// Tmpfs is the kernel's filesystem that results are compared with.
type Tmpfs struct{}

// Start mounts a tmpfs that updates atime at every read and never uses huge pages.
func (Tmpfs) Start(dir string) (func() error, error) {
	const options = "mode=755,size=256m,nr_inodes=0,huge=never,inode64"
	if err := unix.Mount("diff", dir, "tmpfs", unix.MS_STRICTATIME, options); err != nil {
		return nil, fmt.Errorf("mount tmpfs on %s: %w", dir, err)
	}
	return func() error { return unix.Unmount(dir, unix.MNT_DETACH) }, nil
}

// Command is the filesystem that "llmfs-raw mount FLAGS DIR" serves.
type Command struct {
	Flags []string
}

// startTime is how long the command may take to mount.
const startTime = 20 * time.Second

// Start runs the command until dir is a mount point that answers.
func (c Command) Start(dir string) (func() error, error) {
	bin, err := command()
	if err != nil {
		return nil, err
	}
	args := append([]string{"mount", "--allow-other", "--dev", "--suid"}, c.Flags...)
	cmd := exec.Command(bin, append(args, dir)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", bin, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	stop := func() error { return stopMount(cmd, ended, dir) }
	for limit := time.Now().Add(startTime); !answers(dir); {
		select {
		case err := <-ended:
			ended <- err
			return nil, errors.Join(fmt.Errorf("%v ended: %v: %s", cmd.Args, err, stderr.String()), stop())
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(limit) {
			return nil, errors.Join(fmt.Errorf("%v: no mount after %v", cmd.Args, startTime), stop())
		}
	}
	return stop, nil
}

// stopMount unmounts and makes sure that the process is gone.
func stopMount(cmd *exec.Cmd, ended chan error, dir string) error {
	cmd.Process.Signal(unix.SIGTERM)
	select {
	case <-ended:
	case <-time.After(3 * time.Second):
		cmd.Process.Kill()
		<-ended
	}
	if !isMountPoint(dir) {
		return nil
	}
	return unix.Unmount(dir, unix.MNT_DETACH)
}

func answers(dir string) bool {
	var st unix.Stat_t
	return isMountPoint(dir) && unix.Stat(dir, &st) == nil
}

// isMountPoint looks dir up in mountinfo, whose fifth field is the mount point.
func isMountPoint(dir string) bool {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return false
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) > 4 && fields[4] == dir {
			return true
		}
	}
	return false
}

// command is the command of the environment variable LLMFS_RAW, or else built.
var command = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("LLMFS_RAW"); path != "" {
		return path, nil
	}
	path := scratch + "/llmfs-raw"
	out, err := exec.Command("go", "build", "-o", path, "github.com/llmfs-raw/llmfs-raw/cmd/llmfs-raw").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the command: %w: %s", err, out)
	}
	return path, nil
})

// scratch is a directory of the test run, set by its TestMain.
var scratch string

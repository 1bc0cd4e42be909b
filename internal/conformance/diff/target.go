// The filesystems that are compared.

package diff

import (
	"fmt"
	"os"
	"os/exec"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/llmfs-raw/llmfs-raw/internal/conformance/mounttest"
)

// Target is a filesystem that can be mounted on an empty directory.
type Target interface {
	// Start mounts the filesystem. The function returned unmounts it.
	Start(dir string) (stop func() error, err error)
}

// Mode is a way to mount the filesystem under test.
type Mode struct {
	Name     string
	Target   Target
	Direct   bool // regular files are read past the page cache
	Uncached bool // names and attributes are asked for every time
	// OwnPermissions leaves the checking of permissions to the filesystem.
	OwnPermissions bool
	Aggressive     bool // nothing is opened, closed or locked by request
	Twin           bool // the target is a tmpfs as well
	Fresh          bool // every sequence has a new mount
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

// Start runs the command until dir is a mount point that answers.
func (c Command) Start(dir string) (func() error, error) {
	bin, err := command()
	if err != nil {
		return nil, err
	}
	args := append([]string{"mount", "--allow-other", "--dev", "--suid"}, c.Flags...)
	daemon, err := mounttest.StartDaemon(exec.Command(bin, append(args, dir)...), dir)
	if err != nil {
		return nil, err
	}
	return daemon.Stop, nil
}

// command is the executable that the environment variable LLMFS_RAW names, or else built.
var command = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("LLMFS_RAW"); path != "" {
		return path, nil
	}
	return mounttest.Build(scratch, false)
})

// scratch is a directory of the test run, set by its TestMain.
var scratch string

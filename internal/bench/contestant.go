// The three filesystems that are compared, and how each is mounted.

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/llmfs-raw/llmfs-raw/internal/conformance/mounttest"
)

// A contestant mounts itself somewhere in a directory that is its own.
type contestant struct {
	name  string
	mount func(dir string) (*mounted, error)
}

type mounted struct {
	dir    string
	daemon *mounttest.Daemon // nil for tmpfs
	umount func() error
}

// Columns of the table.
const (
	oursName     = "llmfs-raw"
	loopbackName = "loopback"
	tmpfsName    = "tmpfs"
)

// ours is the command with its default options.
func ours(bin, cpuprofile string) contestant {
	args := []string{"mount"}
	if cpuprofile != "" {
		args = append(args, "--cpuprofile", cpuprofile)
	}
	return contestant{oursName, func(dir string) (*mounted, error) {
		return startDaemon(exec.Command(bin, append(args, dir)...), dir)
	}}
}

// loopback is a child process of its own, as ours is.
func loopback() contestant {
	return contestant{loopbackName, func(dir string) (*mounted, error) {
		src, mnt := filepath.Join(dir, "src"), filepath.Join(dir, "mnt")
		if err := errors.Join(os.Mkdir(src, 0o755), os.Mkdir(mnt, 0o755), mountTmpfs(src)); err != nil {
			return nil, err
		}
		m, err := startDaemon(exec.Command("/proc/self/exe", loopbackCommand, src, mnt), mnt)
		if err != nil {
			return nil, errors.Join(err, unmount(src))
		}
		stop := m.umount
		m.umount = func() error { return errors.Join(stop(), unmount(src)) }
		return m, nil
	}}
}

func tmpfs() contestant {
	return contestant{tmpfsName, func(dir string) (*mounted, error) {
		return &mounted{dir: dir, umount: func() error { return unmount(dir) }}, mountTmpfs(dir)
	}}
}

func startDaemon(cmd *exec.Cmd, mnt string) (*mounted, error) {
	d, err := mounttest.StartDaemon(cmd, mnt)
	if err != nil {
		return nil, err
	}
	return &mounted{dir: mnt, daemon: d, umount: d.Stop}, nil
}

func mountTmpfs(dir string) error {
	if err := unix.Mount("bench", dir, "tmpfs", 0, "mode=0755"); err != nil {
		return fmt.Errorf("mount tmpfs on %s: %w", dir, err)
	}
	return nil
}

func unmount(dir string) error {
	if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
		return fmt.Errorf("unmount %s: %w", dir, err)
	}
	return nil
}

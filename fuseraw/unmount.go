package fuseraw

// Unmounting, also of what is busy, and of what a killed daemon left behind.

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Unmount unmounts the FUSE filesystem on dir, whoever serves it. A busy one,
// and one without a daemon, is unmounted lazily: it is gone from the tree at
// once and ends when the last program lets go of it. lazy tells so.
func Unmount(dir string) (lazy bool, err error) {
	m, err := fuseMount(dir)
	if err != nil {
		return false, fmt.Errorf("unmount %s: %w", dir, err)
	}
	if m.unmount() == nil {
		return false, nil
	}
	if err := m.detach(); err != nil {
		return false, fmt.Errorf("unmount %s: %w", dir, err)
	}
	return true, nil
}

// Unmount unmounts the filesystem, lazily where it is busy: Serve then goes on
// until the last program lets go. A connection without a mount point of its
// own, or that has never been served, is ended.
func (c *Conn) Unmount() error {
	if c.mount != nil && c.mount.unmount() != nil {
		if err := c.mount.detach(); err != nil {
			return fmt.Errorf("unmount %s: %w", c.mount.dir, err)
		}
	}
	if !c.serving.Load() {
		c.dev.close()
		return nil
	}
	if c.mount == nil {
		c.abort()
		return c.dev.hangup()
	}
	return nil
}

// fuseMount is the mount on dir, which has to be a FUSE filesystem.
func fuseMount(dir string) (*mountPoint, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	m, err := findMount(abs)
	if err != nil { // only now, because looking at a mount waits for its daemon
		parent, _ := filepath.EvalSymlinks(filepath.Dir(abs))
		m, err = findMount(filepath.Join(parent, filepath.Base(abs)))
	}
	if err != nil {
		target, _ := filepath.EvalSymlinks(abs)
		m, err = findMount(target)
	}
	if err != nil {
		return nil, errors.New("have no mount there, want " + Type)
	}
	if m.fstype != "fuse" && !strings.HasPrefix(m.fstype, "fuse.") {
		return nil, fmt.Errorf("have %s there, want %s", m.fstype, Type)
	}
	return m, nil
}

// unmount fails where the mount is busy.
func (m *mountPoint) unmount() error {
	if os.Geteuid() == 0 {
		return unix.Unmount(m.dir, unix.UMOUNT_NOFOLLOW)
	}
	return runFusermount(nil, "-u", "--", m.dir)
}

// detach unmounts lazily.
func (m *mountPoint) detach() error {
	if os.Geteuid() == 0 {
		return unix.Unmount(m.dir, unix.UMOUNT_NOFOLLOW|unix.MNT_DETACH)
	}
	return runFusermount(nil, "-u", "-z", "--", m.dir)
}

// clear unmounts what is left after the connection's end, unless it is gone
// already or dir has been mounted on since.
func (m *mountPoint) clear() error {
	now, err := findMount(m.dir)
	if err != nil || now.id != m.id || now.device != m.device {
		return nil
	}
	if err := m.detach(); err != nil {
		return fmt.Errorf("unmount %s: %w", m.dir, err)
	}
	return nil
}

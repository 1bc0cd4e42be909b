package fuseraw

// Mounting: as root by mount(2), otherwise through fusermount3; or not at all,
// on a descriptor that somebody else has mounted.

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/llmfs-raw/llmfs-raw/proto"
	"golang.org/x/sys/unix"
)

func openDevice() (int, error) {
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open /dev/fuse: %w", err)
	}
	return fd, nil
}

// CheckDevice says why /dev/fuse can't be opened by this process.
func CheckDevice() error {
	fd, err := openDevice()
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// Mount mounts a filesystem on dir, an existing directory or file. It answers
// nothing before [Conn.Serve] is called. /dev/fd/N takes descriptor N, which
// is mounted already.
func Mount(dir string, o Options) (*Conn, error) {
	c, err := mount(dir, o.withDefaults())
	if err != nil {
		return nil, fmt.Errorf("mount %s: %w", dir, err)
	}
	return c, nil
}

func mount(dir string, o Options) (*Conn, error) {
	newest := &fuse.InitIn{Major: proto.Major, Minor: proto.Minor}
	if _, _, err := proto.Negotiate(newest, o.Init); err != nil {
		return nil, err
	}
	if fd, ok := inherited(dir); ok {
		return NewConn(fd, o)
	}
	abs, err := resolve(dir)
	if err != nil {
		return nil, err
	}
	by := mountFusermount
	if os.Geteuid() == 0 {
		by = mountDirect
	}
	fd, err := by(abs, o)
	if err != nil {
		return nil, err
	}
	c, err := NewConn(fd, o)
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	c.mount, err = findMount(abs)
	if err != nil {
		c.dev.close()
	}
	return c, err
}

// inherited is N of /dev/fd/N.
func inherited(dir string) (fd int, ok bool) {
	n, ok := strings.CutPrefix(dir, "/dev/fd/")
	fd, err := strconv.Atoi(n)
	return fd, ok && err == nil && fd >= 0
}

// resolve is dir as mountinfo will show it.
func resolve(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// mountDirect mounts as root.
func mountDirect(dir string, o Options) (fd int, err error) {
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return -1, err
	}
	if fd, err = openDevice(); err != nil {
		return -1, err
	}
	data := append([]string{
		"fd=" + strconv.Itoa(fd),
		fmt.Sprintf("rootmode=%o", st.Mode&unix.S_IFMT),
		"user_id=" + strconv.Itoa(os.Geteuid()),
		"group_id=" + strconv.Itoa(os.Getegid()),
	}, kernelOptions(o)...)
	if err := unix.Mount(o.FsName, dir, Type, mountFlags(o), strings.Join(data, ",")); err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("mount(2): %w", err)
	}
	return fd, nil
}

// kernelOptions are the options that mount(2) and fusermount3 both take.
func kernelOptions(o Options) []string {
	list := []string{"max_read=" + strconv.Itoa(int(maxWrite(o)))}
	if !o.Init.OwnPermissions {
		list = append(list, "default_permissions")
	}
	if o.AllowOther {
		list = append(list, "allow_other")
	}
	return list
}

func mountFlags(o Options) (flags uintptr) {
	flags = unix.MS_NODEV | unix.MS_NOSUID
	if o.Dev {
		flags &^= unix.MS_NODEV
	}
	if o.Suid {
		flags &^= unix.MS_NOSUID
	}
	if o.ReadOnly {
		flags |= unix.MS_RDONLY
	}
	return flags
}

// maxWrite is the largest payload of a request or reply in bytes.
func maxWrite(o Options) uint32 {
	if o.Init.MaxWrite == 0 {
		return proto.DefaultMaxWrite
	}
	return o.Init.MaxWrite
}

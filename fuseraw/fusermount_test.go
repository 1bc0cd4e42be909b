package fuseraw

// Mounting without being root, in a mount namespace whose /dev/fuse everybody
// may open, as on any desktop.

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

const nobody = 65534

// asUser runs the user helper on a directory of its own.
func asUser(t *testing.T, option string) (string, error) {
	t.Helper()
	requireKernel(t)
	_, err := exec.LookPath("fusermount3")
	require.NoError(t, err, "apt-get install fuse3")
	dir, err := os.MkdirTemp("/tmp", "fuseraw")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	mnt, dev, exe := filepath.Join(dir, "mnt"), filepath.Join(dir, "fuse"), filepath.Join(dir, "exe")
	require.NoError(t, os.Mkdir(mnt, 0o755))
	require.NoError(t, os.Chmod(dir, 0o755))
	require.NoError(t, os.Chown(mnt, nobody, nobody))
	require.NoError(t, unix.Mknod(dev, unix.S_IFCHR, int(unix.Mkdev(10, 229))))
	require.NoError(t, os.Chmod(dev, 0o666))
	b, err := os.ReadFile("/proc/self/exe") // go test's own is where users may not go
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(exe, b, 0o755))
	script := `mount --bind "$1" /dev/fuse && shift && exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"`
	cmd := exec.Command("sh", "-c", script, "sh", dev, exe, mnt, option)
	cmd.Env = append(os.Environ(), helperEnv+"=user", "GORACE=atexit_sleep_ms=0")
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		line, _, _ := strings.Cut(stderr.String(), "\n") // under -cover more follows
		return line, err
	}
	return string(out), nil
}

func TestMountAsUser(t *testing.T) {
	for _, option := range []string{"idle", "busy"} {
		t.Run(option, func(t *testing.T) {
			out, err := asUser(t, option)
			require.NoError(t, err, out)
			assert.Equal(t, "uid 65534 fuse.llmfs-raw hello world\n", out)
		})
	}
}

func TestFusermountRefuses(t *testing.T) {
	out, err := asUser(t, "allow_other")
	require.Error(t, err)
	assert.Regexp(t, `^mount /tmp/fuseraw\d+/mnt: .*fusermount3: option allow_other only allowed if 'user_allow_other' is set in /etc/fuse.conf \(exit status 1\)$`, out)
}

func TestFusermountMissing(t *testing.T) {
	old := fusermountPaths
	defer func() { fusermountPaths = old }()
	fusermountPaths = []string{"/nowhere/fusermount3"}
	_, err := mountFusermount(t.TempDir(), Options{})
	assert.ErrorContains(t, err, "and no fusermount3, want root or the package fuse3")
}

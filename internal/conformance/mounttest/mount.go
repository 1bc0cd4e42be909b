// A mount that lives as long as one test.

package mounttest

import (
	"os"
	"os/exec"
	"testing"
)

// Mount starts `llmfs-raw mount flags… dir` for a directory of its own and
// returns that. When the test ends the daemon is interrupted, and the test fails
// unless it exits with 0 and the mount is gone. The package needs Main.
func Mount(t testing.TB, flags ...string) string {
	t.Helper()
	return Start(t, flags...).Dir
}

// Start is Mount for tests that want to know the daemon.
func Start(t testing.TB, flags ...string) *Daemon {
	t.Helper()
	needMounting(t)
	bin, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	dir := mountPoint(t)
	args := append([]string{"mount"}, flags...)
	d, err := StartDaemon(exec.Command(bin, append(args, dir)...), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, d) })
	return d
}

// mountPoint is not t.TempDir, as that has a parent closed to other users and is
// removed with all that is in it, mounted or not.
func mountPoint(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "mounttest")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Remove(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func stop(t testing.TB, d *Daemon) {
	if err := d.Stop(); err != nil {
		t.Error(err)
	}
	if t.Failed() {
		t.Logf("output of the daemon on %s:\n%s", d.Dir, d.Output())
	}
}

// needMounting fails rather than skips: a run without mounts proves nothing.
func needMounting(t testing.TB) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Fatal("these tests mount as root: run `sudo -E make test`")
	}
	if _, err := os.Stat("/dev/fuse"); err != nil {
		t.Fatalf("%v: load it with `modprobe fuse`; in a container add --device /dev/fuse --cap-add SYS_ADMIN", err)
	}
}

// NeedPrograms fails the test if a program is missing and names the Debian
// package that has it.
func NeedPrograms(t testing.TB, packageOf map[string]string) {
	t.Helper()
	for program, pkg := range packageOf {
		if _, err := exec.LookPath(program); err != nil {
			t.Errorf("%s is missing: apt-get install %s", program, pkg)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
}

package fuseraw

// The test binary as other programs: callers that can be killed, a daemon, a
// user who is not root. A process had better not use the filesystem that it
// serves: what the Go runtime does without a scheduler (epoll_ctl(2) of an
// opened file sends POLL) waits for a reply that then can't be written.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

const helperEnv = "FUSERAW_TEST_HELPER"

var helpers = map[string]func(args []string) error{
	"cat":       helperCat,
	"ls":        helperList,
	"hold":      helperHold,
	"create":    helperCreate,
	"interrupt": helperInterrupt,
	"timer":     helperTimer,
	"daemon":    helperDaemon,
	"user":      helperUser,
	"overwrite": helperOverwrite,
}

func TestMain(m *testing.M) {
	name := os.Getenv(helperEnv)
	if name == "" {
		os.Exit(m.Run())
	}
	if err := helpers[name](os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// helper prepares the test binary as helper name.
func helper(name string, args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), helperEnv+"="+name, "GORACE=atexit_sleep_ms=0")
	return cmd
}

// run is what a helper prints; what it says on stderr is the error.
func run(name string, args ...string) (string, error) {
	var stderr strings.Builder
	cmd := helper(name, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = errors.New(strings.TrimSpace(stderr.String()))
	}
	return string(out), err
}

// start starts a helper and returns when ready has been closed.
func start(t *testing.T, ready <-chan struct{}, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := helper(name, args...)
	require.NoError(t, cmd.Start())
	select {
	case <-ready:
	case <-time.After(5 * time.Second):
		t.Fatal("the helper's request has not come")
	}
	return cmd
}

func helperCat(args []string) error {
	b, err := os.ReadFile(args[0])
	os.Stdout.Write(b)
	return err
}

func helperList(args []string) error {
	entries, err := os.ReadDir(args[0])
	for _, e := range entries {
		fmt.Println(e.Name())
	}
	return err
}

// helperHold opens a file, says so, and reads it when told.
func helperHold(args []string) error {
	f, err := os.Open(args[0])
	if err != nil {
		return err
	}
	fmt.Println("open")
	os.Stdin.Read(make([]byte, 1))
	b := make([]byte, 100)
	n, err := f.Read(b)
	fmt.Printf("%s%v\n", b[:n], err)
	return f.Close()
}

func helperCreate(args []string) error {
	for _, name := range args {
		if err := os.Mkdir(name, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// helperInterrupt prints what stat(2) of a file gives while SIGUSR1 comes.
func helperInterrupt(args []string) error {
	signal.Notify(make(chan os.Signal, 10), unix.SIGUSR1)
	var st unix.Stat_t
	_, err := fmt.Println(unix.Stat(args[0], &st))
	return err
}

// helperTimer does so under a timer such as git's progress display has.
func helperTimer(args []string) error {
	signal.Notify(make(chan os.Signal, 10), unix.SIGALRM)
	runtime.LockOSThread()
	tid := unix.Gettid()
	go func() {
		for range time.Tick(10 * time.Millisecond) {
			unix.Tgkill(os.Getpid(), tid, unix.SIGALRM)
		}
	}()
	var st unix.Stat_t
	_, err := fmt.Println(unix.Stat(args[0], &st))
	return err
}

func helperDaemon(args []string) error {
	c, err := Mount(args[0], Options{})
	if err != nil {
		return err
	}
	go func() { <-c.Ready(); fmt.Println("ready") }()
	return c.Serve(context.Background(), hello{})
}

// helperUser mounts as whoever it is, uses the mount through another process,
// and ends it by cancelling while a file is open.
func helperUser(args []string) error {
	dir, option := args[0], args[1]
	c, err := Mount(dir, Options{AllowOther: option == "allow_other", FsName: `odd,name\`})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- c.Serve(ctx, hello{}) }()
	text, err := run("cat", dir+"/"+helloName)
	if err != nil {
		return err
	}
	m, err := findMount(dir)
	if err != nil {
		return err
	}
	fmt.Printf("uid %d %s %s", os.Geteuid(), m.fstype, text)
	if option == "busy" {
		if _, err := syscall.Open(dir+"/"+helloName, syscall.O_RDONLY, 0); err != nil {
			return err
		}
	}
	cancel()
	if err := <-done; err != nil {
		return err
	}
	if _, err := findMount(dir); err == nil {
		return fmt.Errorf("%s is still mounted", dir)
	}
	return nil
}

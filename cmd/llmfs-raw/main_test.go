package main

import (
	"bytes"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/fuseraw"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"llmfs-raw": main,
	})
}

// TestScripts runs testdata/script/*.txtar: what a person types and sees.
func TestScripts(t *testing.T) {
	require.Zero(t, os.Geteuid(), "these tests mount: run them as root")
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"mounted":   mounted,
			"unmounted": unmounted,
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("NO_COLOR", "1")
			env.Defer(func() { _, _ = fuseraw.Unmount(env.WorkDir + "/mnt") })
			return nil
		},
	})
}

// mounted waits until a directory is a mount of ours.
func mounted(ts *testscript.TestScript, neg bool, args []string) {
	until(ts, "mounted", func() bool { return isMounted(ts.MkAbs(args[0])) })
}

// unmounted waits until a directory is no mount any more.
func unmounted(ts *testscript.TestScript, neg bool, args []string) {
	until(ts, "unmounted", func() bool { return !isMounted(ts.MkAbs(args[0])) })
}

func isMounted(dir string) bool {
	mounts, err := os.ReadFile("/proc/self/mounts")
	return err == nil && bytes.Contains(mounts, []byte(" "+dir+" "+fuseraw.Type+" "))
}

func until(ts *testscript.TestScript, what string, done func() bool) {
	for deadline := time.Now().Add(20 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			ts.Fatalf("still not: %s", what)
		}
	}
}

func TestNothingOfTheErrorIsLost(t *testing.T) {
	var out bytes.Buffer
	require.Equal(t, exitFailed, report(&out, syscall.ENOENT))
	require.Equal(t, "llmfs-raw: no such file or directory\n", out.String())
}

// Building the command under test.

package mounttest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"sync"
	"testing"
)

const command = "github.com/llmfs-raw/llmfs-raw/cmd/llmfs-raw"

// binDir is where the tests of this process build the command; "" without Main.
var binDir string

// binary builds the command at its first call, with the race detector if the
// tests have it. The environment may name one that is already built.
var binary = sync.OnceValues(func() (string, error) {
	if built := os.Getenv("LLMFS_RAW_BINARY"); built != "" {
		return built, nil
	}
	if binDir == "" {
		return "", fmt.Errorf("build %s: the package's TestMain must call mounttest.Main", command)
	}
	return Build(binDir, raceEnabled())
})

// Main is for TestMain of packages that mount: it runs the tests, takes away what
// was built for them and exits.
func Main(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "mounttest")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binDir = dir
	return m.Run()
}

// Build compiles the command into dir and returns the path of the executable.
func Build(dir string, race bool) (string, error) {
	path := filepath.Join(dir, "llmfs-raw")
	args := []string{"build", "-buildvcs=false", fmt.Sprintf("-race=%t", race), "-o", path, command}
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build %s: %w\n%s", command, err, out)
	}
	return path, nil
}

func raceEnabled() bool {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return false
	}
	for _, s := range info.Settings {
		if s.Key == "-race" {
			return s.Value == "true"
		}
	}
	return false
}

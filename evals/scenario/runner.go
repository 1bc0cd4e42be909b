package scenario

// The runner: a process of its own that reads the script. It speaks with the
// recorder by two pipes, standard input and output, a line each way: it says that
// a command has ended, and goes on when the recorder has written that down.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// job is what a runner is told at its start.
type job struct {
	Self   []string // how this program is started as Main's child
	Name   string
	Script []byte
	Dirs   []string // the mounts
	Work   string   // a directory that is not on them

	Live time.Duration // where the script is not recorded but run live, how long a command may take
}

// Main is what the program does where it was started as one of the recorder's
// children; args say as which.
func Main(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "runner":
		return runnerMain(os.Stdin, os.Stdout)
	case len(args) == 3 && args[0] == "worker":
		return workerMain(args[1], args[2], os.Stdin, os.Stdout)
	}
	return fmt.Errorf("have %q, want runner or worker", args)
}

// longest is how long a scenario may take; one that hangs is killed.
const longest = 5 * time.Minute

// run starts a runner and answers it until it ends. heard gets each of its lines,
// one after each command of the script; with an error of heard the runner is ended.
func run(ctx context.Context, j job, log io.Writer, heard func([]byte) error) error {
	first, err := json.Marshal(j)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := j.command(ctx)
	cmd.Stderr = log
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if err = converse(in, out, first, heard); err != nil {
		cancel()
		_ = cmd.Wait() // it was killed, or has hung up
		return err
	}
	if err = cmd.Wait(); err != nil {
		return fmt.Errorf("runner: %w", err)
	}
	return nil
}

// command is the runner's process, whose end is that of all that it has started.
func (j *job) command(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, j.Self[0], append(slices.Clone(j.Self[1:]), "runner")...)
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Env = append(os.Environ(), "GOGC=off")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Pdeathsig: syscall.SIGKILL, Setpgid: true,
		Credential: &syscall.Credential{}, // no groups: those of this machine would be recorded
	}
	if j.Live > 0 {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWPID
	}
	return cmd
}

// mostHeard is the longest line of a runner.
const mostHeard = 64 << 20

func converse(in io.WriteCloser, out io.Reader, first []byte, heard func([]byte) error) error {
	defer in.Close()
	if _, err := in.Write(append(first, '\n')); err != nil {
		return err
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, mostHeard)
	for lines.Scan() {
		if err := heard(lines.Bytes()); err != nil {
			return err
		}
		if _, err := io.WriteString(in, "on\n"); err != nil {
			return err
		}
	}
	return lines.Err()
}

// runner is the state of the child.
type runner struct {
	job
	in      *bufio.Reader
	out     io.Writer
	workers map[string]*worker

	env []string          // of live programs
	own *strings.Replacer // of what is this run's own in the output of live commands
}

func runnerMain(in io.Reader, out io.Writer) error {
	r := &runner{in: bufio.NewReaderSize(in, 1<<20), out: out, workers: map[string]*worker{}}
	first, err := r.in.ReadBytes('\n')
	if err != nil {
		return err
	}
	if err := json.Unmarshal(first, &r.job); err != nil {
		return err
	}
	unix.Umask(0o022)
	return r.script()
}

// script runs the txtar file, whose every command is followed by a pause.
func (r *runner) script() error {
	file := filepath.Join(r.Work, filepath.Base(r.Name)+".txtar")
	text := paused
	if r.Live > 0 {
		text = lively
	}
	if err := os.WriteFile(file, text(r.Script), 0o644); err != nil {
		return err
	}
	defer r.end()
	return attempt(func(t testscript.T) {
		testscript.RunT(t, testscript.Params{
			Files: []string{file}, WorkdirRoot: r.Work, Setup: r.setup, RequireExplicitExec: true,
			Cmds: map[string]func(*testscript.TestScript, bool, []string){
				liveCommand: r.live, "sys": r.sys, "mix": r.mix, pauseCommand: func(ts *testscript.TestScript, _ bool, _ []string) { ts.Check(r.pause()) },
			},
		})
	})
}

const pauseCommand = "pause"

// paused puts a pause behind each command.
func paused(script []byte) []byte {
	var b bytes.Buffer
	lines := bytes.Lines(script)
	files := false
	for l := range lines {
		text := string(l)
		b.WriteString(text)
		files = files || strings.HasPrefix(text, "-- ")
		if command := strings.TrimSpace(text); !files && command != "" && command[0] != '#' {
			b.WriteString(pauseCommand + "\n")
		}
	}
	return b.Bytes()
}

// pause lets the recorder close a window.
func (r *runner) pause() error { return r.tell(told{}) }

// tell sends a line and waits until the mount is calm.
func (r *runner) tell(t told) error {
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if _, err := r.out.Write(append(text, '\n')); err != nil {
		return err
	}
	_, err = r.in.ReadString('\n')
	return err
}

// setup makes an environment that is the same everywhere.
func (r *runner) setup(env *testscript.Env) error {
	env.Cd = r.Dirs[0]
	env.Vars = []string{
		"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "HOME=" + env.WorkDir, "WORK=" + env.WorkDir,
		"LC_ALL=C", "TZ=UTC", "PYTHONHASHSEED=0", "PYTHONDONTWRITEBYTECODE=1",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_AUTHOR_DATE=1735787045 +0000",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org", "GIT_COMMITTER_DATE=1735787045 +0000",
	}
	for i, dir := range r.Dirs {
		env.Setenv(strings.ToUpper(mountName(i)), dir)
	}
	if r.Live > 0 {
		r.enliven(env)
	}
	return os.Chmod(env.WorkDir, 0o755)
}

// end ends the workers, one after the other: they close what they have open.
func (r *runner) end() {
	for _, actor := range slices.Sorted(maps.Keys(r.workers)) {
		r.workers[actor].close()
		_ = r.pause() // the recorder may have gone
	}
}

// attempted is a testscript.T outside of a test.
type attempted struct{}

type failure struct{}

func attempt(run func(testscript.T)) (err error) {
	t := &attempted{}
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			err = errors.New("the script failed")
		default:
			panic(p)
		}
	}()
	run(t)
	return nil
}

func (t *attempted) Skip(args ...any)                   { t.Fatal(append([]any{"skip:"}, args...)...) }
func (t *attempted) Fatal(args ...any)                  { t.Log(args...); t.FailNow() }
func (t *attempted) Parallel()                          {}
func (t *attempted) Log(args ...any)                    { fmt.Fprintln(os.Stderr, args...) }
func (t *attempted) FailNow()                           { panic(failure{}) }
func (t *attempted) Run(_ string, f func(testscript.T)) { f(t) }
func (t *attempted) Verbose() bool                      { return false }

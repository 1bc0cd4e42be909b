package scenario

// The runner's side of a live run. Each command says what it gave, whatever that
// is, and the script goes on: what came out is held against a transcript, so the
// script's own expectations are not looked at.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// told is a line from the runner: what a live command gave. Line 0 says only that
// something has ended.
type told struct {
	Line    int           `json:"line"`
	Outcome evals.Outcome `json:"outcome"`
}

const liveCommand = "live"

// scripted lists the lines of a script, before its files; use gets the fields of
// those that hold a command.
func scripted(script []byte, use func(line int, text string, words []string) string) []byte {
	var b bytes.Buffer
	line, files := 0, false
	for l := range bytes.Lines(script) {
		line++
		text := strings.TrimSpace(string(l))
		files = files || strings.HasPrefix(text, "-- ")
		words := strings.Fields(strings.TrimPrefix(text, "!"))
		if files || len(words) == 0 || words[0][0] == '#' {
			b.Write(l)
			continue
		}
		b.WriteString(use(line, text, words) + "\n")
	}
	return b.Bytes()
}

// expectations are commands of a script that only look at what came out.
var expectations = []string{"stdout", "stderr"}

// lively has each command run by "live LINE", and leaves expectations out.
func lively(script []byte) []byte {
	return scripted(script, func(line int, text string, words []string) string {
		if slices.Contains(expectations, words[0]) {
			return ""
		}
		return fmt.Sprintf("%s %d %s", liveCommand, line, strings.TrimSpace(strings.TrimPrefix(text, "!")))
	})
}

// commandsOf lists the commands of a script that give something.
func commandsOf(script []byte) (list []evals.Command) {
	scripted(script, func(line int, text string, words []string) string {
		if words[0] != "env" && !slices.Contains(expectations, words[0]) {
			list = append(list, evals.Command{Line: line, Text: text})
		}
		return ""
	})
	return list
}

// enliven prepares what live programs see.
func (r *runner) enliven(env *testscript.Env) {
	env.Cd = env.WorkDir // this process has no business on the mount
	r.env = slices.Clone(env.Vars)
	var names []string
	for i := range slices.Backward(r.Dirs) { // mnt2 before mnt
		names = append(names, r.Dirs[i], "$"+strings.ToUpper(mountName(i)))
	}
	r.own = strings.NewReplacer(append(names, env.WorkDir, "$WORK")...)
	_ = os.Setenv("PATH", env.Getenv("PATH"))
}

// live runs one command.
func (r *runner) live(ts *testscript.TestScript, _ bool, args []string) {
	line, err := strconv.Atoi(args[0])
	ts.Check(err)
	var o evals.Outcome
	switch args[1] {
	case "exec":
		o = r.program(args[2:])
	case "sys":
		o = r.systemCall(args[2:])
	case "mix":
		o = r.mixed(ts, args[2:])
	case "env":
		r.env = append(r.env, args[2:]...)
		return
	default:
		ts.Fatalf("have %q, want exec, sys, mix or env", args[1])
	}
	ts.Check(r.tell(told{line, o}))
}

// clean replaces what is this run's own and cuts what is long.
func (r *runner) clean(b []byte) string { return cut(r.own.Replace(printable(b)), longOutput) }

// late is why a command did not end.
func (r *runner) late() string { return fmt.Sprintf("no end within %v", r.Live) }

// program runs a program on the mount.
func (r *runner) program(args []string) (o evals.Outcome) {
	ctx, stop := context.WithTimeout(context.Background(), r.Live)
	defer stop()
	var out, log bytes.Buffer
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = r.Dirs[0], r.env, &out, &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	o.Stdout, o.Stderr = r.clean(out.Bytes()), r.clean(log.Bytes())
	if ctx.Err() != nil {
		o.Why = r.late()
		return o
	}
	o.Exit = exitOf(err)
	return o
}

// exitOf is the exit code, the signal's name, or the errno for which the program
// was not even started.
func exitOf(err error) string {
	var exit *exec.ExitError
	var errno syscall.Errno
	switch {
	case err == nil:
		return "0"
	case errors.As(err, &exit):
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return "signal: " + status.Signal().String()
		}
		return strconv.Itoa(exit.ExitCode())
	case errors.As(err, &errno):
		return proto.ErrnoName(errno)
	}
	return err.Error()
}

// systemCall makes one call, begins it or waits for it.
func (r *runner) systemCall(args []string) evals.Outcome {
	actor, args := actorOf(args)
	_, d := parseDemand(args)
	switch d.Call {
	case "&":
		d.Call, d.Args = d.Args[0], d.Args[1:]
		o := r.within(actor, func(w *worker) (outcome, error) { return outcome{}, w.enc.Encode(d) })
		time.Sleep(100 * time.Millisecond) // until it waits in the kernel
		return o
	case "wait":
		return r.within(actor, (*worker).result)
	}
	return r.demand(actor, d)
}

func (r *runner) demand(actor string, d demand) evals.Outcome {
	return r.within(actor, func(w *worker) (outcome, error) {
		if err := w.enc.Encode(d); err != nil {
			return outcome{}, err
		}
		return w.result()
	})
}

func (w *worker) result() (o outcome, err error) {
	err = w.dec.Decode(&o)
	return o, err
}

// within has a worker do something, and ends one that takes too long. The next
// call of its actor then gets a new one, which has nothing open.
func (r *runner) within(actor string, do func(*worker) (outcome, error)) evals.Outcome {
	w, err := r.ready(actor)
	if err != nil {
		return evals.Outcome{Why: err.Error()}
	}
	timer := time.AfterFunc(r.Live, func() { _ = w.cmd.Process.Kill() })
	o, err := do(w)
	late := !timer.Stop()
	switch {
	case err == nil && o.Bad != "":
		return evals.Outcome{Exit: o.Bad}
	case err == nil && o.Errno != 0:
		return evals.Outcome{Exit: o.String()}
	case err == nil:
		return evals.Outcome{Exit: "0", Stdout: r.clean([]byte(o.Text + o.Times))}
	}
	delete(r.workers, actor)
	_ = w.cmd.Process.Kill() // it may have ended
	end := w.cmd.Wait()
	if late {
		return evals.Outcome{Why: r.late()}
	}
	return evals.Outcome{Exit: exitOf(end)}
}

// ready finds an actor's worker, or starts one, which enters the mount.
func (r *runner) ready(actor string) (*worker, error) {
	if w := r.workers[actor]; w != nil {
		return w, nil
	}
	w, err := r.start(actor)
	if err != nil {
		return nil, err
	}
	timer := time.AfterFunc(r.Live, func() { _ = w.cmd.Process.Kill() })
	defer timer.Stop()
	if _, err := w.result(); err != nil {
		return nil, fmt.Errorf("the mount can't be entered: %s", exitOf(w.cmd.Wait()))
	}
	r.workers[actor] = w
	return w, nil
}

// mixed makes the calls of mix, and gives a line for each.
func (r *runner) mixed(ts *testscript.TestScript, args []string) evals.Outcome {
	seed, n := parseMix(ts, args)
	m := newMixer(seed)
	var b strings.Builder
	for m.n = range n {
		d := m.draw()
		o := r.demand("root", d)
		if o.Why != "" {
			return evals.Outcome{Stdout: b.String(), Why: fmt.Sprintf("call %d, %s: %s", m.n+1, d.Call, o.Why)}
		}
		m.took(d, o.Exit == "0")
		result := o.Exit
		if o.Stdout != "" {
			result = strconv.Quote(o.Stdout)
		}
		b.WriteString(cut(fmt.Sprintf("%s %s = %s", d.Call, strings.Join(d.Args, " "), result), longCall) + "\n")
		ts.Check(r.tell(told{}))
	}
	return evals.Outcome{Exit: "0", Stdout: b.String()}
}

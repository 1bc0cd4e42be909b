package scenario

// The script's command for single system calls:
//
//	sys [@ACTOR] [&] CALL ARG… [= RESULT | > NAME]
//
// The call must succeed, or give RESULT: a value, bytes, or an errno's name.
// NAME gets the descriptor. ACTOR is a process of its own, see actors; "/2"
// behind it puts it on the second mount. With & the call is only begun, and
// "sys @ACTOR wait = RESULT" takes its result.

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// demand is what a worker is asked to do.
type demand struct {
	Call string
	Args []string
	To   string // the name that a new descriptor gets
}

// outcome is what came of it.
type outcome struct {
	Errno int
	Text  string // the call's value, where it has one
	Times string // of a file, to the second
	Bad   string // the script is wrong
}

func (o outcome) String() string {
	if o.Errno != 0 {
		return proto.ErrnoName(syscall.Errno(o.Errno))
	}
	return o.Text
}

// is holds an outcome against what a script expects; nil is any success.
func (o outcome) is(want *string) bool {
	if want == nil {
		return o.Errno == 0
	}
	text, err := expand(*want)
	return err == nil && o.String() == text
}

// worker is the runner's end of a worker process.
type worker struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	enc *gob.Encoder
	dec *gob.Decoder
}

func (r *runner) sys(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("sys: say '= ERRNO' instead of !")
	}
	actor, args := actorOf(args)
	w, err := r.worker(actor)
	ts.Check(err)
	want, d := parseDemand(args)
	switch {
	case d.Call == "&":
		d.Call, d.Args = d.Args[0], d.Args[1:]
		ts.Check(w.enc.Encode(d))
		time.Sleep(100 * time.Millisecond) // until it waits in the kernel
		return
	case d.Call != "wait":
		ts.Check(w.enc.Encode(d))
	}
	var o outcome
	ts.Check(w.dec.Decode(&o))
	if o.Bad != "" {
		ts.Fatalf("sys: %s", o.Bad)
	}
	if !o.is(want) {
		ts.Fatalf("sys %s: have %q", strings.Join(args, " "), o)
	}
}

// actorOf cuts off who makes a call.
func actorOf(args []string) (actor string, rest []string) {
	if len(args) > 0 && strings.HasPrefix(args[0], "@") {
		return args[0][1:], args[1:]
	}
	return "root", args
}

// parseDemand cuts off what is expected; nil is any success.
func parseDemand(args []string) (want *string, d demand) {
	switch n := len(args); {
	case n >= 2 && args[n-1] == "=":
		want, args = new(string), args[:n-1]
	case n >= 3 && args[n-2] == "=":
		want, args = &args[n-1], args[:n-2]
	case n >= 3 && args[n-2] == ">":
		d.To, args = args[n-1], args[:n-2]
	}
	if len(args) > 0 {
		d.Call, d.Args = args[0], args[1:]
	}
	return want, d
}

// call makes a system call in a worker and returns what came of it.
func (r *runner) call(actor string, d demand) (o outcome, err error) {
	w, err := r.worker(actor)
	if err == nil {
		err = w.enc.Encode(d)
	}
	if err == nil {
		err = w.dec.Decode(&o)
	}
	return o, err
}

// worker finds an actor's process or starts it.
func (r *runner) worker(actor string) (*worker, error) {
	if w := r.workers[actor]; w != nil {
		return w, nil
	}
	w, err := r.start(actor)
	if err != nil {
		return nil, err
	}
	r.workers[actor] = w
	_, err = w.result()
	return w, err
}

// start starts an actor's process. Its first outcome says that it is ready.
func (r *runner) start(actor string) (*worker, error) {
	who, mount, _ := strings.Cut(actor, "/")
	dir := r.Dirs[0]
	if mount == "2" && len(r.Dirs) > 1 {
		dir = r.Dirs[1]
	}
	cmd := exec.Command(r.Self[0], append(slices.Clone(r.Self[1:]), "worker", who, dir)...)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &worker{cmd: cmd, in: in, enc: gob.NewEncoder(in), dec: gob.NewDecoder(out)}, nil
}

func (w *worker) close() {
	_ = errors.Join(w.in.Close(), w.cmd.Wait()) // the script is over either way
}

// actors are the users that a worker can be.
var actors = map[string]struct {
	uid, gid int
	groups   []int
}{
	"root":  {0, 0, nil},
	"other": {0, 0, nil}, // a second process of root
	"alice": {1000, 1000, []int{1000, 2000}},
	"bob":   {1001, 1001, []int{1001}},
}

func actorNamed(name string) (uid, gid int, groups []int, err error) {
	a, ok := actors[name]
	if !ok {
		return 0, 0, nil, fmt.Errorf("actor %q: have none of that name", name)
	}
	return a.uid, a.gid, a.groups, nil
}

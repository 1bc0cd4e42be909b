// Two filesystems with their processes, and how a sequence is run on both.

package diff

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// World is a tmpfs and a filesystem under test, each with one worker per actor.
type World struct {
	mode  *Mode
	sides [2]*side
	// Sequences and Calls count what was run, Calls on each side.
	Sequences, Calls int
	// Mutate, if set, changes what the second side answered: the test of the comparison itself.
	Mutate func(*result)
	// EachStep has the whole tree compared after every call.
	EachStep bool
}

// side is one filesystem.
type side struct {
	dir   string
	stop  func() error
	procs []*proc
}

// Failure is a sequence that differs.
type Failure struct {
	Script Script
	Log    []string // a line per call that was made, with its result on the tmpfs
	Diffs  []difference
	Broken error // a worker did not answer
}

func (f *Failure) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "script:\n%s\nwhat happened:\n", f.Script)
	for _, line := range f.Log {
		fmt.Fprintln(&b, line)
	}
	for _, d := range f.Diffs {
		fmt.Fprintln(&b, "  differs:", d)
	}
	if f.Broken != nil {
		fmt.Fprintln(&b, "  broken:", f.Broken)
	}
	return b.String()
}

// NewWorld mounts both filesystems and starts the workers.
func NewWorld(mode *Mode) (*World, error) {
	w := &World{mode: mode}
	for i, target := range []Target{Tmpfs{}, mode.Target} {
		s, err := newSide(target)
		if err != nil {
			return nil, errors.Join(err, w.Close())
		}
		w.sides[i] = s
	}
	return w, nil
}

func newSide(target Target) (*side, error) {
	dir, err := os.MkdirTemp(scratch, "mnt")
	if err != nil {
		return nil, err
	}
	s := &side{dir: dir}
	if s.stop, err = target.Start(dir); err != nil {
		return nil, err
	}
	for i := range actors {
		p, err := startProc(dir, i)
		if err != nil {
			return nil, errors.Join(err, s.close())
		}
		s.procs = append(s.procs, p)
	}
	return s, nil
}

func (s *side) close() error {
	for _, p := range s.procs {
		p.stop()
	}
	return errors.Join(s.stop(), os.Remove(s.dir))
}

// Close ends the workers and unmounts.
func (w *World) Close() error {
	var errs []error
	for _, s := range w.sides {
		if s != nil {
			errs = append(errs, s.close())
		}
	}
	return errors.Join(errs...)
}

// remake replaces both sides, after one has broken.
func (w *World) remake() error {
	w.Close()
	fresh, err := NewWorld(w.mode)
	if err != nil {
		w.sides = [2]*side{}
		return err
	}
	w.sides = fresh.sides
	return nil
}

// run is one sequence in progress.
type run struct {
	*World
	comparer
	dir    string
	log    []string
	broken error
}

// Run runs a script on both sides. It returns nil if nothing differs.
func (w *World) Run(script Script) *Failure {
	w.Sequences++
	r := &run{World: w, dir: fmt.Sprintf("/s%d", w.Sequences)}
	r.comparer = comparer{mode: w.mode, objects: make(map[uint64]*object), calls: make(map[string]bool), pids: w.workerPids()}
	diffs := r.sequence(script)
	r.cleanUp()
	if r.broken != nil {
		r.broken = errors.Join(r.broken, w.remake())
	}
	if len(diffs) == 0 && r.broken == nil {
		return nil
	}
	return &Failure{Script: script, Log: r.log, Diffs: diffs, Broken: r.broken}
}

func (w *World) workerPids() (pids [2]map[int]string) {
	for i, s := range w.sides {
		pids[i] = make(map[int]string)
		for n, p := range s.procs {
			pids[i][p.cmd.Process.Pid] = fmt.Sprintf("p%d", n)
		}
	}
	return pids
}

// both has the worker of an actor do something whose results are compared.
func (r *run) both(actor int, req request) [2]result {
	res := r.ask(actor, req)
	if r.Mutate != nil && r.broken == nil {
		r.Mutate(&res[1])
	}
	return res
}

// ask has the worker of an actor do something on the tmpfs and then on the mount.
func (r *run) ask(actor int, req request) (res [2]result) {
	if r.broken != nil {
		return res
	}
	for i, s := range r.sides {
		res[i] = s.procs[actor].ask(req)
		if res[i].Bad != "" {
			r.broken = fmt.Errorf("%s, %s: %s", [2]string{"tmpfs", "mount"}[i], req.Do, res[i].Bad)
			return res
		}
	}
	return res
}

// everyone has all workers do something.
func (r *run) everyone(req request) {
	for i := range actors {
		r.setUp(i, req)
	}
}

// setUp does something that has to succeed.
func (r *run) setUp(actor int, req request) {
	for i, res := range r.ask(actor, req) {
		if res.Errno != 0 && r.broken == nil {
			r.broken = fmt.Errorf("side %d: %s: %s", i, req.Do, errnoName(res.Errno))
		}
	}
}

func (r *run) sequence(script Script) []difference {
	if r.World.mode.Fresh {
		r.broken = r.remake()
		r.comparer.pids = r.workerPids()
	}
	r.setUp(0, request{Do: "create", Dir: r.dir})
	r.everyone(request{Do: "begin", Dir: r.dir})
	for _, op := range script.Ops {
		diffs := r.step(op, script.Quiet)
		if r.ended {
			return nil
		}
		if len(diffs) > 0 || r.broken != nil {
			return diffs
		}
	}
	for i := range actors {
		res := r.both(i, request{Do: "fds"})
		if diffs := r.results(Op{Actor: i}, res[0], res[1]); len(diffs) > 0 {
			r.log = append(r.log, fmt.Sprintf("descriptors of p%d at the end", i))
			return diffs
		}
	}
	return r.wholeTree()
}

// step makes one call on both sides and compares.
func (r *run) step(op Op, quiet bool) []difference {
	r.Calls++
	res := r.both(op.Actor, request{Do: "op", Op: op, Quiet: quiet})
	line := fmt.Sprintf("%s   # %s %d", op, errnoName(res[0].Errno), res[0].Val)
	r.log = append(r.log, line)
	diffs := r.results(op, res[0], res[1])
	if len(diffs) == 0 && r.EachStep {
		return r.wholeTree()
	}
	return diffs
}

func (r *run) wholeTree() []difference {
	res := r.both(0, request{Do: "tree", Dir: r.dir})
	return r.trees(res[0].Tree, res[1].Tree)
}

func (r *run) cleanUp() {
	r.everyone(request{Do: "end"})
	r.setUp(0, request{Do: "remove"})
}

// Making a failing script short. rapid cuts the random input; this works on the operations, which
// also removes those whose results nothing needs.

package diff

import (
	"slices"
	"time"
)

// shrinkTime bounds how long scripts are tried.
const shrinkTime = 20 * time.Second

// shrinker holds the shortest script that fails.
type shrinker struct {
	fails func(Script) *Failure
	best  *Failure
	until time.Time
}

// Shrink makes a failing script shorter and simpler as long as it fails.
func (w *World) Shrink(f *Failure) *Failure {
	s := &shrinker{fails: w.Run, best: f, until: time.Now().Add(shrinkTime)}
	for before := ""; before != s.best.Script.String() && time.Now().Before(s.until); {
		before = s.best.Script.String()
		s.removeOps()
		s.simplifyOps()
	}
	return s.best
}

// try keeps a script if it fails.
func (s *shrinker) try(script Script) bool {
	if time.Now().After(s.until) {
		return false
	}
	for _, op := range script.Ops {
		if checkOp(op) != nil {
			return false
		}
	}
	f := s.fails(script)
	if f == nil {
		return false
	}
	s.best = f
	return true
}

// removeOps tries without halves of the script, down to single operations.
func (s *shrinker) removeOps() {
	for width := len(s.best.Script.Ops) / 2; width >= 1; width /= 2 {
		for at := len(s.best.Script.Ops) - width; at >= 0; at-- {
			ops := slices.Clone(s.best.Script.Ops)
			if at+width <= len(ops) {
				s.try(Script{s.best.Script.Quiet, slices.Delete(ops, at, at+width)})
			}
		}
	}
}

// simplifyOps tries the first process and simpler arguments, one at a time.
func (s *shrinker) simplifyOps() {
	if s.best.Script.Quiet {
		s.try(Script{Ops: s.best.Script.Ops})
	}
	for i := range s.best.Script.Ops {
		s.tryOp(i, func(op *Op) { op.Actor = 0 })
		for arg := range s.best.Script.Ops[i].Args {
			s.simplifyArg(i, arg)
		}
	}
}

// simplifyArg tries the simple values of the argument's kind, the simplest first.
func (s *shrinker) simplifyArg(i, arg int) {
	row, _ := callNamed(s.best.Script.Ops[i].Call)
	for _, text := range row.args[arg].simple {
		if s.best.Script.Ops[i].Args[arg] == text || s.tryOp(i, func(op *Op) { op.Args[arg] = text }) {
			return
		}
	}
}

// tryOp tries the best script with one operation changed.
func (s *shrinker) tryOp(i int, change func(*Op)) bool {
	ops := slices.Clone(s.best.Script.Ops)
	ops[i].Args = slices.Clone(ops[i].Args)
	before := ops[i].String()
	change(&ops[i])
	return ops[i].String() != before && s.try(Script{s.best.Script.Quiet, ops})
}

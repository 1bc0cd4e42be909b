// Package faulty holds filesystems that are wrong on purpose: mutants of the
// reference, each with one bug that real filesystems, or models that play one,
// have had. Evals are tested with them: what scores a mutant as it scores the
// reference does not see that bug.
//
// A mutant is a row of a table and one function between a request and the
// reference: it may change the request, change the reply, and send requests of
// its own. Like the reference it knows no clock and no randomness.
package faulty

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/internal/model/reference"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// Mutant is one bug.
type Mutant struct {
	Name string
	Area string // of POSIX, or "model" for what only models do
	Bug  string // one sentence: what it does, and where the rule or the bug is known from
	ops  []proto.Opcode
	// answer is asked instead of the reference, for those ops; nil ops are all.
	answer func(*call) *proto.Reply
}

// tables are the mutants by area.
var tables = [][]Mutant{names, links, content, space, times, owners, directories, xattrs, locks, attributes, models}

// List is every mutant, in the order of the tables.
func List() (all []Mutant) { return slices.Concat(tables...) }

// World is a filesystem with a bug. What it embeds keeps its state, so whoever
// brings a reference to some state can do so with a World.
type World struct {
	*reference.FS
	Mutant
	options reference.Options
	// mu lets one request at a time through: a fault may take several of the
	// reference's. While the reference waits for a lock, it is given back.
	mu   sync.Mutex
	mind mind
}

// New makes an empty filesystem with the bug of that name. "noise:P" is the one
// that errs in P percent of its replies, "forgets:N" remembers N steps.
func New(name string, o reference.Options) (*World, error) {
	m, err := Find(name)
	if err != nil {
		return nil, err
	}
	return &World{FS: reference.New(o), Mutant: m, options: o, mind: newMind()}, nil
}

// Find is the mutant of that name, as New takes it.
func Find(name string) (Mutant, error) {
	all := List()
	if i := slices.IndexFunc(all, func(m Mutant) bool { return m.Name == name }); i >= 0 {
		return all[i], nil
	}
	kind, number, _ := strings.Cut(name, ":")
	n, err := strconv.ParseFloat(number, 64)
	switch {
	case err == nil && kind == "noise" && n > 0 && n <= 100:
		return noiseMutant(n), nil
	case err == nil && kind == "forgets" && n >= 1 && n == float64(int(n)):
		return forgetful(int(n)), nil
	}
	return Mutant{}, fmt.Errorf("mutant %q: want a mutant of evals/KILLS.md, noise:P or forgets:N", name)
}

// Clone is a world that goes on from here as w would.
func (w *World) Clone() *World {
	w.mu.Lock()
	defer w.mu.Unlock()
	return &World{FS: w.FS.Clone(), Mutant: w.Mutant, options: w.options, mind: w.mind.clone()}
}

// Answer implements [model.Model].
func (w *World) Answer(ctx context.Context, p *model.Prompt) (*model.Answer, error) {
	req, err := proto.ParseRequestJSON(p.Request)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ops != nil && !slices.Contains(w.ops, req.Op) {
		return w.refer(ctx, req.Op, p)
	}
	c := &call{World: w, ctx: ctx, req: req}
	b, err := proto.AppendReplyJSON(p.Scratch[:0], req, c.fit(w.answer(c)))
	if err != nil {
		return nil, err
	}
	return &model.Answer{Reply: b}, nil
}

// refer asks the reference.
func (w *World) refer(ctx context.Context, op proto.Opcode, p *model.Prompt) (*model.Answer, error) {
	fs := w.FS
	if op == proto.OpSetlkw {
		w.mu.Unlock()
		defer w.mu.Lock()
	}
	return fs.Answer(ctx, p)
}

// fit makes a success that lacks its struct one of zeros.
func (c *call) fit(r *proto.Reply) *proto.Reply {
	if _, data := c.req.DataLimit(); r.Errno == 0 && r.Out == nil && !data {
		r.Out = c.req.Op.Row().NewOut()
	}
	return r
}

func fail(e syscall.Errno) *proto.Reply { return &proto.Reply{Errno: e} }

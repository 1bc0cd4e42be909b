package run

// A run: which jobs there are, and who does them.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/internal/session"
)

// Contestant is what is asked: a world, or a language model.
type Contestant struct {
	Name string

	// World makes an empty filesystem by the options of a trace's header. It is
	// asked in one trial: it would say the same in all others.
	World func(settings map[string]string) (World, error)

	// Model opens a language model for one trial, and Settings are what its
	// answers depend on besides the prompt.
	Model    func(trial int) (model.Model, error)
	Settings map[string]string
	Price    *session.Price // nil is unknown
}

func (c *Contestant) cost(u model.Usage) float64 { return c.Price.Cost(u) }

// Options of a run.
type Options struct {
	Corpus      *evals.Corpus
	Traces      []evals.TraceInfo
	Contestants []*Contestant
	Modes       []evals.Mode
	Trials      int    // 0 is 1
	Seed        uint64 // of the order in which traces are taken
	Concurrency int    // questions to one language model at the same time; 0 is 8
	Resync      bool   // rollouts go on after they went wrong
	Live        Player // plays scenarios in the live mode
	Shard       Shard

	Session session.Options // what language models are shown
	MaxCost float64         // US dollars to spend at most; 0 is no bound
	Retry   Retry

	Dir   string // of the log
	Cache string // directory of the answers; "" is Dir

	Header evals.LogHeader                 // program, commit, arguments, tier; the rest is filled in
	Tags   func(*evals.Trace) []evals.Tags // of each pair; nil for none
	Report func(Progress)                  // is told of each step, one at a time; may be nil
}

// Progress is how a run stands.
type Progress struct {
	Done, Total int     // steps
	Cost        float64 // US dollars paid in this run
}

// Run asks, and writes log and summary into Dir. The summary is complete where
// the error is nil; then Infra tells of questions that have no answer.
func Run(ctx context.Context, o Options) (*evals.Summary, error) {
	o.Trials, o.Concurrency = max(o.Trials, 1), cmp.Or(o.Concurrency, 8)
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, err
	}
	r, err := newRunner(o)
	if err != nil {
		return nil, err
	}
	err = r.all(ctx)
	if err == nil {
		err = r.write()
	}
	return &r.summary, errors.Join(err, r.close())
}

type runner struct {
	Options
	resync  bool
	traces  *traces
	tally   *tally
	spill   *spill
	asker   *asker
	frame   *evals.Frame
	summary evals.Summary

	mu       sync.Mutex
	progress Progress
}

func newRunner(o Options) (*runner, error) {
	r := &runner{Options: o, resync: o.Resync, tally: newTally(), traces: newTraces(o.Corpus, o.Tags)}
	var err error
	if r.frame, err = evals.NewFrame(); err != nil {
		return nil, err
	}
	if r.spill, err = newSpill(o.Dir); err != nil {
		return nil, err
	}
	if r.asker, err = newAsker(&r.Options); err != nil {
		return nil, errors.Join(err, r.spill.close())
	}
	r.summary.LogHeader = r.header()
	return r, nil
}

func (r *runner) close() error { return errors.Join(r.spill.close(), r.asker.close()) }

// all does all jobs. Worlds take processors, language models take time, so each
// sort has workers of its own.
func (r *runner) all(ctx context.Context) error {
	worlds, languages := r.tasks()
	for _, t := range slices.Concat(worlds, languages) {
		r.progress.Total += t.steps()
	}
	for _, live := range []bool{false, true} {
		group, inner := errgroup.WithContext(ctx)
		group.Go(func() error { return r.work(inner, pickTasks(worlds, live), runtime.GOMAXPROCS(0)) })
		group.Go(func() error { return r.work(inner, pickTasks(languages, live), r.Concurrency) })
		if err := errors.Join(group.Wait(), context.Cause(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// pickTasks are the live ones, or the others: on a mount somebody waits, so
// nothing else may keep the model from answering.
func pickTasks(list []task, live bool) (some []task) {
	for _, t := range list {
		if (t.mode == evals.Live) == live {
			some = append(some, t)
		}
	}
	return some
}

// steps is how many lines a task has at most.
func (t *task) steps() int { return stepsIn(t.mode, t.info) }

func stepsIn(mode evals.Mode, info evals.TraceInfo) int {
	switch {
	case mode != evals.Live:
		return info.Steps
	case info.Live == nil:
		return 0
	}
	return info.Live.Commands
}

// tasks are in the order in which they are begun: trace by trace, so that each
// is read once.
func (r *runner) tasks() (worlds, languages []task) {
	for _, u := range r.Shard.of(units(r.Traces, r.Trials, r.Seed)) {
		for _, c := range r.Contestants {
			for _, mode := range r.Modes {
				t := task{c, mode, u.trial, u.info}
				if mode == evals.Live && u.info.Live == nil {
					continue
				}
				if c.World == nil {
					languages = append(languages, t)
				} else if u.trial == 0 {
					worlds = append(worlds, t)
				}
			}
		}
	}
	return worlds, languages
}

func (r *runner) work(ctx context.Context, tasks []task, workers int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(workers, 1))
	for _, t := range tasks {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error { return r.one(ctx, t) })
	}
	return group.Wait()
}

func (r *runner) one(ctx context.Context, t task) error {
	if ctx.Err() != nil {
		return nil
	}
	if t.mode == evals.Live {
		if err := r.live(ctx, t); err != nil {
			return fmt.Errorf("%s, live, %s: %w", t.contestant.Name, t.info.Name, err)
		}
		return nil
	}
	read, err := r.traces.get(t.info)
	if err != nil {
		return err
	}
	j := &job{task: t, runner: r, trace: read.trace, gold: read.gold, tags: read.tags}
	if err := j.run(ctx); err != nil {
		return fmt.Errorf("%s, %s, %s: %w", t.contestant.Name, t.mode, t.info.Name, err)
	}
	r.advance(t.info.Steps - int(j.went.Load()))
	return r.spill.put(t, r.frame.Pack(nil, j.lines))
}

// advance tells of steps that are done.
func (r *runner) advance(steps int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress.Done += steps
	r.progress.Cost = r.asker.paid()
	if r.Report != nil {
		r.Report(r.progress)
	}
}

// write puts the log together.
func (r *runner) write() error {
	w, err := evals.CreateLog(filepath.Join(r.Dir, evals.StepsFiles[0]), r.summary.LogHeader)
	if err != nil {
		return err
	}
	if err := w.Close(r.spill.copy(w)); err != nil {
		return err
	}
	r.tally.summarize(&r.summary)
	r.summary.Finished = time.Now().UTC().Truncate(time.Second)
	return r.summary.Write(r.Dir)
}

func (r *runner) header() evals.LogHeader {
	h := r.Header
	h.Log, h.Version, h.Created = evals.LogName, evals.LogVersion, time.Now().UTC().Truncate(time.Second)
	h.Modes, h.Trials, h.Seed, h.Shard = r.Modes, r.Trials, r.Seed, r.Shard.String()
	h.Context, h.Fields = r.Session.Context.String(), r.Session.Fields.String()
	h.Hashes, h.Settings = r.hashes(), map[string]string{}
	for _, c := range r.Contestants {
		h.Models = append(h.Models, c.Name)
		for k, v := range c.Settings {
			h.Settings[k] = v
		}
	}
	slices.Sort(h.Models)
	return h
}

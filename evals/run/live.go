package run

// Live jobs: a scenario's script on a mount that the contestant answers, and
// what its commands give against the transcript of the reference.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/internal/session"
)

// Player runs the script of a transcript on a mount that a session answers. done
// gets what each command gave, by its line; its error ends the run, and is Play's.
// Other errors are of the infrastructure, but Late, which says that the script's
// time was over.
type Player interface {
	Play(ctx context.Context, t *evals.Transcript, s *session.Session, done func(line int, o evals.Outcome) error) error
}

// play is one live job.
type play struct {
	*job
	transcript *evals.Transcript
	meter      *meter // nil for worlds
	began      time.Time

	results []*evals.StepResult
}

// live does a live job, or takes what it came to from an earlier run.
func (r *runner) live(ctx context.Context, t task) error {
	script, err := r.Corpus.Transcript(t.info)
	if err != nil {
		return err
	}
	p := &play{job: &job{task: t, runner: r}, transcript: script}
	if !p.known() {
		if err := p.run(ctx); err != nil {
			return err
		}
		if err := p.keep(); err != nil {
			return err
		}
	}
	for _, s := range p.results {
		r.tally.add(s)
		if p.lines, err = evals.AppendLine(p.lines, s); err != nil {
			return err
		}
	}
	r.advance(len(script.Commands) - int(p.went.Load()))
	return r.spill.put(t, r.frame.Pack(nil, p.lines))
}

// run plays the script. What a command did not give, as there was no time or no
// answer, is a line all the same.
func (p *play) run(ctx context.Context) error {
	sess, err := p.session()
	if err != nil {
		return err
	}
	inner, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if p.meter != nil {
		p.meter.stop = stop
	}
	p.began = time.Now()
	err = p.Live.Play(inner, p.transcript, sess, p.done)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if p.meter != nil && p.meter.trouble() != nil {
		err = p.meter.trouble()
	}
	for _, c := range p.transcript.Commands[len(p.results):] {
		s := p.line(&c, evals.Outcome{Why: "the script did not come here"})
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			s.Infra = err.Error()
		} else if err != nil {
			s.Problems = []string{err.Error()}
		}
		p.results = append(p.results, s)
	}
	p.survival()
	return nil
}

// session is the contestant, as a mount sees it.
func (p *play) session() (*session.Session, error) {
	settings := p.transcript.Settings
	if p.contestant.World != nil {
		w, err := p.contestant.World(settings)
		if err != nil {
			return nil, err
		}
		return session.New(w, session.Options{Log: slog.New(slog.DiscardHandler)}), nil
	}
	p.meter = &meter{asker: p.asker, contestant: p.contestant, trial: p.trial}
	o := p.told(settings)
	o.Log = slog.New(slog.DiscardHandler)
	aggressive := settings["cache"] == "aggressive"
	o.OpenOff, o.KeepAttrs, o.StrictAtime = aggressive, aggressive, readsTouch(settings)
	return session.New(p.meter, o), nil
}

// done takes what a command gave.
func (p *play) done(line int, o evals.Outcome) error {
	if len(p.results) == len(p.transcript.Commands) || p.transcript.Commands[len(p.results)].Line != line {
		return fmt.Errorf("line %d is none of the transcript's", line)
	}
	s := p.line(&p.transcript.Commands[len(p.results)], o)
	p.results = append(p.results, s)
	p.answer()
	if p.meter != nil {
		return p.meter.trouble()
	}
	return nil
}

// line is a command's line of the log.
func (p *play) line(c *evals.Command, o evals.Outcome) *evals.StepResult {
	s := &evals.StepResult{
		Model: p.contestant.Name, Mode: evals.Live, Trial: p.trial, Trace: p.info.Name, Area: p.info.Area, Tier: p.info.Tier,
		Pair: c.Line, Op: c.Word(), Tags: evals.Tags{History: len(p.results)},
		Request: encoded(c.Text), Expected: encoded(c.Outcome), Reply: string(encoded(o)),
		WantErrno: c.Exit, HaveErrno: o.Exit, Stage: evals.Correct,
	}
	s.Diffs, s.Credit = c.Hold(o)
	switch {
	case o.Why != "":
		s.Stage, s.Problems, s.Diffs, s.Credit = evals.Unanswered, []string{o.Why}, nil, 0
	case gone(o):
		s.Stage, s.Problems = evals.Unanswered, []string{"the mount is gone"}
	case len(s.Diffs) > 0:
		s.Stage = evals.Acceptable
	}
	if p.meter != nil {
		p.meter.settle(s)
	}
	s.Millis = float64(time.Since(p.began)) / float64(time.Millisecond)
	p.began = time.Now()
	return s
}

// encoded is a value as JSON. Texts and outcomes always have a form.
func encoded(v any) json.RawMessage {
	line, err := evals.AppendLine(nil, v)
	if err != nil {
		panic(err)
	}
	return json.RawMessage(strings.TrimSuffix(string(line), "\n"))
}

// gone tells that there is no filesystem any more.
func gone(o evals.Outcome) bool {
	return o.Exit == "ENOTCONN" || o.Exit != "0" && strings.Contains(o.Stderr, "Transport endpoint is not connected")
}

// survival says in the line that a scenario went wrong in, or else in the last
// one, how far it came.
func (p *play) survival() {
	for i, s := range p.results {
		wrong, last := s.Stage != evals.Correct, i == len(p.results)-1
		switch {
		case s.Infra != "":
			return
		case wrong || last:
			s.Ended, s.Survived, s.Of = wrong, i, len(p.results)
			if !wrong {
				s.Survived++
			}
			return
		}
	}
}

// key is that of a whole scenario: it can't be gone on with from its middle.
func (p *play) key() string {
	return sum(func(h hash.Hash) {
		part := func(s string) { _, _ = io.WriteString(h, fmt.Sprintf("%d:%s", len(s), s)) }
		part("live " + cacheVersion)
		part(p.contestant.Name)
		for _, m := range []map[string]string{p.contestant.Settings, p.hashes()} {
			for _, k := range slices.Sorted(maps.Keys(m)) {
				part(k)
				if k != "traces" { // the scenario's own is enough
					part(m[k])
				}
			}
		}
		part(p.Session.Context.String())
		part(fmt.Sprint(p.trial))
		part(p.info.Live.SHA256)
	})
}

// known takes the lines of an earlier run.
func (p *play) known() bool {
	if p.contestant.World != nil {
		return false
	}
	k, ok := p.asker.cache.get(p.key())
	if !ok || json.Unmarshal([]byte(k.Reply), &p.results) != nil {
		p.results = nil
		return false
	}
	for _, s := range p.results {
		s.FromCache = true
	}
	return true
}

// keep stores the lines, if all of them count.
func (p *play) keep() error {
	if p.meter == nil || slices.ContainsFunc(p.results, func(s *evals.StepResult) bool { return s.Infra != "" }) {
		return nil
	}
	return p.asker.cache.put(&kept{Key: p.key(), Reply: string(encoded(p.results)), Usage: p.meter.all})
}

var _ model.Model = (*meter)(nil)

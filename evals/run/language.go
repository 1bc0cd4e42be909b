package run

// Language models as contestants: they are shown the past as a session shows it,
// and nothing that they say is mended.

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/evals/score"
	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/internal/session"
	"github.com/llmfs-raw/llmfs-raw/schema"
)

// told is what a language model is told about the world of a trace.
func (r *Options) told(settings map[string]string) session.Options {
	o := r.Session
	if o.Persona == "" {
		o.Persona = Persona(settings)
	}
	return o
}

// Transcript begins the conversation about a trace with these settings.
func (r *Options) Transcript(settings map[string]string) *session.Transcript {
	t := session.NewTranscript(r.told(settings))
	if readsTouch(settings) {
		t.StrictAtime()
	}
	return t
}

// forcedLanguage asks all steps, each with the gold history, so that none waits
// for another.
func (j *job) forcedLanguage(ctx context.Context) error {
	s := j.gold.Forced()
	s.Fields = j.Session.Fields
	answers := make([]answered, len(j.gold.Pairs))
	known := make([]schema.Attrs, len(j.gold.Pairs))
	t := j.Transcript(j.trace.Header.Options)
	group, inner := errgroup.WithContext(ctx)
	err := Prompts(j.gold, t, func(i int, p *model.Prompt) error {
		known[i] = t.Attrs(j.gold.Pairs[i].Req)
		limits := j.asker.limits[j.contestant]
		if err := limits.acquire(inner); err != nil {
			return err
		}
		group.Go(func() (err error) {
			defer limits.release()
			defer j.answer()
			answers[i], err = j.asker.ask(inner, j.contestant, j.trial, p)
			return err
		})
		return nil
	})
	if failed := group.Wait(); failed != nil {
		return failed
	}
	if err != nil {
		return err
	}
	for _, i := range j.gold.Steps {
		if err := j.add(i, j.gold.Pairs[i].Req, answers[i], s.Step(i, answers[i].reply, known[i]), nil); err != nil {
			return err
		}
	}
	return nil
}

// Prompts makes the question of each step of a trace, with the gold history.
func Prompts(g *score.Gold, t *session.Transcript, ask func(i int, p *model.Prompt) error) error {
	for i, p := range g.Pairs {
		switch {
		case !reaches(p):
		case evals.Asked(p):
			prompt, err := t.Prompt(p.Req)
			if err == nil {
				err = ask(i, prompt)
			}
			if err == nil {
				err = t.Accept(p.Req, p.Rep, nil)
			}
			if err != nil {
				return err
			}
		case silent(p.Req):
			t.Quiet(p.Req)
		}
	}
	return nil
}

// rolloutLanguage lets a model's own words make its history.
func (j *job) rolloutLanguage(ctx context.Context) error {
	s := j.gold.Rollout()
	s.Fields = j.Session.Fields
	way := rollout{job: j, state: s}
	t := j.Transcript(j.trace.Header.Options)
	for i, p := range j.gold.Pairs {
		req := s.Request(i)
		switch {
		case !reaches(p):
			continue
		case !evals.Asked(p):
			t.Quiet(req)
			s.Pass(i)
			continue
		}
		prompt, err := t.Prompt(req)
		if err != nil {
			return err
		}
		a, err := j.wait(ctx, prompt)
		if err != nil {
			return err
		}
		a.known = t.Attrs(req)
		adopted, goes, err := way.step(i, req, a)
		if err != nil || !goes {
			return err
		}
		if adopted == nil {
			err = t.Accept(req, way.last.Reply, a.reply)
		} else {
			err = t.Accept(req, adopted, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (j *job) wait(ctx context.Context, p *model.Prompt) (answered, error) {
	limits := j.asker.limits[j.contestant]
	if err := limits.acquire(ctx); err != nil {
		return answered{}, err
	}
	defer limits.release()
	defer j.answer()
	return j.asker.ask(ctx, j.contestant, j.trial, p)
}

package run

// A language model on a live mount: it keeps the run's bounds, and what was used
// for a command goes into the command's line.

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/internal/model"
)

type meter struct {
	*asker
	contestant *Contestant
	trial      int
	stop       context.CancelCauseFunc // ends the scenario: after a question without an answer, nothing is the model's doing

	mu    sync.Mutex
	used  model.Usage // since the last command
	all   model.Usage
	kinds []string // why there was no reply, where that was the model's own doing
	infra error    // why there was none, where it was not
}

// Answer implements model.Model.
func (m *meter) Answer(ctx context.Context, p *model.Prompt) (*model.Answer, error) {
	limits := m.limits[m.contestant]
	if err := limits.acquire(ctx); err != nil {
		return nil, err
	}
	defer limits.release()
	var trouble error // what the question is put again for
	said, err := m.insist(ctx, m.contestant, m.trial, p, func(err error) { trouble = err })
	m.note(ctx, said, err, trouble)
	return said, err
}

// note takes in what came of a question. One whose caller has gone while the
// server had trouble is the server's fault, without trouble the model's.
func (m *meter) note(ctx context.Context, said *model.Answer, err, trouble error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var failed *model.Error
	switch {
	case err == nil:
		m.add(said.Usage)
	case errors.As(err, &failed) && slices.Contains(ownFault, failed.Kind):
		m.add(failed.Usage)
		m.kinds = append(m.kinds, failed.Kind.String())
	case ctx.Err() == nil:
		m.fail(err)
	case trouble != nil:
		m.fail(trouble)
	}
}

func (m *meter) fail(err error) {
	if m.infra == nil {
		m.infra = err
		m.stop(err)
	}
}

// trouble is the error of the infrastructure that has ended the scenario.
func (m *meter) trouble() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.infra
}

func (m *meter) add(u model.Usage) {
	for _, sum := range []*model.Usage{&m.used, &m.all} {
		sum.InputTokens += u.InputTokens
		sum.CachedTokens += u.CachedTokens
		sum.OutputTokens += u.OutputTokens
	}
}

// settle moves the account into a line.
func (m *meter) settle(s *evals.StepResult) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s.InputTokens, s.CachedTokens, s.OutputTokens = m.used.InputTokens, m.used.CachedTokens, m.used.OutputTokens
	s.Cost = m.contestant.cost(m.used)
	if m.infra != nil {
		s.Infra = m.infra.Error()
	}
	if len(m.kinds) > 0 && s.Stage != evals.Correct {
		s.Problems = append(s.Problems, m.kinds...)
		s.Refused = slices.ContainsFunc(m.kinds, refuses)
	}
	m.used, m.kinds = model.Usage{}, nil
}

// refuses tells whether a kind of failure is a refusal.
func refuses(kind string) bool {
	return kind == model.Refused.String() || kind == model.Filtered.String()
}

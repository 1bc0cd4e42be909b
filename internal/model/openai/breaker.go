package openai

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/sony/gobreaker/v2"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
)

// breaker fails calls at once while the server is down. Only outages count: a
// refusal or a rate limit says that the server is there, and a cancelled call
// says nothing.
type breaker struct {
	circuit *gobreaker.CircuitBreaker[*model.Answer]
	last    atomic.Pointer[string] // the latest outage
	o       Options
}

func newBreaker(o Options) *breaker {
	b := &breaker{o: o}
	b.last.Store(new(string))
	b.circuit = gobreaker.NewCircuitBreaker[*model.Answer](gobreaker.Settings{
		Name:        o.Model,
		Timeout:     o.OpenFor,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= uint32(o.TripAfter) },
		IsSuccessful: func(err error) bool {
			var e *model.Error
			return !errors.As(err, &e) || e.Kind != model.Outage
		},
		IsExcluded:    func(err error) bool { return errors.Is(err, context.Canceled) },
		OnStateChange: b.changed,
	})
	return b
}

func (b *breaker) changed(name string, from, to gobreaker.State) {
	b.o.Log.Warn("circuit breaker", "model", name, "from", from, "to", to, "outage", *b.last.Load())
}

func (b *breaker) do(call func() (*model.Answer, error)) (*model.Answer, error) {
	answer, err := b.circuit.Execute(func() (*model.Answer, error) {
		answer, err := call()
		var e *model.Error
		if errors.As(err, &e) && e.Kind == model.Outage {
			text := e.Err.Error()
			b.last.Store(&text)
		}
		return answer, err
	})
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		return nil, &model.Error{Kind: model.Outage, Err: fmt.Errorf("%w, last outage: %s", err, *b.last.Load())}
	}
	return answer, err
}

package run

// One question to a language model: from the cache, or asked until there is an
// answer or no hope of one.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"golang.org/x/sync/singleflight"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// Retry says how long errors of the infrastructure are waited out. Zero values
// are good defaults.
type Retry struct {
	Tries uint          // 0 is 8, and 2 where a server can't be reached from the start
	First time.Duration // wait before the second try; 0 is 1 s, and each wait is about twice the last
	Most  time.Duration // the longest wait; 0 is 30 s
}

// ownFault are the kinds of failures that are the model's answer, so to speak.
var ownFault = []model.Kind{model.Refused, model.Filtered, model.Truncated, model.Empty}

// hopeless are those that asking again does not change; denied ends all questions.
var hopeless = []model.Kind{model.Denied, model.Rejected}

type asker struct {
	o     *Options
	cache *cache

	flights singleflight.Group

	mu      sync.Mutex
	models  map[modelKey]model.Model
	limits  map[*Contestant]*limiter
	denied  map[*Contestant]error
	down    map[*Contestant]bool // the last question was given up
	heard   map[*Contestant]bool // a question has been answered
	spent   float64              // US dollars, paid in this run
	pledged float64              // at least, for what is being asked
}

type modelKey struct {
	contestant *Contestant
	trial      int
}

func newAsker(o *Options) (*asker, error) {
	a := &asker{o: o, models: map[modelKey]model.Model{}, limits: map[*Contestant]*limiter{}, denied: map[*Contestant]error{}, down: map[*Contestant]bool{}, heard: map[*Contestant]bool{}}
	if !asksLanguages(o.Contestants) {
		return a, nil
	}
	for _, c := range o.Contestants {
		a.limits[c] = newLimiter(o.Concurrency)
	}
	var err error
	a.cache, err = openCache(cmp.Or(o.Cache, o.Dir))
	return a, err
}

func asksLanguages(list []*Contestant) bool {
	return slices.ContainsFunc(list, func(c *Contestant) bool { return c.World == nil })
}

func (a *asker) close() error {
	if a.cache == nil {
		return nil
	}
	return a.cache.close()
}

func (a *asker) paid() float64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.spent
}

// ask is for callers that hold a place of the contestant's limiter. A question
// that is on its way already, as the first ones of forced steps and rollouts can
// be the same, is asked once.
func (a *asker) ask(ctx context.Context, c *Contestant, trial int, p *model.Prompt) (answered, error) {
	key := questionKey(c, trial, p)
	led := false
	said, err, _ := a.flights.Do(key, func() (any, error) {
		led = true
		if k, ok := a.cache.get(key); ok {
			return k.answered(), nil
		}
		return a.fresh(ctx, c, trial, p, key)
	})
	if err != nil {
		return answered{}, err
	}
	out := said.(answered)
	out.cached = out.cached || !led
	return out, nil
}

// fresh asks, and keeps what comes.
func (a *asker) fresh(ctx context.Context, c *Contestant, trial int, p *model.Prompt, key string) (answered, error) {
	start := time.Now()
	said, err := a.insist(ctx, c, trial, p, func(error) {})
	if ctx.Err() != nil {
		return answered{}, context.Cause(ctx)
	}
	k := &kept{Key: key, Nanos: int64(time.Since(start))}
	if !k.take(said, err) {
		return answered{infra: err}, nil
	}
	fresh := k.answered()
	fresh.cached = false
	return fresh, a.cache.put(k)
}

// take notes what came back, unless that was the infrastructure's fault.
func (k *kept) take(said *model.Answer, err error) bool {
	var failed *model.Error
	switch {
	case err == nil:
		k.Reply, k.Usage = validUTF8(said.Reply), said.Usage
	case errors.As(err, &failed) && slices.Contains(ownFault, failed.Kind):
		k.Kind, k.Usage = failed.Kind.String(), failed.Usage
	default:
		return false
	}
	return true
}

func (k *kept) answered() answered {
	return answered{
		reply: []byte(k.Reply), usage: k.Usage, took: time.Duration(k.Nanos), cached: true, kind: k.Kind,
		refuse: refuses(k.Kind),
	}
}

// insist asks until there is an answer, or an error that stays; trouble gets those
// that do not.
func (a *asker) insist(ctx context.Context, c *Contestant, trial int, p *model.Prompt, trouble func(error)) (*model.Answer, error) {
	m, err := a.model(c, trial)
	if err != nil {
		return nil, err
	}
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = cmp.Or(a.o.Retry.First, time.Second), cmp.Or(a.o.Retry.Most, 30*time.Second)
	wait.Multiplier = 2
	tried := 0
	said, err := backoff.Retry(ctx, func() (*model.Answer, error) {
		tried++
		said, err := a.once(ctx, c, m, p)
		if tried > 1 && a.nobody(c, err) {
			err = backoff.Permanent(err)
		}
		return said, err
	},
		backoff.WithBackOff(wait), backoff.WithMaxTries(a.tries(c)), backoff.WithMaxElapsedTime(0),
		backoff.WithNotify(func(err error, _ time.Duration) { trouble(err) }))
	a.gaveUp(c, err)
	return said, err
}

// tries is how often a question is put. Where one was given up, the next is put
// once: a server that is gone would hold up the run for each of them.
func (a *asker) tries(c *Contestant) uint {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.down[c] {
		return 1
	}
	return cmp.Or(a.o.Retry.Tries, 8)
}

// nobody tells whether there seems to be no server at all: it has never answered.
func (a *asker) nobody(c *Contestant, err error) bool {
	var failed *model.Error
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.o.Retry.Tries == 0 && !a.heard[c] && errors.As(err, &failed) && failed.Kind == model.Outage
}

func (a *asker) gaveUp(c *Contestant, err error) {
	var failed *model.Error
	a.mu.Lock()
	defer a.mu.Unlock()
	a.down[c] = errors.As(err, &failed) && (failed.Kind == model.Outage || failed.Kind == model.Limited)
	a.heard[c] = a.heard[c] || err == nil
}

func (a *asker) once(ctx context.Context, c *Contestant, m model.Model, p *model.Prompt) (*model.Answer, error) {
	pledge, err := a.pledge(c, p)
	if err != nil {
		return nil, backoff.Permanent(err)
	}
	said, err := m.Answer(ctx, p)
	var failed *model.Error
	switch {
	case err == nil:
		a.pay(c, pledge, said.Usage)
		a.limits[c].answered()
		return said, nil
	case !errors.As(err, &failed):
		a.pay(c, pledge, model.Usage{})
		return nil, err
	}
	a.pay(c, pledge, failed.Usage)
	if failed.Kind == model.Limited {
		a.limits[c].limited()
	}
	if failed.Kind == model.Denied {
		a.deny(c, err)
	}
	if slices.Contains(hopeless, failed.Kind) || slices.Contains(ownFault, failed.Kind) {
		return nil, backoff.Permanent(err)
	}
	return nil, err
}

// errBudget marks a question that there was no money for.
var errBudget = errors.New("the budget is spent")

// bytesPerToken is a low estimate, so that the pledge is a high one.
const bytesPerToken = 2.5

// pledge sets money aside for a question, or says that there is none.
func (a *asker) pledge(c *Contestant, p *model.Prompt) (float64, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.denied[c]; err != nil {
		return 0, err
	}
	bytes := len(p.Schema.JSON)
	for i := range p.Messages {
		bytes += len(p.Messages[i].Content)
	}
	cost := c.cost(model.Usage{InputTokens: int(float64(bytes) / bytesPerToken)})
	if most := a.o.MaxCost; most > 0 && a.spent+a.pledged+cost > most {
		return 0, fmt.Errorf("%w: $%.4f of $%.2f", errBudget, a.spent, most)
	}
	a.pledged += cost
	return cost, nil
}

func (a *asker) pay(c *Contestant, pledge float64, used model.Usage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pledged -= pledge
	a.spent += c.cost(used)
}

func (a *asker) deny(c *Contestant, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.denied[c] = err
}

func (a *asker) model(c *Contestant, trial int) (model.Model, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := modelKey{c, trial}
	m := a.models[key]
	if m != nil {
		return m, nil
	}
	m, err := c.Model(trial)
	a.models[key] = m
	return m, err
}

// silent are opcodes whose request goes into the past without an answer.
func silent(req *proto.Request) bool {
	kind := req.Op.Row().Reply
	return kind == proto.ReplyNone || kind == proto.ReplyIgnored
}

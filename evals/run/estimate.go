package run

// What a run would ask, without asking.

import (
	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/internal/session"
)

// Estimate is what one contestant would be asked in one mode, all trials
// together. Tokens are those of the o200k encoding; other models count otherwise.
type Estimate struct {
	Model string
	Mode  evals.Mode
	Steps int
	Usage model.Usage // cached is what a prompt has in common with the last of its schema
	Cost  float64     // US dollars, with that cached; 0 where the price is unknown
	Most  float64     // US dollars, if nothing is cached
}

// Estimates counts by the gold history. Rollouts cost at most as much: those that
// go wrong end early. Live scenarios are taken to ask what was asked when they were
// recorded; Steps are then their commands.
func Estimates(o Options) ([]Estimate, error) {
	o.Trials = max(o.Trials, 1)
	read, count, last := newTraces(o.Corpus, nil), counter{}, map[string][]model.Message{}
	steps, worldSteps := map[evals.Mode]int{}, map[evals.Mode]int{}
	var used model.Usage
	for _, u := range o.Shard.of(units(o.Traces, o.Trials, o.Seed)) {
		for _, mode := range o.Modes {
			steps[mode] += stepsIn(mode, u.info)
			if u.trial == 0 {
				worldSteps[mode] += stepsIn(mode, u.info)
			}
		}
		if !asksLanguages(o.Contestants) {
			continue
		}
		r, err := read.get(u.info)
		if err != nil {
			return nil, err
		}
		if err := count.trace(r, &o, last, &used); err != nil {
			return nil, err
		}
	}
	return o.estimates(steps, worldSteps, used), nil
}

func (o *Options) estimates(steps, worldSteps map[evals.Mode]int, used model.Usage) (list []Estimate) {
	for _, c := range o.Contestants {
		for _, mode := range o.Modes {
			e := Estimate{Model: c.Name, Mode: mode, Steps: worldSteps[mode]}
			if c.World == nil {
				e.Steps, e.Usage, e.Cost = steps[mode], used, c.cost(used)
				e.Most = c.cost(model.Usage{InputTokens: used.InputTokens, OutputTokens: used.OutputTokens})
			}
			list = append(list, e)
		}
	}
	return list
}

// counter remembers the length of texts: prompts share most of theirs.
type counter map[string]int

func (c counter) tokens(text string) (int, error) {
	if n, ok := c[text]; ok {
		return n, nil
	}
	n, err := session.CountTokens(text)
	c[text] = n
	return n, err
}

// cachedFrom is the shortest beginning of a prompt that servers keep, in tokens.
const cachedFrom = 1024

// prompt counts one prompt, and what it has in common with the last one of the
// same schema.
func (c counter) prompt(p *model.Prompt, last []model.Message, used *model.Usage) error {
	const perMessage = 4
	tokens, err := c.tokens(string(p.Schema.JSON))
	if err != nil {
		return err
	}
	common := last != nil
	cached := 0
	for k := range p.Messages {
		common = common && k < len(last) && last[k] == p.Messages[k]
		n, err := c.tokens(p.Messages[k].Content)
		if err != nil {
			return err
		}
		if tokens += n + perMessage; common {
			cached = tokens
		}
	}
	used.InputTokens += tokens
	if cached >= cachedFrom {
		used.CachedTokens += cached
	}
	return nil
}

func (c counter) trace(r *readTrace, o *Options, last map[string][]model.Message, used *model.Usage) error {
	clear(c)
	t := o.Transcript(r.trace.Header.Options)
	return Prompts(r.gold, t, func(i int, p *model.Prompt) error {
		if err := c.prompt(p, last[p.Schema.Name], used); err != nil {
			return err
		}
		last[p.Schema.Name] = p.Messages
		said, err := t.Said(r.gold.Pairs[i].Req, r.gold.Pairs[i].Rep)
		if err != nil {
			return err
		}
		n, err := c.tokens(string(said))
		used.OutputTokens += n
		return err
	})
}

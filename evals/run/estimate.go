package run

// What a run would ask, without asking.

import (
	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/internal/session"
	"github.com/llmfs-raw/llmfs-raw/proto"
	"github.com/llmfs-raw/llmfs-raw/schema"
)

// Estimate is what one contestant would be asked in one mode, all trials
// together. Tokens are those of the o200k encoding; other models count otherwise.
type Estimate struct {
	Model string
	Mode  evals.Mode
	Steps int
	Usage model.Usage // as if nothing were cached
	Cost  float64     // US dollars; 0 where the price is unknown
}

// Estimates counts by the gold history. Rollouts cost at most as much: those that
// go wrong end early.
func Estimates(o Options) ([]Estimate, error) {
	o.Trials = max(o.Trials, 1)
	read, count := newTraces(o.Corpus, nil), counter{}
	var steps, worldSteps int
	var used model.Usage
	for _, u := range o.Shard.of(units(o.Traces, o.Trials, o.Seed)) {
		steps += u.info.Steps
		if u.trial == 0 {
			worldSteps += u.info.Steps
		}
		if !asksLanguages(o.Contestants) {
			continue
		}
		r, err := read.get(u.info)
		if err != nil {
			return nil, err
		}
		if err := count.trace(r, &o, &used); err != nil {
			return nil, err
		}
	}
	return o.estimates(steps, worldSteps, used), nil
}

func (o *Options) estimates(steps, worldSteps int, used model.Usage) (list []Estimate) {
	for _, c := range o.Contestants {
		for _, mode := range o.Modes {
			e := Estimate{Model: c.Name, Mode: mode, Steps: worldSteps}
			if c.World == nil {
				e.Steps, e.Usage, e.Cost = steps, used, c.cost(used)
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

func (c counter) trace(r *readTrace, o *Options, used *model.Usage) error {
	clear(c)
	return Prompts(r.gold, o.Transcript(r.trace.Header.Options), func(i int, p *model.Prompt) error {
		texts := []string{string(p.Schema.JSON)}
		for k := range p.Messages {
			texts = append(texts, p.Messages[k].Content)
		}
		const perMessage = 4
		for _, text := range texts {
			n, err := c.tokens(text)
			if err != nil {
				return err
			}
			used.InputTokens += n + perMessage
		}
		said, err := proto.AppendReplyJSON(nil, r.gold.Pairs[i].Req, r.gold.Pairs[i].Rep)
		if err != nil {
			return err
		}
		if o.Session.Fields == schema.Lean {
			said = schema.Shorten(r.gold.Pairs[i].Req, said, nil)
		}
		n, err := session.CountTokens(string(schema.Wrap(said)))
		used.OutputTokens += n
		return err
	})
}

package main

// The flags of language models: which one answers, what it is told, what it may
// cost. mount and doctor share those of the model.

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/llmfs-raw/llmfs-raw/internal/model/openai"
	"github.com/llmfs-raw/llmfs-raw/internal/session"
	"github.com/llmfs-raw/llmfs-raw/schema"
)

// modelFlags are the flags of an OpenAI-compatible server.
type modelFlags struct {
	baseURL         string
	responses       bool
	reasoningEffort string
	temperature     optionalFloat
	maxOutput       int
	extra           extraFields
}

func (m *modelFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&m.baseURL, "base-url", "", "`URL` of an OpenAI-compatible server (default $OPENAI_BASE_URL, or OpenAI's own)")
	f.BoolVar(&m.responses, "responses", false, "use the Responses API, not Chat Completions")
	f.StringVar(&m.reasoningEffort, "reasoning-effort", "", "none, minimal, low, medium, high …, where the model has it")
	f.Var(&m.temperature, "temperature", "sampling temperature")
	f.IntVar(&m.maxOutput, "max-output", 0, "most tokens of one answer, reasoning included")
	f.Var(&m.extra, "extra", "a further field of the request body as `KEY=JSON`; may be repeated")
}

func (m *modelFlags) options(name string) openai.Options {
	return openai.Options{
		BaseURL: m.baseURL, Model: name, Responses: m.responses, ReasoningEffort: m.reasoningEffort,
		Temperature: m.temperature.value, MaxOutput: m.maxOutput, Extra: m.extra,
	}
}

// optionalFloat is a flag that is not sent unless it was given.
type optionalFloat struct{ value *float64 }

func (o *optionalFloat) Set(s string) error {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return fmt.Errorf("want a number")
	}
	o.value = &v
	return nil
}

func (o *optionalFloat) String() string {
	if o.value == nil {
		return ""
	}
	return strconv.FormatFloat(*o.value, 'g', -1, 64)
}

func (o *optionalFloat) Type() string { return "number" }

// extraFields is a flag that collects KEY=JSON.
type extraFields map[string]json.RawMessage

func (e *extraFields) Set(s string) error {
	key, value, ok := strings.Cut(s, "=")
	if !ok || key == "" || !json.Valid([]byte(value)) {
		return fmt.Errorf(`want KEY=JSON, as top_k=20 or provider='{"sort":"price"}'`)
	}
	if *e == nil {
		*e = extraFields{}
	}
	(*e)[key] = json.RawMessage(value)
	return nil
}

func (e *extraFields) String() string { return "" }
func (e *extraFields) Type() string   { return "KEY=JSON" }

// sessionFlags are what a language model is told and may cost.
type sessionFlags struct {
	context string
	fields  formFlag
	persona string
	seed    string
	budget  session.Budget
	prices  string
	warm    bool
	base    bool
}

func (s *sessionFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&s.context, "context", "ledger", "what a language model is shown of the past: full, window:N, ledger or ledger:N")
	s.fields = formFlag{schema.Lean}
	f.Var(&s.fields, "fields", "reply fields to ask for: all, or lean")
	f.BoolVar(&s.base, "baseline", false, "for comparison: each request is a question, one at a time, with the whole history, and nothing is cached")
	f.StringVar(&s.persona, "persona", "", "what the world is, as `TEXT` or a file of it")
	f.StringVar(&s.seed, "seed", "", "begin with the tree at `DIR`")
	f.Float64Var(&s.budget.MaxCost, "max-cost", 0, "US dollars to spend at most; then EDQUOT")
	f.Uint64Var(&s.budget.MaxTokens, "max-tokens", 0, "tokens to spend at most, in and out")
	f.Uint64Var(&s.budget.MaxCalls, "max-calls", 0, "questions to ask the model at most")
	f.StringVar(&s.prices, "prices", "", "a `FILE` of prices beside the built-in ones")
	f.BoolVar(&s.warm, "warm", true, "have the server compile all schemas before the mount")
}

// options are the session's for a language model by this name.
func (s *sessionFlags) options(name string) (o session.Options, err error) {
	if o.Context, err = session.ParseContext(s.context); err != nil {
		return o, fmt.Errorf("--context: %w", err)
	}
	if s.base {
		o.Baseline, o.Context, s.fields = true, session.Context{Kind: session.Full}, formFlag{schema.All}
	}
	if o.Context.Kind == session.None {
		return o, fmt.Errorf("--context none is for embedded models, want full, window:N or ledger")
	}
	if o.Persona, err = session.ReadPersona(s.persona); err != nil {
		return o, err
	}
	if s.seed != "" {
		if o.Seed, err = session.ReadSeed(s.seed); err != nil {
			return o, err
		}
	}
	o.Fields, o.Budget, o.Log = s.fields.Form, s.budget, slog.Default()
	return o, s.price(&o, name)
}

func (s *sessionFlags) price(o *session.Options, name string) error {
	prices, err := session.LoadPrices(s.prices)
	if err != nil {
		return err
	}
	o.Price = prices.Find(name)
	return o.Budget.Check(name, o.Price)
}

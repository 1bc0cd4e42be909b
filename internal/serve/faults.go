package serve

// What rules do, and when.

import (
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// action is a kind of fault: the keys that it takes, what they are where they
// are left out, and what it makes of an answer. Actions without spoil are the
// wire's.
type action struct {
	keys     []string
	defaults func(*Rule)
	spoil    func(*Rule, *said)
}

// slow is the action that goes together with others.
const slow = "latency"

var actions map[string]action

func init() {
	actions = map[string]action{
		slow: {keys: []string{"first_token", "tokens_per_second"}},
		"error": {keys: []string{"status", "retry_after", "code", "type", "message"}, defaults: func(r *Rule) {
			orNumber(&r.Status, http.StatusInternalServerError)
		}},
		"reset": {keys: []string{"after"}},
		"hang":  {keys: []string{"for"}},
		"trickle": {keys: []string{"bytes", "pause"}, defaults: func(r *Rule) {
			orNumber(&r.Bytes, 1)
			if r.Pause == 0 {
				r.Pause = 100 * time.Millisecond
			}
		}},
		"truncate":       {keys: []string{"tokens"}, defaults: func(r *Rule) { orNumber(&r.Tokens, 8) }, spoil: (*Rule).truncate},
		"refuse":         {keys: []string{"text"}, spoil: (*Rule).refuse},
		"content_filter": {spoil: func(_ *Rule, s *said) { s.content, s.null, s.finish = "", true, contentFilter }},
		"empty_choices":  {spoil: func(_ *Rule, s *said) { s.empty, s.content = true, "" }},
		"garbage": {keys: []string{"text"}, spoil: func(r *Rule, s *said) {
			s.content = or(r.Text, "Sure! The file you are looking for should be right there.")
		}},
		"fence": {spoil: func(_ *Rule, s *said) { s.content = "Here is the reply:\n```json\n" + s.content + "\n```\n" }},
		"whitespace": {keys: []string{"count"}, defaults: func(r *Rule) { orNumber(&r.Count, 4096) }, spoil: func(r *Rule, s *said) {
			s.content, s.finish = `{"Reply":`+strings.Repeat("\n", r.Count), length
		}},
		"wrong":        {keys: []string{"field"}, spoil: (*Rule).mistake},
		"invalid":      {spoil: func(_ *Rule, s *said) { s.content = `{"Reply":{"Errno":"none","Result":{}}}` }},
		"null_content": {spoil: func(_ *Rule, s *said) { s.content, s.null = "", true }},
		"reasoning":    {spoil: func(_ *Rule, s *said) { s.reasoning, s.content = s.content, "" }},
	}
}

func actionNames() []string { return slices.Sorted(maps.Keys(actions)) }

func (r *Rule) truncate(s *said) {
	s.content, s.finish = s.content[:min(len(s.content), 3*r.Tokens)], length
}

func (r *Rule) refuse(s *said) {
	s.content, s.null, s.refusal = "", true, or(r.Text, "I'm sorry, I can't assist with that request.")
}

// mistakes are fields that a reply may have, in the order in which one is
// chosen: numbers, or text.
var mistakes = []string{"Out.Attr.Size", "Out.EntryOut.Attr.Size", "Out.Size", "Out.OpenOut.Fh", "Out.Fh", "Out.Bfree", "Out.Offset", "Out.Size", "Data", "Entries.#.Name", "Errno"}

// mistake changes one field of a reply to another value that it may have.
func (r *Rule) mistake(s *said) {
	fields := mistakes
	if r.Field != "" {
		fields = []string{r.Field}
	}
	for _, f := range fields {
		path := "Reply." + strings.Replace(f, "#", "0", 1)
		v := gjson.Get(s.content, path)
		if !v.Exists() || v.Type == gjson.JSON {
			continue
		}
		if changed, err := sjson.Set(s.content, path, another(v)); err == nil {
			s.content = changed
			return
		}
	}
}

// another is a value of the same length, so that it is as valid.
func another(v gjson.Result) any {
	if v.Type == gjson.String {
		return strings.Repeat("?", len(v.Str))
	}
	return v.Uint() + 1
}

// circumstances are what rules go by.
type circumstances struct{ endpoint, op, model string }

// faultState counts requests.
type faultState struct {
	faults *Faults
	mu     sync.Mutex
	seen   []int // by rule: requests that it is about
	done   []int // those that it has hit
}

func newFaultState(f *Faults) *faultState {
	return &faultState{faults: f, seen: make([]int, len(f.Rules)), done: make([]int, len(f.Rules))}
}

// fault is what happens to one request; either part may be nil.
type fault struct {
	*Rule
	latency *Rule
}

// next is what happens to the next request: of each sort the first rule that
// hits. All rules count it.
func (s *faultState) next(c circumstances) *fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &fault{}
	for i := range s.faults.Rules {
		r := &s.faults.Rules[i]
		slot := &f.Rule
		if r.Do == slow {
			slot = &f.latency
		}
		if s.hits(i, r, c) && *slot == nil {
			s.done[i]++
			*slot = r
		}
	}
	return f
}

func (s *faultState) hits(i int, r *Rule, c circumstances) bool {
	if !r.Endpoint.match(c.endpoint) || !r.Op.match(c.op) || !r.Model.match(c.model) {
		return false
	}
	s.seen[i]++
	n := s.seen[i]
	from := max(r.From, 1)
	switch {
	case n < from, r.To > 0 && n > r.To, r.Times > 0 && s.done[i] >= r.Times,
		r.Every > 0 && (n-from+1)%r.Every != 0:
		return false
	case r.Probability > 0:
		chance := rand.New(rand.NewPCG(s.faults.Seed, uint64(i)<<32|uint64(n))).Float64()
		return chance < r.Probability
	}
	return true
}

// is says whether the fault is of that kind.
func (f *fault) is(do string) bool { return f.Rule != nil && f.Do == do }

// String is the fault's name, for the log.
func (f *fault) String() string {
	if f.Rule == nil {
		return ""
	}
	return or(f.Name, f.Do)
}

func (f *fault) spoil(s *said) {
	if f.Rule != nil && actions[f.Do].spoil != nil {
		actions[f.Do].spoil(f.Rule, s)
	}
}

func (f *fault) latencyOr(otherwise Latency) Latency {
	if f.latency == nil {
		return otherwise
	}
	return Latency{f.latency.FirstToken, f.latency.TokensPerSecond}
}

// statusErrors are the types and codes of errors that OpenAI gives with a status.
var statusErrors = map[int]struct{ kind, code, message string }{
	http.StatusTooManyRequests:     {"requests", "rate_limit_exceeded", "Rate limit reached for requests. Please try again later."},
	http.StatusUnauthorized:        {invalidRequest, "invalid_api_key", "Incorrect API key provided."},
	http.StatusForbidden:           {invalidRequest, "unsupported_country_region_territory", "Country, region, or territory not supported."},
	http.StatusNotFound:            {invalidRequest, "model_not_found", "The model does not exist or you do not have access to it."},
	http.StatusBadRequest:          {invalidRequest, "", "Your request was rejected."},
	http.StatusServiceUnavailable:  {"server_error", "", "The engine is currently overloaded, please try again later."},
	http.StatusInternalServerError: {"server_error", "", "The server had an error while processing your request. Sorry about that!"},
}

func (f *fault) apiError() *apiError {
	e := statusErrors[f.Status]
	return &apiError{
		status: f.Status, kind: or(f.Type, or(e.kind, "server_error")), code: or(f.Code, e.code),
		message: or(f.Message, or(e.message, http.StatusText(f.Status))), retryAfter: f.RetryAfter,
	}
}

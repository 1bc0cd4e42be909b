package serve

// Fault scripts: read and checked.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// Faults is a fault script; the package's doc has its form.
type Faults struct {
	Seed  uint64
	Rules []Rule
}

// Rule is what happens to some requests.
type Rule struct {
	Name string // for the log

	// Which requests.
	Endpoint    words   // chat, responses, files, batches, models
	Op          words   // opcodes, as the table names them
	Model       words   // names of models
	From        int     // the first that counts, from 1 on
	To          int     // the last one
	Every       int     // of those, every nth
	Probability float64 // of those, by chance
	Times       int     // at most so often

	// What happens.
	Do              string
	FirstToken      time.Duration `yaml:"first_token"`
	TokensPerSecond float64       `yaml:"tokens_per_second"`
	Status          int
	RetryAfter      time.Duration `yaml:"retry_after"`
	Code            string
	Type            string
	Message         string
	After           int           // bytes
	For             time.Duration // 0 is for ever
	Bytes           int
	Pause           time.Duration
	Tokens          int
	Text            string
	Count           int
	Field           string

	given []string // keys that the script has
}

// words is a list, or a single word.
type words []string

// UnmarshalYAML implements yaml.Unmarshaler.
func (w *words) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*w = words{node.Value}
		return nil
	}
	return node.Decode((*[]string)(w))
}

func (w words) match(s string) bool { return len(w) == 0 || slices.Contains(w, s) }

// ReadFaults reads a fault script, YAML or JSON.
func ReadFaults(path string) (*Faults, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("faults: %w", err)
	}
	f, err := ParseFaults(text)
	if err != nil {
		return nil, fmt.Errorf("faults %s: %w", path, err)
	}
	return f, nil
}

// ParseFaults is ReadFaults of a text.
func ParseFaults(text []byte) (*Faults, error) {
	f := &Faults{}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(f); err != nil && !errors.Is(err, io.EOF) {
		return nil, plain(err)
	}
	var keys struct{ Rules []map[string]yaml.Node }
	if err := yaml.Unmarshal(text, &keys); err != nil {
		return nil, plain(err)
	}
	for i := range f.Rules {
		r := &f.Rules[i]
		for name := range keys.Rules[i] {
			r.given = append(r.given, name)
		}
		slices.Sort(r.given)
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("rule %d: %w", i+1, err)
		}
	}
	return f, nil
}

// plain takes the library's words out of an error.
func plain(err error) error {
	text := strings.ReplaceAll(err.Error(), "yaml: ", "")
	text = strings.ReplaceAll(text, "unmarshal errors:\n  ", "")
	text = strings.ReplaceAll(text, "not found in type serve.Rule", "is no key of a rule")
	text = strings.ReplaceAll(text, "not found in type serve.Faults", "is no key of a script: want seed, rules")
	return errors.New(text)
}

var endpoints = []string{"chat", "responses", "files", "batches", "models"}

// matching are the keys that say which requests a rule is about.
var matching = []string{"name", "endpoint", "op", "model", "from", "to", "every", "probability", "times", "do"}

func (r *Rule) check() error {
	a, ok := actions[r.Do]
	if !ok {
		return fmt.Errorf("do: have %q, want one of %s", r.Do, strings.Join(actionNames(), ", "))
	}
	for _, given := range r.given {
		if !slices.Contains(matching, given) && !slices.Contains(a.keys, given) {
			return fmt.Errorf("%s: do: %s takes no such key, only %s", given, r.Do, or(strings.Join(a.keys, ", "), "none"))
		}
	}
	for _, e := range r.Endpoint {
		if !slices.Contains(endpoints, e) {
			return fmt.Errorf("endpoint: have %q, want one of %s", e, strings.Join(endpoints, ", "))
		}
	}
	for _, op := range r.Op {
		if _, ok := proto.OpcodeByName(op); !ok {
			return fmt.Errorf("op: have %q, want the name of an opcode, as LOOKUP", op)
		}
	}
	if err := r.checkNumbers(); err != nil {
		return err
	}
	if a.defaults != nil {
		a.defaults(r)
	}
	return nil
}

func (r *Rule) checkNumbers() error {
	switch {
	case r.From < 0 || r.To < 0 || r.Every < 0 || r.Times < 0:
		return errors.New("from, to, every, times: want 1 or more")
	case r.To > 0 && r.To < r.From:
		return fmt.Errorf("to: have %d, want %d or more, as from is", r.To, r.From)
	case r.Probability < 0 || r.Probability > 1:
		return fmt.Errorf("probability: have %v, want 0 to 1", r.Probability)
	case r.Status != 0 && (r.Status < 400 || r.Status > 599):
		return fmt.Errorf("status: have %d, want 400 to 599", r.Status)
	case r.After < 0 || r.Bytes < 0 || r.Tokens < 0 || r.Count < 0 || r.TokensPerSecond < 0:
		return errors.New("after, bytes, tokens, count, tokens_per_second: want 0 or more")
	case r.FirstToken < 0 || r.RetryAfter < 0 || r.For < 0 || r.Pause < 0:
		return errors.New("first_token, retry_after, for, pause: want no time below 0")
	}
	return nil
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func orNumber(n *int, otherwise int) {
	if *n == 0 {
		*n = otherwise
	}
}

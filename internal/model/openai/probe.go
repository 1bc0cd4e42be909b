package openai

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
)

// Verdict is what a server does with a schema.
type Verdict uint8

const (
	Honoured Verdict = iota // the answer conforms, although the prompt asked for something else
	Ignored                 // the answer does not conform
	Rejected                // the server takes no such schema
	Unknown                 // there was no answer to judge by
)

var verdicts = [...]string{Honoured: "honoured", Ignored: "ignored", Rejected: "rejected", Unknown: "unknown"}

func (v Verdict) String() string { return verdicts[v] }

// ProbeResult is what a server did with one schema.
type ProbeResult struct {
	Name    string
	Verdict Verdict
	First   time.Duration // of the first call, which compiles the schema if the server has not seen it
	Second  time.Duration // of the same call again; 0 where one of them failed
	Err     error         // what the answer lacks, what the server says, or why there is no verdict
}

// slowCompile is a difference between two calls that a caller would notice.
const slowCompile = 500 * time.Millisecond

// Slow reports whether the server took long to compile the schema.
func (r ProbeResult) Slow() bool {
	return r.Second > 0 && r.First-r.Second > slowCompile && r.First > 2*r.Second
}

const probeOutput = 1024 // tokens, for models that reason first

// probePrompt asks for what no schema of ours allows.
var probePrompt = []model.Message{
	{Role: model.RoleSystem, Content: "Answer in plain English. Never write JSON."},
	{Role: model.RoleUser, Content: "Say hello in at most five words."},
}

// Probe sends each distinct schema twice, one call after the other, so that
// their times can be compared. Once the server denies access or ctx is done, it
// returns what it has.
func (c *Client) Probe(ctx context.Context, schemas []model.Schema) (results []ProbeResult) {
	for _, schema := range distinct(schemas) {
		r := c.probe(ctx, schema)
		results = append(results, r)
		var e *model.Error
		if ctx.Err() != nil || errors.As(r.Err, &e) && e.Kind == model.Denied {
			break
		}
	}
	return results
}

func (c *Client) probe(ctx context.Context, schema model.Schema) ProbeResult {
	r := ProbeResult{Name: schema.Name, Verdict: Unknown}
	a := ask{messages: probePrompt, schema: schema, maxOutput: probeOutput}
	start := time.Now()
	answer, err := c.ask(ctx, a)
	if r.First = time.Since(start); err != nil {
		r.fail(err)
		return r
	}
	r.judge(schema, answer.Reply)
	start = time.Now()
	if _, err = c.ask(ctx, a); err == nil {
		r.Second = time.Since(start)
	}
	return r
}

func (r *ProbeResult) fail(err error) {
	var e *model.Error
	if r.Err = err; errors.As(err, &e) && e.Kind == model.Rejected {
		r.Verdict = Rejected
	}
}

func (r *ProbeResult) judge(schema model.Schema, reply []byte) {
	compiled, err := compile(schema)
	if err != nil {
		r.Err = err
		return
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(reply))
	if err == nil {
		err = compiled.Validate(value)
	}
	if r.Verdict = Honoured; err != nil {
		r.Verdict, r.Err = Ignored, fmt.Errorf("answer %.100q: %w", reply, err)
	}
}

func compile(schema model.Schema) (*jsonschema.Schema, error) {
	const url = "mem:///schema.json"
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema.JSON))
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", schema.Name, err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(url, doc); err != nil {
		return nil, fmt.Errorf("schema %s: %w", schema.Name, err)
	}
	return compiler.Compile(url)
}

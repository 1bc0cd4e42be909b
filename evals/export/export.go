package export

// Making a set.

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/evals/run"
	"github.com/llmfs-raw/llmfs-raw/evals/score"
	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/internal/session"
	"github.com/llmfs-raw/llmfs-raw/internal/trace"
)

// Options of an export.
type Options struct {
	Corpus  *evals.Corpus
	Traces  []evals.TraceInfo
	Format  Format
	Session session.Options // what the conversations show
	Seed    uint64          // decides the splits
	// Shares of the families in percent; train has the rest.
	Test, Validation int
	Dir              string

	Program string
	Args    []string
}

// SetFile describes a set, beside its splits.
const SetFile = "set.json"

// SetVersion is the version of that file's form.
const SetVersion = 1

// Set says what a set holds.
type Set struct {
	Version int               `json:"version"`
	Program string            `json:"program"` // version of llmfs-raw
	Args    []string          `json:"args"`
	Format  Format            `json:"format"`
	Context string            `json:"context"` // the session's strategy
	Fields  string            `json:"fields"`  // all or lean
	Seed    uint64            `json:"seed"`
	Splits  map[Split]*Part   `json:"splits"`
	Traces  map[string]string `json:"traces"` // SHA-256 by name
}

// Part is one split of a set.
type Part struct {
	File     string         `json:"file"`
	Families []string       `json:"families"`
	Steps    int            `json:"steps"`    // lines of the file
	Errors   int            `json:"errors"`   // of them with an errno
	Repeated int            `json:"repeated"` // steps left out because this split has them already
	Leaking  map[Split]int  `json:"leaking"`  // steps left out because that split has them
	Ops      map[string]int `json:"ops"`
}

// Export writes the splits and says what is in them.
func Export(o Options) (*Set, error) {
	if o.Test < 0 || o.Validation < 0 || o.Test+o.Validation > 100 {
		return nil, fmt.Errorf("shares of %d%% and %d%%: want at least 0 and together at most 100", o.Test, o.Validation)
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, err
	}
	e := &exporter{Options: o, seen: seen{}, set: &Set{
		Version: SetVersion, Program: o.Program, Args: o.Args, Format: o.Format, Context: o.Session.Context.String(),
		Fields: o.Session.Fields.String(), Seed: o.Seed, Splits: map[Split]*Part{}, Traces: map[string]string{},
	}}
	for _, s := range Splits {
		if err := e.split(s); err != nil {
			return nil, fmt.Errorf("export %s: %w", s, err)
		}
	}
	return e.set, e.describe()
}

type exporter struct {
	Options
	seen seen
	set  *Set

	part *Part // of the split that is being made
	now  Split
	out  *bufio.Writer
}

// split makes the file of one split.
func (e *exporter) split(s Split) (err error) {
	e.now = s
	e.part = &Part{File: string(s) + ".jsonl", Families: []string{}, Leaking: map[Split]int{}, Ops: map[string]int{}}
	e.set.Splits[s] = e.part
	f, err := os.Create(filepath.Join(e.Dir, e.part.File))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	e.out = bufio.NewWriter(f)
	for _, info := range e.Traces {
		family := Family(info.Name)
		if SplitOf(family, e.Seed, e.Test, e.Validation) != s {
			continue
		}
		if !slices.Contains(e.part.Families, family) {
			e.part.Families = append(e.part.Families, family)
		}
		if err := e.trace(info); err != nil {
			return err
		}
	}
	return e.out.Flush()
}

func (e *exporter) trace(info evals.TraceInfo) error {
	t, err := e.Corpus.Trace(info)
	if err != nil {
		return err
	}
	e.set.Traces[info.Name] = info.SHA256
	told := run.Options{Session: e.Session}
	way := told.Transcript(t.Header.Options)
	return run.Prompts(score.NewGold(t), way, func(i int, p *model.Prompt) error {
		pair := t.Pairs[i]
		answer, err := way.Said(pair.Req, pair.Rep)
		if err != nil {
			return err
		}
		return e.step(pair, &Example{ID: fmt.Sprintf("%s#%d", info.Name, i), Messages: p.Messages, Answer: string(answer)})
	})
}

// step writes a line, unless it says what another one says.
func (e *exporter) step(pair *trace.Pair, x *Example) error {
	question := x.Messages[len(x.Messages)-1].Content
	if has, fresh := e.seen.add(signOf(question, x.Answer), e.now); !fresh {
		if has == e.now {
			e.part.Repeated++
		} else {
			e.part.Leaking[has]++
		}
		return nil
	}
	line, err := x.line(e.Format)
	if err != nil {
		return err
	}
	e.part.count(pair)
	_, err = e.out.Write(line)
	return err
}

func (p *Part) count(pair *trace.Pair) {
	p.Steps++
	p.Ops[pair.Req.Op.String()]++
	if pair.Rep.Errno != 0 {
		p.Errors++
	}
}

func (e *exporter) describe() error {
	b, err := json.MarshalIndent(e.set, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(e.Dir, SetFile), append(b, '\n'), 0o644)
}

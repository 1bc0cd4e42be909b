package main

// evals export: traces as training sets.

import (
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/llmfs-raw/llmfs-raw/evals/export"
)

type exportOptions struct {
	format, out      string
	seed             uint64
	test, validation int
	corpus           corpusFlags
	prompt           promptFlags
}

func evalsExportCommand() *cobra.Command {
	o := &exportOptions{}
	c := &cobra.Command{
		Use:   "export",
		Short: "Turn recorded traces into training sets",
		Long: `Turn recorded traces into training sets: each step as the conversation that a
model would be shown, with the reply of the reference as its answer, errors
included. OUT gets train.jsonl, validation.jsonl, test.jsonl and set.json, which
says what is in them.

The splits do not leak: all variants of a scenario are in one of them, and a step
that says the same as one of a smaller split, times and process numbers aside, is
left out. Which split a scenario is in depends on --seed alone.`,
		Example: `  llmfs-raw evals export --format openai-finetune --out set --tier full
  llmfs-raw evals export --format sharegpt --out set --tier long --context window:8`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return evalsExport(c, o) },
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&o.format, "format", "", "`FORMAT` of a line: openai-finetune or sharegpt")
	f.StringVar(&o.out, "out", "", "`DIR` of the set")
	o.corpus.flags(f)
	o.prompt.flags(f, "ledger")
	f.Uint64Var(&o.seed, "seed", 1, "decides which scenario is in which split")
	f.IntVar(&o.test, "test", 10, "share of the scenarios for the test, in percent")
	f.IntVar(&o.validation, "validation", 10, "share of the scenarios for validation, in percent")
	return c
}

func (o *exportOptions) options() (opts export.Options, err error) {
	opts = export.Options{
		Seed: o.seed, Test: o.test, Validation: o.validation, Dir: o.out, Program: programVersion(), Args: os.Args[1:],
	}
	if opts.Format, err = export.ParseFormat(o.format); err != nil {
		return opts, fmt.Errorf("--format: %w", err)
	}
	if o.out == "" {
		return opts, errors.New("have no --out, want a directory for the set")
	}
	if opts.Session, err = o.prompt.options(); err != nil {
		return opts, err
	}
	opts.Corpus, opts.Traces, err = o.corpus.open()
	return opts, err
}

func evalsExport(c *cobra.Command, o *exportOptions) error {
	opts, err := o.options()
	if err != nil {
		return misuse(c, err)
	}
	set, err := export.Export(opts)
	if err != nil {
		return err
	}
	return writeSet(c.OutOrStdout(), set)
}

func writeSet(w io.Writer, set *export.Set) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "SPLIT\tSCENARIOS\tSTEPS\tERRORS\tREPEATED\tLEAKING")
	for _, s := range export.Splits {
		p := set.Splits[s]
		leaking := 0
		for _, n := range p.Leaking {
			leaking += n
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\n", s, len(p.Families), p.Steps, p.Errors, p.Repeated, leaking)
	}
	return t.Flush()
}

package main

// evals kill: is the instrument any good? Mutants answer, and must be found out.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/evals/kill"
	evalrun "github.com/llmfs-raw/llmfs-raw/evals/run"
	"github.com/llmfs-raw/llmfs-raw/internal/model/faulty"
)

type killOptions struct {
	corpus   corpusFlags
	mutants  []string
	out      string
	document string
	long     bool
	quiet    bool
}

func evalsKillCommand() *cobra.Command {
	o := &killOptions{}
	c := &cobra.Command{
		Use:   "kill",
		Short: "Test the scores with filesystems that are wrong on purpose",
		Long: `Have the reference and its mutants, each with one known bug, answer the corpus,
forced and as rollouts, and print which of them are found out where. Fails
unless the reference is right throughout, core kills 90% of the mutants and full
all of them, and more noise costs more.`,
		Example: `  llmfs-raw evals kill --tier core
  llmfs-raw evals kill --tier full --mutants rename-leaves-source,noise:2 --out /tmp/kill`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return evalsKill(c, o) },
	}
	f := c.Flags()
	f.SortFlags = false
	o.corpus.flags(f)
	f.BoolVar(&o.long, "long", false, "the long sessions, too")
	f.StringSliceVar(&o.mutants, "mutants", nil, "`NAMES` of the mutants (default all)")
	f.StringVar(&o.out, "out", "", "`DIR` to keep log and summary in, for evals report")
	f.StringVar(&o.document, "document", "", "write the matrix as Markdown to `FILE`")
	f.BoolVar(&o.quiet, "quiet", false, "print the summary alone")
	return c
}

func evalsKill(c *cobra.Command, o *killOptions) error {
	mutants, err := mutantsOf(o.mutants)
	if err != nil {
		return misuse(c, err)
	}
	corpus, traces, err := o.corpus.open()
	if err != nil {
		return misuse(c, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	tiers := []evals.Tier{evals.Tier(o.corpus.tier)}
	if o.long {
		tiers, traces = append(tiers, evals.Long), append(traces, corpus.Traces(evals.Long)...)
	}
	m, err := playMutants(ctx, o.out, evalrun.Options{
		Corpus: corpus, Traces: traces, Contestants: kill.Contestants(mutants), Modes: kill.Modes,
		Header: evals.LogHeader{Program: programVersion(), Args: os.Args[1:], Tier: tiers[0]},
		Report: progressOf(c.ErrOrStderr()),
	}, kill.New(mutants, tiers...))
	if err != nil {
		return err
	}
	if err := o.write(c.OutOrStdout(), m, traces); err != nil {
		return err
	}
	if wrong := m.Check(); len(wrong) > 0 {
		return fmt.Errorf("the instrument does not hold: %s", strings.Join(wrong, "; "))
	}
	return nil
}

func mutantsOf(names []string) (list []faulty.Mutant, err error) {
	if len(names) == 0 {
		return faulty.List(), nil
	}
	for _, name := range names {
		m, err := faulty.Find(name)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// playMutants runs them and fills the matrix from the log, which is kept if
// there is a directory for it.
func playMutants(ctx context.Context, dir string, o evalrun.Options, m *kill.Matrix) (_ *kill.Matrix, err error) {
	if dir == "" {
		if dir, err = os.MkdirTemp("", "llmfs-raw-kill-"); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	o.Dir = dir
	if _, err := evalrun.Run(ctx, o); err != nil {
		return nil, err
	}
	log, err := evals.OpenLog(dir)
	if err != nil {
		return nil, err
	}
	return m, errors.Join(m.Add(log.Steps()), log.Close())
}

func (o *killOptions) write(w io.Writer, m *kill.Matrix, traces []evals.TraceInfo) error {
	if o.document != "" {
		if err := os.WriteFile(o.document, []byte(m.Document(kill.Hash(traces))), 0o644); err != nil {
			return err
		}
	}
	if o.quiet {
		_, err := io.WriteString(w, m.Summary())
		return err
	}
	return m.Write(w)
}

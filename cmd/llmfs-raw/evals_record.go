package main

// evals record: from scenarios to the corpus.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/evals/scenario"
)

type recordOptions struct {
	out, scenarios, only string
}

func evalsRecordCommand() *cobra.Command {
	o := &recordOptions{}
	c := &cobra.Command{
		Use:   "record",
		Short: "Record the scenarios as traces",
		Long: `Run the scenarios, each on a mount of its own over reference, and write what the
kernel asked and what reference answered: a trace for each, the transcript of what
its commands gave, for live runs, and the manifest. The same scenarios give the
same bytes. With --only, the other traces of DIR stay as they are.`,
		Example: "  sudo llmfs-raw evals record --out evals/traces --only '^rename/'",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return evalsRecord(c, o) },
	}
	f := c.Flags()
	f.StringVar(&o.out, "out", "evals/traces", "the `DIR` of the corpus")
	f.StringVar(&o.scenarios, "scenarios", "", "take the scripts from `DIR`, not from the program")
	f.StringVar(&o.only, "only", "", "record those whose name matches `REGEX`")
	return c
}

// evalsChildCommand is what the recorder starts itself as.
func evalsChildCommand() *cobra.Command {
	return &cobra.Command{
		Use: "child", Hidden: true,
		RunE: func(_ *cobra.Command, args []string) error { return scenario.Main(args) },
	}
}

func evalsRecord(c *cobra.Command, o *recordOptions) error {
	only, err := regexp.Compile(o.only)
	if err != nil {
		return misuse(c, fmt.Errorf("--only: %w", err))
	}
	files := evals.Scenarios()
	if o.scenarios != "" {
		files = os.DirFS(o.scenarios)
	}
	list, err := scenario.Load(files)
	if err != nil {
		return err
	}
	if os.Geteuid() != 0 {
		return hint(errors.New("evals record needs root: scenarios change owners and take several users' places"), "sudo %s", c.CommandPath())
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	r := &scenario.Recorder{Self: []string{self, "evals", "child"}, Log: c.ErrOrStderr()}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return r.RecordAll(ctx, list, o.out, only.MatchString, func(info evals.TraceInfo) {
		fmt.Fprintf(c.ErrOrStderr(), "%-32s %-4s %5d pairs, %5d steps\n", info.Name, info.Tier, info.Pairs, info.Steps)
	})
}

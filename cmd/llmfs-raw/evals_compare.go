package main

// evals compare: two runs against each other.

import (
	"github.com/spf13/cobra"

	results "github.com/llmfs-raw/llmfs-raw/evals/report"
)

func evalsCompareCommand() *cobra.Command {
	var flags formFlags
	var choose results.Choice
	c := &cobra.Command{
		Use:   "compare A B",
		Short: "Say how run B differs from run A, step by step",
		Long: `Say how run B differs from run A: the difference with its 95% interval, paired by
step and clustered by trace, how many steps only one of them answered right, and
which. Models are matched by name; two that are the only ones of their runs are
matched whatever their names. The exit code is 0 whoever wins.`,
		Example: `  llmfs-raw evals compare monday tuesday
  llmfs-raw evals compare out out --model-a gpt-small --model-b gpt-large`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, dirs []string) error { return evalsCompare(c, dirs, choose, &flags) },
	}
	flags.register(c, compareForms)
	c.Flags().StringVar(&choose.A, "model-a", "", "this `MODEL` of A alone")
	c.Flags().StringVar(&choose.B, "model-b", "", "this `MODEL` of B alone")
	return c
}

func evalsCompare(c *cobra.Command, dirs []string, choose results.Choice, flags *formFlags) error {
	name, err := flags.choose(compareForms)
	if err != nil {
		return misuse(c, err)
	}
	a, err := loadRuns(dirs[0])
	if err != nil {
		return err
	}
	b, err := loadRuns(dirs[1])
	if err != nil {
		return err
	}
	comparison, err := results.Compare(a, b, choose)
	if err != nil {
		return err
	}
	forms := form{"table": comparison.WriteTable, "markdown": comparison.WriteMarkdown, "json": asJSON(comparison)}
	return flags.write(c, forms[name])
}

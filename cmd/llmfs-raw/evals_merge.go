package main

// evals merge: shards put together.

import (
	"errors"

	"github.com/spf13/cobra"

	evalrun "github.com/llmfs-raw/llmfs-raw/evals/run"
)

func evalsMergeCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "merge DIR...",
		Short: "Put the shards of a run together",
		Long: `Put runs together whose steps are parts of a whole: the shards of evals run
--shard, or runs of different models in the same way.`,
		Example: `  llmfs-raw evals merge runs/shard-* --out runs/all`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, dirs []string) error {
			if out == "" {
				return misuse(c, errors.New("have no --out, want a directory for the log"))
			}
			s, err := evalrun.Merge(dirs, out)
			if err != nil {
				return err
			}
			writeScores(c.OutOrStdout(), s)
			return nil
		},
	}
	c.Flags().StringVar(&out, "out", "", "`DIR` of the log")
	return c
}

package main

// evals: which models can be a filesystem, how far, at what price.

import "github.com/spf13/cobra"

func evalsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "evals",
		Short: "Measure how much of a filesystem models can be",
	}
	c.AddCommand(evalsRecordCommand(), evalsChildCommand(), evalsCoverageCommand(), evalsRunCommand(), evalsMergeCommand(), evalsBatchCommand(), evalsKillCommand(), evalsExportCommand(), evalsReportCommand(), evalsCompareCommand())
	return c
}

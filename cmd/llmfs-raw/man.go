package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages into a directory",
		Example: `  llmfs-raw man /usr/local/share/man/man1
  man llmfs-raw-mount`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			dir := args[0]
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			c.Root().DisableAutoGenTag = true
			if err := doc.GenManTree(c.Root(), &doc.GenManHeader{Title: "LLMFS-RAW", Section: "1", Source: "llmfs-raw"}, dir); err != nil {
				return fmt.Errorf("write manual pages: %w", err)
			}
			return nil
		},
	}
}

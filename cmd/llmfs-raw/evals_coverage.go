package main

// evals coverage: what the corpus has of each opcode and errno.

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/llmfs-raw/llmfs-raw/evals"
)

func evalsCoverageCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "coverage",
		Short: "Show which errno of which opcode the corpus has, and how often",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			text, err := coverageDocument(dir)
			if err == nil {
				_, err = fmt.Fprint(c.OutOrStdout(), text)
			}
			return err
		},
	}
	c.Flags().StringVar(&dir, "corpus", "", "of the corpus in `DIR`, not of the program's own")
	return c
}

// coverageDocument is evals/COVERAGE.md for the program's own corpus.
func coverageDocument(dir string) (string, error) {
	corpus, err := evals.Embedded()
	if dir != "" {
		corpus, err = evals.OpenCorpus(os.DirFS(dir))
	}
	if err != nil {
		return "", err
	}
	v, err := corpus.Cover()
	if err != nil {
		return "", err
	}
	return `# Coverage of the corpus

Generated: ` + "`go test ./cmd/llmfs-raw -update`" + `. An answer is an opcode with an errno, or
"ok"; full includes core. What the kernel finds out by itself never gets to a
filesystem, so a pair that is not here is either impossible on a real mount or has
no scenario.

` + v.Markdown(), nil
}

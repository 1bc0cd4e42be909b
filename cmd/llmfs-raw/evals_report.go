package main

// evals report: what runs came to.

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	results "github.com/llmfs-raw/llmfs-raw/evals/report"
)

// form writes something in one of its forms.
type form map[string]func(io.Writer) error

// reportForms are those of a report; compareForms lack the page.
var (
	reportForms  = []string{"table", "markdown", "json", "csv", "html"}
	compareForms = []string{"table", "markdown", "json"}
	byExtension  = map[string]string{".md": "markdown", ".json": "json", ".csv": "csv", ".html": "html", ".htm": "html"}
)

// formFlags are --format and --out.
type formFlags struct{ format, out string }

func (f *formFlags) register(c *cobra.Command, forms []string) {
	c.Flags().StringVarP(&f.format, "format", "f", "", strings.Join(forms, ", ")+" (default: by the name of --out, or table)")
	c.Flags().StringVarP(&f.out, "out", "o", "", "write to `FILE`, not to standard output")
}

// choose is the form that the flags name, one of forms.
func (f *formFlags) choose(forms []string) (string, error) {
	name := f.format
	if name == "" {
		name = byExtension[filepath.Ext(f.out)]
	}
	if name == "" {
		name = "table"
	}
	if !slices.Contains(forms, name) {
		return "", fmt.Errorf("have format %q, want one of %s", name, strings.Join(forms, ", "))
	}
	return name, nil
}

func (f *formFlags) write(c *cobra.Command, write func(io.Writer) error) (err error) {
	if f.out == "" {
		return write(c.OutOrStdout())
	}
	file, err := os.Create(f.out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return write(file)
}

func evalsReportCommand() *cobra.Command {
	var flags formFlags
	c := &cobra.Command{
		Use:   "report DIR...",
		Short: "Say what runs came to, as tables or as one page of HTML",
		Long: `Say what runs came to: a leaderboard with 95% intervals clustered by trace, the
funnel, shares by opcode and area, survival of rollouts, cost. DIR is what
'llmfs-raw evals run --out DIR' has written; several are read as one. The page of
HTML needs no network and has the failed steps with request, reply and diff.`,
		Example: `  llmfs-raw evals report out
  llmfs-raw evals report out --out report.html
  llmfs-raw evals report monday tuesday --format csv`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, dirs []string) error { return evalsReport(c, dirs, &flags) },
	}
	flags.register(c, reportForms)
	return c
}

func evalsReport(c *cobra.Command, dirs []string, flags *formFlags) error {
	name, err := flags.choose(reportForms)
	if err != nil {
		return misuse(c, err)
	}
	runs, err := loadRuns(dirs...)
	if err != nil {
		return err
	}
	rep := results.Build(runs)
	forms := form{"table": rep.WriteTable, "markdown": rep.WriteMarkdown, "csv": rep.WriteCSV, "html": rep.WriteHTML, "json": asJSON(rep)}
	return flags.write(c, forms[name])
}

func loadRuns(dirs ...string) (*results.Runs, error) {
	runs, err := results.Load(dirs...)
	if errors.Is(err, os.ErrNotExist) {
		return nil, hint(err, "'llmfs-raw evals run --out DIR' writes one")
	}
	return runs, err
}

func asJSON(v any) func(io.Writer) error {
	return func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(v)
	}
}

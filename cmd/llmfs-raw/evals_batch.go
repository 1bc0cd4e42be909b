package main

// evals batch: the questions of forced steps as files, answered by the Batch API
// or by hand, and taken in again.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	evalrun "github.com/llmfs-raw/llmfs-raw/evals/run"
	"github.com/llmfs-raw/llmfs-raw/internal/model/openai"
)

// batchesFile lists what was submitted, in the directory of a run.
const batchesFile = "batches.json"

// submitted is one file on its way.
type submitted struct {
	File     string `json:"file"`
	Batch    string `json:"batch"`
	Imported bool   `json:"imported,omitempty"`
}

const batchExportUse = "export" // asks nobody

func evalsBatchCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "batch",
		Short: "Ask the questions of forced steps as batches, or by hand",
		Long: `Ask the questions of forced steps by the Batch API of OpenAI, which takes up to a
day and costs half, or have them answered elsewhere. The flags are those of the
run; after the import, 'evals run' with them asks nothing and scores.`,
		Example: `  llmfs-raw evals batch export --models gpt-5 --tier full --out runs/gpt-5
  llmfs-raw evals batch submit --models gpt-5 --out runs/gpt-5
  llmfs-raw evals batch status --models gpt-5 --out runs/gpt-5
  llmfs-raw evals batch import --models gpt-5 --out runs/gpt-5
  llmfs-raw evals run --models gpt-5 --tier full --out runs/gpt-5`,
	}
	c.AddCommand(
		batchStep(batchExportUse, "Write the questions that have no answer yet to files", cobra.NoArgs, batchExport),
		batchStep("submit", "Upload the files and have them answered", cobra.NoArgs, batchSubmit),
		batchStep("status", "Show how the batches stand", cobra.NoArgs, batchStatus),
		batchStep("import [FILE...]", "Take in the answers of batches that have ended, or of files", cobra.ArbitraryArgs, batchImport),
	)
	return c
}

// batchStep makes a command with the flags of a run.
func batchStep(use, short string, args cobra.PositionalArgs, do func(*cobra.Command, *evalrun.Options, []string) error) *cobra.Command {
	o := &evalsRunOptions{}
	c := &cobra.Command{Use: use, Short: short, Args: args}
	c.RunE = func(c *cobra.Command, args []string) error {
		o.seeded = c.Flags().Changed("seed")
		opts, err := o.options()
		if err == nil && o.out == "" {
			err = errors.New("have no --out, want the directory of the run")
		}
		if byHand := use == batchExportUse || len(args) > 0; err == nil && !byHand {
			err = checkServers(opts.Contestants, &o.server)
		}
		if err != nil {
			return misuse(c, err)
		}
		if err := os.MkdirAll(opts.Dir, 0o755); err != nil {
			return err
		}
		return do(c, &opts, args)
	}
	o.flags(c.Flags())
	return c
}

func batchExport(c *cobra.Command, o *evalrun.Options, _ []string) error {
	files, questions, err := evalrun.Export(*o)
	if err != nil {
		return err
	}
	for _, f := range files {
		fmt.Fprintln(c.OutOrStdout(), f)
	}
	fmt.Fprintf(c.ErrOrStderr(), "%d questions in %d files\n", questions, len(files))
	return nil
}

// openBatches is the client of the run's model, and what has been submitted.
func openBatches(o *evalrun.Options) (*openai.Client, []submitted, error) {
	client, err := batchClient(o)
	if err != nil {
		return nil, nil, err
	}
	list, err := readBatches(o.Dir)
	return client, list, err
}

func batchSubmit(c *cobra.Command, o *evalrun.Options, _ []string) error {
	client, list, err := openBatches(o)
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(o.Dir, evalrun.QuestionFiles))
	if err != nil || len(files) == 0 {
		return hint(fmt.Errorf("%s has no questions", o.Dir), "'llmfs-raw evals batch export' writes them")
	}
	for _, file := range files {
		name := filepath.Base(file)
		if slices.ContainsFunc(list, func(s submitted) bool { return s.File == name && !s.Imported }) {
			continue // it is on its way
		}
		b, err := submitFile(c.Context(), client, file)
		if err != nil {
			return err
		}
		list = append(list, submitted{File: name, Batch: b.ID})
		if err := writeBatches(o.Dir, list); err != nil {
			return err
		}
		fmt.Fprintf(c.OutOrStdout(), "%s %s\n", b.ID, name)
	}
	return nil
}

func submitFile(ctx context.Context, client *openai.Client, path string) (*openai.Batch, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	b, err := client.Submit(ctx, filepath.Base(path), f)
	return b, errors.Join(err, f.Close())
}

func batchStatus(c *cobra.Command, o *evalrun.Options, _ []string) error {
	client, list, err := openBatches(o)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "BATCH\tFILE\tSTATUS\tDONE\tFAILED\tOF\tIMPORTED")
	for _, s := range list {
		b, err := client.Batch(c.Context(), s.Batch)
		if err != nil {
			return err
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\t%d\t%v\n", s.Batch, s.File, b.Status, b.Done, b.Failed, b.Total, s.Imported)
	}
	return t.Flush()
}

func batchImport(c *cobra.Command, o *evalrun.Options, files []string) error {
	var all evalrun.Imported
	take := func(r io.ReadCloser, err error) error {
		if err != nil {
			return err
		}
		done, err := evalrun.Import(*o, r)
		all.Answers += done.Answers
		all.Failed += done.Failed
		return errors.Join(err, r.Close())
	}
	for _, f := range files {
		if err := take(os.Open(f)); err != nil {
			return err
		}
	}
	if len(files) == 0 {
		if err := importBatches(c, o, take); err != nil {
			return err
		}
	}
	fmt.Fprintf(c.OutOrStdout(), "%d answers, %d failed\n", all.Answers, all.Failed)
	return nil
}

// importBatches takes in what batches that have ended have answered.
func importBatches(c *cobra.Command, o *evalrun.Options, take func(io.ReadCloser, error) error) error {
	client, list, err := openBatches(o)
	if err != nil {
		return err
	}
	for i := range list {
		if list[i].Imported {
			continue
		}
		b, err := client.Batch(c.Context(), list[i].Batch)
		if err != nil {
			return err
		}
		if !b.Ended() {
			fmt.Fprintf(c.ErrOrStderr(), "%s is %s: %d of %d done\n", b.ID, b.Status, b.Done, b.Total)
			continue
		}
		if b.Why != "" {
			fmt.Fprintf(c.ErrOrStderr(), "%s is %s: %s\n", b.ID, b.Status, b.Why)
		}
		for _, id := range []string{b.Output, b.Errors} {
			if id == "" {
				continue
			}
			if err := take(client.File(c.Context(), id)); err != nil {
				return err
			}
		}
		list[i].Imported = true
	}
	return writeBatches(o.Dir, list)
}

// batchClient is the client of the one model.
func batchClient(o *evalrun.Options) (*openai.Client, error) {
	if len(o.Contestants) != 1 || o.Contestants[0].Model == nil {
		return nil, errors.New("want one language model")
	}
	m, err := o.Contestants[0].Model(0)
	if err != nil {
		return nil, err
	}
	client, ok := m.(*openai.Client)
	if !ok {
		return nil, fmt.Errorf("%s is not behind a server", o.Contestants[0].Name)
	}
	return client, nil
}

func readBatches(dir string) (list []submitted, err error) {
	b, err := os.ReadFile(filepath.Join(dir, batchesFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &list)
	}
	return list, err
}

func writeBatches(dir string, list []submitted) error {
	b, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, batchesFile), append(b, '\n'), 0o644)
}

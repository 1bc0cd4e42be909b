package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/llmfs-raw/llmfs-raw/internal/model/openai"
	"github.com/llmfs-raw/llmfs-raw/schema"
)

// probe asks a server to keep to each schema, and says what came of it.
func probe(c *cobra.Command, m *modelFlags, name string, form schema.Form) error {
	client, err := newClient(m, name)
	if err != nil {
		return misuse(c, err)
	}
	defer client.Close()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return writeProbe(c.OutOrStdout(), client.Probe(ctx, modelSchemas(form)))
}

func writeProbe(w io.Writer, results []openai.ProbeResult) error {
	tab, bad := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0), 0
	fmt.Fprintln(tab, "SCHEMA\tVERDICT\tFIRST\tSECOND\t")
	for _, r := range results {
		remark := ""
		switch {
		case r.Err != nil:
			remark = firstLine(r.Err.Error())
		case r.Slow():
			remark = "slow to compile; --warm does it before the mount"
		}
		if r.Verdict != openai.Honoured {
			bad++
		}
		fmt.Fprintf(tab, "%s\t%v\t%v\t%v\t%s\n", r.Name, r.Verdict, r.First.Round(time.Millisecond), r.Second.Round(time.Millisecond), remark)
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	if bad > 0 {
		return hint(fmt.Errorf("%d of %d schemas are not honoured", bad, len(results)),
			"every reply is checked and asked for again, so a mount may still work; try --fields all, or another server")
	}
	return nil
}

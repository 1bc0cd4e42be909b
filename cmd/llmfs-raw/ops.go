package main

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

func opsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "ops",
		Short: "List the opcodes of the protocol",
		Long: `List the opcodes of linux/fuse.h 7.45: number, name, what a request carries
(struct, names, payload), what its reply carries, and whether a plain mount
ever sends it.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return writeOps(c.OutOrStdout()) },
	}
}

var opColumns = []string{"NR", "NAME", "IN", "NAMES", "PAYLOAD", "OUT", "REPLY", "SENT"}

func writeOps(w io.Writer) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, strings.Join(opColumns, "\t"))
	for _, row := range proto.Rows() {
		fmt.Fprintln(tab, strings.Join(opCells(row), "\t"))
	}
	return tab.Flush()
}

func opCells(row *proto.Row) []string {
	sent := "yes"
	if row.Unsent != "" {
		sent = "no: " + row.Unsent
	}
	return []string{
		fmt.Sprint(uint32(row.Op)), row.Name, structName(row.In), dash(row.Names), payload(row),
		structName(row.Out), row.Reply.String(), sent,
	}
}

func structName(v any) string {
	if v == nil {
		return "-"
	}
	return reflect.TypeOf(v).Elem().Name()
}

func dash(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

func payload(row *proto.Row) string {
	switch {
	case row.Size != "":
		return "bytes"
	case row.List != nil:
		return structName(row.List) + "…"
	}
	return "-"
}

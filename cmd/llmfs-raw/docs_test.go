package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

var update = flag.Bool("update", false, "write the generated documents")

// Generated documents say what the program says.
func TestDocumentsAreFresh(t *testing.T) {
	coverage, err := coverageDocument("")
	require.NoError(t, err)
	for path, text := range map[string]string{
		"README.md":               commandsDocument(t),
		"../../proto/README.md":   opcodesDocument(),
		"../../evals/COVERAGE.md": coverage,
	} {
		if *update {
			require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		}
		have, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, text, string(have), "%s is stale: go test ./cmd/llmfs-raw -update", path)
	}
}

func commandsDocument(t *testing.T) string {
	var b strings.Builder
	b.WriteString("# Commands\n\nGenerated from the program's own help: `go test ./cmd/llmfs-raw -update`.\n")
	eachCommand(rootCommand(), func(c *cobra.Command) {
		if c.Hidden {
			return
		}
		var help bytes.Buffer
		c.SetOut(&help)
		require.NoError(t, c.Help())
		fmt.Fprintf(&b, "\n## %s\n\n```\n%s```\n", c.CommandPath(), help.String())
	})
	return b.String()
}

func opcodesDocument() string {
	var b strings.Builder
	b.WriteString(`# The opcodes

Generated from table.go: ` + "`go test ./cmd/llmfs-raw -update`" + `.

The opcodes of linux/fuse.h 7.45. IN and OUT are the structs after the header of
a request and of its reply, NAMES counts the NUL-terminated names, PAYLOAD is
what follows them. SENT says whether a plain mount ever sends the opcode.

`)
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(opColumns, " | "), strings.Repeat("---|", len(opColumns)))
	for _, row := range proto.Rows() {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(opCells(row), " | "))
	}
	for op := range proto.Opcode(54) {
		if why, ok := proto.Unassigned[op]; ok {
			fmt.Fprintf(&b, "\n%d was %s.", op, why)
		}
	}
	return b.String() + "\n"
}

package session

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/proto"
	"github.com/llmfs-raw/llmfs-raw/schema"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "make it with: go test -run %s -update", t.Name())
	assert.Equal(t, string(want), text, "if the change is meant: go test -run %s -update", t.Name())
}

func TestSystemMessage(t *testing.T) {
	for _, kind := range []ContextKind{Full, Window, Ledger} {
		for _, form := range []schema.Form{schema.All, schema.Lean} {
			text := SystemMessage(&Options{Context: Context{Kind: kind}, Fields: form})
			n, err := CountTokens(text)
			require.NoError(t, err)
			fmt.Printf("system message, %s, %v fields: %d bytes, %d tokens\n", contexts[kind], form, len(text), n)
			assert.LessOrEqual(t, n, 6000)
			if kind == Ledger {
				golden(t, "system-"+form.String()+".txt", text)
			}
		}
	}
}

func TestEachOpcodeThatIsAskedHasAnExample(t *testing.T) {
	seen := map[proto.Opcode]bool{}
	for i := range examples {
		e := &examples[i]
		seen[e.op] = true
		reply, err := proto.AppendReplyJSON(nil, e.request(), &e.reply)
		require.NoError(t, err, e.op)
		require.NoError(t, schema.Validate(e.op, schema.All, schema.Wrap(reply)), e.op)
		assert.Empty(t, schema.Check(e.request(), &e.reply, nil), e.op)
	}
	for _, row := range proto.Rows() {
		assert.Equal(t, asked(row), seen[row.Op], row.Name)
	}
	assert.Len(t, Schemas(schema.Lean), len(seen))
}

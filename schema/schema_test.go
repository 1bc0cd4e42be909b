package schema

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden holds got against a file of testdata.
func golden(t *testing.T, name string, got []byte) {
	file := "testdata/" + name
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, got, 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got), "go test ./schema -update rewrites %s", file)
}

// The sizes of all schemas, and a hash of each: their bytes are the same in
// every build.
func TestListing(t *testing.T) {
	var out bytes.Buffer
	for form := range forms {
		fmt.Fprintf(&out, "%-30s %6s %8s %7s %6s %6s  %s\n", forms[form], "bytes", "members", "levels", "$defs", "ways", "sha256")
		distinct, total := map[string]bool{}, 0
		for _, s := range Schemas(Form(form)) {
			ways := len(alternatives(s.Op.Row(), s.Form)) + 1
			fmt.Fprintf(&out, "%-30s %6d %8d %7d %6d %6d  %.6x\n", s.Name, len(s.JSON), s.Properties, s.Depth, s.Defs, ways, sha256.Sum256(s.JSON))
			distinct[string(s.JSON)], total = true, total+len(s.JSON)
		}
		fmt.Fprintf(&out, "%d schemas, %d of them different, %d bytes\n\n", len(Schemas(Form(form))), len(distinct), total)
	}
	golden(t, "listing.txt", out.Bytes())
}

func TestTheSameBytesEveryTime(t *testing.T) {
	for _, form := range []Form{All, Lean} {
		for _, s := range Schemas(form) {
			assert.Equal(t, string(s.JSON), string(reflectReply(s.Op.Row(), form)), s.Name)
		}
	}
}

func TestWholeSchemas(t *testing.T) {
	for _, s := range []*Schema{For(proto.OpUnlink, All), For(proto.OpRead, All), For(proto.OpGetattr, Lean)} {
		golden(t, s.Name+".json", append(bytes.Clone(s.JSON), '\n'))
	}
}

func TestEveryOpcodeWithAReplyHasASchema(t *testing.T) {
	names := map[string]bool{}
	for _, row := range proto.Rows() {
		for _, form := range []Form{All, Lean} {
			s := For(row.Op, form)
			require.Equal(t, row.Reply == proto.ReplyNone, s == nil, row.Name)
			if s == nil {
				continue
			}
			assert.Regexp(t, `^[a-z0-9_]{1,64}$`, s.Name)
			assert.False(t, names[s.Name], "%s stands for two", s.Name)
			names[s.Name] = true
		}
	}
	assert.Nil(t, For(proto.OpForget, All))
	assert.Nil(t, For(4096, All))
}

func TestUnwrap(t *testing.T) {
	for in, want := range map[string]string{
		`{"Reply":{"Errno":2}}`:             `{"Errno":2}`,
		" { \"Reply\" : {\"Errno\":2} }\n":  `{"Errno":2}`,
		string(Wrap([]byte(`{"Errno":0}`))): `{"Errno":0}`,
	} {
		got, err := Unwrap([]byte(in))
		require.NoError(t, err, in)
		assert.Equal(t, want, string(got))
	}
	for _, in := range []string{
		``, `null`, `{}`, `[]`, `{"Errno":2}`, `{"reply":{"Errno":2}}`, `{"Reply":{"Errno":2},"Note":"done"}`,
		`{"Reply":{"Errno":2},"Reply":{"Errno":2}}`, `{"Reply":{"Errno":2}}}`, `{"Reply":{"Errno":2}} ok`, `{"Reply":`, `Sure! {"Reply":{"Errno":2}}`,
	} {
		_, err := Unwrap([]byte(in))
		assert.ErrorContains(t, err, `want {"Reply":{…}}`, in)
	}
}

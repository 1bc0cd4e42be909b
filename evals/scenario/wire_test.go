package scenario

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

func wire(t *testing.T, lines string) (*Scenario, error) {
	s, err := Parse("area/name", []byte("# What it is for.\n# tier: full\n# wire: why\n"+lines))
	require.NoError(t, err)
	require.True(t, s.Wire)
	_, err = wired(s)
	return s, err
}

func TestWire(t *testing.T) {
	s, err := wire(t, "CREATE 1 f Flags=O_RDWR|O_CREAT Mode=S_IFREG|0644\nWRITE 2 Fh=1 Data=text\nREAD 2 Fh=1 Size=100\nFORGET 2 Nlookup=1\nMKDIR 1 f Mode=0755 = EEXIST\n")
	require.NoError(t, err)
	pairs, text, err := (&Recorder{}).Record(t.Context(), s)
	require.NoError(t, err)
	require.Len(t, pairs, 6)
	require.Equal(t, proto.OpInit, pairs[0].Req.Op)
	pairs = pairs[1:]
	assert.Equal(t, "text", string(pairs[1].Req.Data))
	assert.Equal(t, "text", string(pairs[2].Rep.Data))
	assert.Nil(t, pairs[3].Rep, "FORGET takes none")
	assert.Equal(t, proto.OpMkdir, pairs[4].Req.Op)
	_, again, err := (&Recorder{}).Record(t.Context(), s)
	require.NoError(t, err)
	assert.Equal(t, string(text), string(again))
}

func TestWireRefuses(t *testing.T) {
	for lines, want := range map[string]string{
		"LOOKUP 1 x = ENOENT":      `have , want ENOENT`,
		"RMDIR 1 x":                "have ENOENT, want ",
		"FROB 1":                   "want OPCODE NODEID",
		"LOOKUP":                   "want OPCODE NODEID",
		"MKDIR 1 d Mod=0755":       `MKDIR has no field "Mod"`,
		"UNLINK 1 Flags=1":         "UNLINK has no fields",
		"MKDIR 1 d Mode=O_FOO":     `"O_FOO" is neither a number nor a constant`,
		"MKDIR 1 d Mode=0755\nX 1": "line 5: X 1",
	} {
		_, err := wire(t, lines+"\n")
		assert.ErrorContains(t, err, want, lines)
	}
}

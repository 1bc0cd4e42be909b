package trace

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPilot(t *testing.T) {
	r, err := Open("testdata/pilot-v0.jsonl")
	require.NoError(t, err)
	var out bytes.Buffer
	w, err := NewWriter(&out, r.Header())
	require.NoError(t, err)
	for p, err := range r.Pairs() {
		require.NoError(t, err)
		require.NoError(t, w.Write(p))
	}
	t.Log(out.String())
}

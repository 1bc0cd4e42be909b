package trace

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever is read without an error can be shown, counted and written, and
// reads the same again.
func FuzzReader(f *testing.F) {
	for _, name := range []string{"testdata/session.jsonl", "testdata/pilot-v0.jsonl"} {
		data, err := os.ReadFile(name)
		require.NoError(f, err)
		for _, line := range bytes.SplitAfter(data, []byte("\n"))[1:] {
			f.Add(append(appendHeader(nil, testHeader), line...))
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := NewReader(bytes.NewReader(data), "x")
		if err != nil {
			return
		}
		var once, twice bytes.Buffer
		if _, err := Cut(&once, r, nil); err != nil {
			return
		}
		r, err = NewReader(bytes.NewReader(once.Bytes()), "x")
		require.NoError(t, err)
		_, err = Cut(&twice, r, nil)
		require.NoError(t, err)
		require.Equal(t, once.String(), twice.String())

		for _, use := range []func(*Reader) error{
			func(r *Reader) error { return Show(io.Discard, r, ShowOptions{All: true}) },
			func(r *Reader) error { return Stat(io.Discard, r) },
			func(r *Reader) error { _, err := Verify(r); return err },
		} {
			r, err := NewReader(bytes.NewReader(once.Bytes()), "x")
			require.NoError(t, err)
			require.NoError(t, use(r))
		}
	})
}

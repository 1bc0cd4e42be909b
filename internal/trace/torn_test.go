package trace

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// record makes a trace of n pairs, and says after which byte each line is
// complete, the header's first.
func record(t *testing.T, name string, n int, closed bool) (data []byte, ends []int) {
	path := filepath.Join(t.TempDir(), name)
	w, err := Create(path, testHeader, Options{})
	require.NoError(t, err)
	for i := 0; ; i++ {
		st, err := os.Stat(path)
		require.NoError(t, err)
		ends = append(ends, int(st.Size()))
		if i == n {
			break
		}
		require.NoError(t, w.Write(lookup(uint64(2*i+2))))
	}
	if closed {
		require.NoError(t, w.Close())
	}
	data, err = os.ReadFile(path)
	require.NoError(t, err)
	return data, ends
}

// complete is how many of the ends lie within n bytes; slack is how many
// bytes of a line it can do without.
func complete(ends []int, n, slack int) (count int) {
	for _, end := range ends {
		if end-slack <= n {
			count++
		}
	}
	return count
}

func TestTornAtEveryByte(t *testing.T) {
	for _, c := range []struct {
		name  string
		slack int // a line of plain JSON is whole without its "\n"
	}{{"x.jsonl", 1}, {"x.jsonl.zst", 0}} {
		data, ends := record(t, c.name, 5, false)
		for n := range len(data) + 1 {
			r, err := NewReader(bytes.NewReader(data[:n]), "x")
			if n < ends[0] {
				require.Error(t, err, n)
				continue
			}
			require.NoError(t, err, n)
			pairs := collect(t, r)
			require.Len(t, pairs, complete(ends, n, c.slack)-1, "%s, %d bytes", c.name, n)
			for i, p := range pairs {
				requireLookup(t, uint64(2*i+2), p)
			}
			clean := c.slack == 1 && (complete(ends, n, 0) != complete(ends, n-1, 0) || complete(ends, n+1, 0) != complete(ends, n, 0))
			require.Equal(t, !clean, r.Truncated(), "%s, %d bytes", c.name, n)
			require.NoError(t, r.Close())
		}
	}
}

func TestClosedFrameIsNotTruncated(t *testing.T) {
	data, _ := record(t, "x.jsonl.zst", 5, true)
	r, err := NewReader(bytes.NewReader(data), "x")
	require.NoError(t, err)
	require.Len(t, collect(t, r), 5)
	require.False(t, r.Truncated())
}

func TestTornMiddle(t *testing.T) {
	data, ends := record(t, "x.jsonl", 3, true)
	torn := append(bytes.Clone(data[:ends[1]-10]), '\n')
	torn = append(torn, data[ends[1]:]...)
	r, err := NewReader(bytes.NewReader(torn), "x.jsonl")
	require.NoError(t, err)
	var last error
	n := 0
	for p, err := range r.Pairs() {
		if last = err; p != nil {
			n++
		}
	}
	require.EqualError(t, last, "trace x.jsonl:2: unexpected end of JSON input")
	require.Zero(t, n)
	require.False(t, r.Truncated())
}

// counted counts what would be write(2).
type counted struct{ writes int }

func (c *counted) Write(b []byte) (int, error) { c.writes++; return len(b), nil }
func (c *counted) Close() error                { return nil }

func TestCompressorWritesOnce(t *testing.T) {
	var c counted
	z := newCompressor(&c)
	for i, n := range []int{1, 1000, 1 << 20} {
		_, err := z.Write(bytes.Repeat([]byte("0123456789"), n))
		require.NoError(t, err)
		require.Equal(t, i+1, c.writes)
	}
}

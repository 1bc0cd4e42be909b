package trace

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func BenchmarkWrite(b *testing.B) {
	for _, name := range []string{"plain.jsonl", "zstd.jsonl.zst"} {
		b.Run(name, func(b *testing.B) {
			w, err := Create(filepath.Join(b.TempDir(), name), testHeader, Options{})
			require.NoError(b, err)
			p := lookup(2)
			b.ReportAllocs()
			for b.Loop() {
				if err := w.Write(p); err != nil {
					b.Fatal(err)
				}
			}
			require.NoError(b, w.Close())
		})
	}
}

func BenchmarkRead(b *testing.B) {
	line, err := AppendPair(nil, lookup(2))
	require.NoError(b, err)
	data := append(appendHeader(nil, testHeader), bytes.Repeat(line, b.N)...)
	r, err := NewReader(bytes.NewReader(data), "x")
	require.NoError(b, err)
	b.ReportAllocs()
	b.ResetTimer()
	for _, err := range r.Pairs() {
		if err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLine(b *testing.B) {
	f, p := NewFormatter(ShowOptions{}), lookup(2)
	b.ReportAllocs()
	for b.Loop() {
		f.Line(p)
	}
}

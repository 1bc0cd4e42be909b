package trace

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

var testHeader = Header{
	Created: time.Date(2026, 11, 20, 9, 46, 0, 0, time.UTC), Model: "test", Options: map[string]string{"ttl": "1s", "a": "<&>"},
}

// lookup is a small pair with the unique number u.
func lookup(u uint64) *Pair {
	return &Pair{
		Req: &proto.Request{
			Op: proto.OpLookup, Names: []string{"nope"},
			Header: proto.Header{Unique: u, NodeId: 1, Pid: 413, Comm: "cat", Now: proto.Time{Sec: 1795167885, Nsec: 9000}},
		},
		Rep: &proto.Reply{Errno: 2}, Took: 12 * time.Microsecond,
	}
}

// requireLookup holds p against lookup(u), by the line that it makes.
func requireLookup(t testing.TB, u uint64, p *Pair) {
	t.Helper()
	want, err := AppendPair(nil, lookup(u))
	require.NoError(t, err)
	have, err := AppendPair(nil, p)
	require.NoError(t, err)
	require.Equal(t, string(want), string(have))
}

func collect(t testing.TB, r *Reader) (list []*Pair) {
	t.Helper()
	for p, err := range r.Pairs() {
		require.NoError(t, err)
		list = append(list, p)
	}
	return list
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line, err := AppendPair(nil, genPair.Draw(t, "pair"))
		require.NoError(t, err)
		require.Equal(t, 1, bytes.Count(line, []byte("\n")))
		p, err := decodePair(line)
		require.NoError(t, err)
		again, err := AppendPair(nil, p)
		require.NoError(t, err)
		require.Equal(t, string(line), string(again))
	})
}

// corpus is all traces in testdata.
func corpus(t *testing.T) []string {
	files, err := filepath.Glob("testdata/*.jsonl*")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

func TestCorpusIsByteStable(t *testing.T) {
	for _, file := range corpus(t) {
		if strings.HasSuffix(file, "-v0.jsonl") {
			continue
		}
		r, err := Open(file)
		require.NoError(t, err)
		out := bytes.NewBuffer(appendHeader(nil, r.Header()))
		for p, err := range r.Pairs() {
			require.NoError(t, err)
			line, err := AppendPair(nil, p)
			require.NoError(t, err)
			out.Write(line)
		}
		require.NoError(t, r.Close())
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(want), out.String(), file)
	}
}

func TestCorpusVerifies(t *testing.T) {
	for _, file := range corpus(t) {
		r, err := Open(file)
		require.NoError(t, err)
		report, err := Verify(r)
		require.NoError(t, err)
		require.Empty(t, report.Problems, file)
		require.NotZero(t, report.Pairs)
		require.NoError(t, r.Close())
	}
}

// The pilot's trace says the same after the upgrade as before, and is then a
// trace like any other.
func TestUpgrade(t *testing.T) {
	r, err := Open("testdata/pilot-v0.jsonl")
	require.NoError(t, err)
	var out bytes.Buffer
	n, err := Cut(&out, r, nil)
	require.NoError(t, err)
	require.Equal(t, 58, n)
	golden(t, "testdata/pilot.jsonl", out.Bytes())

	up, err := NewReader(&out, "pilot")
	require.NoError(t, err)
	require.Equal(t, Version, up.Header().Version)
	pairs := collect(t, up)
	setattr := pairs[11].Req
	require.Equal(t, proto.OpSetattr, setattr.Op)
	require.Equal(t, uint64(34), setattr.Header.Unique)
	require.Equal(t, uint64(9866711427820489296), setattr.In.(*fuse.SetAttrIn).LockOwner)
	require.Equal(t, uint64(6), pairs[10].Rep.Out.(*fuse.EntryOut).Size)
}

func TestHeader(t *testing.T) {
	for name, c := range map[string]struct{ header, want string }{
		"newer":   {`{"trace":"llmfs-raw","version":2}`, "trace x:1: header: have version 2, want 1 to 1: recorded by a newer program"},
		"other":   {`{"log":true}`, `trace x:1: header: have no "trace":"llmfs-raw"`},
		"empty":   {``, "trace x:1: header: EOF"},
		"no JSON": {"hello\n", "trace x:1: header: invalid character 'h' looking for beginning of value"},
		"torn":    {`{"trace":"llmfs-raw"`, "trace x:1: header: unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			header := c.header
			if name == "newer" || name == "other" {
				header += "\n"
			}
			_, err := NewReader(strings.NewReader(header), "x")
			require.EqualError(t, err, c.want)
		})
	}
}

func TestUnknownKeysAreTolerated(t *testing.T) {
	line, err := AppendPair(nil, lookup(4))
	require.NoError(t, err)
	in := `{"trace":"llmfs-raw","version":1,"created":"2026-11-20T09:46:00Z","wire":{"minor":45,"setxattr_ext":true},"model":"","options":{},"host":"a"}` + "\n" +
		strings.TrimSuffix(string(line), "}\n") + `,"cost":{"usd":1}}` + "\n"
	r, err := NewReader(strings.NewReader(in), "x")
	require.NoError(t, err)
	w, ok := r.Wire()
	require.True(t, ok)
	require.Equal(t, proto.Wire{Minor: 45, SetxattrExt: true}, w)

	var out bytes.Buffer
	n, err := Cut(&out, r, First(1))
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, in, out.String())
}

func TestWireFromInit(t *testing.T) {
	init := &Pair{
		Req: &proto.Request{Op: proto.OpInit, Header: proto.Header{Unique: 2}, In: &fuse.InitIn{Major: 7, Minor: 45}},
		Rep: &proto.Reply{Out: &fuse.InitOut{Major: 7, Minor: 40, Flags: fuse.CAP_SETXATTR_EXT}},
	}
	var out bytes.Buffer
	w, err := NewWriter(&out, testHeader)
	require.NoError(t, err)
	require.NoError(t, w.Write(init))
	r, err := NewReader(&out, "x")
	require.NoError(t, err)
	_, ok := r.Wire()
	require.False(t, ok)
	collect(t, r)
	wire, ok := r.Wire()
	require.True(t, ok)
	require.Equal(t, proto.Wire{Minor: 40, SetxattrExt: true}, wire)
}

func TestCreate(t *testing.T) {
	for _, ext := range []string{".jsonl", ".jsonl.zst"} {
		path := filepath.Join(t.TempDir(), "x"+ext)
		w, err := Create(path, testHeader, Options{})
		require.NoError(t, err)
		_, err = Create(path, testHeader, Options{Overwrite: true})
		require.ErrorContains(t, err, "being recorded by another process")
		require.NoError(t, w.Write(lookup(2)))
		require.Equal(t, 1, w.Pairs())
		require.NoError(t, w.Close())
		require.NoError(t, w.Close())
		require.ErrorIs(t, w.Write(lookup(4)), os.ErrClosed)

		_, err = Create(path, testHeader, Options{})
		require.ErrorIs(t, err, ErrNotEmpty)
		w, err = Create(path, testHeader, Options{Overwrite: true})
		require.NoError(t, err)
		require.NoError(t, w.Write(lookup(6)))
		require.NoError(t, w.Close())

		r, err := Open(path)
		require.NoError(t, err)
		pairs := collect(t, r)
		require.Len(t, pairs, 1)
		requireLookup(t, 6, pairs[0])
		require.Equal(t, testHeader.Options, r.Header().Options)
		require.False(t, r.Truncated())
		require.NoError(t, r.Close())
	}
}

// Emptying a trace from outside, as logrotate does, leaves no hole in it.
func TestTruncatedFromOutside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jsonl")
	w, err := Create(path, testHeader, Options{})
	require.NoError(t, err)
	require.NoError(t, os.Truncate(path, 0))
	require.NoError(t, w.Write(lookup(2)))
	require.NoError(t, w.Close())
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, byte('{'), data[0])
}

func TestParallelWrites(t *testing.T) {
	for _, ext := range []string{".jsonl", ".jsonl.zst"} {
		path := filepath.Join(t.TempDir(), "x"+ext)
		w, err := Create(path, testHeader, Options{})
		require.NoError(t, err)
		var all sync.WaitGroup
		for g := range 8 {
			all.Go(func() {
				for i := range 100 {
					_ = w.Write(lookup(uint64(2 + 2*(g*100+i))))
				}
			})
		}
		all.Wait()
		require.NoError(t, w.Close())
		r, err := Open(path)
		require.NoError(t, err)
		report, err := Verify(r)
		require.NoError(t, err)
		require.Empty(t, report.Problems)
		require.Equal(t, 800, report.Pairs)
	}
}

// full is a file system with room for n more bytes.
type full struct {
	bytes.Buffer
	n int
}

func (f *full) Write(b []byte) (int, error) {
	if len(b) > f.n {
		b = b[:f.n]
		f.Buffer.Write(b)
		f.n = 0
		return len(b), io.ErrShortWrite
	}
	f.n -= len(b)
	return f.Buffer.Write(b)
}

// After a line that is torn for want of room nothing is written any more,
// though there may be room again.
func TestErrorsEndTheRecording(t *testing.T) {
	f := &full{n: 600}
	w, err := NewWriter(f, testHeader)
	require.NoError(t, err)
	for err == nil {
		err = w.Write(lookup(2))
	}
	require.ErrorIs(t, err, io.ErrShortWrite)
	have := f.Len()
	f.n = 1 << 20
	require.Equal(t, err, w.Write(lookup(4)))
	require.Equal(t, err, w.Err())
	require.ErrorIs(t, w.Close(), io.ErrShortWrite)
	require.Equal(t, have, f.Len())

	r, err := NewReader(&f.Buffer, "x")
	require.NoError(t, err)
	require.Len(t, collect(t, r), w.Pairs())
	require.True(t, r.Truncated())
}

// A pair that JSON has no form for is reported, and does not cost the rest.
func TestBadPairIsSkipped(t *testing.T) {
	var out bytes.Buffer
	w, err := NewWriter(&out, testHeader)
	require.NoError(t, err)
	bad := lookup(2)
	bad.Req.Names = nil
	require.ErrorContains(t, w.Write(bad), "trace -: pair 1: write LOOKUP as JSON: Names: have 0, want 1")
	require.NoError(t, w.Write(lookup(4)))
	require.Error(t, w.Close())
	r, err := NewReader(&out, "x")
	require.NoError(t, err)
	require.Len(t, collect(t, r), 1)
}

func TestLongLines(t *testing.T) {
	p := lookup(2)
	p.Note = strings.Repeat("x", 200_000)
	var out bytes.Buffer
	w, err := NewWriter(&out, testHeader)
	require.NoError(t, err)
	require.NoError(t, w.Write(p))
	p.Note = strings.Repeat("x", MaxLine)
	require.ErrorContains(t, w.Write(p), "want at most 16777216")
	line := out.String()
	r, err := NewReader(strings.NewReader(line), "x")
	require.NoError(t, err)
	require.Len(t, collect(t, r)[0].Note, 200_000)

	r, err = NewReader(strings.NewReader(line+strings.Repeat("y", MaxLine+2)), "x")
	require.NoError(t, err)
	for _, e := range r.Pairs() {
		err = e
	}
	require.EqualError(t, err, "trace x:3: line: have more than 16777216 bytes")
}

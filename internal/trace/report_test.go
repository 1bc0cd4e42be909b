package trace

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

func TestStat(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, Stat(&out, open(t, sessionTrace(t))))
	golden(t, "testdata/session.stat", out.Bytes())
}

func TestQuantiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.Int64Range(0, 1<<62), 1, 50).Draw(t, "ns")
		var h histogram
		for _, n := range list {
			h.add(time.Duration(n))
		}
		slices.Sort(list)
		for _, q := range []float64{0, 0.5, 0.95, 1} {
			want := list[int(q*float64(len(list)-1))]
			require.InDelta(t, want, h.quantile(q), float64(want)*0.032)
		}
	})
}

func TestVerify(t *testing.T) {
	report, err := Verify(open(t, sessionTrace(t)))
	require.NoError(t, err)
	require.Empty(t, report.Problems)
	require.Equal(t, report.Pairs, report.Kernel)
	var out bytes.Buffer
	require.NoError(t, report.Write(&out))
	require.Equal(t, "31 pairs, 31 with kernel bytes, 0 without a unique number, 0 problems\n", out.String())
}

func TestVerifyFinds(t *testing.T) {
	for name, c := range map[string]struct {
		change func(a, b *Pair)
		want   string
	}{
		"answered twice": {func(a, b *Pair) { b.Req.Header.Unique = 2 }, "trace x.jsonl:3: LOOKUP: unique 2: answered on line 2 already"},
		"no reply":       {func(a, b *Pair) { a.Rep = nil }, "trace x.jsonl:2: LOOKUP: reply: have none, want one"},
		"other request":  {func(a, b *Pair) { a.Kernel.Req[40]++ }, `trace x.jsonl:2: LOOKUP: kernel request: byte 40: have "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x9d\x01\x00\x00\x00\x00\x00\x00nope\x00" of 45 bytes, want "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x9d\x01\x00\x00\x00\x00\x00\x00oope\x00" of 45`},
		"more than asked": {func(a, b *Pair) {
			a.Req.Op, a.Req.Names, a.Req.In = proto.OpRead, nil, &fuse.ReadIn{Size: 4}
			a.Rep, a.Kernel = &proto.Reply{Data: []byte("12345")}, nil
		}, "trace x.jsonl:2: READ: reply: encode READ reply: Data: have 5 bytes, asked for 4"},
		"other bytes": {func(a, b *Pair) {
			a.Kernel.Rep[0]++
		}, `trace x.jsonl:2: LOOKUP: kernel reply: byte 0: have "\x10\x00\x00\x00\xfe\xff\xff\xff\x02\x00\x00\x00\x00\x00\x00\x00" of 16 bytes, want "\x11\x00\x00\x00\xfe\xff\xff\xff\x02\x00\x00\x00\x00\x00\x00\x00" of 16`},
	} {
		t.Run(name, func(t *testing.T) {
			s := &session{pairs: []*Pair{lookup(2), lookup(4)}}
			s.kernel(t)
			c.change(s.pairs[0], s.pairs[1])
			if name == "answered twice" {
				s.kernel(t)
			}
			data := appendHeader(nil, testHeader)
			for _, p := range s.pairs {
				line, err := AppendPair(nil, p)
				require.NoError(t, err)
				data = append(data, line...)
			}
			report, err := Verify(open(t, data))
			require.NoError(t, err)
			require.Len(t, report.Problems, 1)
			require.Equal(t, c.want, report.Problems[0].String())
		})
	}
}

// SETXATTR's last field is not on the wire unless INIT negotiated it.
func TestVerifyFindsWhatTheWireLoses(t *testing.T) {
	s := &session{}
	s.ask(proto.OpSetxattr, 2, &fuse.SetXAttrIn{SetXAttrFlags: 1}, errno(0), "user.a")
	h := testHeader
	for ext, want := range map[bool]int{true: 0, false: 1} {
		h.Wire = &Wire{Minor: 45, SetxattrExt: ext}
		line, err := AppendPair(nil, s.pairs[0])
		require.NoError(t, err)
		report, err := Verify(open(t, append(appendHeader(nil, h), line...)))
		require.NoError(t, err)
		require.Len(t, report.Problems, want)
		if want == 1 {
			require.Contains(t, report.Problems[0].What, "request JSON through the wire: byte ")
		}
	}
}

// Entries beyond what the caller asked for stay in the trace, and are no problem.
func TestVerifyToleratesEntriesThatDidNotFit(t *testing.T) {
	s := &session{}
	s.ask(proto.OpReaddir, 1, &fuse.ReadIn{Size: 32}, &proto.Reply{Entries: []proto.Dirent{{Ino: 2, Off: 1, Name: "a"}, {Ino: 3, Off: 2, Name: "b"}}})
	line, err := AppendPair(nil, s.pairs[0])
	require.NoError(t, err)
	report, err := Verify(open(t, append(appendHeader(nil, testHeader), line...)))
	require.NoError(t, err)
	require.Empty(t, report.Problems)
}

// A line that says the same in another form is found, too.
func TestVerifyFindsOtherForms(t *testing.T) {
	data, _ := record(t, "x.jsonl", 2, true)
	data = bytes.Replace(data, []byte(`"ns":12000`), []byte(`"ns": 12000`), 1)
	report, err := Verify(open(t, data))
	require.NoError(t, err)
	require.Len(t, report.Problems, 1)
	require.Contains(t, report.Problems[0].String(), "trace x.jsonl:2: LOOKUP: line: byte ")
}

func TestCut(t *testing.T) {
	data, ends := record(t, "x.jsonl", 5, true)
	for name, c := range map[string]struct {
		limit Limit
		want  int
	}{
		"none":    {First(0), 0},
		"first":   {First(2), 2},
		"all":     {nil, 5},
		"through": {Through(6), 3},
		"never":   {Through(99), 5},
		"before":  {Before(time.Unix(1795167885, 9000)), 0},
		"after":   {Before(time.Unix(1795167885, 9001)), 5},
	} {
		var out bytes.Buffer
		n, err := Cut(&out, open(t, data), c.limit)
		require.NoError(t, err)
		require.Equal(t, c.want, n, name)
		require.Equal(t, string(data[:ends[c.want]]), out.String(), name)
	}
}

func TestStatsCountTheLive(t *testing.T) {
	var s Stats
	p := lookup(2)
	p.Usage = Usage{InputTokens: 2_000_000, CachedTokens: 1, OutputTokens: 3}
	require.NoError(t, s.Add(p))
	var out bytes.Buffer
	require.NoError(t, s.Write(&out))
	require.Contains(t, out.String(), "1 pairs in 0s; tokens: 2,000,000 in (1 cached), 3 out")
	require.Equal(t, proto.OpLookup, s.byCount()[0])
}

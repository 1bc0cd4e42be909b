package score

import (
	"bytes"
	"reflect"
	"slices"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/evals/sample"
	"github.com/llmfs-raw/llmfs-raw/internal/trace"
	"github.com/llmfs-raw/llmfs-raw/proto"
	"github.com/llmfs-raw/llmfs-raw/schema"
)

// Every field that a reply can have has a class, and every class a field.
func TestClassesAreComplete(t *testing.T) {
	used := map[string]bool{}
	var walk func(of reflect.Type, reply bool)
	walk = func(of reflect.Type, reply bool) {
		for _, f := range proto.FieldsOf(of) {
			key := f.Struct + "." + f.Name
			_, ok := classes[key]
			used[key] = ok
			switch {
			case ok:
			case f.Type.Kind() == reflect.Struct:
				walk(f.Type, reply)
			case reply:
				t.Errorf("%s has no class", key)
			}
		}
	}
	for _, row := range proto.Rows() {
		if row.Out != nil && row.Op != proto.OpInit {
			walk(reflect.TypeOf(row.Out).Elem(), true)
		}
		if row.In != nil {
			walk(reflect.TypeOf(row.In).Elem(), false)
		}
		if row.List != nil {
			walk(reflect.TypeOf(row.List).Elem(), false)
		}
	}
	walk(reflect.TypeFor[proto.Dirent](), true)
	for key, c := range classes {
		assert.True(t, used[key], "%s is no field", key)
		if c.Class == Bounded && c.nsec == "" {
			assert.NotNil(t, c.within, "%s is bounded by nothing", key)
		}
	}
}

// Numbers of requests that name something are in the table of classes.
func TestRequestsNumbersAreRenamed(t *testing.T) {
	for _, row := range proto.Rows() {
		if row.In == nil || row.Unsent != "" {
			continue
		}
		for _, f := range proto.FieldsOf(reflect.TypeOf(row.In).Elem()) {
			if slices.Contains([]string{"Fh", "FhIn", "FhOut", "Newdir", "Oldnodeid", "NodeIdOut"}, f.Name) {
				assert.Equal(t, Renamed, classes[f.Struct+"."+f.Name].Class, "%s.%s", f.Struct, f.Name)
			}
		}
	}
}

func text0(t require.TestingT, req *proto.Request, r *proto.Reply) []byte {
	b, err := proto.AppendReplyJSON(nil, req, r)
	require.NoError(t, err)
	return b
}

// traceOf makes a trace of one pair after a few that make its node known.
func traceOf(pairs ...*trace.Pair) *evals.Trace { return &evals.Trace{Pairs: pairs} }

func pair(op proto.Opcode, node uint64, in any, rep *proto.Reply, names ...string) *trace.Pair {
	if in == nil {
		in = op.Row().NewIn()
	}
	return &trace.Pair{Req: &proto.Request{Op: op, Header: proto.Header{NodeId: node, Now: proto.Time{Sec: 100}}, In: in, Names: names}, Rep: rep}
}

func entry(node uint64) *fuse.EntryOut {
	return &fuse.EntryOut{NodeId: node, Attr: fuse.Attr{Ino: node, Mode: syscall.S_IFREG | 0o644, Nlink: 1, Atime: 100, Mtime: 100, Ctime: 100}}
}

// Single rules, each by a reply that it lets through or stops.
func TestStep(t *testing.T) {
	lookup := pair(proto.OpLookup, 1, nil, &proto.Reply{Out: entry(2)}, "a")
	missing := pair(proto.OpLookup, 1, nil, &proto.Reply{Out: &fuse.EntryOut{}}, "b")
	notEmpty := pair(proto.OpRmdir, 1, nil, &proto.Reply{Errno: syscall.ENOTEMPTY}, "d")
	again := pair(proto.OpLookup, 1, nil, &proto.Reply{Out: entry(3)}, "c")
	open := pair(proto.OpOpen, 2, nil, &proto.Reply{Out: &fuse.OpenOut{Fh: 1}})
	g := NewGold(traceOf(lookup, missing, notEmpty, again, open))
	changed := func(p *trace.Pair, change func(*proto.Reply)) []byte {
		r, err := proto.ParseReplyJSON(p.Req, text0(t, p.Req, p.Rep))
		require.NoError(t, err)
		change(r)
		return text0(t, p.Req, r)
	}
	node := func(id uint64) func(*proto.Reply) {
		return func(r *proto.Reply) { r.Out.(*fuse.EntryOut).NodeId, r.Out.(*fuse.EntryOut).Attr.Ino = id, id }
	}
	for _, c := range []struct {
		name  string
		at    int
		said  string
		stage evals.Stage
		diff  string
	}{
		{"nothing", 0, "", evals.Unanswered, ""},
		{"no JSON", 0, "I can't", evals.Answered, ""},
		{"not by the schema", 0, `{"Errno":"2"}`, evals.Answered, ""},
		{"what the kernel refuses", 0, string(changed(lookup, func(r *proto.Reply) { r.Out.(*fuse.EntryOut).Attr.Mode = 0o644 })), evals.Decodable, "Out.Attr.Mode"},
		{"gold itself", 0, string(text0(t, lookup.Req, lookup.Rep)), evals.Correct, ""},
		{"another number for a new node", 0, string(changed(lookup, node(77))), evals.Correct, ""},
		{"another number for a known node", 3, string(changed(again, node(2))), evals.Acceptable, "Out.NodeId"},
		{"another errno", 0, `{"Errno":13}`, evals.Acceptable, "Errno"},
		{"ENOENT for a negative entry", 1, `{"Errno":2}`, evals.Correct, ""},
		{"a negative entry for ENOENT's opposite", 0, string(text0(t, missing.Req, missing.Rep)), evals.Acceptable, "Errno"},
		{"EEXIST for ENOTEMPTY", 2, `{"Errno":17}`, evals.Correct, ""},
		{"EACCES for ENOTEMPTY", 2, `{"Errno":13}`, evals.Acceptable, "Errno"},
		{"nlink", 0, string(changed(lookup, func(r *proto.Reply) { r.Out.(*fuse.EntryOut).Attr.Nlink++ })), evals.Acceptable, "Out.Attr.Nlink"},
		{"blocks of a hole", 0, string(changed(lookup, func(r *proto.Reply) { r.Out.(*fuse.EntryOut).Attr.Blocks = 9 })), evals.Acceptable, "Out.Attr.Blocks"},
		{"validity", 0, string(changed(lookup, func(r *proto.Reply) { r.Out.(*fuse.EntryOut).EntryValid = 7 })), evals.Correct, ""},
		{"a stream", 4, `{"Errno":0,"Out":{"Fh":1,"OpenFlags":16,"BackingID":0}}`, evals.Acceptable, "Out.OpenFlags"},
		{"a handle of another number", 4, `{"Errno":0,"Out":{"Fh":9,"OpenFlags":0,"BackingID":0}}`, evals.Correct, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := g.Forced()
			s.Bare = true
			r := s.Step(c.at, []byte(c.said), nil)
			assert.Equal(t, c.stage, r.Stage, "%v %v", r.Diffs, r.Problems)
			if c.diff != "" {
				require.NotEmpty(t, r.Diffs)
				assert.Equal(t, c.diff, r.Diffs[0].Path)
				assert.Less(t, r.Credit, 1.0)
			}
			if r.Stage == evals.Answered {
				assert.NotEmpty(t, r.Problems)
			}
		})
	}
}

// In the schema's own object, whole or lean, a reply is worth the same.
func TestForms(t *testing.T) {
	for _, tape := range []*sample.Tape{sample.Files(), sample.Names()} {
		g := NewGold(tape.Trace("t"))
		for _, form := range []schema.Form{schema.All, schema.Lean} {
			s := g.Forced()
			s.Fields = form
			for _, i := range g.Steps {
				p := g.Pairs[i]
				said := text0(t, p.Req, p.Rep)
				if form == schema.Lean {
					said = schema.Shorten(p.Req, said, nil)
				}
				r := s.Step(i, schema.Wrap(said), nil)
				assert.NoError(t, schema.Validate(p.Req.Op, form, schema.Wrap(said)), "what is canonical is valid")
				assert.Equal(t, evals.Correct, r.Stage, "%s: %v %v", said, r.Diffs, r.Problems)
				assert.Equal(t, 1.0, r.Credit)
			}
		}
	}
}

func TestInstants(t *testing.T) {
	all := newInstants([]proto.Time{{Sec: 20, Nsec: 5}, {Sec: 10}, {Sec: 30, Nsec: 1}})
	now := proto.Time{Sec: 30, Nsec: 1}
	for _, c := range []struct {
		name       string
		want, have proto.Time
		right      bool
	}{
		{"the same", proto.Time{Sec: 20, Nsec: 5}, proto.Time{Sec: 20, Nsec: 5}, true},
		{"whole seconds", proto.Time{Sec: 20, Nsec: 5}, proto.Time{Sec: 20}, true},
		{"a little later", proto.Time{Sec: 20, Nsec: 5}, proto.Time{Sec: 25}, true},
		{"when something else happened", proto.Time{Sec: 20, Nsec: 5}, proto.Time{Sec: 30, Nsec: 1}, false},
		{"before", proto.Time{Sec: 20, Nsec: 5}, proto.Time{Sec: 19}, false},
		{"after the request", proto.Time{Sec: 30, Nsec: 1}, proto.Time{Sec: 31}, false},
		{"set by hand", proto.Time{Sec: 7, Nsec: 7}, proto.Time{Sec: 7, Nsec: 7}, true},
		{"set by hand, whole seconds", proto.Time{Sec: 7, Nsec: 7}, proto.Time{Sec: 7}, false},
	} {
		right, _ := all.holds(c.want, c.have, now)
		assert.Equal(t, c.right, right, c.name)
	}
}

// A listing is judged by what its pages hold between them.
func TestPages(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e", "f"}
	dirent := func(n string, off uint64) proto.Dirent {
		return proto.Dirent{Ino: uint64(n[0]), Off: off, Type: 8, Name: n}
	}
	list := func(off uint64, size uint32, entries ...proto.Dirent) *trace.Pair {
		return pair(proto.OpReaddir, 1, &fuse.ReadIn{Fh: 1, Offset: off, Size: size}, &proto.Reply{Entries: append([]proto.Dirent{}, entries...)})
	}
	var all []proto.Dirent
	for i, n := range names {
		all = append(all, dirent(n, uint64(10*(i+1))))
	}
	g := NewGold(traceOf(list(0, 128, all[:4]...), list(40, 128, all[4:]...), list(60, 128)))
	for _, c := range []struct {
		name  string
		at    int
		have  []proto.Dirent
		right bool
	}{
		{"another order", 0, []proto.Dirent{all[2], all[3], all[1], all[0]}, true},
		{"others of them", 0, []proto.Dirent{all[5], all[3], all[1], all[0]}, true},
		{"fewer, where not all fit", 0, []proto.Dirent{all[0]}, true},
		{"none, where some are left", 0, nil, false},
		{"an unknown name", 0, []proto.Dirent{dirent("x", 1)}, false},
		{"one of the page before", 1, []proto.Dirent{all[0]}, false},
		{"all that are left", 1, []proto.Dirent{all[5], all[4]}, true},
		{"one dropped", 1, []proto.Dirent{all[4]}, false},
		{"a cookie of the page before", 1, []proto.Dirent{dirent("e", 10), all[5]}, false},
		{"its own cookies", 1, []proto.Dirent{dirent("e", 77), dirent("f", 78)}, true},
		{"said to be the last", 0, []proto.Dirent{all[0], all[1], all[2], dirent("d", proto.EndCookie)}, false},
		{"an unknown inode number", 1, []proto.Dirent{{Ino: 0xffffffff, Off: 50, Type: 8, Name: "e"}, all[5]}, true},
		{"another type", 1, []proto.Dirent{{Ino: 'e', Off: 50, Type: 4, Name: "e"}, all[5]}, false},
		{"the end", 2, nil, true},
		{"beyond the end", 2, []proto.Dirent{dirent("a", 90)}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := g.Forced()
			s.Bare = true
			r := s.Step(c.at, text0(t, g.Pairs[c.at].Req, &proto.Reply{Entries: append([]proto.Dirent{}, c.have...)}), nil)
			assert.Equal(t, c.right, r.Stage == evals.Correct, "%s %v %v", r.Stage, r.Diffs, r.Problems)
		})
	}
}

// A difference deep in a payload is shown where it is.
func TestExcerpts(t *testing.T) {
	a := bytes.Repeat([]byte("0123456789"), 20)
	b := bytes.Clone(a)
	b[150] = 'x'
	from := differ(a, b)
	assert.Equal(t, `"23456789x1234567890123456789012345678901234567890123456789" at 142 of 200 bytes`, from.excerpt(b))
	assert.Equal(t, `"short"`, from.excerpt([]byte("short")))
	assert.Contains(t, offset(0).excerpt(a), "… (200 bytes)")
}

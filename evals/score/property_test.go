package score

// What must never change a score, and what always must.

import (
	"reflect"
	"slices"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/evals/sample"
	"github.com/llmfs-raw/llmfs-raw/internal/trace"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

var samples = []*evals.Trace{sample.Files().Trace("files"), sample.Names().Trace("names")}

// copyReply goes through JSON, so that nothing is shared.
func copyReply(t require.TestingT, p *trace.Pair) *proto.Reply {
	r, err := proto.ParseReplyJSON(p.Req, text0(t, p.Req, p.Rep))
	require.NoError(t, err)
	return r
}

// renumbering gives each number of gold's another one, at random.
type renumbering struct {
	t    *rapid.T
	to   map[name]uint64
	used map[name]bool
}

func newRenumbering(t *rapid.T) *renumbering {
	root := name{kind: Node, n: proto.RootID}
	return &renumbering{t: t, to: map[name]uint64{root: 1}, used: map[name]bool{root: true}}
}

func (r *renumbering) of(kind Kind, n uint64) uint64 {
	gold := name{kind: kind, n: n}
	if n == 0 || r.to[gold] != 0 {
		return r.to[gold]
	}
	for {
		m := rapid.Uint64Range(2, 1<<40).Draw(r.t, "number")
		if !r.used[name{kind: kind, n: m}] {
			r.used[name{kind: kind, n: m}], r.to[gold] = true, m
			return m
		}
	}
}

// apply renumbers a reply in place. Cookies are counted anew in each listing.
func (r *renumbering) apply(rep *proto.Reply) {
	renumber := func(s any) {
		eachRenamed(s, func(f *field, v reflect.Value) {
			if f.class.kind != Generation {
				v.SetUint(r.of(f.class.kind, v.Uint()))
			}
		})
	}
	renumber(rep.Out)
	for i := range rep.Entries {
		e := &rep.Entries[i]
		e.Ino = r.of(Ino, e.Ino)
		renumber(&e.Entry)
	}
}

// A model with numbers of its own, and its own order in each page, makes a
// rollout that is right in every step.
func TestNumbersAndOrderNeverMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := rapid.SampledFrom(samples).Draw(t, "trace")
		g := NewGold(tr)
		s := g.Rollout()
		s.Bare = true
		numbers, cookie := newRenumbering(t), uint64(0)
		for i, p := range g.Pairs {
			req := s.Request(i)
			if !evals.Asked(p) {
				s.Pass(i)
				continue
			}
			rep := copyReply(t, p)
			numbers.apply(rep)
			if len(rep.Entries) > 0 {
				rep.Entries = rapid.Permutation(rep.Entries).Draw(t, "order")
			}
			for k := range rep.Entries {
				cookie += rapid.Uint64Range(1, 9).Draw(t, "cookie")
				rep.Entries[k].Off = cookie
			}
			r := s.Step(i, text0(t, req, rep), nil)
			require.Equal(t, evals.Correct, r.Stage, "%v %v %v", req.Op, r.Diffs, r.Problems)
			require.Equal(t, 1.0, r.Credit)
			s.Accept(i, r.Reply)
		}
	})
}

// The same corruption is worth the same under other numbers.
func TestNumbersNeverChangeAWrongScore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := rapid.SampledFrom(samples).Draw(t, "trace")
		g, numbers := NewGold(tr), newRenumbering(t)
		other := &evals.Trace{}
		back := g.Rollout()
		for i, p := range g.Pairs { // gold itself under other numbers
			q := &trace.Pair{Req: back.Request(i), Rep: p.Rep}
			if p.Rep != nil {
				q.Rep = copyReply(t, p)
				numbers.apply(q.Rep)
				back.said = back.renaming.over()
				c := &comparison{gold: g, req: p.Req, renaming: back.said}
				c.reply(g.pages[i], back.before(i), p.Rep, q.Rep)
				back.Accept(i, q.Rep)
			} else {
				back.Pass(i)
			}
			other.Pairs = append(other.Pairs, q)
		}
		h := NewGold(other)
		i := rapid.SampledFrom(g.Steps).Draw(t, "step")
		wrong, path := corrupted(t, g.Pairs[i])
		same := copyReply(t, &trace.Pair{Req: g.Pairs[i].Req, Rep: wrong})
		numbers.apply(same)
		a, b := g.Forced(), h.Forced()
		a.Bare, b.Bare = true, true
		x, y := a.Step(i, text0(t, g.Pairs[i].Req, wrong), nil), b.Step(i, text0(t, other.Pairs[i].Req, same), nil)
		require.Equal(t, x.Stage, y.Stage, "%s: %v %v, %v %v", path, x.Diffs, x.Problems, y.Diffs, y.Problems)
		require.Equal(t, x.Credit, y.Credit)
	})
}

// corrupted is gold's reply with one determined thing changed.
func corrupted(t *rapid.T, p *trace.Pair) (*proto.Reply, string) {
	r := copyReply(t, p)
	var can []func() string
	if r.Out != nil && errnoOf(p.Req.Op, r) == 0 {
		can = append(can, changes(t, r.Out, "Out.")...)
	}
	for i := range r.Entries {
		e := &r.Entries[i]
		if isDots(e.Name) {
			continue
		}
		can = append(can, func() string { e.Name += "x"; return "a name" })
		if e.Entry.NodeId != 0 {
			can = append(can, changes(t, &e.Entry, "Entry.")...)
		}
	}
	if len(r.Data) > 0 {
		can = append(can, func() string {
			r.Data[rapid.IntRange(0, len(r.Data)-1).Draw(t, "byte")] ^= byte(rapid.IntRange(1, 255).Draw(t, "bits"))
			return "a byte"
		})
	}
	can = append(can, func() string {
		wants := errnoOf(p.Req.Op, r)
		*r = proto.Reply{Errno: rapid.SampledFrom(slices.DeleteFunc(errnos(), func(e errno) bool { return sameErrno(p.Req.Op, wants, e) })).Draw(t, "errno")}
		return "the errno"
	})
	return r, rapid.SampledFrom(can).Draw(t, "what")()
}

// changes change one field each, so that nothing else is wrong.
func changes(t *rapid.T, s any, path string) (list []func() string) {
	v := reflect.ValueOf(s).Elem()
	for _, f := range fieldsOf(v.Type()) {
		at, owner := v.FieldByIndex(f.at), v.FieldByIndex(f.owner)
		if f.class.Class != Determined || f.class.free != nil && f.class.free(owner, owner) {
			continue
		}
		list = append(list, func() string {
			if by := uint64(rapid.IntRange(1, 100).Draw(t, "by")); at.CanInt() {
				at.SetInt(at.Int() + int64(by))
			} else {
				at.SetUint(at.Uint() + by)
			}
			return path + f.path
		})
	}
	return list
}

func TestADeterminedFieldAlwaysMatters(t *testing.T) {
	seen := map[string]bool{}
	rapid.Check(t, func(t *rapid.T) {
		g := NewGold(rapid.SampledFrom(samples).Draw(t, "trace"))
		i := rapid.SampledFrom(g.Steps).Draw(t, "step")
		wrong, path := corrupted(t, g.Pairs[i])
		seen[path] = true
		s := g.Forced()
		s.Bare = true
		r := s.Step(i, text0(t, g.Pairs[i].Req, wrong), nil)
		require.NotEqual(t, evals.Correct, r.Stage, "%v: %s", g.Pairs[i].Req.Op, path)
		require.Less(t, r.Credit, 1.0)
	})
	assert.Greater(t, len(seen), 10, "%v", seen)
}

// later moves all times of a pair; times that were set by hand, too.
func later(t *rapid.T, p *trace.Pair, seconds int64) *trace.Pair {
	req := *p.Req
	req.Header.Now.Sec += seconds
	if in, ok := req.In.(*fuse.SetAttrIn); ok {
		moved := *in
		moved.Atime, moved.Mtime, moved.Ctime = in.Atime+uint64(seconds), in.Mtime+uint64(seconds), in.Ctime+uint64(seconds)
		req.In = &moved
	}
	q := &trace.Pair{Req: &req, Rep: p.Rep}
	if p.Rep != nil {
		q.Rep = copyReply(t, p)
		laterReply(q.Rep, seconds)
	}
	return q
}

func laterReply(r *proto.Reply, seconds int64) {
	move := func(s any) {
		v := reflect.ValueOf(s).Elem()
		for _, f := range fieldsOf(v.Type()) {
			if f.nsec == nil {
				continue
			}
			at := v.FieldByIndex(f.at)
			if at.Kind() == reflect.Struct {
				at = at.Field(0)
			}
			at.SetUint(at.Uint() + uint64(seconds))
		}
	}
	if r.Out != nil {
		move(r.Out)
	}
	for i := range r.Entries {
		move(&r.Entries[i].Entry)
	}
}

// A clock that goes otherwise, for trace and model alike, changes no score.
func TestClocksNeverMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := NewGold(rapid.SampledFrom(samples).Draw(t, "trace"))
		seconds := rapid.Int64Range(1, 1e9).Draw(t, "seconds")
		moved := &evals.Trace{}
		for _, p := range g.Pairs {
			moved.Pairs = append(moved.Pairs, later(t, p, seconds))
		}
		h := NewGold(moved)
		i := rapid.SampledFrom(g.Steps).Draw(t, "step")
		said := copyReply(t, g.Pairs[i])
		if rapid.Bool().Draw(t, "wrong") {
			said, _ = corrupted(t, g.Pairs[i])
		}
		laterReply(said, rapid.Int64Range(0, 3).Draw(t, "off by"))
		a, b := g.Forced(), h.Forced()
		a.Bare, b.Bare = true, true
		x := a.Step(i, text0(t, g.Pairs[i].Req, said), nil)
		laterReply(said, seconds)
		y := b.Step(i, text0(t, h.Pairs[i].Req, said), nil)
		require.Equal(t, x.Stage, y.Stage, "%v, %v", x.Diffs, y.Diffs)
		require.Equal(t, x.Credit, y.Credit)
	})
}

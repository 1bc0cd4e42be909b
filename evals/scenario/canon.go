package scenario

// The canonical form of a recording: what depends on scheduling, on the machine
// or on chance is replaced by what depends on the scenario alone.
//
//   - Requests of a window are put in the order in which the kernel made them,
//     which their unique numbers tell; those that waited beyond their window come
//     where their answer did. FORGETs, which come whenever a reader has time for
//     them, stand at the window's end, as one BATCH_FORGET where there are several.
//   - INTERRUPTs that interrupted nothing are left out; so is all but the first
//     mount's INIT.
//   - unique numbers, pids, lock owners and user-space addresses are counted from
//     1 by first appearance; the parts of names that programs draw at random, too.
//   - The clock is driven by the requests in this order.

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/fuseraw"
	"github.com/llmfs-raw/llmfs-raw/internal/trace"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// canonical orders and renumbers a tape. The pairs' replies are still those of
// the recording.
func canonical(tape []taken) []*trace.Pair {
	tape = slices.DeleteFunc(tape, func(t taken) bool { return t.noise(tape) })
	slices.SortStableFunc(tape, order)
	var pairs []*trace.Pair
	for _, t := range gather(tape) {
		pairs = append(pairs, t.pair)
	}
	n := newNumbers()
	for _, p := range pairs {
		n.request(p)
	}
	for _, p := range pairs {
		if in, ok := p.Req.In.(*fuse.InterruptIn); ok {
			in.Unique = n.seen[in.Unique]
		}
	}
	return pairs
}

// noise is what says nothing about the scenario.
func (t taken) noise(tape []taken) bool {
	switch in := t.pair.Req.In.(type) {
	case *fuse.InitIn:
		return t.mount > 0
	case *fuse.InterruptIn:
		return !slices.ContainsFunc(tape, func(o taken) bool {
			return o.mount == t.mount && o.pair.Req.Header.Unique == in.Unique && o.pair.Note == fuseraw.NoteInterrupted
		})
	}
	return false
}

func order(a, b taken) int {
	return cmp.Or(
		cmp.Compare(a.window, b.window),
		cmp.Compare(a.class(), b.class()),
		cmp.Compare(a.mount, b.mount),
		cmp.Compare(a.rank(), b.rank()))
}

// rank is the unique number, but that an INTERRUPT comes before what it ends.
// The kernel numbers requests by twos.
func (t taken) rank() uint64 {
	if in, ok := t.pair.Req.In.(*fuse.InterruptIn); ok {
		return in.Unique
	}
	if t.pair.Note == fuseraw.NoteInterrupted {
		return t.pair.Req.Header.Unique + 1
	}
	return t.pair.Req.Header.Unique
}

// class puts what comes at its own time at the end of a window.
func (t taken) class() int {
	switch {
	case len(forgets(t.pair.Req)) > 0:
		return 2
	case t.late:
		return 1
	}
	return 0
}

// forgets is what a FORGET or BATCH_FORGET takes back.
func forgets(r *proto.Request) []proto.ForgetOne {
	switch in := r.In.(type) {
	case *fuse.ForgetIn:
		return []proto.ForgetOne{{NodeId: r.Header.NodeId, Nlookup: in.Nlookup}}
	case *proto.BatchForgetIn:
		list, _ := r.List.([]proto.ForgetOne)
		return list
	}
	return nil
}

// gather makes one request of all FORGETs of a window.
func gather(tape []taken) (out []taken) {
	for i := 0; i < len(tape); {
		if tape[i].class() != 2 {
			out = append(out, tape[i])
			i++
			continue
		}
		end := i
		counts := map[uint64]uint64{}
		for ; end < len(tape) && tape[end].class() == 2 && tape[end].window == tape[i].window; end++ {
			for _, one := range forgets(tape[end].pair.Req) {
				counts[one.NodeId] += one.Nlookup
			}
		}
		out = append(out, taken{pair: &trace.Pair{Req: forgetAll(counts)}})
		i = end
	}
	return out
}

func forgetAll(counts map[uint64]uint64) *proto.Request {
	var list []proto.ForgetOne
	for node, n := range counts {
		list = append(list, proto.ForgetOne{NodeId: node, Nlookup: n})
	}
	slices.SortFunc(list, func(a, b proto.ForgetOne) int { return cmp.Compare(a.NodeId, b.NodeId) })
	if len(list) == 1 {
		r := &proto.Request{Op: proto.OpForget, In: &fuse.ForgetIn{Nlookup: list[0].Nlookup}}
		r.Header.NodeId = list[0].NodeId
		return r
	}
	return &proto.Request{Op: proto.OpBatchForget, In: &proto.BatchForgetIn{Count: uint32(len(list))}, List: list}
}

// counter gives small numbers to large ones.
type counter map[uint64]uint64

func (c counter) of(n uint64) uint64 {
	if n == 0 {
		return 0
	}
	if c[n] == 0 {
		c[n] = uint64(len(c)) + 1
	}
	return c[n]
}

// numbers renames what is numbered or named by chance.
type numbers struct {
	clock  clock
	unique uint64
	seen   map[uint64]uint64 // unique numbers as they were, for INTERRUPT
	pids   counter
	owners map[holder]uint64
	random map[string]string
}

func newNumbers() *numbers {
	return &numbers{seen: map[uint64]uint64{}, pids: counter{}, owners: map[holder]uint64{}, random: map[string]string{}}
}

func (n *numbers) request(p *trace.Pair) {
	h := &p.Req.Header
	n.unique++
	n.seen[h.Unique] = n.unique
	h.Unique = n.unique
	h.Pid = n.pid(h.Pid)
	h.Now = n.clock.tick(p.Req.Op)
	for i, name := range p.Req.Names {
		p.Req.Names[i] = n.name(h.Comm, name)
	}
	if p.Req.In != nil {
		n.fields(reflect.ValueOf(p.Req.In).Elem(), holderOf(p.Req))
		if in, ok := p.Req.In.(*fuse.SetAttrIn); ok {
			nowOf(in, h.Now)
		}
	}
	if p.Rep != nil {
		if out, ok := p.Rep.Out.(*fuse.LkOut); ok {
			out.Lk.Pid = n.pid(out.Lk.Pid)
		}
	}
}

// pid leaves alone what stands for no process: 0, and -1 of locks of open files.
func (n *numbers) pid(pid uint32) uint32 {
	if pid == math.MaxUint32 {
		return pid
	}
	return uint32(n.pids.of(uint64(pid)))
}

// fields renames by the names that the kernel's structs have for such things.
func (n *numbers) fields(in reflect.Value, by holder) {
	for i := range in.NumField() {
		f, field := in.Type().Field(i), in.Field(i)
		switch {
		case f.Type == reflect.TypeFor[fuse.InHeader]():
		case f.Type.Kind() == reflect.Struct:
			n.fields(field, by)
		case f.Name == "LockOwner" && field.CanUint(), f.Name == "Owner" && field.CanUint():
			field.SetUint(n.owner(by, field.Uint()))
		case f.Name == "Pid" && field.CanUint():
			field.SetUint(uint64(n.pid(uint32(field.Uint()))))
		}
	}
	if in, ok := in.Addr().Interface().(*fuse.IoctlIn); ok {
		in.Arg = min(in.Arg, 1) // an address
	}
}

// holder tells owners of locks apart. The kernel scrambles the address of an open
// file for flock(2), and of a process's table of files for fcntl(2); addresses are
// used again, but not by the same handle or process.
type holder struct{ owner, pid, fh uint64 }

func holderOf(r *proto.Request) holder {
	switch in := r.In.(type) {
	case *fuse.LkIn:
		if in.LkFlags&fuse.LK_FLOCK != 0 {
			return holder{fh: in.Fh}
		}
	case *fuse.ReleaseIn:
		return holder{fh: in.Fh}
	}
	return holder{pid: uint64(r.Header.Pid)}
}

func (n *numbers) owner(by holder, owner uint64) uint64 {
	if owner == 0 {
		return 0
	}
	if by.fh == 0 {
		by.owner = owner
	}
	if n.owners[by] == 0 {
		n.owners[by] = uint64(len(n.owners)) + 1
	}
	return n.owners[by]
}

// nowOf: times that are to be the present one carry the kernel's clock along.
func nowOf(in *fuse.SetAttrIn, now proto.Time) {
	if in.Valid&fuse.FATTR_ATIME_NOW != 0 {
		in.Atime, in.Atimensec = uint64(now.Sec), now.Nsec
	}
	if in.Valid&fuse.FATTR_MTIME_NOW != 0 {
		in.Mtime, in.Mtimensec = uint64(now.Sec), now.Nsec
	}
}

// temporary are the names that programs make with random letters, by program.
var temporary = map[string]*regexp.Regexp{
	"git": regexp.MustCompile(`^(tmp_obj_|tmp_pack_|tmp_idx_|tmp_rev_|t)([A-Za-z0-9]{6})$`),
	"sed": regexp.MustCompile(`^(sed)([A-Za-z0-9]{6})$`),
}

func (n *numbers) name(comm, name string) string {
	pattern := temporary[comm]
	if pattern == nil {
		return name
	}
	m := pattern.FindStringSubmatch(name)
	if m == nil {
		return name
	}
	if n.random[name] == "" {
		n.random[name] = fmt.Sprintf("%s%0*d", m[1], len(m[2]), len(n.random)+1)
	}
	return n.random[name]
}

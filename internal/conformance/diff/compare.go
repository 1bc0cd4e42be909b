// What has to be equal on both sides, and how unequal things are named.

package diff

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// difference is one thing that is not equal. Op is the operation that showed it, with an empty
// Call at the end of a sequence.
type difference struct {
	Mode      *Mode
	Op        Op
	History   []string // calls that succeeded
	Since     []string // those since the object was last seen
	What      string   // object or result
	Field     string
	Want, Got any
	WantStat  Stat
	GotStat   Stat
	Object    *object
}

func (d difference) String() string {
	return fmt.Sprintf("%s: %s: tmpfs %v, mount %v", d.What, d.Field, brief(d.Want), brief(d.Got))
}

func brief(v any) any {
	if s, ok := v.(string); ok && len(s) > 120 {
		return fmt.Sprintf("%q… of %d bytes", s[:60], len(s))
	}
	if s, ok := v.(string); ok {
		return fmt.Sprintf("%q", s)
	}
	return v
}

// object is what is known of one inode: its number on the mount and how both sides last showed it.
type object struct {
	gotIno    uint64
	want, got Stat
	withBirth bool
	calls     map[string]bool // made on it; in quiet sequences, on anything
	seenAt    int             // length of the history when it was last seen
}

// comparer holds one sequence's knowledge about objects, by their tmpfs inode number.
type comparer struct {
	mode    *Mode
	objects map[uint64]*object
	pids    [2]map[int]string // process ids of the workers
	calls   map[string]bool   // made while nothing was looked at
	ended   bool              // an exclusion ends the sequence
	diffs   []difference
	op      Op
	made    string   // op.Call, with " failed" after it if the call did
	history []string // calls that succeeded
}

func (c *comparer) note(d difference) {
	d.Mode, d.Op, d.History = c.mode, c.op, c.history
	if d.Object != nil {
		d.Since = c.history[d.Object.seenAt:]
	}
	x := exclusionOf(d)
	if x == nil {
		c.diffs = append(c.diffs, d)
		return
	}
	c.ended = c.ended || x.Ends
}

func (c *comparer) equal(what, field string, want, got any) {
	if want != got {
		c.note(difference{What: what, Field: field, Want: want, Got: got})
	}
}

// results compares what a system call returned.
func (c *comparer) results(op Op, want, got result) []difference {
	c.begin(op, want.Errno == 0)
	c.equal("result", "errno", errnoName(want.Errno), errnoName(got.Errno))
	c.equal("result", "value", want.Val, got.Val)
	c.equal("result", "process", c.process(0, want.Pid), c.process(1, got.Pid))
	if !bytes.Equal(want.Text, got.Text) {
		c.note(firstDifference(want.Text, got.Text))
	}
	if len(want.Stats) == 0 {
		c.calls[c.made] = true
	}
	c.stats(want.Stats, got.Stats)
	return c.diffs
}

func (c *comparer) begin(op Op, ok bool) {
	c.op, c.made, c.diffs = op, op.Call, nil
	if ok {
		c.history = append(c.history, op.Call)
	} else {
		c.made += " failed"
	}
}

func (c *comparer) process(side, pid int) string {
	if name, known := c.pids[side][pid]; known {
		return name
	}
	return fmt.Sprint(pid)
}

// firstDifference shows two texts from the first byte that differs.
func firstDifference(want, got []byte) difference {
	at := 0
	for at < len(want) && at < len(got) && want[at] == got[at] {
		at++
	}
	return difference{What: fmt.Sprintf("result of %d and %d bytes", len(want), len(got)),
		Field: fmt.Sprintf("from byte %d", at), Want: string(want[at:]), Got: string(got[at:])}
}

func (c *comparer) stats(want, got []Stat) {
	c.equal("result", "number of stats", len(want), len(got))
	back := make(map[uint64]uint64)
	for i := range min(len(want), len(got)) {
		c.stat(want[i], got[i], back)
	}
}

var statFields = []struct {
	name string
	get  func(Stat) any
}{
	{"errno", func(s Stat) any { return errnoName(s.Errno) }},
	{"mode", func(s Stat) any { return fmt.Sprintf("%#o", s.Mode) }},
	{"nlink", func(s Stat) any { return s.Nlink }},
	{"uid", func(s Stat) any { return s.UID }},
	{"gid", func(s Stat) any { return s.GID }},
	{"size", func(s Stat) any { return s.Size }},
	{"blocks", func(s Stat) any { return s.Blocks }},
	{"blksize", func(s Stat) any { return s.Blksize }},
	{"rdev", func(s Stat) any { return fmt.Sprintf("%d:%d", s.RdevMaj, s.RdevMin) }},
	{"has btime", func(s Stat) any { return s.HasBirth }},
	{"atime", func(s Stat) any { return timeClass(s.Atime) }},
	{"mtime", func(s Stat) any { return timeClass(s.Mtime) }},
	{"ctime", func(s Stat) any { return timeClass(s.Ctime) }},
}

// stat compares two answers about the same thing. back maps inode numbers of the mount to those
// of the tmpfs, for one moment.
func (c *comparer) stat(want, got Stat, back map[uint64]uint64) {
	obj := c.object(want, got)
	for _, f := range statFields {
		if w, g := f.get(want), f.get(got); w != g {
			c.note(difference{What: want.What, Field: f.name, Want: w, Got: g, WantStat: want, GotStat: got, Object: obj})
		}
	}
	if want.Errno != 0 || got.Errno != 0 {
		return
	}
	c.identity(want, got, obj, back)
	c.changes(want, got, obj)
}

// object is the record of the inode that both sides showed.
func (c *comparer) object(want, got Stat) *object {
	obj := c.objects[want.Ino]
	if obj == nil {
		obj = &object{gotIno: got.Ino, calls: make(map[string]bool)}
		if want.Errno == 0 && got.Errno == 0 {
			c.objects[want.Ino] = obj
		}
	}
	obj.calls[c.made] = true
	maps.Copy(obj.calls, c.calls)
	return obj
}

// identity demands that two names are one inode on the mount just where they are on the tmpfs.
func (c *comparer) identity(want, got Stat, obj *object, back map[uint64]uint64) {
	if obj.gotIno != got.Ino {
		c.note(difference{What: want.What, Field: "inode", Want: "same as before", Got: "another", WantStat: want})
		obj.gotIno = got.Ino
	}
	if other, seen := back[got.Ino]; seen && other != want.Ino {
		c.note(difference{What: want.What, Field: "inode", Want: "another", Got: "same as one beside", WantStat: want})
	}
	back[got.Ino] = want.Ino
}

// changes demands that times have changed since the object was last seen on both sides or none.
func (c *comparer) changes(want, got Stat, obj *object) {
	if obj.want.Errno == 0 && obj.want.Mode != 0 {
		c.changed(want, obj, "mtime", obj.want.Mtime != want.Mtime, obj.got.Mtime != got.Mtime)
		c.changed(want, obj, "ctime", obj.want.Ctime != want.Ctime, obj.got.Ctime != got.Ctime)
	}
	if want.HasBirth && got.HasBirth {
		if obj.withBirth {
			c.changed(want, obj, "btime", false, obj.got.Birth != got.Birth)
		}
		obj.withBirth = true
	} else {
		got.Birth = obj.got.Birth
	}
	obj.want, obj.got, obj.seenAt = want, got, len(c.history)
}

func (c *comparer) changed(st Stat, obj *object, field string, want, got bool) {
	if want != got {
		words := map[bool]string{true: "changed", false: "unchanged"}
		c.note(difference{What: st.What, Field: field, Want: words[want], Got: words[got], WantStat: st, Object: obj})
	}
}

// timeClass is a time that was set explicitly, exactly, or "now" for one near the clock's.
func timeClass(ts unix.StatxTimestamp) string {
	now := time.Now().Unix()
	if ts.Sec > now-86400 && ts.Sec < now+86400 {
		return "now"
	}
	return fmt.Sprintf("%d.%09d", ts.Sec, ts.Nsec)
}

// trees compares two walks of the whole tree.
func (c *comparer) trees(want, got []Node) []difference {
	c.begin(Op{}, true)
	byPath := func(x, y Node) int { return strings.Compare(x.Path, y.Path) }
	slices.SortFunc(want, byPath)
	slices.SortFunc(got, byPath)
	c.equal("tree", "paths", pathsOf(want), pathsOf(got))
	if len(c.diffs) > 0 {
		return c.diffs
	}
	back := make(map[uint64]uint64)
	for i, w := range want {
		g := got[i]
		c.stat(w.Stat, g.Stat, back)
		c.equal(w.Path, "inode number in directory", w.DirIno, g.DirIno)
		c.equal(w.Path, "type in directory", w.DirType, g.DirType)
		c.equal(w.Path, "content", w.Content, g.Content)
		c.equal(w.Path, "xattrs", strings.Join(w.Xattrs, " "), strings.Join(g.Xattrs, " "))
	}
	return c.diffs
}

func pathsOf(nodes []Node) string {
	var paths []string
	for _, n := range nodes {
		paths = append(paths, n.Path)
	}
	return strings.Join(paths, " ")
}

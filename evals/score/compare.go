package score

// A reply against gold, field by field.

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// Diff is a field that is not as it should be.
type Diff = evals.Diff

func diff(path string, c Class, want, have string) Diff {
	return Diff{Path: path, Class: string(c), Want: want, Have: have}
}

// comparison is of one reply with gold's.
type comparison struct {
	gold     *Gold
	req      *proto.Request // as gold has it
	renaming *renaming      // what the reply binds is bound here

	right, total int // fields
	diffs        []Diff
}

// check counts a field.
func (c *comparison) check(right bool, d Diff) bool {
	c.total++
	if right {
		c.right++
	} else {
		c.diffs = append(c.diffs, d)
	}
	return right
}

func (c *comparison) credit() float64 {
	if c.total == 0 {
		return 1
	}
	return float64(c.right) / float64(c.total)
}

// reply compares two replies. before is what the model has told of a listing.
func (c *comparison) reply(p page, before []told, want, have *proto.Reply) {
	wanted, had := errnoOf(c.req.Op, want), errnoOf(c.req.Op, have)
	if !c.check(sameErrno(c.req.Op, wanted, had), diff("Errno", Determined, errnoText(wanted), errnoText(had))) || wanted != 0 {
		return
	}
	if want.Out != nil && have.Out != nil {
		c.fields("Out.", c.req.Header.NodeId, want.Out, have.Out)
	}
	switch c.req.Op.Row().Reply {
	case proto.ReplyBytes, proto.ReplyStructBytes, proto.ReplySizeOrBytes:
		c.data(want, have)
	case proto.ReplyEntries, proto.ReplyEntriesPlus:
		c.entries(p, before, have.Entries)
	}
}

// fields compares two structs of one type, by pointers to them. node is gold's
// number of the node that they are about, where they do not say so themselves.
func (c *comparison) fields(path string, node uint64, want, have any) {
	w, h := reflect.ValueOf(want).Elem(), reflect.ValueOf(have).Elem()
	if w.Type() != h.Type() {
		c.check(false, diff(path, Determined, w.Type().Name(), h.Type().Name()))
		return
	}
	list := fieldsOf(w.Type())
	for i := range list {
		f := &list[i]
		if f.class.kind == Node {
			node = number(w.FieldByIndex(f.at))
		}
		c.field(path, f, node, w, h)
	}
}

func (c *comparison) field(path string, f *field, node uint64, w, h reflect.Value) {
	wantOwner, haveOwner := w.FieldByIndex(f.owner), h.FieldByIndex(f.owner)
	if f.class.Class == Free || f.class.free != nil && f.class.free(wantOwner, haveOwner) {
		return
	}
	if f.nsec != nil {
		c.time(path, f, w, h)
		return
	}
	want, have := w.FieldByIndex(f.at), h.FieldByIndex(f.at)
	d := diff(path+f.path, f.class.Class, text(want), text(have))
	switch f.class.Class {
	case Determined:
		c.check(number(want) == number(have), d)
	case Bounded:
		c.check(f.class.within(wantOwner, haveOwner), d)
	case Renamed:
		gold := name{kind: f.class.kind, n: number(want)}
		if gold.kind == Generation {
			gold.scope = node
		}
		c.check(c.renaming.match(gold, number(have)), c.translated(d, gold))
	}
}

// translated says which number of the model would have been right, where that
// is known and not the same as gold's.
func (c *comparison) translated(d Diff, gold name) Diff {
	if model, ok := c.renaming.model(gold); ok && model != gold.n {
		d.Want = strconv.FormatUint(model, 10)
	}
	return d
}

func (c *comparison) time(path string, f *field, w, h reflect.Value) {
	want, have := f.timeAt(w), f.timeAt(h)
	right, class := c.gold.nows.holds(want, have, c.req.Header.Now)
	if f.class.within != nil {
		right, class = f.class.within(w.FieldByIndex(f.owner), h.FieldByIndex(f.owner)), Bounded
	}
	c.check(right, diff(path+f.path, class, timeText(want), timeText(have)))
}

// unknownInode is what a listing may say of a number that it does not know.
const unknownInode = 0xffffffff

// dirent compares an entry but for its cookie, which need not be gold's.
func (c *comparison) dirent(path string, want, have *proto.Dirent) {
	c.check(want.Type == have.Type, diff(path+".Type", Determined, strconv.Itoa(int(want.Type)), strconv.Itoa(int(have.Type))))
	if have.Ino != unknownInode {
		gold := name{kind: Ino, n: want.Ino}
		d := diff(path+".Ino", Renamed, strconv.FormatUint(want.Ino, 10), strconv.FormatUint(have.Ino, 10))
		c.check(c.renaming.match(gold, have.Ino), c.translated(d, gold))
	}
	if plus(c.req) && want.Entry.NodeId != 0 { // READDIR may have told it
		c.fields(path+".Entry.", 0, &want.Entry, &have.Entry)
	}
}

// data compares payloads; the names of extended attributes are a set.
func (c *comparison) data(want, have *proto.Reply) {
	if c.req.Op == proto.OpListxattr {
		w, h := xattrNames(want.Data), xattrNames(have.Data)
		c.check(slices.Equal(w, h), diff("Data", Set, offset(0).excerpt(want.Data), offset(0).excerpt(have.Data)))
		return
	}
	from := differ(want.Data, have.Data)
	c.check(bytes.Equal(want.Data, have.Data), diff("Data", Determined, from.excerpt(want.Data), from.excerpt(have.Data)))
}

func xattrNames(b []byte) (list []string) {
	for n := range bytes.SplitSeq(bytes.TrimSuffix(b, []byte{0}), []byte{0}) {
		list = append(list, string(n))
	}
	slices.Sort(list)
	return list
}

// offset is a place in a payload.
type offset int

// differ is a little before the first byte that differs.
func differ(a, b []byte) offset {
	const before = 8
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return offset(max(0, n-before))
}

// excerpt is a payload from there on, and its length.
func (from offset) excerpt(b []byte) string {
	const most = 64
	rest := b[min(int(from), len(b)):]
	switch {
	case len(b) <= most:
		return strconv.Quote(string(b))
	case from > 0:
		return fmt.Sprintf("%q at %d of %d bytes", rest[:min(most, len(rest))], from, len(b))
	}
	return fmt.Sprintf("%q… (%d bytes)", rest[:most], len(b))
}

package schema

// The successes that a row allows.

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// parts are the members of a success after its errno.
type parts struct{ out, data, entries bool }

// successes are the parts of each kind of reply; out goes where a row has none.
var successes = [...][]parts{
	proto.ReplyStruct:      {{out: true}},
	proto.ReplyBytes:       {{data: true}},
	proto.ReplyStructBytes: {{out: true, data: true}},
	proto.ReplySizeOrBytes: {{out: true}, {data: true}},
	proto.ReplyEntries:     {{entries: true}},
	proto.ReplyEntriesPlus: {{entries: true}},
	proto.ReplyNone:        nil,
	proto.ReplyIgnored:     {{out: true}},
}

// alternative is one success of a schema.
type alternative struct {
	parts
	variant
	notify bool
}

// alternatives lists the successes of a schema, the shortest first.
func alternatives(row *proto.Row, form Form) []alternative {
	var list []alternative
	for _, p := range successes[row.Reply] {
		p.out = p.out && row.Out != nil
		if form == Lean {
			list = append(list, leanOnes(row, p)...)
		}
		list = append(list, alternative{parts: p})
		if carriesEntry(row, p) {
			list = append(list, alternative{parts: p, notify: true})
		}
	}
	return list
}

// leanOnes are the successes that leave something out. Where the content of
// the one entry comes with it, its size is left out, too.
func leanOnes(row *proto.Row, p parts) []alternative {
	s, ok := mainShape(row, p)
	if !ok || s.least(lean) == full {
		return nil
	}
	list := []alternative{{parts: p, variant: lean}}
	if keeps(row) {
		list = append([]alternative{{parts: p, variant: unsaid}}, list...)
	}
	if !carriesEntry(row, p) {
		return list
	}
	if p.entries {
		return append(list, alternative{p, lean, true})
	}
	return append(list, alternative{p, stored, true})
}

// mainShape is the shape of the part that can have a lean variant.
func mainShape(row *proto.Row, p parts) (shape, bool) {
	switch {
	case p.out:
		return shapeOf(reflect.TypeOf(row.Out).Elem()), true
	case p.entries:
		return direntShape(row.Reply == proto.ReplyEntriesPlus), true
	}
	return shape{}, false
}

func carriesEntry(row *proto.Row, p parts) bool {
	s, ok := mainShape(row, p)
	return ok && (s.name == entryType.Name() || s.holdsEntry())
}

var entryType = reflect.TypeFor[fuse.EntryOut]()

func (s shape) holdsEntry() bool {
	for _, f := range s.fields {
		if f.Type == entryType || f.Type.Kind() == reflect.Struct && shapeOf(f.Type).holdsEntry() {
			return true
		}
	}
	return false
}

// success is the mirror of an alternative.
func (b *builder) success(row *proto.Row, a alternative) reflect.Type {
	list := []mirrored{{"Errno", reflect.TypeFor[zero](), ""}}
	main, _ := mainShape(row, a.parts)
	if a.out {
		list = append(list, mirrored{"Out", b.of(main, a.variant), ""})
	}
	if a.data {
		list = append(list, mirrored{"Data", reflect.TypeFor[[]byte](), ""})
	}
	if a.entries {
		list = append(list, mirrored{"Entries", reflect.SliceOf(b.of(main, a.variant)), atMost(maxEntries)})
	}
	if a.notify {
		list = append(list, mirrored{"Notify", reflect.SliceOf(b.notifications(a.variant)), atMost(maxNotify)})
	}
	var name strings.Builder
	for _, m := range list[1:] {
		name.WriteString(m.name)
	}
	return b.mirrors.define("Success"+name.String()+suffixes[a.variant], "", list)
}

func atMost(n int) string { return fmt.Sprintf("maxItems=%d", n) }

// notifications is the element of Notify: with a lean reply, content alone.
func (b *builder) notifications(v variant) reflect.Type {
	if v == full {
		return reflect.TypeFor[notification]()
	}
	for _, form := range notifyForms() {
		if form.Code == proto.NotifyStore {
			return b.notifyMirror(form, lean)
		}
	}
	panic("schema: there is no STORE")
}

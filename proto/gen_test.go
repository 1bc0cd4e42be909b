package proto

// Generators of messages for the property tests and benchmarks.

import (
	"reflect"
	"syscall"
	"unsafe"

	"github.com/hanwen/go-fuse/v2/fuse"
	"pgregory.net/rapid"
)

var whole = Wire{Minor: Minor, SetxattrExt: true}

// fill draws every field of the JSON form; filler stays zero, as the kernel
// and the codec leave it.
func fill(t *rapid.T, l *layout, p unsafe.Pointer) {
	for i := range l.fields {
		f := &l.fields[i]
		at := reflect.NewAt(f.typ, unsafe.Add(p, f.offset)).Elem()
		switch f.kind {
		case kindStruct:
			fill(t, f.sub, unsafe.Add(p, f.offset))
		case kindInt32:
			at.SetInt(int64(rapid.Int32().Draw(t, f.name)))
		case kindInt64:
			at.SetInt(rapid.Int64().Draw(t, f.name))
		case kindUint16, kindUint32, kindUint64:
			at.SetUint(rapid.Uint64().Draw(t, f.name) >> (64 - f.typ.Bits()))
		}
	}
}

func drawStruct(t *rapid.T, l *layout) any {
	if l == nil {
		return nil
	}
	v, p := l.alloc()
	fill(t, l, p)
	return v
}

// name draws bytes that a name may have: any but NUL, often text.
func name() *rapid.Generator[string] {
	raw := rapid.Map(rapid.SliceOfN(rapid.ByteRange(1, 255), 0, 20), func(b []byte) string { return string(b) })
	text := rapid.StringOfN(rapid.RuneFrom([]rune("a.é\"\\\n\t\x01\x7f\u2028😀")), 0, 20, -1)
	return rapid.OneOf(raw, text, rapid.Just(""), rapid.Just("hello.txt"))
}

func payload() *rapid.Generator[[]byte] {
	return rapid.OneOf(rapid.SliceOfN(rapid.Byte(), 0, 50), rapid.Map(name(), func(s string) []byte { return []byte(s) }))
}

func drawRequest(t *rapid.T, row *Row) *Request {
	r := &Request{Op: row.Op, In: drawStruct(t, row.in)}
	r.Header = Header{
		Unique: rapid.Uint64().Draw(t, "unique"), NodeId: rapid.Uint64().Draw(t, "nodeid"),
		Uid: rapid.Uint32().Draw(t, "uid"), Gid: rapid.Uint32().Draw(t, "gid"), Pid: rapid.Uint32().Draw(t, "pid"),
	}
	r.Names = r.names[:row.Names]
	for i := range r.Names {
		r.Names[i] = name().Draw(t, "name")
	}
	if row.size != nil {
		r.Data = payload().Draw(t, "data")
		setUint(row.size, r.In, uint64(len(r.Data)))
	}
	if row.list != nil {
		drawList(t, r, row)
	}
	for range rapid.IntRange(0, 2).Draw(t, "extensions") {
		data := rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(t, "ext")
		r.Ext = append(r.Ext, Extension{Type: rapid.Uint32().Draw(t, "type"), Data: data})
	}
	return r
}

func drawList(t *rapid.T, r *Request, row *Row) {
	n := rapid.IntRange(0, 4).Draw(t, "count")
	list := reflect.MakeSlice(reflect.SliceOf(row.list.typ), n, n)
	for i := range n {
		fill(t, row.list, list.Index(i).Addr().UnsafePointer())
	}
	r.List = list.Interface()
	setUint(row.in.field("Count"), r.In, uint64(n))
}

func setUint(f *field, v any, n uint64) {
	reflect.NewAt(f.typ, unsafe.Add(reflect.ValueOf(v).UnsafePointer(), f.offset)).Elem().SetUint(n)
}

// drawReply draws a reply of the shape that req asks for; Size of the request
// is set to what the reply needs.
func drawReply(t *rapid.T, req *Request, row *Row) *Reply {
	if rapid.IntRange(0, 9).Draw(t, "fails") == 0 {
		return &Reply{Errno: syscall.Errno(rapid.IntRange(1, maxErrno-1).Draw(t, "errno"))}
	}
	r := &Reply{}
	if row.asked != nil {
		setUint(row.asked, req.In, rapid.SampledFrom([]uint64{0, 4096}).Draw(t, "size"))
	}
	want := row.shape(req)
	if want.out {
		r.Out = drawStruct(t, row.out)
	}
	if want.data {
		r.Data = payload().Draw(t, "data")
		if row.asked != nil {
			setUint(row.asked, req.In, 4096)
		}
	}
	if want.entries {
		setUint(row.asked, req.In, 4096)
		r.Entries = drawDirents(t, row.Reply == ReplyEntriesPlus)
	}
	return r
}

func drawDirents(t *rapid.T, plus bool) []Dirent {
	entries := make([]Dirent, rapid.IntRange(0, 5).Draw(t, "entries"))
	for i := range entries {
		l := direntLayout
		if plus {
			l = direntPlusLayout
		}
		fill(t, l, unsafe.Pointer(&entries[i]))
		entries[i].Name = name().Draw(t, "name")
	}
	return entries
}

// lookup is the benchmark's request and reply.
func lookup() (*Request, *Reply) {
	req := &Request{Op: OpLookup, Header: Header{Unique: 8, NodeId: 1, Pid: 412, Comm: "sh", Now: Time{Sec: 1767322445, Nsec: 6}}, Names: []string{"hello.txt"}}
	out := &fuse.EntryOut{NodeId: 2, Generation: 1, EntryValid: 3600, AttrValid: 3600}
	out.Attr = fuse.Attr{Ino: 2, Size: 12, Blocks: 8, Atime: 1767322445, Mtime: 1767322445, Ctime: 1767322445, Mode: 0o100644, Nlink: 1, Blksize: 4096}
	return req, &Reply{Out: out}
}

package trace

// Random pairs: a request and a reply of the shape that a row of the table
// asks for.

import (
	"reflect"
	"syscall"
	"time"

	"pgregory.net/rapid"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

var genPair = rapid.Custom(func(t *rapid.T) *Pair {
	row := rapid.SampledFrom(proto.Rows()).Draw(t, "row")
	p := &Pair{Req: genRequest(t, row), Took: time.Duration(rapid.Int64Min(0).Draw(t, "ns"))}
	if row.Reply != proto.ReplyNone {
		p.Rep = genReply(t, row, p.Req)
	}
	if rapid.Bool().Draw(t, "used") {
		p.Usage = Usage{InputTokens: rapid.IntRange(1, 1e9).Draw(t, "in"), OutputTokens: rapid.IntRange(0, 1e9).Draw(t, "out")}
	}
	p.Note = string([]rune(rapid.String().Draw(t, "note")))
	if rapid.Bool().Draw(t, "kernel") {
		p.Kernel = &Kernel{Req: rapid.SliceOf(rapid.Byte()).Draw(t, "kernel req")}
	}
	return p
})

func genRequest(t *rapid.T, row *proto.Row) *proto.Request {
	r := &proto.Request{Op: row.Op, In: row.NewIn()}
	fill(t, reflect.ValueOf(&r.Header).Elem())
	r.Header.Now.Nsec %= 1e9
	for range row.Names {
		r.Names = append(r.Names, rapid.StringMatching(`[^\x00]{0,20}`).Draw(t, "name"))
	}
	if r.In == nil {
		return r
	}
	in := reflect.ValueOf(r.In).Elem()
	fill(t, in)
	if f := in.FieldByName("Size"); f.IsValid() && row.Size == "" && row.Reply != proto.ReplyStruct {
		f.SetUint(rapid.SampledFrom([]uint64{0, 1 << 20}).Draw(t, "asked"))
	}
	if row.Size != "" {
		r.Data = rapid.SliceOf(rapid.Byte()).Draw(t, "data")
		in.FieldByName(row.Size).SetUint(uint64(len(r.Data)))
	}
	if row.List != nil {
		list := reflect.MakeSlice(reflect.SliceOf(reflect.TypeOf(row.List).Elem()), rapid.IntRange(0, 3).Draw(t, "count"), 3)
		for i := range list.Len() {
			fill(t, list.Index(i))
		}
		in.FieldByName("Count").SetUint(uint64(list.Len()))
		r.List = list.Interface()
	}
	return r
}

func genReply(t *rapid.T, row *proto.Row, req *proto.Request) *proto.Reply {
	r := &proto.Reply{Errno: syscall.Errno(rapid.SampledFrom([]int{0, 0, 0, 2, 39, 511}).Draw(t, "errno"))}
	if r.Errno != 0 {
		return r
	}
	if r.Out = row.NewOut(); r.Out != nil {
		fill(t, reflect.ValueOf(r.Out).Elem())
	}
	asked := uint64(1 << 20)
	if in := reflect.ValueOf(req.In); req.In != nil && in.Elem().FieldByName("Size").IsValid() {
		asked = in.Elem().FieldByName("Size").Uint()
	}
	if asked == 0 {
		return r
	}
	r.Data = rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "data")
	for range rapid.IntRange(0, 3).Draw(t, "entries") {
		var e proto.Dirent
		fill(t, reflect.ValueOf(&e).Elem())
		r.Entries = append(r.Entries, e)
	}
	return r
}

// fill sets all exported numbers and names of a struct, those that are no part
// of the JSON form included.
func fill(t *rapid.T, v reflect.Value) {
	switch {
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && v.Type().Field(i).Name != "InHeader" {
				fill(t, v.Field(i))
			}
		}
	case v.CanUint():
		v.SetUint(rapid.Uint64().Draw(t, "uint") & (1<<v.Type().Bits() - 1))
	case v.CanInt():
		v.SetInt(rapid.Int64().Draw(t, "int") >> (64 - v.Type().Bits()))
	case v.Kind() == reflect.String:
		v.SetString(rapid.StringMatching(`[^\x00]{0,20}`).Draw(t, "string"))
	}
}

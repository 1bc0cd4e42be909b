package schema

// Generators: requests and replies drawn by reflection.

import (
	"reflect"
	"strings"
	"syscall"

	"pgregory.net/rapid"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// fill draws every field of the JSON form of the struct v.
func fill(t *rapid.T, v reflect.Value) {
	for _, f := range proto.FieldsOf(v.Type()) {
		at := v.FieldByName(f.Name)
		switch {
		case f.Type.Kind() == reflect.Struct:
			fill(t, at)
		case f.Type.Kind() == reflect.String:
			at.SetString(string(drawBytes().Draw(t, f.Name)))
		case at.CanInt():
			at.SetInt(rapid.Int64().Draw(t, f.Name) >> (64 - f.Type.Bits()))
		default:
			at.SetUint(rapid.Uint64().Draw(t, f.Name) >> (64 - f.Type.Bits()))
		}
	}
}

func drawBytes() *rapid.Generator[[]byte] {
	texts := rapid.StringOfN(rapid.RuneFrom([]rune("a.é\"\\\n\x01\u2028😀")), 0, 12, -1)
	return rapid.OneOf(
		rapid.SliceOfN(rapid.Byte(), 0, 40),
		rapid.Map(texts, func(s string) []byte { return []byte(s) }),
	)
}

// drawRequest draws what the reply's shape depends on.
func drawRequest(t *rapid.T, row *proto.Row) *proto.Request {
	req := &proto.Request{Op: row.Op, In: row.NewIn()}
	req.Header.NodeId = rapid.Uint64Range(1, 9).Draw(t, "node")
	if row.Reply == proto.ReplyStruct || req.In == nil {
		return req
	}
	if size := reflect.ValueOf(req.In).Elem().FieldByName("Size"); size.IsValid() {
		size.SetUint(rapid.SampledFrom([]uint64{0, 65536}).Draw(t, "size"))
	}
	return req
}

func drawReply(t *rapid.T, req *proto.Request) *proto.Reply {
	row := req.Op.Row()
	if rapid.IntRange(0, 9).Draw(t, "fails") == 0 {
		return &proto.Reply{Errno: syscall.Errno(rapid.IntRange(1, maxErrno).Draw(t, "errno"))}
	}
	r := &proto.Reply{}
	p := partsOf(req)
	if p.out {
		r.Out = row.NewOut()
		fill(t, reflect.ValueOf(r.Out).Elem())
	}
	if p.data {
		r.Data = drawBytes().Draw(t, "data")
	}
	if p.entries {
		r.Entries = make([]proto.Dirent, rapid.IntRange(0, 4).Draw(t, "entries"))
		for i := range r.Entries {
			fill(t, reflect.ValueOf(&r.Entries[i]).Elem())
		}
	}
	if carriesEntry(row, p) {
		r.Notify = drawNotify(t)
	}
	return r
}

// partsOf chooses among the successes of the row as the request asks.
func partsOf(req *proto.Request) parts {
	row := req.Op.Row()
	list := successes[row.Reply]
	p := list[0]
	if n, _ := requestUint(req, "Size"); len(list) > 1 && n > 0 {
		p = list[1]
	}
	p.out = p.out && row.Out != nil
	return p
}

func drawNotify(t *rapid.T) []proto.Notification {
	var list []proto.Notification
	for range rapid.IntRange(0, 3).Draw(t, "notify") {
		form := rapid.SampledFrom(proto.NotifyForms()).Draw(t, "code")
		out := reflect.New(form.Out)
		for _, f := range form.Fields {
			if v := out.Elem().FieldByName(f.Name); v.CanUint() {
				v.SetUint(rapid.Uint64().Draw(t, f.Name) >> (64 - f.Type.Bits()))
			} else {
				v.SetInt(rapid.Int64().Draw(t, f.Name))
			}
		}
		n := proto.Notification{Code: form.Code, Out: out.Interface()}
		if form.Name {
			n.Name = strings.ReplaceAll(string(drawBytes().Draw(t, "name")), "\x00", "")
		}
		if form.Data {
			n.Data = drawBytes().Draw(t, "stored")
		}
		list = append(list, n)
	}
	return list
}

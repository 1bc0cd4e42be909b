package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// forReplies runs check with generated replies of every kind.
func forReplies(t *testing.T, check func(*rapid.T, *proto.Request, *proto.Reply, []byte)) {
	done := map[string]bool{} // many opcodes have the same replies
	for _, row := range proto.Rows() {
		s := For(row.Op, All)
		if s == nil || done[string(s.JSON)] {
			continue
		}
		done[string(s.JSON)] = true
		t.Run(row.Name, rapid.MakeCheck(func(t *rapid.T) {
			req := drawRequest(t, row)
			reply := drawReply(t, req)
			json, err := proto.AppendReplyJSON(nil, req, reply)
			require.NoError(t, err)
			check(t, req, reply, json)
		}))
	}
}

func TestSchemasAcceptWhatTheCodecWrites(t *testing.T) {
	forReplies(t, func(t *rapid.T, req *proto.Request, _ *proto.Reply, json []byte) {
		require.NoError(t, Validate(req.Op, All, Wrap(json)), "%s", json)
		require.NoError(t, Validate(req.Op, Lean, Wrap(json)), "%s", json)
	})
}

var outOfRange = regexp.MustCompile(`exceeds u?int64|is below u?int64`)

// What validates decodes, but for integers in quotes out of range: patterns
// can't bound them.
func TestWhatValidatesDecodes(t *testing.T) {
	valid := map[bool]int{}
	forReplies(t, func(t *rapid.T, req *proto.Request, _ *proto.Reply, text []byte) {
		var doc any
		require.NoError(t, json.Unmarshal(text, &doc))
		doc = spoil(rand.New(rand.NewSource(int64(rapid.Int32().Draw(t, "seed")))), doc)
		spoilt, err := json.Marshal(doc)
		require.NoError(t, err)
		invalid := Validate(req.Op, All, Wrap(spoilt))
		valid[invalid == nil]++
		_, err = proto.ParseReplyJSON(req, spoilt)
		if invalid == nil && err != nil && !outOfRange.MatchString(err.Error()) && !otherHalf(req, err) {
			t.Fatalf("%s validates: %v", spoilt, err)
		}
	})
	assert.Greater(t, valid[false], 500, "mutations that do no harm show nothing")
}

// otherHalf: the schema has both successes of size-or-bytes, of which the
// request asks for one.
func otherHalf(req *proto.Request, err error) bool {
	return req.Op.Row().Reply == proto.ReplySizeOrBytes && regexp.MustCompile(`(Data|Out): is (unknown|missing)`).MatchString(err.Error())
}

var wrongs = []any{nil, true, "x", -1, 1.5, 1 << 33, "18446744073709551616", []any{}, map[string]any{}, map[string]any{"base64": "A"}}

// spoil changes one value, takes out a member or adds one, somewhere.
func spoil(r *rand.Rand, v any) any {
	switch v := v.(type) {
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		name := names[r.Intn(len(names))]
		switch r.Intn(6) {
		case 0:
			delete(v, name)
		case 1:
			v["Extra"] = 0
		default:
			v[name] = spoil(r, v[name])
		}
		return v
	case []any:
		if len(v) > 0 && r.Intn(4) > 0 {
			i := r.Intn(len(v))
			v[i] = spoil(r, v[i])
			return v
		}
	}
	return wrongs[r.Intn(len(wrongs))]
}

// entry is a whole reply to LOOKUP, to be spoilt.
const entry = `{"Errno":0,"Out":{"NodeId":2,"Generation":0,"EntryValid":1,"AttrValid":1,"EntryValidNsec":0,"AttrValidNsec":0,` +
	`"Attr":{"Ino":2,"Size":12,"Blocks":8,"Atime":1,"Mtime":1,"Ctime":1,"Atimensec":0,"Mtimensec":0,"Ctimensec":0,` +
	`"Mode":33188,"Nlink":1,"Owner":{"Uid":0,"Gid":0},"Rdev":0,"Blksize":4096,"Flags":0}}}`

const stat = `"Atime":1,"Mtime":1,"Ctime":1,"Mode":33188,"Nlink":1,"Owner":{"Uid":0,"Gid":0}`

func TestErrorsAreInWordsToMendThem(t *testing.T) {
	for _, c := range []struct {
		op    proto.Opcode
		form  Form
		reply string
		want  string
	}{
		{proto.OpLookup, All, entry, ""},
		{proto.OpLookup, All, edit(`"Mode":33188`, `"Mode":"-rw-r--r--"`), `Out.Attr.Mode: have "-rw-r--r--", want an integer`},
		{proto.OpLookup, All, edit(`"Mode":33188`, `"Mode":4294967296`), "Out.Attr.Mode: have 4294967296, want an integer of at most 4294967295"},
		{proto.OpLookup, All, edit(`"Mode":33188,`, ``), "Out.Attr.Mode: have nothing, want a value"},
		{proto.OpLookup, All, edit(`"Mode":33188`, `"Mode":33188,"Type":8`), "Out.Attr.Type: have 8, want no such member here"},
		{proto.OpLookup, All, edit(`"Size":12`, `"Size":null`), "Out.Attr.Size: have null, want an integer or a string"},
		{proto.OpLookup, All, edit(`"Size":12`, `"Size":-1`), "Out.Attr.Size: have -1, want an integer of at least 0"},
		{proto.OpLookup, All, edit(`"Size":12`, `"Size":"12 bytes"`), `Out.Attr.Size: have "12 bytes", want an integer in decimal digits`},
		{proto.OpLookup, All, edit(`"Size":12`, `"Size":12.0`), "with integers in plain digits, not 12.0"},
		{proto.OpLookup, All, edit(`"Size":12`, `"Size":12,"Size":13`), `with no member twice, not even "Size"`},
		{proto.OpLookup, All, edit(`"Errno":0`, `"Errno":600`), "Errno: have 600, want an integer of at most 511 or an integer of at most 0"},
		{proto.OpLookup, All, edit(`"Errno":0`, `"Errno":"ENOENT"`), `Errno: have "ENOENT", want an integer`},
		{proto.OpLookup, All, edit(`"Errno":0,`, ``), "Errno: have nothing, want a value"},
		{proto.OpLookup, All, edit(`"Errno":0`, `"Errno":2`), "Out: have {"},
		{proto.OpLookup, All, `{"Errno":0}`, "Out: have nothing, want a value"},
		{proto.OpLookup, All, `[]`, "the reply: have [], want an object"},
		{proto.OpLookup, All, edit(`"Gid":0}`, `"Gid":0,"Pid":1}`), "Out.Attr.Owner.Pid: have 1, want no such member here"},
		{proto.OpLookup, All, edit(`}}}`, `}},"Notify":[{"Code":"FLUSH","Out":{}}]}`), `Notify[0].Code: have "FLUSH", want INVAL_INODE or INVAL_ENTRY or STORE or DELETE`},
		{proto.OpLookup, All, edit(`}}}`, `}},"Notify":[{"Code":"STORE","Out":{"Nodeid":2,"Offset":0},"Data":5}]}`), `Notify[0].Data: have 5, want a string or {"base64":"…"}`},
		{proto.OpLookup, Lean, `{"Errno":0,"Out":{"NodeId":2,"Attr":{"Size":1,` + stat + `}}}`, ""},
		{proto.OpLookup, Lean, `{"Errno":0,"Out":{"NodeId":2,"Attr":{` + stat + `}}}`, "Out.Attr.Size: have nothing, want a value"},
		{proto.OpLookup, Lean, `{"Errno":0,"Out":{"NodeId":2,"Attr":{` + stat + `}},"Notify":[{"Code":"STORE","Out":{"Nodeid":2},"Data":"x"}]}`, ""},
		{proto.OpLookup, All, `{"Errno":0,"Out":{"NodeId":2,"Attr":{"Size":1,` + stat + `}}}`, "Out.Generation: have nothing, want a value"},
		{proto.OpRead, All, `{"Errno":0,"Data":{"base64":"AP8"}}`, `Data.base64: have "AP8", want base64 (standard alphabet, padded)`},
		{proto.OpRead, All, `{"Errno":0,"Data":{"base64":"AP9="}}`, `Data.base64: have "AP9=", want base64`},
		{proto.OpRead, All, `{"Errno":0,"Data":[0]}`, `Data: have [0], want a string or {"base64":"…"}`},
		{proto.OpWrite, All, `{"Errno":0,"Out":{"Size":5},"Data":""}`, `Data: have "", want no such member here`},
		{proto.OpReaddir, All, `{"Errno":0,"Entries":[{"Ino":1,"Off":1,"Type":4,"Name":"."},{"Ino":1,"Off":"two","Type":4,"Name":".."}]}`, `Entries[1].Off: have "two", want an integer in decimal digits`},
		{proto.OpReaddir, All, `{"Errno":0,"Entries":[` + strings.Repeat(`{"Ino":1,"Off":1,"Type":4,"Name":"."},`, 1024) + `{"Ino":1,"Off":1,"Type":4,"Name":"."}]}`, "Entries: have 1025 elements, want at most 1024"},
	} {
		err := Validate(c.op, c.form, Wrap([]byte(c.reply)))
		if c.want == "" {
			assert.NoError(t, err, c.reply)
			continue
		}
		var invalid *Invalid
		require.True(t, errors.As(err, &invalid), "%s: %v", c.reply, err)
		assert.Contains(t, err.Error(), c.want, "%.300s", c.reply)
	}
}

func edit(old, new string) string { return strings.Replace(entry, old, new, 1) }

func TestWhatIsNoReply(t *testing.T) {
	for raw, want := range map[string]string{
		`{"Errno":2}`:                    "Errno: have 2, want no such member here",
		`Sure! {"Reply":{"Errno":2}}`:    "want one JSON value",
		`{"Reply":{"Errno":2}} Done.`:    "want one JSON value",
		"{\"Reply\":{\"Errno\":2},\xff}": "in UTF-8",
		``:                               "have nothing, want one JSON value",
		`{"Reply":{"Errno":2}`:           "want one JSON value",
	} {
		assert.ErrorContains(t, Validate(proto.OpLookup, All, []byte(raw)), want, raw)
	}
	assert.EqualError(t, Validate(proto.OpForget, All, []byte(`{}`)), "validate FORGET reply: the kernel takes none")
}

// Every pattern and type of the schemas has words of its own.
func TestEveryFindingHasWords(t *testing.T) {
	for _, s := range Schemas(Lean) {
		for _, m := range regexp.MustCompile(`"pattern":"([^"]*)"`).FindAllSubmatch(s.JSON, -1) {
			assert.Contains(t, wants, string(m[1]))
		}
	}
}

func FuzzReplies(f *testing.F) {
	f.Add(uint8(proto.OpLookup), []byte(entry))
	f.Add(uint8(proto.OpReaddirplus), []byte(`{"Errno":0,"Entries":[{"Entry":{"NodeId":2},"Name":"a"}]}`))
	f.Add(uint8(proto.OpRead), []byte(`{"Errno":0,"Data":{"base64":"AP8="}}`))
	f.Fuzz(func(t *testing.T, op uint8, reply []byte) {
		req := &proto.Request{Op: proto.Opcode(op)}
		row := req.Op.Row()
		if row == nil || row.Reply == proto.ReplyNone {
			return
		}
		req.In = row.NewIn()
		if full, err := Complete(req, reply, nil); err == nil {
			if r, err := proto.ParseReplyJSON(req, full); err == nil {
				_ = fmt.Sprint(Lines(Check(req, r, nil)))
			}
		}
		wrapped := Wrap(reply)
		_ = Validate(req.Op, Lean, wrapped)
		inner, err := Unwrap(wrapped)
		if err == nil && json.Valid(reply) {
			assert.JSONEq(t, string(reply), string(inner))
		}
	})
}

package proto

import (
	"bytes"
	"strings"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// good is a valid reply to LOOKUP, to be spoilt.
const good = `{"Errno":0,"Out":{"NodeId":2,"Generation":0,"EntryValid":1,"AttrValid":1,"EntryValidNsec":0,"AttrValidNsec":0,` +
	`"Attr":{"Ino":2,"Size":12,"Blocks":8,"Atime":1,"Mtime":1,"Ctime":1,"Atimensec":0,"Mtimensec":0,"Ctimensec":0,` +
	`"Mode":33188,"Nlink":1,"Owner":{"Uid":0,"Gid":0},"Rdev":0,"Blksize":4096,"Flags":0}}}`

func TestRepliesAreReadStrictly(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`"Mode":33188`, `"Mode":4294967296`, "Out.Attr.Mode: 4294967296 exceeds uint32"},
		{`"Mode":33188`, `"Mode":-1`, "Out.Attr.Mode: -1 is below uint32"},
		{`"Mode":33188`, `"Mode":1.5`, "Out.Attr.Mode: have 1.5, want an integer (uint32)"},
		{`"Mode":33188`, `"Mode":1e3`, "Out.Attr.Mode: have 1e3, want an integer (uint32)"},
		{`"Mode":33188`, `"Mode":0644`, "Out.Attr.Mode: have 0644, want an integer (uint32)"},
		{`"Mode":33188`, `"Mode":null`, "Out.Attr.Mode: have null, want an integer (uint32)"},
		{`"Mode":33188`, `"Mode":true`, "Out.Attr.Mode: have true, want an integer (uint32)"},
		{`"Mode":33188`, `"Mode":"-rw-r--r--"`, "Out.Attr.Mode: have -rw-r--r--, want an integer (uint32)"},
		{`"Mode":33188,`, ``, "Out.Attr.Mode: is missing"},
		{`"Mode":33188`, `"mode":33188`, "Out.Attr.mode: is unknown; it is written Mode"},
		{`"Mode":33188`, `"Permissions":33188`, "Out.Attr.Permissions: is unknown"},
		{`"Mode":33188`, `"Mode":33188,"Mode":33188`, "Out.Attr.Mode: stands twice"},
		{`"Size":12`, `"Size":9007199254740992`, "Out.Attr.Size: 9007199254740992 exceeds 2^53-1; write it as a string"},
		{`"Size":12`, `"Size":"18446744073709551616"`, "Out.Attr.Size: 18446744073709551616 exceeds uint64"},
		{`"Size":12`, `"Size":-0`, "Out.Attr.Size: have -0, want an integer (uint64)"},
		{`"Attr":{`, `"Attr":[{`, "Out.Attr: have [{"},
		{`{"Errno":0,`, `{`, "Errno: is missing"},
		{`"Errno":0,`, `"Errno":0,"Data":"x",`, "Data: is unknown"},
		{`"Errno":0`, `"Errno":512`, "Errno: 512 exceeds an errno"},
		{`"Errno":0`, `"Errno":-2`, "Errno: -2 is below an errno"},
		{`"Errno":0`, `"Errno":"ENOENT"`, "Errno: have ENOENT, want an integer"},
		{`"Errno":0`, `"Errno":null`, "Errno: have null, want an integer"},
		{`"Flags":0}}}`, `"Flags":0}}} `, ""},
		{`"Flags":0}}}`, `"Flags":0}}}}`, "have } after the end"},
		{`"Flags":0}}}`, `"Flags":0}}`, "have nothing, want ',' or '}'"},
		{`"Rdev":0,`, `"Rdev":0 "Blksize"`, "Out.Attr: have \"Blksize\", want ',' or '}'"},
	} {
		require.Contains(t, good, c.old)
		req, _ := lookup()
		_, err := ParseReplyJSON(req, []byte(strings.Replace(good, c.old, c.new, 1)))
		if c.want == "" {
			assert.NoError(t, err)
			continue
		}
		if assert.Error(t, err, "%s → %s", c.old, c.new) {
			assert.Contains(t, err.Error(), "parse LOOKUP reply: "+c.want)
		}
	}
}

func TestMembersMayStandInAnyOrder(t *testing.T) {
	req := &Request{Op: OpMkdir, In: &fuse.MkdirIn{Mode: 0o755}, Names: []string{"d"}}
	json, err := AppendRequestJSON(nil, req)
	require.NoError(t, err)
	const lead = `{"Op":"MKDIR",`
	moved := "{\n  " + strings.TrimSuffix(strings.TrimPrefix(string(json), lead), "}") + `, "Op" : "MKDIR" }`
	back, err := ParseRequestJSON([]byte(moved))
	require.NoError(t, err)
	assert.Equal(t, req.In, back.In)
	assert.Equal(t, req.Names, back.Names)

	reply, err := ParseReplyJSON(&Request{Op: OpGetlk}, []byte(`{"Out":{"Lk":{"Pid":4,"Typ":3,"End":2,"Start":1}},"Errno":0}`))
	require.NoError(t, err)
	assert.Equal(t, &fuse.LkOut{Lk: fuse.FileLock{Start: 1, End: 2, Typ: 3, Pid: 4}}, reply.Out)
}

func TestNothingIsReadBesideAnErrno(t *testing.T) {
	req, _ := lookup()
	for _, json := range []string{`{"Errno":2}`, ` { "Out" : {"anything":null}, "Errno" : 2 } `} {
		reply, err := ParseReplyJSON(req, []byte(json))
		require.NoError(t, err, json)
		assert.Equal(t, &Reply{Errno: syscall.ENOENT}, reply)
	}
	_, err := ParseReplyJSON(req, []byte(`{"Errno":2`))
	assert.ErrorContains(t, err, "want a JSON object")
}

func TestBytesAreTextOrBase64(t *testing.T) {
	for _, c := range []struct {
		json string
		want string
		err  string
	}{
		{json: `"plain"`, want: "plain"},
		{json: `""`, want: ""},
		{json: `"\u00e9\ud83d\ude00\n\/\b"`, want: "é😀\n/\b"},
		{json: `{"base64":"AP8="}`, want: "\x00\xff"},
		{json: `{ "base64" : "" }`, want: ""},
		{json: `"\ud83d"`, err: `Data: half a surrogate pair, \ud83d`},
		{json: `"\x"`, err: `Data: bad escape \x`},
		{json: "\"a\nb\"", err: "Data: the string has a raw control character 0x0a"},
		{json: "\"\xff\"", err: "Data: the string is not UTF-8"},
		{json: `"open`, err: "Data: the string does not end"},
		{json: `{"base64":"AP8"}`, err: "Data.base64: have AP"},
		{json: `{"base64":"AP9="}`, err: "Data.base64: have AP"},
		{json: `{"base64":"AP8=\n"}`, err: "Data.base64: have AP8=\n, want base64"},
		{json: `{"hex":"00"}`, err: "Data.hex: is unknown"},
		{json: `{}`, err: "Data.base64: is missing"},
		{json: `[0,255]`, err: `Data: have [0,255], want a string or {"base64":"…"}`},
	} {
		reply, err := ParseReplyJSON(&Request{Op: OpReadlink}, []byte(`{"Errno":0,"Data":`+c.json+`}`))
		if c.err != "" {
			assert.ErrorContains(t, err, "parse READLINK reply: "+c.err, c.json)
			continue
		}
		require.NoError(t, err, c.json)
		assert.Equal(t, c.want, string(reply.Data), c.json)
	}
}

func TestRequestsAreCheckedAgainstThemselves(t *testing.T) {
	const header = `"Header":{"Unique":1,"NodeId":1,"Uid":0,"Gid":0,"Pid":1,"Comm":"","Now":{"Sec":0,"Nsec":0}}`
	for json, want := range map[string]string{
		`{"Op":"SIT",` + header + `}`:                                                                            `Op: "SIT" is no opcode`,
		`{"Op":"UNLINK",` + header + `}`:                                                                         "parse UNLINK request: Names: is missing",
		`{"Op":"UNLINK",` + header + `,"Names":["a","b"]}`:                                                       "parse UNLINK request: Names: have 2, want 1",
		`{"Op":"UNLINK",` + header + `,"Names":["\u0000"]}`:                                                      "parse UNLINK request: Names[0]: NUL at byte 0",
		`{"Op":"UNLINK",` + header + `,"In":{},"Names":["a"]}`:                                                   "parse UNLINK request: In: is unknown",
		`{"Op":"RENAME",` + header + `,"In":{"Newdir":1,"Flags":0},"Names":["a","b"]}`:                           "parse RENAME request: In.Flags: is unknown",
		`{"Op":"SETXATTR",` + header + `,"In":{"Size":3,"Flags":0,"SetXAttrFlags":0},"Names":["a"],"Data":"hi"}`: "In.Size: have 3, want the payload's 2 bytes",
		`{"Op":"BATCH_FORGET",` + header + `,"In":{"Count":1},"List":[]}`:                                        "In.Count: have 1, want the list's 0",
		`[]`: "parse request: ",
	} {
		_, err := ParseRequestJSON([]byte(json))
		assert.ErrorContains(t, err, want, json)
	}
}

func TestWireErrorsNameTheOpAndTheLengths(t *testing.T) {
	message := func(op Opcode, body string) []byte {
		b, err := whole.AppendRequest(nil, &Request{Op: OpStatfs})
		require.NoError(t, err)
		b = append(b, body...)
		b[0], b[4] = byte(len(b)), byte(op)
		return b
	}
	for _, c := range []struct {
		b    []byte
		want string
	}{
		{nil, "decode request header: have 0 bytes, want 40"},
		{message(OpWrite, "0123456789"), "decode WRITE (50 bytes): have 10 bytes after the header, want 40"},
		{message(OpLookup, "abc"), "decode LOOKUP (43 bytes): name 1 of 1: no NUL in 3 bytes"},
		{message(OpSymlink, "a\x00bc"), "decode SYMLINK (44 bytes): name 2 of 2: no NUL in 2 bytes"},
		{message(OpStatfs, "a"), "decode STATFS (41 bytes): 1 bytes left over"},
		{message(54, ""), "decode OPCODE(54) (40 bytes): function not implemented"},
		{append(message(OpStatfs, ""), 0), "decode STATFS (41 bytes): header says 40 bytes"},
		{message(OpBatchForget, "\xff\xff\xff\xff1234"), "decode BATCH_FORGET (48 bytes): In.Count is 4294967295 of 16 bytes each, have 0 bytes"},
	} {
		_, err := whole.DecodeRequest(c.b)
		assert.EqualError(t, err, c.want)
	}
}

func TestRepliesMustHaveTheRowsShape(t *testing.T) {
	read := &Request{Op: OpRead, In: &fuse.ReadIn{Size: 4}}
	_, err := whole.AppendReply(nil, read, &Reply{Data: []byte("12345")})
	assert.EqualError(t, err, "encode READ reply: Data: have 5 bytes, asked for 4")
	_, err = whole.AppendReply(nil, &Request{Op: OpOpen}, &Reply{Out: &fuse.AttrOut{}})
	assert.EqualError(t, err, "encode OPEN reply: Out: have *fuse.AttrOut, want *fuse.OpenOut")
	_, err = whole.AppendReply(nil, &Request{Op: OpOpen}, &Reply{})
	assert.EqualError(t, err, "encode OPEN reply: Out: have <nil>, want *fuse.OpenOut")
	_, err = whole.AppendReply(nil, &Request{Op: OpForget}, &Reply{})
	assert.ErrorIs(t, err, ErrNoReply)
	b, err := whole.AppendReply(nil, read, &Reply{Errno: 600})
	require.NoError(t, err)
	reply, err := whole.DecodeReply(read, b)
	require.NoError(t, err)
	assert.Equal(t, syscall.EIO, reply.Errno, "the kernel would refuse 600")
}

func TestDirentsArePackedWhole(t *testing.T) {
	entries := []Dirent{{Ino: 1, Off: 1, Type: 4, Name: "."}, {Ino: 1, Off: 2, Type: 4, Name: ".."}, {Ino: 2, Off: 3, Type: 8, Name: "12345678"}}
	for _, c := range []struct {
		op   Opcode
		size uint32
		want int
	}{
		{OpReaddir, 31, -1}, {OpReaddir, 32, 1}, {OpReaddir, 63, 1}, {OpReaddir, 64, 2}, {OpReaddir, 95, 2}, {OpReaddir, 96, 3}, {OpReaddir, 4096, 3},
		{OpReaddirplus, 159, -1}, {OpReaddirplus, 160, 1}, {OpReaddirplus, 480, 3},
	} {
		req := &Request{Op: c.op, In: &fuse.ReadIn{Size: c.size}}
		b, err := whole.AppendReply(nil, req, &Reply{Entries: entries})
		if c.want < 0 {
			assert.ErrorContains(t, err, "Entries[0]: needs")
			continue
		}
		require.NoError(t, err)
		assert.LessOrEqual(t, len(b)-outHeaderLen, int(c.size))
		got, err := whole.DecodeReply(req, b)
		require.NoError(t, err)
		assert.Equal(t, entries[:c.want], got.Entries, "%v %d", c.op, c.size)
	}
}

func TestPlainFindsTheFirstByteToEscape(t *testing.T) {
	for _, special := range []byte{'"', '\\', 0, 1, '\n', 31} {
		for at := range 40 {
			s := bytes.Repeat([]byte{0xff}, 40)
			s[at] = special
			s[39] = special
			n, _ := plain(s)
			assert.Equal(t, at, n, "%d at %d", special, at)
		}
	}
	for c := ' '; c < 256; c++ {
		if c != '"' && c != '\\' {
			n, seen := plain(bytes.Repeat([]byte{byte(c)}, 24))
			assert.Equal(t, 24, n, "%d", c)
			assert.Equal(t, c > 127, seen&highs != 0, "%d", c)
		}
	}
}

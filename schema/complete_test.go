package schema

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// completed is the strict reply that a lean one stands for, after it was held
// against its schema.
func completed(t *testing.T, req *proto.Request, lean string) *proto.Reply {
	t.Helper()
	require.NoError(t, Validate(req.Op, Lean, Wrap([]byte(lean))))
	full, err := Complete(req, []byte(lean), nil)
	require.NoError(t, err)
	require.NoError(t, Validate(req.Op, All, Wrap(full)), "%s", full)
	reply, err := proto.ParseReplyJSON(req, full)
	require.NoError(t, err, "%s", full)
	return reply
}

func attr(ino, size uint64) fuse.Attr {
	return fuse.Attr{Ino: ino, Size: size, Blocks: (size + 511) / 512, Atime: 1, Mtime: 1, Ctime: 1, Mode: 0o100644, Nlink: 1, Blksize: 4096}
}

func entryOut(id, size uint64) fuse.EntryOut {
	return fuse.EntryOut{NodeId: id, EntryValid: 3600, AttrValid: 3600, Attr: attr(id, size)}
}

func TestLeanEntry(t *testing.T) {
	req := &proto.Request{Op: proto.OpLookup, Names: []string{"a"}}
	reply := completed(t, req, `{"Errno":0,"Out":{"NodeId":7,"Attr":{"Size":513,`+stat+`}}}`)
	want := entryOut(7, 513)
	assert.Equal(t, &proto.Reply{Out: &want}, reply)
}

func TestSizeFollowsFromContent(t *testing.T) {
	req := &proto.Request{Op: proto.OpLookup, Names: []string{"a"}}
	for data, size := range map[string]uint64{`"hé\n"`: 4, `""`: 0, `{"base64":"AP8="}`: 2} {
		reply := completed(t, req, `{"Errno":0,"Out":{"NodeId":7,"Attr":{`+stat+`}},"Notify":[{"Code":"STORE","Out":{"Nodeid":7},"Data":`+data+`}]}`)
		want := entryOut(7, size)
		assert.Equal(t, &want, reply.Out, data)
		assert.Equal(t, &fuse.NotifyStoreOut{Nodeid: 7, Size: uint32(size)}, reply.Notify[0].Out)
	}
	full, err := Complete(req, []byte(`{"Errno":0,"Out":{"NodeId":7,"Attr":{`+stat+`}},"Notify":[{"Code":"STORE","Out":{"Nodeid":8},"Data":"x"}]}`), nil)
	require.NoError(t, err)
	_, err = proto.ParseReplyJSON(req, full)
	assert.ErrorContains(t, err, "Out.Attr.Size: is missing", "content of another node says nothing")
}

func TestLeanAttributesAreTheRequestsNode(t *testing.T) {
	req := &proto.Request{Op: proto.OpGetattr, Header: proto.Header{NodeId: 5}, In: &fuse.GetAttrIn{}}
	reply := completed(t, req, `{"Errno":0,"Out":{"Attr":{"Size":"9007199254740992",`+stat+`}}}`)
	assert.Equal(t, &fuse.AttrOut{AttrValid: 3600, Attr: attr(5, 1<<53)}, reply.Out)
}

func TestLeanListing(t *testing.T) {
	req := &proto.Request{Op: proto.OpReaddirplus, Header: proto.Header{NodeId: 5}, In: &fuse.ReadIn{Size: 4096}}
	const a = `{"Entry":{"NodeId":7,"Attr":{"Size":1,` + stat + `}},"Name":"a"}`
	reply := completed(t, req, `{"Errno":0,"Entries":[`+a+`]}`)
	dot := proto.Dirent{Ino: 5, Off: 1, Type: 4, Name: "."}
	dots := proto.Dirent{Ino: unknownIno, Off: 2, Type: 4, Name: ".."}
	file := proto.Dirent{Entry: entryOut(7, 1), Ino: 7, Off: 3, Type: 8, Name: "a"}
	assert.Equal(t, []proto.Dirent{dot, dots, file}, reply.Entries)
	assert.Empty(t, Check(req, reply, nil))

	assert.Equal(t, []proto.Dirent{dot, dots}, completed(t, req, `{"Errno":0,"Entries":[]}`).Entries, "an empty directory")

	req.In = &fuse.ReadIn{Offset: 3, Size: 4096}
	file.Off = 4
	assert.Equal(t, []proto.Dirent{file}, completed(t, req, `{"Errno":0,"Entries":[`+a+`]}`).Entries, "the listing goes on")
	assert.Empty(t, completed(t, req, `{"Errno":0,"Entries":[]}`).Entries, "the listing has ended")

	req = &proto.Request{Op: proto.OpReaddir, Header: proto.Header{NodeId: 5}, In: &fuse.ReadIn{Size: 4096}}
	reply = completed(t, req, `{"Errno":0,"Entries":[{"Ino":7,"Type":8,"Name":"a"}]}`)
	assert.Equal(t, []proto.Dirent{dot, dots, {Ino: 7, Off: 3, Type: 8, Name: "a"}}, reply.Entries)
	reply = completed(t, req, `{"Errno":0,"Entries":[{"Ino":7,"Off":9,"Type":8,"Name":"a"}]}`)
	assert.Equal(t, []proto.Dirent{{Ino: 7, Off: 9, Type: 8, Name: "a"}}, reply.Entries, "who gives cookies gives all entries")
}

func TestLeanRest(t *testing.T) {
	for _, c := range []struct {
		req  *proto.Request
		lean string
		want any
	}{
		{&proto.Request{Op: proto.OpOpen}, `{"Errno":0,"Out":{"Fh":3,"OpenFlags":2}}`, &fuse.OpenOut{Fh: 3, OpenFlags: 2}},
		{&proto.Request{Op: proto.OpStatfs}, `{"Errno":0,"Out":{"Blocks":9,"Bfree":8,"Bavail":7,"Files":6,"Ffree":5}}`,
			&fuse.StatfsOut{Blocks: 9, Bfree: 8, Bavail: 7, Files: 6, Ffree: 5, Bsize: 4096, NameLen: 255, Frsize: 4096}},
		{&proto.Request{Op: proto.OpStatx, Header: proto.Header{NodeId: 5}}, `{"Errno":0,"Out":{"Statx":{"Nlink":1,"Uid":2,"Gid":3,"Mode":33188,"Size":1025,` +
			`"Atime":{"Sec":4},"Btime":{"Sec":5},"Ctime":{"Sec":6},"Mtime":{"Sec":7}}}}`,
			&fuse.StatxOut{AttrValid: 3600, Statx: fuse.Statx{Mask: 0xfff, Blksize: 4096, Nlink: 1, Uid: 2, Gid: 3, Mode: 0o100644, Ino: 5, Size: 1025, Blocks: 3,
				Atime: fuse.SxTime{Sec: 4}, Btime: fuse.SxTime{Sec: 5}, Ctime: fuse.SxTime{Sec: 6}, Mtime: fuse.SxTime{Sec: 7}}}},
		{&proto.Request{Op: proto.OpCreate}, `{"Errno":0,"Out":{"EntryOut":{"NodeId":7,"Attr":{"Size":0,` + stat + `}},"OpenOut":{"Fh":1,"OpenFlags":0}}}`,
			&fuse.CreateOut{EntryOut: entryOut(7, 0), OpenOut: fuse.OpenOut{Fh: 1}}},
	} {
		assert.Equal(t, c.want, completed(t, c.req, c.lean).Out, c.lean)
	}
}

// What leaves nothing out means the same after Complete.
func TestCompleteLeavesWholeRepliesAlone(t *testing.T) {
	forReplies(t, func(t *rapid.T, req *proto.Request, want *proto.Reply, text []byte) {
		if req.In != nil {
			if offset := reflect.ValueOf(req.In).Elem().FieldByName("Offset"); offset.IsValid() {
				offset.SetUint(1) // at 0 an empty listing gets "." and ".."
			}
		}
		full, err := Complete(req, text, nil)
		require.NoError(t, err)
		assert.Equal(t, string(text), string(full), "in canonical order already")
	})
}

// Whatever a lean schema lets a reply leave out, Complete fills in.
func TestEveryDefaultIsFilledIn(t *testing.T) {
	forReplies(t, func(t *rapid.T, req *proto.Request, reply *proto.Reply, _ []byte) {
		p := partsOf(req)
		s, ok := mainShape(req.Op.Row(), p)
		if !ok || reply.Errno != 0 || s.least(lean) == full {
			return
		}
		reply.Notify = nil
		bare, err := proto.AppendReplyJSON(nil, req, reply)
		require.NoError(t, err)
		var doc map[string]any
		require.NoError(t, json.Unmarshal(bare, &doc))
		if p.out {
			strip(s, doc["Out"].(map[string]any))
		}
		if p.entries {
			for _, e := range doc["Entries"].([]any) {
				strip(s, e.(map[string]any))
			}
		}
		stripped, err := json.Marshal(doc)
		require.NoError(t, err)
		require.NoError(t, Validate(req.Op, Lean, Wrap(stripped)), "%s", stripped)
		full, err := Complete(req, stripped, nil)
		require.NoError(t, err)
		_, err = proto.ParseReplyJSON(req, full)
		require.NoError(t, err, "%s", full)
	})
}

// strip takes out of an object what a lean reply leaves out.
func strip(s shape, object map[string]any) {
	for _, f := range s.fields {
		if s.omits(lean, f) {
			delete(object, f.Name)
		} else if f.Type.Kind() == reflect.Struct {
			strip(shapeOf(f.Type), object[f.Name].(map[string]any))
		}
	}
}

func TestCompleteRefusesNothingThatParsingCan(t *testing.T) {
	req := &proto.Request{Op: proto.OpLookup, Names: []string{"a"}}
	for in, want := range map[string]string{
		`{"Errno":2}`:                         `{"Errno":2}`,
		`{"Errno":2,"Out":{}}`:                `{"Errno":2,"Out":{}}`,
		`{}`:                                  `{}`,
		`{"Errno":0,"Out":null}`:              `{"Errno":0,"Out":null}`,
		`{"Errno":0,"Out":[],"Notify":7}`:     `{"Errno":0,"Out":[],"Notify":7}`,
		`{"Errno":0,"Entries":{}}`:            `{"Errno":0,"Entries":{}}`,
		`{"Errno":0,"Notify":[1,{"Code":1}]}`: `{"Errno":0,"Notify":[1,{"Code":1}]}`,
	} {
		got, err := Complete(req, []byte(in), nil)
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	}
	got, err := Complete(req, []byte(`{"Errno":0,"Out":{"Extra":1,"NodeId":7,"NodeId":8}}`), nil)
	require.NoError(t, err)
	assert.Contains(t, string(got), `"Extra":1,"NodeId":8`, "for the strict decoder to refuse")
	_, err = Complete(req, []byte(`[]`), nil)
	assert.ErrorContains(t, err, "complete LOOKUP reply: no object")
}

func TestDefaultsNameFields(t *testing.T) {
	fields := map[string]bool{}
	var walk func(s shape)
	walk = func(s shape) {
		for _, f := range s.fields {
			fields[f.Struct+"."+f.Name] = true
			if f.Type.Kind() == reflect.Struct {
				walk(shapeOf(f.Type))
			}
		}
	}
	for _, row := range proto.Rows() {
		if row.Out != nil {
			walk(shapeOf(reflect.TypeOf(row.Out).Elem()))
		}
	}
	walk(direntShape(true))
	for _, form := range proto.NotifyForms() {
		walk(shape{form.Out.Name(), form.Fields})
	}
	for _, d := range Defaults() {
		assert.True(t, fields[d.Field], d.Field)
		assert.NotEmpty(t, d.Doc, d.Field)
	}
}

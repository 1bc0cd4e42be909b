package proto

import (
	"bytes"
	"encoding/json"
	"testing"
	"unsafe"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Whatever the kernel's side may be: no panic, no read out of bounds, and what
// decodes goes to JSON and back to the same bytes.
func FuzzDecodeRequest(f *testing.F) {
	for _, row := range Rows() {
		req := rapid.Custom(func(t *rapid.T) *Request { return drawRequest(t, row) }).Example(1)
		b, err := whole.AppendRequest(nil, req)
		require.NoError(f, err)
		f.Add(b, true)
		f.Add(b[:len(b)-1], false)
	}
	f.Fuzz(func(t *testing.T, b []byte, ext bool) {
		w := Wire{Minor: Minor, SetxattrExt: ext}
		req, err := w.DecodeRequest(b)
		if err != nil {
			require.Contains(t, err.Error(), "decode ")
			require.Contains(t, err.Error(), " bytes")
			return
		}
		asJSON, err := AppendRequestJSON(nil, req)
		require.NoError(t, err)
		require.True(t, json.Valid(asJSON), "%s", asJSON)
		back, err := ParseRequestJSON(asJSON)
		require.NoError(t, err, "%s", asJSON)
		again, err := w.AppendRequest(nil, back)
		require.NoError(t, err)
		require.Equal(t, withoutFiller(w, b), again)
	})
}

// withoutFiller zeroes what the codec leaves out, as the kernel does.
func withoutFiller(w Wire, b []byte) []byte {
	b = bytes.Clone(b)
	h := (*fuse.InHeader)(unsafe.Pointer(unsafe.SliceData(b)))
	h.Padding = 0
	row := Opcode(h.Opcode).Row()
	if row.in == nil {
		return b
	}
	body := b[inHeaderLen:]
	body = body[:w.inLen(row, body)]
	_, p := row.in.alloc()
	copy(row.in.wire(p), body)
	_, q := row.in.alloc()
	keepFields(row.in, p, q)
	copy(body, row.in.wire(q))
	return b
}

func keepFields(l *layout, from, to unsafe.Pointer) {
	for _, f := range l.fields {
		size := f.typ.Size()
		if f.kind == kindStruct {
			keepFields(f.sub, unsafe.Add(from, f.offset), unsafe.Add(to, f.offset))
			continue
		}
		copy(unsafe.Slice((*byte)(unsafe.Add(to, f.offset)), size), unsafe.Slice((*byte)(unsafe.Add(from, f.offset)), size))
	}
}

// Whatever a model may say: no panic, and what parses is JSON, survives a
// second pass and can be encoded or is refused with an error.
func FuzzParseReply(f *testing.F) {
	for _, row := range Rows() {
		req := rapid.Custom(func(t *rapid.T) *Request { return drawRequest(t, row) }).Example(1)
		reply := rapid.Custom(func(t *rapid.T) *Reply { return drawReply(t, req, row) }).Example(1)
		b, err := AppendReplyJSON(nil, req, reply)
		require.NoError(f, err)
		f.Add(uint32(row.Op), uint32(4096), b)
	}
	f.Add(uint32(OpLookup), uint32(0), []byte(`{"Errno":0,"Out":{},"Notify":[{"Code":"STORE","Out":{"Nodeid":2,"Offset":0},"Data":"hi"}]}`))
	f.Fuzz(func(t *testing.T, op, size uint32, b []byte) {
		row := Opcode(op).Row()
		if row == nil {
			return
		}
		req := &Request{Op: row.Op, In: row.NewIn()}
		if row.asked != nil {
			setUint(row.asked, req.In, uint64(size))
		}
		reply, err := ParseReplyJSON(req, b)
		if err != nil {
			require.Contains(t, err.Error(), "parse "+row.Name+" reply: ")
			return
		}
		require.True(t, json.Valid(b), "parsed what is no JSON: %s", b)
		again, err := AppendReplyJSON(nil, req, reply)
		require.NoError(t, err)
		back, err := ParseReplyJSON(req, again)
		require.NoError(t, err)
		require.Equal(t, reply, back)
		if wire, err := whole.AppendReply(nil, req, reply); err == nil {
			_, err = whole.DecodeReply(req, wire)
			require.NoError(t, err)
		}
	})
}

// The same for requests that come as JSON, from a trace say.
func FuzzParseRequest(f *testing.F) {
	for _, row := range Rows() {
		req := rapid.Custom(func(t *rapid.T) *Request { return drawRequest(t, row) }).Example(2)
		b, err := AppendRequestJSON(nil, req)
		require.NoError(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		req, err := ParseRequestJSON(b)
		if err != nil {
			return
		}
		require.True(t, json.Valid(b), "parsed what is no JSON: %s", b)
		again, err := AppendRequestJSON(nil, req)
		require.NoError(t, err)
		back, err := ParseRequestJSON(again)
		require.NoError(t, err)
		twice, err := AppendRequestJSON(nil, back)
		require.NoError(t, err)
		require.Equal(t, string(again), string(twice))
	})
}

// Whatever a trace may hold as a reply's kernel bytes.
func FuzzDecodeReply(f *testing.F) {
	for _, row := range Rows() {
		if row.Reply == ReplyNone {
			continue
		}
		req := rapid.Custom(func(t *rapid.T) *Request { return drawRequest(t, row) }).Example(3)
		req.Header.Unique = 1
		reply := rapid.Custom(func(t *rapid.T) *Reply { return drawReply(t, req, row) }).Example(3)
		b, err := whole.AppendReply(nil, req, reply)
		require.NoError(f, err)
		f.Add(uint32(row.Op), uint32(4096), b)
	}
	f.Fuzz(func(t *testing.T, op, size uint32, b []byte) {
		row := Opcode(op).Row()
		if row == nil {
			return
		}
		req := &Request{Op: row.Op, In: row.NewIn(), Header: Header{Unique: 1}}
		if row.asked != nil {
			setUint(row.asked, req.In, uint64(size))
		}
		reply, err := whole.DecodeReply(req, b)
		if err != nil {
			return
		}
		asJSON, err := AppendReplyJSON(nil, req, reply)
		require.NoError(t, err)
		require.True(t, json.Valid(asJSON), "%s", asJSON)
	})
}

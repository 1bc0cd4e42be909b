package trace

// Version 0: the pilot's own form. Its structs are as encoding/json writes
// them, with embedded structs flattened, and its payloads are plain text.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// pilotHeader stands for the header that version 0 did not have.
var pilotHeader = Header{
	Trace: Name, Version: 0,
	Options: map[string]string{"note": "version 0 lacks Unique, Pid, Comm, LockOwner, SETATTR's caller and durations: they are 0"},
}

type pilotPair struct {
	Req struct {
		Op     string
		Header *fuse.InHeader
		In     json.RawMessage
		Names  []string
		Data   string
		Now    time.Time
	} `json:"req"`
	Rep struct {
		Errno syscall.Errno
		Out   json.RawMessage
		Text  string
		Plus  []proto.Dirent
	} `json:"rep"`
}

func decodePilot(line []byte) (*Pair, error) {
	var v pilotPair
	if err := json.Unmarshal(line, &v); err != nil {
		return nil, err
	}
	op, ok := proto.OpcodeByName(v.Req.Op)
	if !ok {
		return nil, fmt.Errorf("pair: have opcode %q", v.Req.Op)
	}
	row := op.Row()
	p := &Pair{
		Req: &proto.Request{Op: op, In: row.NewIn(), Names: v.Req.Names, Data: []byte(v.Req.Data)},
		Rep: &proto.Reply{Errno: v.Rep.Errno},
	}
	if err := v.request(p.Req); err != nil {
		return nil, err
	}
	return p, v.reply(p.Rep, row)
}

// request fills In and the header. SETATTR's In was recorded under the name
// of the struct that it embeds, with the header inside.
func (v *pilotPair) request(r *proto.Request) error {
	var h fuse.InHeader
	if v.Req.Header != nil {
		h = *v.Req.Header
	}
	if r.In != nil {
		var nested struct{ SetAttrInCommon json.RawMessage }
		in := v.Req.In
		if err := json.Unmarshal(in, &nested); err == nil && nested.SetAttrInCommon != nil {
			in = nested.SetAttrInCommon
			if err := json.Unmarshal(in, &h); err != nil {
				return err
			}
			h.Owner = fuse.Owner{} // what was read is In's
		}
		if err := json.Unmarshal(in, r.In); err != nil {
			return err
		}
		clearHeader(r.In)
	}
	r.Header = proto.Header{
		Unique: h.Unique, NodeId: h.NodeId, Uid: h.Uid, Gid: h.Gid, Pid: h.Pid,
		Now: proto.Time{Sec: v.Req.Now.Unix(), Nsec: uint32(v.Req.Now.Nanosecond())},
	}
	return nil
}

func clearHeader(in any) {
	h := reflect.ValueOf(in).Elem().FieldByName("InHeader")
	h.SetZero()
}

func (v *pilotPair) reply(r *proto.Reply, row *proto.Row) error {
	if r.Errno != 0 {
		return nil
	}
	if v.Rep.Text != "" {
		r.Data = []byte(v.Rep.Text)
	}
	r.Entries = v.Rep.Plus
	if v.Rep.Out == nil || bytes.Equal(v.Rep.Out, []byte("null")) {
		return nil
	}
	r.Out = row.NewOut()
	return json.Unmarshal(v.Rep.Out, r.Out)
}

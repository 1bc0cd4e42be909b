package serve

// The ledger of package session as the state of a filesystem.

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/internal/model/reference"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// number is an integer, or one above 2^53-1 as a string.
type number uint64

func (n *number) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseUint(strings.Trim(string(b), `"`), 10, 64)
	*n = number(v)
	return err
}

// blob is bytes: a string, or {"base64":"…"}.
type blob []byte

func (b *blob) UnmarshalJSON(text []byte) (err error) {
	var s string
	if text[0] == '"' {
		err = json.Unmarshal(text, &s)
		*b = blob(s)
		return err
	}
	var other struct{ Base64 string }
	if err = json.Unmarshal(text, &other); err == nil {
		*b, err = base64.StdEncoding.DecodeString(other.Base64)
	}
	return err
}

// ledgerJSON is the ledger as package session documents it.
type ledgerJSON struct {
	Nodes   []nodeJSON
	Handles []struct {
		Fh, NodeId number
		Flags      uint32
	}
	Statfs json.RawMessage
	Last   struct{ NodeId, Fh, Off number }
}

type nodeJSON struct {
	NodeId         number
	Attr           json.RawMessage
	Target         blob
	Complete       *bool
	Count          int
	Entries        []entryJSON
	Content        []contentJSON
	Xattrs         []xattrJSON
	XattrsComplete bool
	Locks          []lockJSON
}

type entryJSON struct {
	Name    blob
	Missing bool
	NodeId  number
	Type    uint32
	Off     number
}

type contentJSON struct {
	Offset        number
	Data          blob
	Zeros, Length number
}

type lockJSON struct {
	Owner, Start, End number
	Typ, Pid          uint32
	Flock             bool
}

type xattrJSON struct {
	Name    blob
	Data    blob
	Missing bool
}

// parseLedger reads a ledger.
func parseLedger(text string) (*reference.State, error) {
	var l ledgerJSON
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	s := &reference.State{
		Last:       reference.Numbers{Node: uint64(l.Last.NodeId), Fh: uint64(l.Last.Fh)},
		LastCookie: uint64(l.Last.Off),
		Nodes:      make([]reference.NodeState, len(l.Nodes)),
	}
	for i := range l.Nodes {
		if err := l.Nodes[i].state(&s.Nodes[i]); err != nil {
			return nil, fmt.Errorf("read ledger: node %d: %w", l.Nodes[i].NodeId, err)
		}
	}
	for _, h := range l.Handles {
		s.Handles = append(s.Handles, reference.HandleState{Fh: uint64(h.Fh), Node: uint64(h.NodeId), Flags: h.Flags})
	}
	if l.Statfs != nil {
		out, err := outOf[fuse.StatfsOut](proto.OpStatfs, l.Statfs)
		if err != nil {
			return nil, fmt.Errorf("read ledger: statfs: %w", err)
		}
		s.Statfs = out
	}
	return s, nil
}

// outOf reads an out-struct by the codec of replies.
func outOf[T any](op proto.Opcode, text json.RawMessage) (*T, error) {
	req := &proto.Request{Op: op, In: op.Row().NewIn()}
	reply, err := proto.ParseReplyJSON(req, append(append([]byte(`{"Errno":0,"Out":`), text...), '}'))
	if err != nil {
		return nil, err
	}
	return reply.Out.(*T), nil
}

func (n *nodeJSON) state(s *reference.NodeState) error {
	s.ID, s.Target = uint64(n.NodeId), string(n.Target)
	for _, l := range n.Locks {
		s.Locks = append(s.Locks, reference.LockState{
			Owner: uint64(l.Owner), Start: uint64(l.Start), End: uint64(l.End), Typ: l.Typ, Pid: l.Pid, Flock: l.Flock,
		})
	}
	s.Dir, s.Count = n.Complete != nil, n.Count
	s.Whole = s.Dir && *n.Complete
	if n.Attr != nil {
		text := append(append([]byte(`{"AttrValid":0,"AttrValidNsec":0,"Attr":`), n.Attr...), '}')
		out, err := outOf[fuse.AttrOut](proto.OpGetattr, text)
		if err != nil {
			return err
		}
		s.Attr = &out.Attr
	}
	for _, e := range n.Entries {
		if !e.Missing {
			s.Entries = append(s.Entries, reference.EntryState{Name: string(e.Name), Node: uint64(e.NodeId), Type: e.Type, Off: uint64(e.Off)})
		}
	}
	for _, c := range n.Content {
		s.Content = append(s.Content, reference.RangeState{Off: uint64(c.Offset), Data: c.Data, Zeros: uint64(c.Zeros), Hidden: uint64(c.Length)})
	}
	for _, x := range n.Xattrs {
		if !x.Missing {
			s.Xattrs = append(s.Xattrs, reference.XattrState{Name: string(x.Name), Value: x.Data})
		}
	}
	return nil
}

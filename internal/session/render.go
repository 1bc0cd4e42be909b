package session

// A selection as JSON; doc.go says what each member means.

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// bare is a chunk of which only the place is shown: it has data of no bytes.
func bare(k chunk) chunk { return chunk{off: k.off, data: []byte{}, zeros: k.len()} }

// json is the selection in canonical form: nodes by number, entries in the
// order of a listing, no white space.
func (s *selection) json() []byte {
	dst := append(make([]byte, 0, 1024), `{"Nodes":[`...)
	for i, id := range sortedIDs(s.views) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = s.views[id].append(dst)
	}
	dst = s.appendHandles(append(dst, `],"Handles":[`...))
	dst = append(dst, `],"Off":[`...)
	for i, name := range s.l.off {
		dst = appendQuoted(comma(dst, i), name)
	}
	dst = append(dst, ']')
	if s.p.out.statfs != nil && s.l.statfs != nil {
		dst = appendOut(append(dst, `,"Statfs":`...), proto.OpStatfs, s.l.statfs, "")
	}
	dst = appendMember(append(dst, `,"Last":{`...), `"NodeId":`, s.l.last.node)
	dst = appendMember(dst, `,"Fh":`, s.l.last.handle)
	return append(appendMember(dst, `,"Off":`, s.l.last.cookie), "}}"...)
}

func sortedIDs(views map[uint64]*view) []uint64 {
	ids := make([]uint64, 0, len(views))
	for id := range views {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func comma(dst []byte, i int) []byte {
	if i > 0 {
		return append(dst, ',')
	}
	return dst
}

func appendMember(dst []byte, key string, n uint64) []byte {
	const maxSafe = 1<<53 - 1
	dst = append(dst, key...)
	if n > maxSafe {
		return append(strconv.AppendUint(append(dst, '"'), n, 10), '"')
	}
	return strconv.AppendUint(dst, n, 10)
}

func (s *selection) appendHandles(dst []byte) []byte {
	slices.SortFunc(s.handles, func(a, b handleKey) int {
		return slices.Compare([]uint64{a.node, a.fh}, []uint64{b.node, b.fh})
	})
	for i, key := range s.handles {
		h := s.l.handles[key]
		dst = appendMember(comma(dst, i), `{"Fh":`, key.fh)
		dst = appendMember(dst, `,"NodeId":`, key.node)
		dst = appendMember(dst, `,"Flags":`, uint64(h.flags))
		dst = append(appendMember(dst, `,"OpenFlags":`, uint64(h.openFlags)), '}')
	}
	return dst
}

func (v *view) append(dst []byte) []byte {
	n := v.n
	dst = appendMember(append(dst, '{'), `"NodeId":`, n.id)
	if n.generation != 0 {
		dst = appendMember(dst, `,"Generation":`, n.generation)
	}
	if v.attr && n.told {
		dst = append(append(dst, `,"Attr":`...), n.attrJSON()...)
	}
	if v.attr && n.target != nil {
		dst = appendText(append(dst, `,"Target":`...), *n.target)
	}
	if n.isDir() || len(n.entries) > 0 {
		dst = v.appendEntries(dst)
	}
	if v.known {
		dst = v.appendContent(dst)
	}
	dst = v.appendXattrs(dst)
	if v.locks {
		dst = v.appendLocks(dst)
	}
	return append(dst, '}')
}

func (n *node) attrJSON() []byte {
	if n.json == nil {
		n.json = appendOut(nil, proto.OpGetattr, &fuse.AttrOut{Attr: n.attr}, `"Attr":`)
		n.json = n.json[:len(n.json)-1]
	}
	return n.json
}

// appendEntries says whether the directory is known whole, how many names it
// is known to have, and those that are shown.
func (v *view) appendEntries(dst []byte) []byte {
	count := uint64(0)
	for _, e := range v.n.order {
		if !e.missing {
			count++
		}
	}
	dst = strconv.AppendBool(append(dst, `,"Complete":`...), v.n.complete)
	dst = append(appendMember(dst, `,"Count":`, count), `,"Entries":[`...)
	for i, e := range v.entries {
		dst = e.append(comma(dst, i))
	}
	return append(dst, ']')
}

func (e *entry) append(dst []byte) []byte {
	dst = appendText(append(dst, `{"Name":`...), e.name)
	if e.missing {
		return append(dst, `,"Missing":true}`...)
	}
	if e.node != 0 {
		dst = appendMember(dst, `,"NodeId":`, e.node)
	}
	dst = appendMember(dst, `,"Type":`, uint64(e.typ))
	if e.off != 0 {
		dst = appendMember(dst, `,"Off":`, e.off)
	}
	return append(dst, '}')
}

func (v *view) appendContent(dst []byte) []byte {
	dst = append(dst, `,"Content":[`...)
	for i, k := range v.chunks {
		dst = appendMember(comma(dst, i), `{"Offset":`, k.off)
		switch {
		case len(k.data) > 0:
			dst = appendBlob(append(dst, `,"Data":`...), k.data)
		case k.data != nil:
			dst = appendMember(dst, `,"Length":`, k.zeros)
		default:
			dst = appendMember(dst, `,"Zeros":`, k.zeros)
		}
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

func (v *view) appendXattrs(dst []byte) []byte {
	if len(v.xattrs) > 0 {
		dst = append(dst, `,"Xattrs":[`...)
		for i, name := range v.xattrs {
			dst = appendText(append(comma(dst, i), `{"Name":`...), name)
			if x := v.n.xattrs[name]; x.missing {
				dst = append(dst, `,"Missing":true`...)
			} else if x.known {
				dst = appendText(append(dst, `,"Data":`...), x.value)
			}
			dst = append(dst, '}')
		}
		dst = append(dst, ']')
	}
	if v.attr && v.n.xattrsComplete {
		dst = append(dst, `,"XattrsComplete":true`...)
	}
	return dst
}

func (v *view) appendLocks(dst []byte) []byte {
	dst = append(dst, `,"Locks":[`...)
	for i, k := range v.n.locks {
		dst = appendMember(comma(dst, i), `{"Owner":`, k.owner)
		dst = appendMember(dst, `,"Start":`, k.Start)
		dst = appendMember(dst, `,"End":`, k.End)
		dst = appendMember(dst, `,"Typ":`, uint64(k.Typ))
		dst = appendMember(dst, `,"Pid":`, uint64(k.Pid))
		dst = append(strconv.AppendBool(append(dst, `,"Flock":`...), k.flock), '}')
	}
	return append(dst, ']')
}

func appendText(dst []byte, s string) []byte { return appendBlob(dst, []byte(s)) }

// appendBlob writes text, or {"base64":"…"}, by the codec of replies.
func appendBlob(dst, b []byte) []byte {
	return appendReply(dst, &proto.Request{Op: proto.OpReadlink}, &proto.Reply{Data: b}, `"Data":`)
}

// appendOut writes an out-struct, from the first member named key on.
func appendOut(dst []byte, op proto.Opcode, out any, key string) []byte {
	return appendReply(dst, &proto.Request{Op: op, In: op.Row().NewIn()}, &proto.Reply{Out: out}, key)
}

// appendReply appends what stands after key, or after "Out":, in a reply,
// without the closing brace of the reply.
func appendReply(dst []byte, req *proto.Request, reply *proto.Reply, key string) []byte {
	if key == "" {
		key = `"Out":`
	}
	start := len(dst)
	dst, err := proto.AppendReplyJSON(dst, req, reply)
	if err != nil {
		return append(dst[:start], "null"...)
	}
	at := start + bytes.Index(dst[start:], []byte(key)) + len(key)
	n := copy(dst[start:], dst[at:len(dst)-1])
	return dst[:start+n]
}

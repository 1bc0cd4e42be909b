package schema

// The entries "." and ".." of a listing, which a lean reply may leave out.

import (
	"encoding/json"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// entries completes a listing. One that begins at its start and says neither
// "." nor ".." nor any cookie gets both in front.
func (s *scope) entries(row *proto.Row, raw json.RawMessage) []byte {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || list == nil {
		return raw
	}
	form := direntShape(row.Reply == proto.ReplyEntriesPlus)
	if offset, ok := requestUint(s.req, "Offset"); ok && offset == 0 && !saysDots(list) {
		list = append(dots(s.req), list...)
	}
	return replaced(list, func(i int, raw json.RawMessage) []byte { return s.element(form, raw, i) })
}

func saysDots(list []json.RawMessage) bool {
	for _, raw := range list {
		e, _ := members(raw)
		name, _ := find(e, "Name")
		if _, cookie := find(e, "Off"); cookie || string(name) == `"."` || string(name) == `".."` {
			return true
		}
	}
	return false
}

// dots are the two entries. Their nodes are not said: the kernel asks for
// neither, and only "." has a known number.
func dots(req *proto.Request) []json.RawMessage {
	const dtDir = 4
	b, err := proto.AppendReplyJSON(nil, req, &proto.Reply{Entries: []proto.Dirent{
		{Ino: req.Header.NodeId, Off: 1, Type: dtDir, Name: "."},
		{Ino: unknownIno, Off: 2, Type: dtDir, Name: ".."},
	}})
	if err != nil {
		return nil
	}
	var reply struct{ Entries []json.RawMessage }
	_ = json.Unmarshal(b, &reply) // it was written as JSON
	return reply.Entries
}

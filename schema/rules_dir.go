package schema

// The checks of directory entries and names.

import (
	"strconv"
	"strings"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }

func isDots(name string) bool { return name == "." || name == ".." }

func direntName(_ *site, e *proto.Dirent) (any, string) { return goodName(e.Name) }

func notifyName(_ *site, n *proto.Notification) (any, string) {
	for _, form := range notifyForms() {
		if form.Code == n.Code && form.Name {
			return goodName(n.Name)
		}
	}
	return nil, ""
}

func goodName(name string) (any, string) {
	switch {
	case name == "":
		return `""`, "a name"
	case len(name) > maxName:
		return decimal(uint64(len(name))) + " bytes", "at most 255 bytes"
	case strings.ContainsAny(name, "/\x00"):
		return strconv.Quote(name), "a name without '/' and NUL"
	}
	return nil, ""
}

// cookie: a later request with it as Offset must go on behind the entry.
func cookie(s *site, e *proto.Dirent) (any, string) {
	if offset, _ := s.asked("Offset"); e.Off == 0 || e.Off == offset {
		return e.Off, "a cookie other than 0 and In.Offset"
	}
	for _, other := range s.reply.Entries[:s.index] {
		if other.Off == e.Off {
			return e.Off, "a cookie that no other entry has"
		}
	}
	return nil, ""
}

func direntIno(_ *site, e *proto.Dirent) (any, string) {
	if e.Ino == 0 {
		return 0, "the inode number, 4294967295 where it is unknown"
	}
	return nil, ""
}

func direntType(s *site, e *proto.Dirent) (any, string) {
	said := s.row.Reply == proto.ReplyEntriesPlus && e.Entry.NodeId != 0 && !isDots(e.Name)
	if said && e.Type != e.Entry.Attr.Mode>>12 {
		return e.Type, decimal(uint64(e.Entry.Attr.Mode>>12)) + ", the type in Entry.Attr.Mode"
	}
	for _, b := range proto.Meanings["Dirent.Type"].Bits {
		if uint64(e.Type) == b.Value {
			return nil, ""
		}
	}
	return e.Type, proto.Meanings["Dirent.Type"].Legend()
}

func fits(s *site, e *proto.Dirent) (any, string) {
	limit, ok := s.asked("Size")
	n := proto.DirentSize(e.Name, s.row.Reply == proto.ReplyEntriesPlus)
	if s.index == 0 && ok && uint64(n) > limit {
		return strconv.Itoa(n) + " bytes on the wire", "at most In.Size, " + decimal(limit)
	}
	return nil, ""
}

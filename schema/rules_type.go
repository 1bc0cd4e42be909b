package schema

// The checks of file types.

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

func typeBits(mode uint32) uint32 { return mode & syscall.S_IFMT }

func attrType(_ *site, a *fuse.Attr) (any, string) { return fileType(a.Mode) }

func statxType(_ *site, a *fuse.Statx) (any, string) {
	const statxHasType = 1
	if a.Mask&statxHasType == 0 {
		return nil, ""
	}
	return fileType(uint32(a.Mode))
}

func fileType(mode uint32) (any, string) {
	for _, b := range proto.Meanings["Attr.Mode"].Bits {
		if uint64(typeBits(mode)) == b.Value {
			return nil, ""
		}
	}
	return mode, "permission bits plus one of " + proto.Meanings["Attr.Mode"].Legend()
}

// makes are the types of what these opcodes make.
var makes = map[proto.Opcode]uint32{
	proto.OpSymlink: syscall.S_IFLNK,
	proto.OpMkdir:   syscall.S_IFDIR,
	proto.OpCreate:  syscall.S_IFREG,
	proto.OpTmpfile: syscall.S_IFREG,
}

// madeType: a new entry is of the type that was asked for.
func madeType(s *site, a *fuse.Attr) (any, string) {
	if _, ok := s.up.v.(*fuse.EntryOut); !ok {
		return nil, ""
	}
	want, ok := makes[s.req.Op]
	switch in := s.req.In.(type) {
	case *fuse.MknodIn:
		want, ok = typeBits(in.Mode), typeBits(in.Mode) != 0
	case *fuse.LinkIn:
		want, ok = s.typeOf(in.Oldnodeid)
	}
	if ok && typeBits(a.Mode) != want {
		return a.Mode, "the type asked for: " + spell(a.Mode, want)
	}
	return nil, ""
}

func keepsType(s *site, a *fuse.Attr) (any, string) { return s.keeps(a.Mode) }

func keepsStatxType(s *site, a *fuse.Statx) (any, string) { return s.keeps(uint32(a.Mode)) }

func (s *site) keeps(mode uint32) (any, string) {
	if was, ok := s.typeOf(s.node()); ok && typeBits(mode) != was {
		return mode, "the type that node " + decimal(s.node()) + " has: " + spell(mode, was)
	}
	return nil, ""
}

func (s *site) typeOf(node uint64) (uint32, bool) {
	if s.known == nil {
		return 0, false
	}
	return s.known.Type(node)
}

// spell is the mode with another type, in decimal and in words.
func spell(mode, bits uint32) string {
	mode = mode&^syscall.S_IFMT | bits
	return decimal(uint64(mode)) + " (" + proto.Meanings["Attr.Mode"].String(uint64(mode)) + ")"
}

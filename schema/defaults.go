package schema

// What a lean reply may leave out, and what stands for it.

import (
	"golang.org/x/sys/unix"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// Default is what stands for a field that a lean reply leaves out.
type Default struct {
	Field string // "Attr.Ino": the struct that declares it and its name
	Doc   string // the value in words

	stored bool   // it follows from a STORE in the same reply, or is kept
	kept   bool   // it follows from what was told before, and from what the request sets
	beside string // it follows from this member, and only where that can be
	value  func(*scope) (uint64, bool)
}

const (
	validity   = 3600 // seconds
	blockSize  = 4096 // bytes
	maxName    = 255  // bytes
	unknownIno = 0xffffffff
)

// defaults are in the order of the documentation.
var defaults = []Default{
	{Field: "EntryOut.Generation", Doc: "0", value: constant(0)},
	{Field: "EntryOut.EntryValid", Doc: "3600", value: constant(validity)},
	{Field: "EntryOut.AttrValid", Doc: "3600", value: constant(validity)},
	{Field: "EntryOut.EntryValidNsec", Doc: "0", value: constant(0)},
	{Field: "EntryOut.AttrValidNsec", Doc: "0", value: constant(0)},
	{Field: "AttrOut.AttrValid", Doc: "3600", value: constant(validity)},
	{Field: "AttrOut.AttrValidNsec", Doc: "0", value: constant(0)},
	{Field: "Attr.Ino", Doc: "the node id", value: node},
	{Field: "Attr.Size", Doc: "bytes of the content in Notify, or " + asBefore, stored: true, value: storedSize},
	{Field: "Attr.Blocks", Doc: "Size / 512, rounded up", value: blocks},
	{Field: "Attr.Atime", Doc: asBefore, kept: true, value: kept("Atime")},
	{Field: "Attr.Mtime", Doc: asBefore, kept: true, value: kept("Mtime")},
	{Field: "Attr.Mode", Doc: asBefore, kept: true, value: kept("Mode")},
	{Field: "Attr.Nlink", Doc: asBefore, kept: true, value: kept("Nlink")},
	{Field: "Owner.Uid", Doc: asBefore, kept: true, value: kept("Uid")},
	{Field: "Owner.Gid", Doc: asBefore, kept: true, value: kept("Gid")},
	{Field: "Attr.Atimensec", Doc: "0", value: constant(0)},
	{Field: "Attr.Mtimensec", Doc: "0", value: constant(0)},
	{Field: "Attr.Ctimensec", Doc: "0", value: constant(0)},
	{Field: "Attr.Rdev", Doc: "0", value: constant(0)},
	{Field: "Attr.Blksize", Doc: "4096", value: constant(blockSize)},
	{Field: "Attr.Flags", Doc: "0", value: constant(0)},
	{Field: "OpenOut.BackingID", Doc: "0", value: constant(0)},
	{Field: "Dirent.Ino", Doc: "Entry.NodeId, or 4294967295 (unknown) where that is 0", beside: "Entry", value: entryIno},
	{Field: "Dirent.Off", Doc: "place in the listing from 1 on, . and .. counted: In.Offset plus 1, 2, 3 …", value: place},
	{Field: "Dirent.Type", Doc: "the type in Entry.Attr.Mode", beside: "Entry", value: entryKind},
	{Field: "StatfsOut.Bsize", Doc: "4096", value: constant(blockSize)},
	{Field: "StatfsOut.NameLen", Doc: "255", value: constant(maxName)},
	{Field: "StatfsOut.Frsize", Doc: "4096", value: constant(blockSize)},
	{Field: "IoctlOut.Flags", Doc: "0", value: constant(0)},
	{Field: "IoctlOut.InIovs", Doc: "0", value: constant(0)},
	{Field: "IoctlOut.OutIovs", Doc: "0", value: constant(0)},
	{Field: "StatxOut.AttrValid", Doc: "3600", value: constant(validity)},
	{Field: "StatxOut.AttrValidNsec", Doc: "0", value: constant(0)},
	{Field: "StatxOut.Flags", Doc: "0", value: constant(0)},
	{Field: "Statx.Mask", Doc: "4095: every field but Attributes", value: constant(statxAll)},
	{Field: "Statx.Blksize", Doc: "4096", value: constant(blockSize)},
	{Field: "Statx.Attributes", Doc: "0", value: constant(0)},
	{Field: "Statx.Ino", Doc: "the node id", value: node},
	{Field: "Statx.Blocks", Doc: "Size / 512, rounded up", value: blocks},
	{Field: "Statx.AttributesMask", Doc: "0", value: constant(0)},
	{Field: "Statx.RdevMajor", Doc: "0", value: constant(0)},
	{Field: "Statx.RdevMinor", Doc: "0", value: constant(0)},
	{Field: "Statx.DevMajor", Doc: "0", value: constant(0)},
	{Field: "Statx.DevMinor", Doc: "0", value: constant(0)},
	{Field: "SxTime.Nsec", Doc: "0", value: constant(0)},
	{Field: "NotifyStoreOut.Offset", Doc: "0", value: constant(0)},
}

// statxAll is STATX_BASIC_STATS|STATX_BTIME.
const statxAll = unix.STATX_BASIC_STATS | unix.STATX_BTIME

var defaultsByField = map[string]*Default{}

func init() {
	for i := range defaults {
		defaultsByField[defaults[i].Field] = &defaults[i]
	}
}

// Defaults lists what a lean reply may leave out. Beside these, a listing that
// begins at Offset 0 may leave out the entries "." and "..".
func Defaults() []Default { return append([]Default(nil), defaults...) }

func defaultOf(f proto.FieldInfo) *Default { return defaultsByField[f.Struct+"."+f.Name] }

func constant(n uint64) func(*scope) (uint64, bool) {
	return func(*scope) (uint64, bool) { return n, true }
}

// node is the id of the node that the innermost entry or the request names.
func node(s *scope) (uint64, bool) { return s.uint("NodeId") }

func storedSize(s *scope) (uint64, bool) {
	id, ok := node(s)
	if !ok {
		return 0, false
	}
	if n, ok := s.root().stored[id]; ok {
		return n, true
	}
	return kept("Size")(s)
}

func blocks(s *scope) (uint64, bool) {
	size, ok := s.uint("Size")
	return size/512 + min(size%512, 1), ok
}

func entryIno(s *scope) (uint64, bool) {
	id, ok := s.child("Entry").uint("NodeId")
	if id == 0 {
		id = unknownIno
	}
	return id, ok
}

func entryKind(s *scope) (uint64, bool) {
	mode, ok := s.child("Entry").child("Attr").uint("Mode")
	return mode >> 12, ok
}

func place(s *scope) (uint64, bool) {
	offset, ok := requestUint(s.root().req, "Offset")
	return offset + uint64(s.index) + 1, ok
}

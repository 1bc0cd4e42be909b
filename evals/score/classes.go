package score

// The class of each field that a reply can have, and what each number of a
// request is the name of.

import (
	"reflect"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// Class says what makes a field right.
type Class string

const (
	Determined Class = "determined" // exactly what the reference said
	Renamed    Class = "renamed"    // the same under a one-to-one renaming
	Set        Class = "set"        // the same members, in any order
	Bounded    Class = "bounded"    // within what is possible
	Free       Class = "free"       // anything
)

// Kind is what a renamed number names. Numbers of different kinds have nothing
// to do with one another.
type Kind uint8

const (
	Node Kind = iota + 1
	Ino
	Generation // of one node
	Fh
	Cookie // of one listing
)

// class is a field's.
type class struct {
	Class
	kind   Kind                                // of Renamed
	nsec   string                              // a time in seconds: the field beside it with its nanoseconds
	within func(want, have reflect.Value) bool // of Bounded; of the structs around the field
	free   func(want, have reflect.Value) bool // where the field does not count after all
}

// classes are by struct and JSON name, as [proto.FieldInfo] has them. A struct
// within a struct has no class of its own. Of in-structs only what is renamed
// is here: the rest is the kernel's.
var classes = map[string]class{
	"EntryOut.NodeId":         renamed(Node),
	"EntryOut.Generation":     renamed(Generation),
	"EntryOut.EntryValid":     bounded(anyEntry),
	"EntryOut.AttrValid":      bounded(anyEntry),
	"EntryOut.EntryValidNsec": bounded(anyEntry),
	"EntryOut.AttrValidNsec":  bounded(anyEntry),
	"AttrOut.AttrValid":       bounded(anyAttrOut),
	"AttrOut.AttrValidNsec":   bounded(anyAttrOut),

	"Attr.Ino":       renamed(Ino),
	"Attr.Size":      {Class: Determined, free: of(func(w, _ *fuse.Attr) bool { return is(w.Mode, syscall.S_IFDIR) })},
	"Attr.Blocks":    bounded(of(func(w, h *fuse.Attr) bool { return h.Blocks <= most(w.Size, w.Blocks) })),
	"Attr.Atime":     {Class: Bounded, nsec: "Atimensec"},
	"Attr.Mtime":     {Class: Bounded, nsec: "Mtimensec"},
	"Attr.Ctime":     {Class: Bounded, nsec: "Ctimensec"},
	"Attr.Atimensec": besideSeconds,
	"Attr.Mtimensec": besideSeconds,
	"Attr.Ctimensec": besideSeconds,
	"Attr.Mode":      {Class: Determined},
	"Attr.Nlink":     {Class: Determined},
	"Attr.Rdev":      {Class: Determined, free: of(func(w, _ *fuse.Attr) bool { return !isDevice(w.Mode) })},
	"Attr.Blksize":   {Class: Free},
	"Attr.Flags":     {Class: Determined},
	"Owner.Uid":      {Class: Determined},
	"Owner.Gid":      {Class: Determined},

	"StatxOut.AttrValid":     bounded(anyStatxOut),
	"StatxOut.AttrValidNsec": bounded(anyStatxOut),
	"StatxOut.Flags":         {Class: Free},
	"Statx.Mask":             bounded(of(func(w, h *fuse.Statx) bool { return w.Mask&unix.STATX_BASIC_STATS&^h.Mask == 0 })),
	"Statx.Blksize":          {Class: Free},
	"Statx.Attributes":       {Class: Determined},
	"Statx.Nlink":            {Class: Determined},
	"Statx.Uid":              {Class: Determined},
	"Statx.Gid":              {Class: Determined},
	"Statx.Mode":             {Class: Determined},
	"Statx.Ino":              renamed(Ino),
	"Statx.Size":             {Class: Determined, free: of(func(w, _ *fuse.Statx) bool { return is(uint32(w.Mode), syscall.S_IFDIR) })},
	"Statx.Blocks":           bounded(of(func(w, h *fuse.Statx) bool { return h.Blocks <= most(w.Size, w.Blocks) })),
	"Statx.AttributesMask":   {Class: Free},
	"Statx.Atime":            {Class: Bounded, nsec: "Nsec"},
	"Statx.Btime":            {Class: Bounded, nsec: "Nsec", within: of(wasBorn)},
	"Statx.Ctime":            {Class: Bounded, nsec: "Nsec"},
	"Statx.Mtime":            {Class: Bounded, nsec: "Nsec"},
	"Statx.RdevMajor":        {Class: Determined, free: of(func(w, _ *fuse.Statx) bool { return !isDevice(uint32(w.Mode)) })},
	"Statx.RdevMinor":        {Class: Determined, free: of(func(w, _ *fuse.Statx) bool { return !isDevice(uint32(w.Mode)) })},
	"Statx.DevMajor":         {Class: Free}, // the kernel has its own
	"Statx.DevMinor":         {Class: Free},

	"OpenOut.Fh":        renamed(Fh),
	"OpenOut.OpenFlags": bounded(of(func(w, h *fuse.OpenOut) bool { return h.OpenFlags&noSeeking&^w.OpenFlags == 0 })),
	"OpenOut.BackingID": {Class: Free}, // read with FOPEN_PASSTHROUGH alone

	"WriteOut.Size":                {Class: Determined},
	"CopyFileRangeOut.BytesCopied": {Class: Determined},
	"LseekOut.Offset":              {Class: Determined},
	"GetXAttrOut.Size":             {Class: Determined},
	"PollOut.Revents":              {Class: Determined},
	"IoctlOut.Result":              {Class: Determined},
	"IoctlOut.Flags":               {Class: Free},
	"IoctlOut.InIovs":              {Class: Free},
	"IoctlOut.OutIovs":             {Class: Free},
	"BmapOut.Block":                {Class: Free},

	"FileLock.Typ":   {Class: Determined},
	"FileLock.Start": {Class: Determined, free: unlocked},
	"FileLock.End":   {Class: Determined, free: unlocked},
	"FileLock.Pid":   {Class: Determined, free: unlocked},

	"StatfsOut.Blocks":  bounded(of(func(_, h *fuse.StatfsOut) bool { return h.Blocks > 0 })),
	"StatfsOut.Bfree":   bounded(of(func(_, h *fuse.StatfsOut) bool { return h.Bfree <= h.Blocks })),
	"StatfsOut.Bavail":  bounded(of(func(_, h *fuse.StatfsOut) bool { return h.Bavail <= h.Bfree })),
	"StatfsOut.Files":   bounded(of(func(_, h *fuse.StatfsOut) bool { return true })),
	"StatfsOut.Ffree":   bounded(of(func(_, h *fuse.StatfsOut) bool { return h.Ffree <= h.Files })),
	"StatfsOut.Bsize":   bounded(of(func(_, h *fuse.StatfsOut) bool { return h.Bsize > 0 })),
	"StatfsOut.Frsize":  bounded(of(func(_, h *fuse.StatfsOut) bool { return h.Frsize > 0 })),
	"StatfsOut.NameLen": {Class: Determined},

	"Dirent.Name": {Class: Set},
	"Dirent.Ino":  renamed(Ino),
	"Dirent.Off":  renamed(Cookie),
	"Dirent.Type": {Class: Determined},

	"GetAttrIn.Fh":              renamed(Fh),
	"SetAttrInCommon.Fh":        renamed(Fh),
	"RenameIn.Newdir":           renamed(Node),
	"LinkIn.Oldnodeid":          renamed(Node),
	"ReadIn.Fh":                 renamed(Fh),
	"WriteIn.Fh":                renamed(Fh),
	"ReleaseIn.Fh":              renamed(Fh),
	"FsyncIn.Fh":                renamed(Fh),
	"FlushIn.Fh":                renamed(Fh),
	"LkIn.Fh":                   renamed(Fh),
	"IoctlIn.Fh":                renamed(Fh),
	"PollIn.Fh":                 renamed(Fh),
	"FallocateIn.Fh":            renamed(Fh),
	"LseekIn.Fh":                renamed(Fh),
	"CopyFileRangeIn.FhIn":      renamed(Fh),
	"CopyFileRangeIn.FhOut":     renamed(Fh),
	"CopyFileRangeIn.NodeIdOut": renamed(Node),
	"StatxIn.Fh":                renamed(Fh),
	"ForgetOne.NodeId":          renamed(Node),
}

// wasBorn: there is a time of birth, or it says that there is none. When that was
// no other reply says, so a ledger can't know.
func wasBorn(_, h *fuse.Statx) bool {
	return h.Mask&unix.STATX_BTIME == 0 || h.Btime.Sec != 0 && int64(h.Btime.Sec) <= int64(h.Ctime.Sec)
}

// besideSeconds is what is compared with another field, as one time.
var besideSeconds = class{Class: Bounded, within: func(_, _ reflect.Value) bool { return true }, free: func(_, _ reflect.Value) bool { return true }}

var (
	anyEntry    = of(func(_, h *fuse.EntryOut) bool { return h.EntryValidNsec < 1e9 && h.AttrValidNsec < 1e9 })
	anyAttrOut  = of(func(_, h *fuse.AttrOut) bool { return h.AttrValidNsec < 1e9 })
	anyStatxOut = of(func(_, h *fuse.StatxOut) bool { return h.AttrValidNsec < 1e9 })
	unlocked    = of(func(w, _ *fuse.FileLock) bool { return w.Typ == syscall.F_UNLCK })
)

// noSeeking are flags that take something away from whoever opens the file.
const noSeeking = fuse.FOPEN_NONSEEKABLE | fuse.FOPEN_STREAM

func renamed(k Kind) class { return class{Class: Renamed, kind: k} }

func bounded(within func(want, have reflect.Value) bool) class {
	return class{Class: Bounded, within: within}
}

// of makes a condition on two structs of one type.
func of[T any](f func(want, have *T) bool) func(want, have reflect.Value) bool {
	return func(want, have reflect.Value) bool {
		return f(want.Addr().Interface().(*T), have.Addr().Interface().(*T))
	}
}

func is(mode, format uint32) bool { return mode&syscall.S_IFMT == format }

func isDevice(mode uint32) bool { return is(mode, syscall.S_IFCHR) || is(mode, syscall.S_IFBLK) }

// most is how many blocks of 512 bytes a file can have: those of its size in
// pages, or what was reserved for it. Fewer can be any number: holes, and what
// is not written back yet, need none.
func most(size, blocks uint64) uint64 {
	const page, sectors = 4096, 8
	return max(blocks, (size/page+min(size%page, 1))*sectors)
}

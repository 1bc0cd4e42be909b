package replay

import (
	"math"
	"slices"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// changes are the opcodes that change the filesystem where they succeed. Locks
// are not among them: they are between processes, and those are others now.
var changes = []proto.Opcode{
	proto.OpSetattr, proto.OpSymlink, proto.OpMknod, proto.OpMkdir, proto.OpUnlink, proto.OpRmdir,
	proto.OpRename, proto.OpRename2, proto.OpLink, proto.OpWrite, proto.OpSetxattr, proto.OpRemovexattr,
	proto.OpCreate, proto.OpTmpfile, proto.OpFallocate, proto.OpCopyFileRange, proto.OpCopyFileRange64,
}

func isChange(req *proto.Request, errno syscall.Errno) bool {
	if errno != 0 {
		return false
	}
	switch in := req.In.(type) {
	case *fuse.OpenIn:
		return in.Flags&syscall.O_TRUNC != 0
	case *fuse.IoctlIn:
		return in.InSize > 0 // it sets something
	}
	return slices.Contains(changes, req.Op)
}

// answer is one recorded reply.
type answer struct {
	at     int // its place in the trace
	change bool
	reply  []byte // JSON
}

// answers are what was recorded for one key, in the order of the trace.
type answers struct {
	list  []answer
	given int // how many of them have been replayed or passed over
}

// state is a position in the trace.
type state struct {
	now     int   // the place of the latest change that was replayed; -1 before the first
	changes []int // the places of all changes, in order
}

// horizon is the place of the next change that was not replayed: what comes
// after it may not be true yet.
func (s *state) horizon() int {
	i, _ := slices.BinarySearch(s.changes, s.now+1)
	if i == len(s.changes) {
		return math.MaxInt
	}
	return s.changes[i]
}

// next is the reply that is given at s, or nil where there is none any more.
func (a *answers) next(s *state) *answer {
	horizon := s.horizon()
	i := a.given
	for i+1 < len(a.list) && a.list[i].outdated(s) && a.list[i+1].at <= horizon {
		i++
	}
	var last *answer
	if a.given > 0 {
		last = &a.list[a.given-1]
	}
	switch holds := last != nil && !last.change; {
	case i < len(a.list) && (a.list[i].at <= horizon || !holds):
		a.given = i + 1
		return &a.list[i]
	case holds:
		return last
	}
	return nil
}

// outdated says that a change has been replayed since. Changes themselves stay,
// so that each is replayed.
func (a *answer) outdated(s *state) bool { return !a.change && a.at < s.now }

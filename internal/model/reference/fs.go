// Package reference is a complete in-memory POSIX filesystem that answers
// FUSE requests. It does what Linux tmpfs does (kernel 6.18, with xattrs and
// ACLs), which makes it the default model, the oracle of the evals and the
// model behind the test server. It knows no clock and no randomness: the same
// requests in the same order get the same replies.
package reference

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// FS is one filesystem. Its methods may be called from many goroutines.
//
// Locks, in the order in which they are taken: ns, then one inode's mu, or
// two by ascending number; then the leaves files.mu and locks.mu.
type FS struct {
	opt   Options
	names validity // EntryValid
	valid validity // AttrValid
	space space
	files handles
	locks lockTable

	// ns guards the namespace: inodes, directories and link counts. Requests
	// that change it, owners or xattrs hold it exclusively; all others share
	// it, so that no inode goes away under them.
	ns      sync.RWMutex
	inodes  map[uint64]*inode
	lastIno uint64
	rooted  atomic.Bool // the root has its times
}

// New makes a filesystem that holds an empty root directory.
func New(o Options) *FS {
	o = o.withDefaults()
	f := &FS{
		opt:     o,
		names:   newValidity(o.nameTTL()),
		valid:   newValidity(o.TTL),
		inodes:  map[uint64]*inode{},
		lastIno: rootIno,
		files:   handles{open: map[uint64]*handle{}},
	}
	f.space.init(o.Size, o.Inodes)
	f.space.takeInode()
	root := &inode{
		ino: rootIno, format: sIFDIR, mode: o.RootMode&permBits | sIFDIR, nlink: 2,
		uid: o.RootUid, gid: o.RootGid,
	}
	root.dir = newDirectory(root)
	f.inodes[rootIno] = root
	return f
}

// Freeze makes the filesystem read-only, as Options.ReadOnly does. No request
// may be under way.
func (f *FS) Freeze() { f.opt.ReadOnly = true }

// requests are used again, for the memory of their payloads. Nothing of a
// payload is kept, other than by copying.
var requests = sync.Pool{New: func() any { return new(proto.Request) }}

// Answer implements [model.Model]. Its error is a request that can't be read;
// everything else is an errno in the reply.
func (f *FS) Answer(ctx context.Context, p *model.Prompt) (*model.Answer, error) {
	req := requests.Get().(*proto.Request)
	defer requests.Put(req)
	if err := req.ParseJSON(p.Request); err != nil {
		return nil, err
	}
	if f.opt.Plain {
		plain(req)
	}
	c := newCall(ctx, f, req)
	defer c.release()
	c.serve()
	b, err := proto.AppendReplyJSON(p.Scratch[:0], req, &c.reply)
	if err != nil {
		return nil, err
	}
	return &model.Answer{Reply: b}, nil
}

// birth gives the root the time of the first request: there is no clock to
// take it from when the filesystem is made.
func (f *FS) birth(now proto.Time) {
	if f.rooted.Load() {
		return
	}
	f.ns.Lock()
	defer f.ns.Unlock()
	if f.rooted.CompareAndSwap(false, true) {
		f.inodes[rootIno].born(now)
	}
}

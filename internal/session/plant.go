package session

// A seed as the requests that make it, for models that know nothing but requests.

import (
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// planter makes a tree in a filesystem that answers requests.
type planter struct {
	do     func(*proto.Request) *proto.Reply
	now    proto.Time
	nodes  map[uint64]uint64 // what the filesystem calls the seed's nodes
	unique uint64
}

// plantStep is how many bytes one WRITE carries.
const plantStep = 1 << 20

// Plant makes the tree in a filesystem that has nothing but its root, by the
// requests that a kernel would send for cp -a. In the end the filesystem is
// told to forget all nodes, as if nobody had ever looked.
func (s *Seed) Plant(do func(*proto.Request) *proto.Reply) error {
	now := time.Now()
	p := &planter{
		do: do, now: proto.Time{Sec: now.Unix(), Nsec: uint32(now.Nanosecond())},
		nodes: map[uint64]uint64{proto.RootID: proto.RootID},
	}
	for i := range s.files {
		if err := p.file(&s.files[i]); err != nil {
			return fmt.Errorf("seed: %w", err)
		}
	}
	for _, f := range slices.Backward(s.files) { // what is in a directory changes its times
		if err := p.attributes(&f); err != nil {
			return fmt.Errorf("seed: %w", err)
		}
	}
	for _, f := range s.files {
		p.request(proto.OpForget, p.nodes[f.id], &fuse.ForgetIn{Nlookup: 1}, nil)
	}
	return nil
}

func (p *planter) request(op proto.Opcode, node uint64, in any, data []byte, names ...string) *proto.Reply {
	p.unique++
	return p.do(&proto.Request{
		Op: op, In: in, Names: names, Data: data,
		Header: proto.Header{Unique: p.unique, NodeId: node, Now: p.now},
	})
}

// file makes a name, and the node behind it unless it is a further link.
func (p *planter) file(f *seedFile) error {
	if f.parent == 0 {
		return nil
	}
	reply := p.entry(f)
	out, ok := reply.Out.(*fuse.EntryOut)
	if reply.Errno != 0 || !ok {
		return fmt.Errorf("make %s: %v", f.name, proto.ErrnoName(reply.Errno))
	}
	p.nodes[f.id] = out.NodeId
	return p.content(f)
}

func (p *planter) entry(f *seedFile) *proto.Reply {
	dir := p.nodes[f.parent]
	old, linked := p.nodes[f.id]
	switch {
	case linked:
		return p.request(proto.OpLink, dir, &fuse.LinkIn{Oldnodeid: old}, nil, f.name)
	case f.target != nil:
		return p.request(proto.OpSymlink, dir, nil, nil, f.name, *f.target)
	case f.attr.Mode&sIFMT == fuse.S_IFDIR:
		return p.request(proto.OpMkdir, dir, &fuse.MkdirIn{Mode: f.attr.Mode}, nil, f.name)
	}
	return p.request(proto.OpMknod, dir, &fuse.MknodIn{Mode: f.attr.Mode, Rdev: f.attr.Rdev}, nil, f.name)
}

func (p *planter) content(f *seedFile) error {
	if len(f.data) == 0 {
		return nil
	}
	node, fh := p.nodes[f.id], uint64(0)
	reply := p.request(proto.OpOpen, node, &fuse.OpenIn{Flags: syscall.O_WRONLY}, nil)
	if out, ok := reply.Out.(*fuse.OpenOut); ok { // else OPEN is off
		fh = out.Fh
	}
	off := uint64(0)
	for part := range slices.Chunk(f.data, plantStep) {
		in := &fuse.WriteIn{Fh: fh, Offset: off, Size: uint32(len(part)), Flags: syscall.O_WRONLY}
		reply := p.request(proto.OpWrite, node, in, part)
		if out, ok := reply.Out.(*fuse.WriteOut); !ok || int(out.Size) != len(part) {
			return fmt.Errorf("write %s: %v", f.name, proto.ErrnoName(reply.Errno))
		}
		off += uint64(len(part))
	}
	p.request(proto.OpRelease, node, &fuse.ReleaseIn{Fh: fh}, nil)
	return nil
}

func (p *planter) attributes(f *seedFile) error {
	in := &fuse.SetAttrIn{SetAttrInCommon: fuse.SetAttrInCommon{
		Valid: fuse.FATTR_UID | fuse.FATTR_GID | fuse.FATTR_ATIME | fuse.FATTR_MTIME | fuse.FATTR_CTIME,
		Owner: f.attr.Owner, Mode: f.attr.Mode,
		Atime: f.attr.Atime, Mtime: f.attr.Mtime, Ctime: f.attr.Ctime,
		Atimensec: f.attr.Atimensec, Mtimensec: f.attr.Mtimensec, Ctimensec: f.attr.Ctimensec,
	}}
	if f.target == nil { // the mode of a symbolic link can't be set
		in.Valid |= fuse.FATTR_MODE
	}
	if reply := p.request(proto.OpSetattr, p.nodes[f.id], in, nil); reply.Errno != 0 {
		return fmt.Errorf("attributes of %s: %v", f.name, proto.ErrnoName(reply.Errno))
	}
	return nil
}

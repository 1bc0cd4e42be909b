package session

// A world that begins with an existing tree.

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// MaxSeed is the most bytes of content that a seed may have.
const MaxSeed = 64 << 20

// Seed is a tree that has been read. Extended attributes are left out.
type Seed struct {
	Dir   string
	Files int // directories and all
	Bytes int64

	files []seedFile // a directory before what is in it
	found map[devIno]uint64
}

// seedFile is one name of the tree.
type seedFile struct {
	id, parent uint64
	name       string
	attr       fuse.Attr
	data       []byte
	target     *string
}

type devIno struct{ dev, ino uint64 }

// ReadSeed reads the tree at dir. Nodes are numbered from 1, the root, in the
// order of their paths, so the same tree gets the same numbers.
func ReadSeed(dir string) (*Seed, error) {
	s := &Seed{Dir: dir, found: map[devIno]uint64{}}
	ids := map[string]uint64{}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		f, err := s.read(path)
		if err != nil {
			return err
		}
		if path != dir {
			f.parent, f.name = ids[filepath.Dir(path)], filepath.Base(path)
		} else if f.attr.Mode&sIFMT != fuse.S_IFDIR {
			return fmt.Errorf("%s: have a file, want a directory", dir)
		}
		ids[path] = f.id
		s.files = append(s.files, f)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("seed: %w", err)
	}
	s.Files = len(s.files)
	return s, nil
}

func (s *Seed) read(path string) (f seedFile, err error) {
	var st syscall.Stat_t
	if err := syscall.Lstat(path, &st); err != nil {
		return f, &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	key := devIno{st.Dev, st.Ino}
	f.id = s.found[key]
	again := f.id != 0
	if !again {
		f.id = uint64(len(s.found)) + proto.RootID
		s.found[key] = f.id
	}
	f.attr = seedAttr(&st, f.id)
	switch f.attr.Mode & sIFMT {
	case fuse.S_IFLNK:
		target, err := os.Readlink(path)
		f.target = &target
		return f, err
	case fuse.S_IFREG:
		if !again {
			err = s.content(&f, path)
		}
	}
	return f, err
}

func (s *Seed) content(f *seedFile, path string) (err error) {
	if s.Bytes += int64(f.attr.Size); s.Bytes > MaxSeed {
		return fmt.Errorf("%s: over %d MiB of content with it", path, MaxSeed>>20)
	}
	f.data, err = os.ReadFile(path)
	f.attr.Size = uint64(len(f.data))
	return err
}

func seedAttr(st *syscall.Stat_t, id uint64) fuse.Attr {
	return fuse.Attr{
		Ino: id, Size: uint64(st.Size), Blocks: uint64(st.Blocks), Blksize: uint32(st.Blksize),
		Atime: uint64(st.Atim.Sec), Mtime: uint64(st.Mtim.Sec), Ctime: uint64(st.Ctim.Sec),
		Atimensec: uint32(st.Atim.Nsec), Mtimensec: uint32(st.Mtim.Nsec), Ctimensec: uint32(st.Ctim.Nsec),
		Mode: st.Mode, Nlink: uint32(st.Nlink), Owner: fuse.Owner{Uid: st.Uid, Gid: st.Gid}, Rdev: uint32(st.Rdev),
	}
}

// seed takes the tree in as facts.
func (l *ledger) seed(s *Seed) {
	for i := range s.files {
		f := &s.files[i]
		n := l.node(f.id)
		n.tell(&f.attr)
		n.complete, n.target = n.isDir(), f.target
		n.content.put(chunk{data: present(f.data)})
		if f.parent != 0 {
			l.link(l.node(f.parent), f.name, n)
		}
	}
}

// whole selects everything, as far as the tokens go.
func (l *ledger) whole(tokens int) *selection {
	getattr := &proto.Request{Op: proto.OpGetattr, In: &fuse.GetAttrIn{}}
	s := &selection{l: l, p: plans[getattr.Op], req: getattr, room: tokens, views: map[uint64]*view{}}
	s.walk(proto.RootID)
	return s
}

func (s *selection) walk(id uint64) {
	s.showNode(id)
	v := s.views[id]
	if v.n.kind() == fuse.S_IFREG {
		s.showBytes(id, 0, v.n.attr.Size, true)
	}
	for _, e := range v.n.order {
		switch {
		case s.room < costNode+costAttr+costEntry:
			s.left.Entries++
		default:
			s.showEntry(v, e)
			if e.node != 0 && s.views[e.node] == nil {
				s.walk(e.node)
			}
		}
	}
}

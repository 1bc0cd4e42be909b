// Package sample makes small traces for tests, by asking the reference.
package sample

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/internal/model/reference"
	"github.com/llmfs-raw/llmfs-raw/internal/session"
	"github.com/llmfs-raw/llmfs-raw/internal/trace"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// Settings are those of the filesystem that answers.
var Settings = map[string]string{"size": "1073741824", "inodes": "65536", "cache": "normal"}

// Tape records requests and the reference's replies.
type Tape struct {
	Pairs  []*trace.Pair
	answer *session.Session
	unique uint64
	now    time.Time
}

// New begins a recording.
func New() *Tape {
	opts, err := reference.FromSettings(Settings)
	if err != nil {
		panic(err) // they are constant
	}
	return &Tape{answer: session.New(reference.New(opts), session.Options{}), now: time.Date(2025, 1, 2, 3, 4, 5, 6, time.UTC)}
}

// Do asks, a second after the request before.
func (t *Tape) Do(op proto.Opcode, node uint64, in any, data []byte, names ...string) *proto.Reply {
	t.unique, t.now = t.unique+2, t.now.Add(time.Second)
	if in == nil {
		in = op.Row().NewIn()
	}
	if names == nil {
		names = []string{}
	}
	req := &proto.Request{Op: op, Header: proto.Header{
		Unique: t.unique, NodeId: node, Uid: 1000, Gid: 1000, Pid: 42, Comm: "test",
		Now: proto.Time{Sec: t.now.Unix(), Nsec: uint32(t.now.Nanosecond())},
	}, In: in, Names: names, Data: data}
	p := &trace.Pair{Req: req}
	if rep := t.answer.Handle(context.Background(), req); op.Row().Reply != proto.ReplyNone {
		p.Rep = rep
	}
	t.Pairs = append(t.Pairs, p)
	return p.Rep
}

// Node is the node id in a reply.
func Node(r *proto.Reply) uint64 {
	switch out := r.Out.(type) {
	case *fuse.EntryOut:
		return out.NodeId
	case *fuse.CreateOut:
		return out.NodeId
	}
	return 0
}

// Fh is the handle in a reply.
func Fh(r *proto.Reply) uint64 {
	switch out := r.Out.(type) {
	case *fuse.OpenOut:
		return out.Fh
	case *fuse.CreateOut:
		return out.Fh
	}
	return 0
}

// Files is a trace about files: made, written, read, truncated, linked, removed.
func Files() *Tape {
	t := New()
	t.Do(proto.OpLookup, 1, nil, nil, "a.txt")
	made := t.Do(proto.OpCreate, 1, &fuse.CreateIn{Flags: syscall.O_RDWR | syscall.O_CREAT, Mode: 0o100644, Umask: 0o22}, nil, "a.txt")
	node, fh := Node(made), Fh(made)
	t.Do(proto.OpWrite, node, &fuse.WriteIn{Fh: fh, Size: 5}, []byte("hello"))
	t.Do(proto.OpWrite, node, &fuse.WriteIn{Fh: fh, Offset: 5000, Size: 3}, []byte("end"))
	t.Do(proto.OpRead, node, &fuse.ReadIn{Fh: fh, Size: 4096}, nil)
	t.Do(proto.OpGetattr, node, nil, nil)
	t.Do(proto.OpSetattr, node, &fuse.SetAttrIn{SetAttrInCommon: fuse.SetAttrInCommon{Valid: fuse.FATTR_SIZE, Size: 3}}, nil)
	t.Do(proto.OpSetattr, node, &fuse.SetAttrIn{SetAttrInCommon: fuse.SetAttrInCommon{Valid: fuse.FATTR_MTIME | fuse.FATTR_ATIME, Mtime: 12345, Mtimensec: 6, Atime: 9}}, nil)
	t.Do(proto.OpSetxattr, node, &fuse.SetXAttrIn{Size: 1}, []byte("1"), "user.b")
	t.Do(proto.OpSetxattr, node, &fuse.SetXAttrIn{Size: 1}, []byte("2"), "user.a")
	t.Do(proto.OpListxattr, node, &fuse.GetXAttrIn{Size: 100}, nil)
	t.Do(proto.OpGetxattr, node, &fuse.GetXAttrIn{}, nil, "user.a")
	t.Do(proto.OpGetxattr, node, &fuse.GetXAttrIn{Size: 10}, nil, "user.none")
	t.Do(proto.OpLink, 1, &fuse.LinkIn{Oldnodeid: node}, nil, "b.txt")
	t.Do(proto.OpUnlink, 1, nil, nil, "a.txt")
	t.Do(proto.OpStatx, node, nil, nil)
	t.Do(proto.OpGetlk, node, &fuse.LkIn{Fh: fh, Owner: 7, Lk: fuse.FileLock{End: 9, Typ: syscall.F_WRLCK}}, nil)
	t.Do(proto.OpFlush, node, &fuse.FlushIn{Fh: fh}, nil)
	t.Do(proto.OpRelease, node, &fuse.ReleaseIn{Fh: fh}, nil)
	t.Do(proto.OpUnlink, 1, nil, nil, "b.txt")
	t.Do(proto.OpForget, node, &fuse.ForgetIn{Nlookup: 2}, nil)
	t.Do(proto.OpUnlink, 1, nil, nil, "b.txt")
	t.Do(proto.OpStatfs, 1, nil, nil)
	return t
}

// Names is a trace about names: directories, a listing of several pages, renames,
// symbolic links, what must fail.
func Names() *Tape {
	t := New()
	dir := Node(t.Do(proto.OpMkdir, 1, &fuse.MkdirIn{Mode: 0o777, Umask: 0o22}, nil, "d"))
	for _, name := range []string{"one", "two", "three", "four", "five", "six"} {
		t.Do(proto.OpMknod, dir, &fuse.MknodIn{Mode: 0o100644, Umask: 0o22}, nil, name)
	}
	t.Do(proto.OpSymlink, dir, nil, nil, "link", "one")
	fh := Fh(t.Do(proto.OpOpendir, dir, nil, nil))
	t.list(proto.OpReaddirplus, dir, fh, 500)
	t.list(proto.OpReaddir, dir, fh, 100)
	t.list(proto.OpReaddir, dir, fh, 4096)
	t.Do(proto.OpReleasedir, dir, &fuse.ReleaseIn{Fh: fh}, nil)
	t.Do(proto.OpReadlink, Node(t.Do(proto.OpLookup, dir, nil, nil, "link")), nil, nil)
	t.Do(proto.OpRename2, dir, &fuse.RenameIn{Newdir: 1}, nil, "two", "moved")
	t.Do(proto.OpRmdir, 1, nil, nil, "d")
	t.Do(proto.OpUnlink, 1, nil, nil, "d")
	t.Do(proto.OpLookup, dir, nil, nil, "two")
	t.Do(proto.OpLookup, 1, nil, nil, "moved")
	t.Do(proto.OpMkdir, 1, &fuse.MkdirIn{Mode: 0o777}, nil, "d")
	t.Do(proto.OpGetattr, dir, nil, nil)
	t.Do(proto.OpOpen, dir, &fuse.OpenIn{}, nil)
	return t
}

// list reads a directory to its end.
func (t *Tape) list(op proto.Opcode, dir, fh uint64, size uint32) {
	for off := uint64(0); ; {
		r := t.Do(op, dir, &fuse.ReadIn{Fh: fh, Offset: off, Size: size}, nil)
		if len(r.Entries) == 0 {
			return
		}
		off = r.Entries[len(r.Entries)-1].Off
	}
}

// Trace is the recording.
func (t *Tape) Trace(name string) *evals.Trace {
	out := &evals.Trace{Header: trace.Header{Model: "reference", Options: Settings}, Pairs: t.Pairs}
	out.TraceInfo = evals.TraceInfo{Name: name, File: name + ".jsonl", Area: "sample", Tier: evals.Core, Pairs: len(t.Pairs)}
	for _, p := range t.Pairs {
		if evals.Asked(p) {
			out.Steps++
		}
	}
	return out
}

// Corpus writes traces to a directory, as a corpus.
func Corpus(dir string, traces ...*evals.Trace) (*evals.Corpus, error) {
	m := evals.Manifest{Version: evals.ManifestVersion, Protocol: "7.45"}
	for _, t := range traces {
		var b bytes.Buffer
		w, err := trace.NewWriter(&b, t.Header)
		for _, p := range t.Pairs {
			if err == nil {
				err = w.Write(p)
			}
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, t.File), b.Bytes(), 0o644)
		}
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(b.Bytes())
		t.SHA256 = hex.EncodeToString(sum[:])
		m.Traces = append(m.Traces, t.TraceInfo)
	}
	text, err := json.Marshal(m)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, evals.ManifestFile), text, 0o644)
	}
	if err != nil {
		return nil, err
	}
	return evals.OpenCorpus(os.DirFS(dir))
}

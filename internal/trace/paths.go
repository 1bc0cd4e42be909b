package trace

// Node ids to paths, learnt from the replies that the kernel learnt them from.

import (
	"slices"
	"strconv"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// link is one name of a node.
type link struct {
	dir  uint64
	name string
}

type node struct {
	links []link // oldest first
	last  link   // the name it had when links became empty
	refs  uint64 // how often the kernel was told of it, less what it forgot
}

// tree is what the kernel's dentry cache knows, as far as the trace tells.
type tree struct {
	nodes map[uint64]*node
	names map[link]uint64
}

func newTree() *tree {
	return &tree{nodes: map[uint64]*node{}, names: map[link]uint64{}}
}

// maxDepth bounds a path: a faulty answer can make a directory its own parent.
const maxDepth = 64

// path is the path of a node in the mount, "#7" for a node never told of.
func (t *tree) path(id uint64) string {
	path := ""
	for range maxDepth {
		if id == proto.RootID {
			return "/" + path
		}
		n := t.nodes[id]
		if n == nil {
			return join("#"+strconv.FormatUint(id, 10), path)
		}
		l, gone := n.name()
		if gone {
			path = join(l.name+"(deleted)", path)
		} else {
			path = join(l.name, path)
		}
		id = l.dir
	}
	return join("…", path)
}

func (t *tree) child(l link) string {
	dir := t.path(l.dir)
	if dir == "/" {
		return dir + l.name
	}
	return join(dir, l.name)
}

func join(dir, name string) string {
	if name == "" {
		return dir
	}
	return dir + "/" + name
}

// name is the newest name that is left, or the last one there was.
func (n *node) name() (l link, gone bool) {
	if len(n.links) == 0 {
		return n.last, true
	}
	return n.links[len(n.links)-1], false
}

// learn takes over what a pair tells.
func (t *tree) learn(p *Pair) {
	t.forgetAll(p.Req)
	if p.Rep == nil || p.Rep.Errno != 0 {
		return
	}
	for i, name := range p.Req.Names {
		t.learnName(p, p.Req.Op.Row().Role(i), link{p.Req.Header.NodeId, name})
	}
	for _, e := range p.Rep.Entries {
		t.see(link{p.Req.Header.NodeId, e.Name}, e.Entry.NodeId)
	}
}

func (t *tree) learnName(p *Pair, r proto.Role, l link) {
	in, _ := p.Req.In.(*fuse.RenameIn)
	switch {
	case r == proto.RoleRemoved:
		t.remove(l)
	case r == proto.RoleNew && in != nil:
		t.move(link{l.dir, p.Req.Names[0]}, link{in.Newdir, l.name}, in.Flags)
	case r == proto.RoleEntry:
		t.see(l, entryID(p.Rep.Out))
	}
}

// entryID is the node that a reply's entry tells of, or 0.
func entryID(out any) uint64 {
	switch out := out.(type) {
	case *fuse.EntryOut:
		return out.NodeId
	case *fuse.CreateOut:
		return out.NodeId
	}
	return 0
}

// see notes that l is a name of the node id.
func (t *tree) see(l link, id uint64) {
	if id == 0 || id == proto.RootID || l.name == "." || l.name == ".." {
		return
	}
	if t.nodes[id] == nil {
		t.nodes[id] = &node{}
	}
	t.nodes[id].refs++
	t.bind(l, id)
}

func (t *tree) bind(l link, id uint64) {
	if t.names[l] != id {
		t.remove(l)
		t.names[l] = id
		t.nodes[id].links = append(t.nodes[id].links, l)
	}
}

func (t *tree) remove(l link) {
	n := t.nodes[t.names[l]]
	if n == nil {
		return
	}
	delete(t.names, l)
	n.last = l
	n.links = slices.DeleteFunc(n.links, func(x link) bool { return x == l })
}

func (t *tree) move(from, to link, flags uint32) {
	moved, other := t.names[from], t.names[to]
	t.remove(from)
	t.remove(to)
	if moved != 0 {
		t.bind(to, moved)
	}
	if other != 0 && flags&unix.RENAME_EXCHANGE != 0 {
		t.bind(from, other)
	}
}

func (t *tree) forgetAll(r *proto.Request) {
	if in, ok := r.In.(*fuse.ForgetIn); ok {
		t.forget(r.Header.NodeId, in.Nlookup)
	}
	list, _ := r.List.([]proto.ForgetOne)
	for _, f := range list {
		t.forget(f.NodeId, f.Nlookup)
	}
}

func (t *tree) forget(id, count uint64) {
	n := t.nodes[id]
	if n == nil {
		return
	}
	if n.refs -= min(count, n.refs); n.refs > 0 {
		return
	}
	for _, l := range n.links {
		delete(t.names, l)
	}
	delete(t.nodes, id)
}

// newdir is the directory that a rename moves to.
func newdir(r *proto.Request) uint64 {
	if in, ok := r.In.(*fuse.RenameIn); ok {
		return in.Newdir
	}
	return r.Header.NodeId
}

// negative reports whether out says that there is no such name.
func negative(out any) bool {
	entry, ok := out.(*fuse.EntryOut)
	return ok && entry.NodeId == 0
}

package session

// Which facts can decide a request: those about the nodes, names and handles
// that it carries, followed through the table, as many as the budget allows.

import (
	"cmp"
	"slices"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// selection is what of the ledger goes into one prompt.
type selection struct {
	l       *ledger
	p       *plan
	req     *proto.Request
	room    int // tokens left, by estimate
	views   map[uint64]*view
	handles []handleKey
	left    leftOut
}

// view is what is shown of one node.
type view struct {
	n       *node
	attr    bool
	entries []*entry
	chunks  []chunk
	known   bool // content is shown, even where nothing is known
	xattrs  []string
	locks   bool
}

// nodeFields and handleFields are the fields of in-structs that name things.
var (
	nodeFields   = []string{"Newdir", "Oldnodeid", "NodeIdOut"}
	handleFields = []string{"Fh", "Fh_", "FhIn", "FhOut"}
)

// choose fills a selection in order of importance.
func (l *ledger) choose(req *proto.Request, tokens int) *selection {
	s := &selection{l: l, p: plans[req.Op], req: req, room: tokens, views: map[uint64]*view{}}
	direct := s.direct()
	for _, id := range direct {
		s.showNode(id)
	}
	s.named()
	s.opened(direct)
	s.bytes()
	for _, id := range direct {
		s.parents(id)
	}
	s.listing()
	return s
}

// direct lists the nodes that the request names by number.
func (s *selection) direct() []uint64 {
	ids := []uint64{s.req.Header.NodeId}
	for _, field := range nodeFields {
		if id := s.p.uint(s.req, field); id != 0 && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// view finds what is shown of a node or begins to show it; nil for unknown ones.
func (s *selection) view(id uint64) *view {
	v, n := s.views[id], s.l.nodes[id]
	if v == nil && n != nil {
		v = &view{n: n}
		s.views[id] = v
		s.room -= costNode
	}
	return v
}

// showNode shows a node's attributes, target, extended attributes and locks.
func (s *selection) showNode(id uint64) {
	v := s.view(id)
	if v == nil || v.attr {
		return
	}
	v.attr = true
	if v.n.told {
		s.room -= costAttr
	}
	if v.n.target != nil {
		s.room -= textTokens(len(*v.n.target))
	}
	if v.locks = s.p.lk != nil; v.locks {
		s.room -= costLock * len(v.n.locks)
	}
	s.showXattrs(v)
}

// showXattrs shows the names that are not known to be missing, and the one
// that is asked for.
func (s *selection) showXattrs(v *view) {
	asked := ""
	if i := s.p.name(proto.RoleXattr); i >= 0 {
		asked = s.req.Names[i]
	}
	for name, x := range v.n.xattrs {
		if x.missing && name != asked {
			continue
		}
		if cost := costEntry + blobTokens(x.value); cost <= s.room {
			v.xattrs = append(v.xattrs, name)
			s.room -= cost
		} else {
			s.left.Xattrs++
		}
	}
	slices.Sort(v.xattrs)
}

// named follows the names of the request into their directories.
func (s *selection) named() {
	for i, name := range s.req.Names {
		switch role := s.p.row.Role(i); {
		case role == proto.RoleNew:
			s.showName(s.p.uint(s.req, "Newdir"), name)
		case role.IsEntry():
			s.showName(s.req.Header.NodeId, name)
		}
	}
}

func (s *selection) showName(dir uint64, name string) {
	n := s.l.nodes[dir]
	if n == nil {
		return
	}
	if e := n.entries[name]; e != nil {
		s.showEntry(s.view(dir), e)
		if e.node != 0 {
			s.showNode(e.node)
			s.introduce(e.node)
		}
	}
}

// maxAlong is the most bytes of a file's content that come along with its entry.
const maxAlong = 4096

// introduce shows the content of a short file that the kernel is to hear of for
// the first time: it can come along.
func (s *selection) introduce(id uint64) {
	n := s.l.nodes[id]
	if s.p.out.entry == nil || s.p.makes || n == nil || n.met || !n.told || n.kind() != fuse.S_IFREG || n.attr.Size > maxAlong || s.room < 2*maxAlong {
		return
	}
	s.showBytes(id, 0, n.attr.Size, true)
}

func (s *selection) showEntry(v *view, e *entry) {
	if !slices.Contains(v.entries, e) {
		v.entries = append(v.entries, e)
		s.room -= costEntry + textTokens(len(e.name))
	}
}

// opened shows the handles that the request names.
func (s *selection) opened(ids []uint64) {
	for _, id := range ids {
		for _, field := range handleFields {
			s.showHandle(handleKey{id, s.p.uint(s.req, field)})
		}
	}
}

func (s *selection) showHandle(key handleKey) {
	if s.l.handles[key] != nil && !slices.Contains(s.handles, key) {
		s.handles = append(s.handles, key)
		s.room -= costHandle
	}
}

// parents shows the way up to the root.
func (s *selection) parents(id uint64) {
	for range maxDepth {
		n := s.l.nodes[id]
		if n == nil || len(n.links) == 0 || id == proto.RootID {
			return
		}
		up := n.links[len(n.links)-1]
		if s.room < costNode+costAttr+costEntry {
			s.left.Nodes++
			return
		}
		s.showNode(up.dir.id)
		s.showEntry(s.view(up.dir.id), up.dir.entries[up.name])
		id = up.dir.id
	}
}

const maxDepth = 256 // more than PATH_MAX can name in practice; ends a loop that a model made

// bytes shows the content that the request asks about. Where it brings its own
// bytes, the old ones decide nothing.
func (s *selection) bytes() {
	switch {
	case s.p.row.Size != "" || s.asksEntries():
	case s.p.has("Offset", "Size"):
		off := s.p.uint(s.req, "Offset")
		s.showBytes(s.req.Header.NodeId, off, off+s.p.uint(s.req, "Size"), true)
	case s.p.has("OffIn", "Len"):
		off := s.p.uint(s.req, "OffIn")
		s.showBytes(s.req.Header.NodeId, off, off+s.p.uint(s.req, "Len"), false)
	case s.p.has("Offset"):
		s.showBytes(s.req.Header.NodeId, 0, ^uint64(0), false)
	}
}

// showBytes shows what is known of a range: what it holds, or only where it is.
func (s *selection) showBytes(id, lo, hi uint64, data bool) {
	v := s.view(id)
	if v == nil {
		return
	}
	v.known = true
	for _, k := range v.n.content.within(lo, max(lo, hi)) {
		s.room -= costChunk
		if k.data != nil {
			cost := dataTokens(k.data)
			switch {
			case !data:
				k = bare(k)
			case cost > s.room:
				s.left.Bytes += len(k.data)
				k = bare(k)
			default:
				s.room -= cost
			}
		}
		v.chunks = append(v.chunks, k)
	}
}

func (s *selection) asksEntries() bool {
	kind := s.p.row.Reply
	return kind == proto.ReplyEntries || kind == proto.ReplyEntriesPlus
}

// listing shows the entries from the cookie on that a reply has room for, each
// with its node.
func (s *selection) listing() {
	v := s.views[s.req.Header.NodeId]
	if !s.asksEntries() || v == nil {
		return
	}
	plus, size := s.p.row.Reply == proto.ReplyEntriesPlus, int(s.p.uint(s.req, "Size"))
	page, more := v.n.after(s.p.uint(s.req, "Offset"), size/proto.DirentSize("x", plus)+1)
	s.left.Entries += more
	for _, e := range page {
		if size -= proto.DirentSize(e.name, plus); size < 0 || s.room < costNode+costAttr+costEntry {
			s.left.Entries++
			continue
		}
		s.showEntry(v, e)
		if plus && e.node != 0 {
			s.showNode(e.node)
		}
	}
}

// after lists the entries that a listing shows after a cookie, that many at
// most, and says how many more there are: in the order in which they were
// told, and behind them those that have not been listed.
func (n *node) after(cookie uint64, most int) (page []*entry, more int) {
	from := n.places[cookie]
	page, fresh, more := n.between(from, from+2*uint64(most))
	if len(page) < most && more > 0 { // much has been removed there
		page, fresh, more = n.between(from, ^uint64(0))
	}
	slices.SortFunc(page, func(a, b *entry) int { return cmp.Compare(a.place, b.place) })
	if more == 0 {
		page = append(page, fresh...)
	} else {
		more += len(fresh)
	}
	over := max(0, len(page)-most)
	return page[:len(page)-over], more + over
}

// between lists the entries at the places from lo, which is left out, to hi,
// and those without a place; more is how many have a place beyond.
func (n *node) between(lo, hi uint64) (within, fresh []*entry, more int) {
	for _, e := range n.order {
		switch {
		case e.missing || e.off != 0 && e.place <= lo:
		case e.off == 0:
			fresh = append(fresh, e)
		case e.place <= hi:
			within = append(within, e)
		default:
			more++
		}
	}
	return within, fresh, more
}

package reference

// The entries of a directory, by name and in the order of their making.

import (
	"slices"
	"sort"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

const (
	bogoDirentSize = 20 // BOGO_DIRENT_SIZE: what an entry adds to a directory's st_size

	cookieDot    = 1
	cookieDotDot = 2
)

// dirent is one name. Its seq, never given twice in a directory, is also the
// cookie after it: newest come first, as in tmpfs, so a listing goes on with
// the entries of smaller seq, and one that renames what it finds will end.
type dirent struct {
	name string
	node *inode // nil once it is removed
	seq  uint64
}

type directory struct {
	parent  *inode // "..", itself for the root
	byName  map[string]*dirent
	order   []*dirent // by ascending seq, with removed ones among them
	removed int
	last    uint64 // the seq given last

	unseen int  // names that there are beside those in byName; see Restore
	page   bool // order is one page of a listing, with seqs in any order
	ends   bool // the page is the last
}

func newDirectory(parent *inode) *directory {
	return &directory{parent: parent, last: cookieDotDot}
}

func (d *directory) len() int { return len(d.byName) + d.unseen }

// add puts a name in. Moving a directory here sets its "..".
func (d *directory) add(dir *inode, name string, n *inode) {
	if d.byName == nil {
		d.byName = map[string]*dirent{}
	}
	if d.last++; d.last == proto.EndCookie {
		d.last++
	}
	e := &dirent{name, n, d.last}
	d.byName[name] = e
	d.order = append(d.order, e)
	if n.dir != nil {
		n.dir.parent = dir
	}
}

// remove takes a name out. Its place in the order goes when half of them are
// such, so that removing costs the same however long the directory is.
func (d *directory) remove(e *dirent) {
	delete(d.byName, e.name)
	e.node = nil
	if d.removed++; d.removed <= len(d.order)/2 {
		return
	}
	kept := make([]*dirent, 0, len(d.byName)+len(d.byName)/4)
	for _, e := range d.order {
		if e.node != nil {
			kept = append(kept, e)
		}
	}
	d.order, d.removed = kept, 0
	if len(kept) == 0 {
		d.order, d.byName = nil, nil
	}
}

// after calls f with the entries that follow a cookie until f says no.
func (d *directory) after(cookie uint64, f func(*dirent) bool) {
	for k := d.at(cookie) - 1; k >= 0; k-- {
		if e := d.order[k]; e.node != nil && !f(e) {
			return
		}
	}
}

// at is how many entries follow a cookie: all of a page that has not got it.
func (d *directory) at(cookie uint64) int {
	k := len(d.order)
	switch {
	case d.page:
		if at := slices.IndexFunc(d.order, func(e *dirent) bool { return e.seq == cookie }); at >= 0 {
			return at
		}
	case cookie > cookieDotDot:
		return sort.Search(k, func(i int) bool { return d.order[i].seq >= cookie })
	}
	return k
}

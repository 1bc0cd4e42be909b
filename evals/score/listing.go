package score

// Listings: what the pages of one reading of a directory hold between them.
// Their order is free, and where one page ends and the next begins is, too.

import (
	"fmt"
	"slices"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// pass is one reading of a directory, from its start on.
type pass struct {
	dir         uint64
	first, last int    // pairs
	order       []told // as gold told it
	entries     map[string]*proto.Dirent
	complete    bool            // gold read it to its end
	touched     map[string]bool // names that came or went meanwhile
}

// told is one entry of a listing and the cookie after it.
type told struct {
	name string
	off  uint64
}

// page is what one reply adds to a pass.
type page struct {
	*pass
	before, told []told
}

// after is how many entries a listing had told up to a cookie; false where it
// never gave that one out.
func after(list []told, cookie uint64) (int, bool) {
	if cookie == 0 {
		return 0, true
	}
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].off == cookie {
			return i + 1, true
		}
	}
	return 0, false
}

// readListings finds the passes.
func (g *Gold) readListings() {
	open := map[[2]uint64]*pass{} // by directory and handle
	var all []*pass
	for i, p := range g.Pairs {
		in, ok := p.Req.In.(*fuse.ReadIn)
		if !ok || !lists(p.Req) || p.Rep == nil || p.Rep.Errno != 0 {
			continue
		}
		key := [2]uint64{p.Req.Header.NodeId, in.Fh}
		of := findPass(all, open[key], key[0], in.Offset)
		if of == nil {
			of = &pass{dir: key[0], first: i, entries: map[string]*proto.Dirent{}}
			all = append(all, of)
		}
		open[key] = of
		g.pages[i] = of.add(i, p.Req, p.Rep)
	}
	for _, of := range all {
		g.touch(of)
	}
}

func lists(req *proto.Request) bool {
	kind := req.Op.Row().Reply
	return kind == proto.ReplyEntries || kind == proto.ReplyEntriesPlus
}

// findPass is the pass that a cookie goes on with: the handle's own, or, where
// the kernel has the beginning from its cache, one of another handle.
func findPass(all []*pass, own *pass, dir, cookie uint64) *pass {
	if cookie == 0 {
		return nil
	}
	if own != nil {
		if _, ok := after(own.order, cookie); ok {
			return own
		}
	}
	for i := len(all) - 1; i >= 0; i-- {
		if _, ok := after(all[i].order, cookie); ok && all[i].dir == dir {
			return all[i]
		}
	}
	return nil
}

func (of *pass) add(at int, req *proto.Request, r *proto.Reply) page {
	in := req.In.(*fuse.ReadIn)
	start, ok := after(of.order, in.Offset)
	if !ok {
		start = len(of.order)
	}
	before := of.order[:start:start] // what came after the cookie is told anew
	of.order = before
	for i := range r.Entries {
		e := &r.Entries[i]
		of.order = append(of.order, told{e.Name, e.Off})
		of.entries[e.Name] = e
	}
	of.last = at
	of.complete = of.complete || ended(req, r.Entries)
	return page{of, before, of.order[start:]}
}

// ended says whether no entry follows: there was room for one of any name.
func ended(req *proto.Request, entries []proto.Dirent) bool {
	const longest = 255
	if n := len(entries); n == 0 || entries[n-1].Off == proto.EndCookie {
		return true
	}
	return room(req, entries) >= proto.DirentSize(string(make([]byte, longest)), plus(req))
}

func plus(req *proto.Request) bool { return req.Op.Row().Reply == proto.ReplyEntriesPlus }

// room is how many bytes of what was asked for are left.
func room(req *proto.Request, entries []proto.Dirent) int {
	left := int(req.In.(*fuse.ReadIn).Size)
	for i := range entries {
		left -= proto.DirentSize(entries[i].Name, plus(req))
	}
	return left
}

// touch finds the names that came or went during a pass.
func (g *Gold) touch(of *pass) {
	of.touched = map[string]bool{}
	for _, p := range g.Pairs[of.first : of.last+1] {
		if p.Req.Op == proto.OpLookup || p.Rep == nil || p.Rep.Errno != 0 {
			continue
		}
		eachName(p.Req, func(dir uint64, n string) {
			if dir == of.dir {
				of.touched[n] = true
			}
		})
	}
}

// entries holds a page against the pass that it belongs to. before is what the
// model is known to have told of it, the last cookie of which the request names.
func (c *comparison) entries(p page, before []told, have []proto.Dirent) {
	named, offs := map[string]bool{}, map[uint64]bool{}
	for _, t := range before {
		named[t.name], offs[t.off] = true, true
	}
	for i := range have {
		e := &have[i]
		path := entryPath(e.Name)
		if c.check(!offs[e.Off], diff(path+".Off", Renamed, "a cookie that no other entry has", fmt.Sprint(e.Off))); isDots(e.Name) {
			continue
		}
		if c.check(!named[e.Name], diff(path, Set, "each name once", "again")) {
			c.entry(p, path, e)
		}
		named[e.Name], offs[e.Off] = true, true
	}
	c.omitted(p, named, have)
}

// entry holds one entry against gold's of that name, whichever page has it.
func (c *comparison) entry(p page, path string, have *proto.Dirent) {
	want := p.pass.entries[have.Name]
	if want == nil {
		possible := p.touched[have.Name] || !p.complete && c.gold.names[p.dir][have.Name]
		c.check(possible, diff(path, Set, "", have.Name))
		return
	}
	if p.touched[have.Name] {
		return
	}
	c.total++
	c.right++
	c.dirent(path, want, have)
}

// omitted are the names that are still to come. They may, unless they would
// have fitted, or the page says that it was the last.
func (c *comparison) omitted(p page, named map[string]bool, have []proto.Dirent) {
	var names []string
	size := 0
	for n := range p.pass.entries {
		if !named[n] && !isDots(n) && !p.touched[n] {
			names = append(names, n)
			size += proto.DirentSize(n, plus(c.req))
		}
	}
	last := len(have) == 0 || have[len(have)-1].Off == proto.EndCookie
	if !last && size > room(c.req, have) {
		return
	}
	slices.Sort(names)
	for _, n := range names {
		c.check(false, diff(entryPath(n), Set, n, ""))
	}
}

// entryPath is an entry's place in a reply, by the beginning of its name.
func entryPath(n string) string {
	const most = 40
	if len(n) > most {
		n = n[:most] + "…"
	}
	return "Entries[" + n + "]"
}

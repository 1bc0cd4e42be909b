package faulty

// Directories: listings and their pages.

import (
	"slices"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

var listings = on(proto.OpReaddir, proto.OpReaddirplus)

var directories = []Mutant{
	{"readdir-drops-between-pages", "directories", "the first entry of each page but the first is left out, as with a cookie that is one too far", listings, saying(func(c *call, r *proto.Reply) {
		if in[fuse.ReadIn](c).Offset != 0 && len(r.Entries) > 0 {
			r.Entries = r.Entries[1:]
		}
	})},
	{"readdir-repeats", "directories", "a page begins with the last entry of the one before, as with a cookie that is one too early", listings, readdirRepeats},
	{"readdir-starts-again", "directories", "every page is the first one, so that a listing never ends", listings, asking(func(in *fuse.ReadIn) { in.Offset = 0 })},
	{"readdir-first-page-only", "directories", "a listing ends after its first page, as with servers whose continuation token is overlooked", listings, saying(func(c *call, r *proto.Reply) {
		if in[fuse.ReadIn](c).Offset != 0 {
			r.Entries = nil
		}
	})},
	{"readdir-shows-removed", "directories", "names that were removed are still listed, as from a stale cache", and(listings, proto.OpUnlink, proto.OpRmdir), readdirShowsRemoved},
	{"readdir-without-types", "directories", "every d_type is DT_UNKNOWN, which readdir(3) allows and tmpfs does not do", listings, eachEntry(func(e *proto.Dirent) { e.Type = 0 })},
	{"readdir-without-dots", "directories", "a listing lacks . and .., which POSIX allows and Linux filesystems do not do", listings, saying(func(_ *call, r *proto.Reply) {
		r.Entries = slices.DeleteFunc(r.Entries, func(e proto.Dirent) bool { return e.Name == "." || e.Name == ".." })
	})},
	{"readdir-hides-dotfiles", "model", "names with a dot in front are not listed, as ls does not show them; readdir(3): all are", listings, saying(func(_ *call, r *proto.Reply) {
		r.Entries = slices.DeleteFunc(r.Entries, func(e proto.Dirent) bool { return e.Name[0] == '.' && e.Name != "." && e.Name != ".." })
	})},
	{"readdirplus-without-sizes", "directories", "the attributes in a listing have no size, as where only names are known", on(proto.OpReaddirplus), attrs(func(a *fuse.Attr) {
		if isReg(a.Mode) {
			a.Size = 0
		}
	})},
	{"readdir-all-are-files", "model", "everything in a listing is a regular file", on(proto.OpReaddir, proto.OpReaddirplus), eachEntry(func(e *proto.Dirent) {
		const regular = 8 // DT_REG
		e.Type = regular
	})},
	{"readdir-at-most-64", "model", "a listing has 64 entries at most, as where a model has lost patience", listings, readdirAtMost},
}

// eachEntry tells lies about the entries of a listing.
func eachEntry(change func(*proto.Dirent)) func(*call) *proto.Reply {
	return saying(func(_ *call, r *proto.Reply) {
		for i := range r.Entries {
			change(&r.Entries[i])
		}
	})
}

// readdirRepeats gives the last entry the cookie of the one before it.
func readdirRepeats(c *call) *proto.Reply {
	r := c.next()
	n := len(r.Entries)
	if n > 3 && c.goesOn(r.Entries[n-1].Off) {
		r.Entries[n-1].Off = r.Entries[n-2].Off
	}
	return r
}

// goesOn says whether there are entries after a cookie.
func (c *call) goesOn(cookie uint64) bool {
	rest := c.ask(edited(c.req, func(in *fuse.ReadIn) { in.Offset = cookie }))
	return len(rest.Entries) > 0
}

func readdirShowsRemoved(c *call) *proto.Reply {
	id := c.req.Header.NodeId
	if c.req.Op == proto.OpUnlink || c.req.Op == proto.OpRmdir {
		was, _ := c.peek(id, c.req.Names[0])
		r := c.next()
		if r.Errno == 0 {
			gone := proto.Dirent{Ino: was.Attr.Ino, Type: was.Attr.Mode >> 12, Name: c.req.Names[0]}
			c.mind.gone[id] = append(c.mind.gone[id], gone)
		}
		return r
	}
	r := c.next()
	if r.Errno == 0 && in[fuse.ReadIn](c).Offset == 0 {
		r.Entries = append(r.Entries, c.stillThere(id, r.Entries)...)
	}
	return r
}

// stillThere are the removed entries that a first page has room for, with the
// cookie of its last entry. Names that are there again are left out.
func (c *call) stillThere(dir uint64, page []proto.Dirent) (list []proto.Dirent) {
	room, plus := int(in[fuse.ReadIn](c).Size), c.req.Op == proto.OpReaddirplus
	cookie := uint64(0)
	for _, e := range page {
		room, cookie = room-proto.DirentSize(e.Name, plus), e.Off
	}
	for _, e := range c.mind.gone[dir] {
		_, again := c.peek(dir, e.Name)
		if room -= proto.DirentSize(e.Name, plus); room < 0 {
			break
		}
		if e.Off = cookie; !again {
			list = append(list, e)
		}
	}
	return list
}

func readdirAtMost(c *call) *proto.Reply {
	const limit = 64
	r, id := c.next(), c.req.Header.NodeId
	if in[fuse.ReadIn](c).Offset == 0 {
		c.mind.known[id] = 0
	}
	r.Entries = r.Entries[:min(len(r.Entries), int(limit-c.mind.known[id]))]
	c.mind.known[id] += uint64(len(r.Entries))
	return r
}

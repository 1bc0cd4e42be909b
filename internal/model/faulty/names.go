package faulty

// Names: lookup, creation, removal and renaming.

import (
	"strings"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

var renames = on(proto.OpRename, proto.OpRename2)

var names = []Mutant{
	{"rename-leaves-source", "rename", "the old name stays after a rename, as on stores that copy and delete later; rename(2): it is removed", renames, renameLeavesSource},
	{"rename-refuses-target", "rename", "an existing target is EEXIST, as with rename on Windows; rename(2): it is replaced atomically", renames, renameRefusesTarget},
	{"rename-into-itself", "rename", "a directory may move below itself; rename(2): EINVAL", renames, mistaking(syscall.EINVAL, 0)},
	{"rename-noreplace-ignored", "rename", "RENAME_NOREPLACE replaces, as where flags are dropped on the way to an old protocol; rename(2): EEXIST", renames, asking(func(in *fuse.RenameIn) { in.Flags &^= unix.RENAME_NOREPLACE })},
	{"rename-exchange-plain", "rename", "RENAME_EXCHANGE is a plain rename and the target is lost; rename(2): the two change places", renames, asking(func(in *fuse.RenameIn) { in.Flags &^= unix.RENAME_EXCHANGE })},
	{"rename-flags-refused", "rename", "any flag is EINVAL, as on filesystems from before Linux 3.15", renames, renameFlagsRefused},
	{"rename-over-full-directory", "rename", "a directory that is not empty is replaced with all it holds; rename(2): ENOTEMPTY", renames, renameOverFull},
	{"rename-drops-same-file", "rename", "of two names of one file the old one goes, as gnulib found on several systems; POSIX: nothing happens", renames, renameDropsSameFile},
	{"enoent-for-enotdir", "names", "a path through a file is ENOENT; path_resolution(7): ENOTDIR", nil, mistaking(syscall.ENOTDIR, syscall.ENOENT)},
	{"eio-for-enoent", "names", "what does not exist is EIO, as from stores that do not tell 404 from 500", nil, eioForEnoent},
	{"unlink-of-directory", "names", "unlink removes an empty directory, as old Unix let root do; unlink(2): EISDIR", on(proto.OpUnlink), unlinkOfDirectory},
	{"rmdir-of-file", "names", "rmdir removes a file; rmdir(2): ENOTDIR", on(proto.OpRmdir), rmdirOfFile},
	{"rmdir-of-full", "names", "rmdir removes a directory with all it holds; rmdir(2): ENOTEMPTY", on(proto.OpRmdir), rmdirOfFull},
	{"mkdir-over-existing", "names", "mkdir of what exists succeeds, as mkdir -p does; mkdir(2): EEXIST", on(proto.OpMkdir, proto.OpMknod, proto.OpSymlink), makeOverExisting},
	{"exclusive-ignored", "names", "O_EXCL opens what exists, as NFS before version 3 did; open(2): EEXIST", on(proto.OpCreate), asking(func(in *fuse.CreateIn) { in.Flags &^= syscall.O_EXCL })},
	{"link-over-existing", "names", "link replaces an existing name; link(2): EEXIST", on(proto.OpLink), linkOverExisting},
	{"names-fold-case", "names", "names are found whatever their case, as on vfat", on(proto.OpLookup), namesFoldCase},
	{"names-cut-at-255", "names", "a longer name is cut to 255 bytes, as by old filesystems without _POSIX_NO_TRUNC; path_resolution(7): ENAMETOOLONG", nil, namesCut},
	{"names-trimmed", "names", "spaces and dots at the end of a name are dropped, as by Windows shares", on(proto.OpLookup, proto.OpMkdir, proto.OpMknod, proto.OpCreate, proto.OpSymlink, proto.OpLink), namesTrimmed},
	{"lookup-invents", "model", "a name that is looked up exists from then on, as in a world where any plausible name does", on(proto.OpLookup), lookupInvents},
	{"unlinked-comes-back", "names", "a removed name is found again at the next lookup, as with a stale cache of entries", on(proto.OpUnlink, proto.OpLookup), unlinkedComesBack},
}

// target is the directory that a rename goes to.
func target(c *call) uint64 { return in[fuse.RenameIn](c).Newdir }

func renameLeavesSource(c *call) *proto.Reply {
	r := c.next()
	if now, ok := c.peek(target(c), c.req.Names[1]); ok && r.Errno == 0 && !isDir(now.Attr.Mode) {
		if made := c.own(proto.OpLink, c.req.Header.NodeId, &fuse.LinkIn{Oldnodeid: now.NodeId}, nil, c.req.Names[0]); made.Errno == 0 {
			c.own(proto.OpForget, now.NodeId, &fuse.ForgetIn{Nlookup: 1}, nil)
		}
	}
	return r
}

func renameRefusesTarget(c *call) *proto.Reply {
	if _, there := c.peek(target(c), c.req.Names[1]); there && in[fuse.RenameIn](c).Flags == 0 {
		return fail(syscall.EEXIST)
	}
	return c.next()
}

func renameFlagsRefused(c *call) *proto.Reply {
	if in[fuse.RenameIn](c).Flags != 0 {
		return fail(syscall.EINVAL)
	}
	return c.next()
}

func renameOverFull(c *call) *proto.Reply {
	r := c.next()
	if e, there := c.peek(target(c), c.req.Names[1]); there && r.Errno == syscall.ENOTEMPTY {
		c.empty(e.NodeId)
		return c.next()
	}
	return r
}

func renameDropsSameFile(c *call) *proto.Reply {
	from, _ := c.peek(c.req.Header.NodeId, c.req.Names[0])
	to, there := c.peek(target(c), c.req.Names[1])
	r := c.next()
	if there && r.Errno == 0 && from.NodeId == to.NodeId {
		c.own(proto.OpUnlink, c.req.Header.NodeId, nil, nil, c.req.Names[0])
	}
	return r
}

// eioForEnoent also takes the negative entry for an error.
func eioForEnoent(c *call) *proto.Reply {
	r := c.next()
	if out, ok := r.Out.(*fuse.EntryOut); r.Errno == syscall.ENOENT || ok && out.NodeId == 0 {
		return fail(syscall.EIO)
	}
	return r
}

func unlinkOfDirectory(c *call) *proto.Reply {
	r := c.next()
	if r.Errno == syscall.EISDIR {
		return c.own(proto.OpRmdir, c.req.Header.NodeId, nil, nil, c.req.Names[0])
	}
	return r
}

func rmdirOfFile(c *call) *proto.Reply {
	r := c.next()
	if r.Errno == syscall.ENOTDIR {
		return c.own(proto.OpUnlink, c.req.Header.NodeId, nil, nil, c.req.Names[0])
	}
	return r
}

func rmdirOfFull(c *call) *proto.Reply {
	r := c.next()
	if e, there := c.peek(c.req.Header.NodeId, c.req.Names[0]); there && r.Errno == syscall.ENOTEMPTY {
		c.empty(e.NodeId)
		return c.next()
	}
	return r
}

func makeOverExisting(c *call) *proto.Reply {
	r := c.next()
	if r.Errno == syscall.EEXIST {
		return c.own(proto.OpLookup, c.req.Header.NodeId, nil, nil, c.req.Names[0])
	}
	return r
}

func linkOverExisting(c *call) *proto.Reply {
	r := c.next()
	if r.Errno == syscall.EEXIST {
		c.own(proto.OpUnlink, c.req.Header.NodeId, nil, nil, c.req.Names[0])
		return c.next()
	}
	return r
}

// missing says that a LOOKUP found nothing.
func missing(r *proto.Reply) bool { return r.Errno == syscall.ENOENT || r.Errno == 0 && node(r) == 0 }

func namesFoldCase(c *call) *proto.Reply {
	r := c.next()
	if !missing(r) {
		return r
	}
	for _, e := range c.children(c.req.Header.NodeId) {
		if strings.EqualFold(e.Name, c.req.Names[0]) {
			return c.own(proto.OpLookup, c.req.Header.NodeId, nil, nil, e.Name)
		}
	}
	return r
}

// renamed is the request with other names.
func (c *call) renamed(change func(string) string) *proto.Request {
	r := *c.req
	r.Names = make([]string, len(c.req.Names))
	for i, name := range c.req.Names {
		r.Names[i] = name
		if c.req.Op.Row().Role(i).IsEntry() {
			r.Names[i] = change(name)
		}
	}
	return &r
}

func namesCut(c *call) *proto.Reply {
	return c.ask(c.renamed(func(name string) string { return name[:min(len(name), 255)] }))
}

func namesTrimmed(c *call) *proto.Reply {
	return c.ask(c.renamed(func(name string) string {
		if short := strings.TrimRight(name, " ."); short != "" {
			return short
		}
		return name
	}))
}

func lookupInvents(c *call) *proto.Reply {
	r := c.next()
	if !missing(r) {
		return r
	}
	made := c.own(proto.OpMknod, c.req.Header.NodeId, &fuse.MknodIn{Mode: syscall.S_IFREG | 0o644}, nil, c.req.Names[0])
	if made.Errno != 0 {
		return r
	}
	return made
}

// unlinkedComesBack keeps the entry of each name that was removed, for one lookup.
func unlinkedComesBack(c *call) *proto.Reply {
	dir, name := c.req.Header.NodeId, c.req.Names[0]
	if c.req.Op == proto.OpUnlink {
		was, _ := c.peek(dir, name)
		r := c.next()
		if r.Errno == 0 {
			c.mind.gone[dir] = append(c.mind.gone[dir], proto.Dirent{Name: name, Entry: was})
		}
		return r
	}
	r := c.next()
	for i, e := range c.mind.gone[dir] {
		if e.Name == name {
			c.mind.gone[dir] = append(c.mind.gone[dir][:i:i], c.mind.gone[dir][i+1:]...)
			if missing(r) {
				return &proto.Reply{Out: &e.Entry}
			}
			break
		}
	}
	return r
}

package session

// The system message. What the documents and the codec have as tables it has
// from them: bits, errnos, examples, defaults.

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/llmfs-raw/llmfs-raw/proto"
	"github.com/llmfs-raw/llmfs-raw/schema"
)

// DefaultPersona is the world where none is described.
const DefaultPersona = `A small Linux home directory of a person who writes software and notes: a few files with believable names and content that fits together.`

// SystemMessage is the first message of a session with these options.
func SystemMessage(o *Options) string {
	var b strings.Builder
	for _, section := range []struct {
		title string
		text  string
	}{
		{"", whatThisIs},
		{"Requests and replies", contract},
		{"What a lean reply may leave out", lean(o.Fields)},
		{"What you see of the past", seen(o.Context.Kind)},
		{"Rules of POSIX that are easily forgotten", posixRules},
		{"Answer so that later requests never come", cacheRules(o)},
		{"Why a request comes", intent},
		{"Numbers", numbers()},
		{"Examples", exampleText()},
		{"The rules of this world", worldRules},
		{"This world", or2(o.Persona, DefaultPersona)},
		{"What exists already", seedText(o)},
	} {
		if section.text == "" {
			continue
		}
		if section.title != "" {
			b.WriteString("\n# " + section.title + "\n\n")
		}
		b.WriteString(strings.TrimSpace(section.text) + "\n")
	}
	return b.String()
}

func or2(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

const whatThisIs = `
You are a filesystem. A Linux kernel has mounted you by FUSE and sends you its requests as JSON, one at a time: the structs of linux/fuse.h, field by field. You answer each with one JSON object, and real programs read what you say as files. There is nothing behind you: what exists is what you and they have said so far. Be exact and consistent above all.`

const contract = `
- A user message is a request: Op, Header (NodeId is the node that it is about, a directory where Names are looked up or changed; Uid, Gid, Pid, Comm: the caller; Now: the time as seconds and nanoseconds), and In, Names, Data as the opcode has them.
- Or it is an envelope around one: Ledger (facts so far that bear on the request; they are true), LeftOut (how much of the past is not shown), Since (requests that the daemon has handled since: handles closed, nodes forgotten), Invalid (what was wrong with your last answer: mend it, and answer the same Request again).
- Your answer is {"Reply":…} and nothing else. Errno 0 is success; else Errno alone. On success Out, Data or Entries as the schema has them.
- Bytes are a JSON string where they are UTF-8 text without NUL, else {"base64":"…"}. Integers above 9007199254740991 are decimal strings.
- Notify (optional) is a list of messages to the kernel, sent after the reply: STORE puts Data into the cache of Nodeid at Offset; INVAL_ENTRY, INVAL_INODE and DELETE tell of changes that no request made.
- NodeIds, Fhs and directory cookies (Off) are yours to give out: use 1, 2, 3 …, the lowest number never used before. The root directory is NodeId 1. A node keeps its id; hard links share it.`

const posixRules = `
- Times: creation sets atime, mtime and ctime to Now; writing and truncating set mtime and ctime; changing mode, owner, links or xattrs sets ctime; adding, removing or renaming a name sets its directories' mtime and ctime. All in whole seconds from Now.Sec, with Now.Nsec.
- A new node belongs to Header's Uid and Gid; where the directory has the setgid bit it takes the directory's group, and a new directory the bit, too. Mode is In.Mode &^ In.Umask.
- Nlink: files start with 1; directories with 2, plus 1 for each subdirectory. Size of a directory: 4096, whatever it holds.
- Writing beyond the end fills the gap with zeros. Truncating forgets what is cut off: growing again gives zeros. WRITE answers the number of bytes written, and its Offset is final, even with O_APPEND.
- A removed file lives on as long as it is open, with Nlink 0. RENAME replaces the target: a directory only an empty one. Moving something onto another link of itself does nothing.
- Errors: ENOENT no such name, EEXIST the name exists, ENOTDIR, EISDIR, ENOTEMPTY, ENAMETOOLONG over 255 bytes, ENODATA no such xattr, EINVAL senseless arguments, EACCES or EPERM only where this world forbids it: the kernel checks modes itself.
- READ answers Size bytes, or fewer only at the end of the file. Size in attributes is the exact number of bytes that READ will give: count UTF-8 bytes, not characters.
- A listing gives each name once, . and .. first, in an order that does not change; a request with Offset N goes on after the entry whose Off is N. READDIRPLUS entries for . and .. may have an Entry of zeros.`

const intent = `
LOOKUP only asks whether a name exists, and does not say why. Header.Comm, the program, tells: mkdir, ln, mv, cp, touch, tar, git and editors look a name up before they make it, so a name that nobody has mentioned is missing for them. cat, less, head, python and the like want to read it: a plausible name may come into being for them, if the rules of this world let it. A shell (sh, bash, zsh) may want either; with names that look like a new file, say missing. Names that programs try on their own (.git, .hidden, .hgignore, package.json, autorun.inf, *.pyc, names ending in ~ or .swp) are missing unless they have been made.`

const worldRules = `
Unless the description of the world says otherwise:
- A name that you have once said exists, exists and is listed from then on, with the same type, size and content, until a request changes that. A name that you have said is missing stays missing until a request makes it.
- A directory that has been listed to its end holds exactly that. A directory made by MKDIR is empty. In a directory that has not been listed, names with an extension may be invented when they are looked up to be read; names without one and dotfiles are missing, but for those that the world's description calls for.
- Files have mode 0644 and directories 0755, owned by the caller, Nlink and times as above. Reading never changes atime.
- There is space: 4 GB, a third of it used.`

// cacheRules are about the caches of the kernel, which the replies fill.
func cacheRules(o *Options) string {
	var b strings.Builder
	fmt.Fprintf(&b, `
- EntryValid and AttrValid are how long, in seconds, the kernel believes a name and attributes without asking: 3600. Nobody else changes the files, so that is safe.
- A missing name: Errno 0 with NodeId 0 and EntryValid 3600, everything else 0. ENOENT would be asked again each time.
- READDIRPLUS: give each entry its full attributes, so that none is looked up. Give the whole listing at once if it fits into In.Size (24 bytes and the name for each entry, 128 more in READDIRPLUS).
- End cookie: Off of the last entry of a complete listing is %d. The request that would only learn that the directory has ended is then answered for you.
- A file whose content you decide at LOOKUP: send the content along as STORE in Notify if it is short (up to 4 KiB), and Size as its length in bytes. READ then never comes.
- OPEN: FOPEN_KEEP_CACHE (2); FOPEN_NOFLUSH (32) where no locks matter.
- ENOSYS turns an opcode off for good, without harm to programs: %s. Answer it where an opcode has no meaning in this world, at its first request.`, proto.EndCookie, strings.Join(offNames(o), ", "))
	return b.String()
}

// missed are opcodes that can be turned off, but not without loss: O_TRUNC,
// the end of locks, one request instead of two. The first two are the kernel's
// own business where OPEN may go.
var missed = []proto.Opcode{proto.OpOpen, proto.OpFlush, proto.OpCreate}

// offNames lists what may be turned off without a program noticing.
func offNames(o *Options) (names []string) {
	for _, row := range proto.Rows() {
		harmless := !slices.Contains(missed, row.Op) || o.OpenOff && row.Op != proto.OpCreate
		if turnsOff[row.Op] && row.Unsent == "" && harmless {
			names = append(names, row.Name)
		}
	}
	return names
}

func lean(form schema.Form) string {
	if form != schema.Lean {
		return ""
	}
	var b strings.Builder
	b.WriteString("These fields may be left out where they have the value given here; a listing from Offset 0 may leave out . and .. (their cookies are 1 and 2):\n")
	for _, d := range schema.Defaults() {
		fmt.Fprintf(&b, "%s = %s; ", d.Field, d.Doc)
	}
	return strings.TrimSuffix(b.String(), "; ") + "."
}

func seen(kind ContextKind) string {
	switch kind {
	case Ledger:
		return ledgerText
	case Window:
		return "The turns before the request are the last things that you have said; LeftOut.Pairs counts those that came before them."
	}
	return "The turns before the request are all that you have said."
}

const ledgerText = `
The last turns, and the Ledger: the facts that bear on the request, from all that was ever said. Nodes: Attr (brought forward over writes, renames and the like; Blocks and a directory's Size are as last told; atime, too), Entries of directories, those that matter here (Count: how many are known; Complete: that there are no others; Missing: known not to exist), Content (Data; Zeros: so many zero bytes; Length: told once, not shown; what is not mentioned has never been told), Target of a link, Xattrs, Locks. Handles that the request names. Off: opcodes that are turned off. Last: the highest NodeId, Fh and Off used, go on from there. LeftOut: how much more there was.`

// numbers has the tables of bits and errnos that requests and replies use.
func numbers() string {
	var b strings.Builder
	for _, t := range []struct{ title, field string }{
		{"In.Valid of SETATTR: what to set", "SetAttrInCommon.Valid"},
		{"Flags of OPEN and CREATE (octal in C, decimal here)", "OpenIn.Flags"},
		{"type bits of Mode, decimal", "Attr.Mode"},
		{"Type of entries", "Dirent.Type"},
		{"OpenFlags of replies", "OpenOut.OpenFlags"},
		{"Flags of RENAME2", "RenameIn.Flags"},
		{"Flags of SETXATTR", "SetXAttrIn.Flags"},
		{"Mode of FALLOCATE", "FallocateIn.Mode"},
		{"Whence of LSEEK", "LseekIn.Whence"},
		{"Typ of locks", "FileLock.Typ"},
	} {
		fmt.Fprintf(&b, "%s: %s\n", t.title, bits(proto.Meanings[t.field].Bits))
	}
	fmt.Fprintf(&b, "Mode of a file 0644: 33188, 0755: 33261; of a directory 0755: 16877; of a link: 41471.\nErrno: %s\n", errnos())
	return b.String()
}

// rarely are bits that would only take room.
var rarely = []string{"O_NOCTTY", "O_ASYNC", "O_CLOEXEC", "O_PATH", "FOPEN_NONSEEKABLE", "FOPEN_STREAM", "FOPEN_PASSTHROUGH",
	"FOPEN_PARALLEL_DIRECT_WRITES", "FALLOC_FL_NO_HIDE_STALE", "FALLOC_FL_UNSHARE_RANGE", "FALLOC_FL_WRITE_ZEROES"}

func bits(list []proto.Bit) string {
	var parts []string
	for _, bit := range list {
		if slices.Contains(rarely, bit.Name) {
			continue
		}
		part := strconv.FormatUint(bit.Value, 10) + " " + bit.Name
		if bit.Doc != "" {
			part += " (" + bit.Doc + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// told are the errnos that a filesystem gives.
var told = []syscall.Errno{
	syscall.EPERM, syscall.ENOENT, syscall.EIO, syscall.ENXIO, syscall.EBADF, syscall.EAGAIN, syscall.EACCES, syscall.EBUSY,
	syscall.EEXIST, syscall.EXDEV, syscall.ENODEV, syscall.ENOTDIR, syscall.EISDIR, syscall.EINVAL, syscall.ENOTTY,
	syscall.ETXTBSY, syscall.EFBIG, syscall.ENOSPC, syscall.EROFS, syscall.EMLINK, syscall.ERANGE, syscall.EDEADLK,
	syscall.ENAMETOOLONG, syscall.ENOSYS, syscall.ENOTEMPTY, syscall.ELOOP, syscall.ENODATA, syscall.EOVERFLOW,
	syscall.EOPNOTSUPP, syscall.EDQUOT,
}

func errnos() string {
	names := map[int]string{}
	for _, e := range told {
		names[int(e)] = proto.ErrnoName(e)
	}
	var parts []string
	for _, n := range slices.Sorted(maps.Keys(names)) {
		parts = append(parts, strconv.Itoa(n)+" "+names[n])
	}
	return strings.Join(parts, ", ")
}

// exampleText has one example whole and the others abridged.
func exampleText() string {
	var b strings.Builder
	b.WriteString("The first is whole. The others are abridged: a header is its NodeId, Attr is … and what is 0 is left out; your replies never abridge.\n\n")
	for i := range examples {
		b.WriteString(examples[i].text(i > 0))
	}
	return b.String()
}

func seedText(o *Options) string {
	if o.Seed == nil || o.Context.Kind == Ledger {
		return ""
	}
	l := newLedger()
	l.seed(o.Seed)
	s := l.whole(o.seedTokens())
	text := ledgerText[strings.Index(ledgerText, "Nodes:"):strings.Index(ledgerText, " Handles")] + "\n" + string(s.json())
	if s.left != (leftOut{}) {
		text += fmt.Sprintf("\nNot shown: %d entries, %d bytes of content.", s.left.Entries, s.left.Bytes)
	}
	return text
}

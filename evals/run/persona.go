package run

// The world that language models are told of. It is the one that the traces were
// recorded in: nothing is invented, and what POSIX leaves open is said.

import "encoding/json"

const persona = `An empty filesystem that behaves as Linux tmpfs does, down to its details. At first there is nothing but the root directory, NodeId 1, mode 040755, owned by uid 0 and gid 0, with the time of the first request as its times.
- Nothing is ever invented: what no request has made does not exist. A missing name is answered at once, for every program.
- Every opcode is implemented. ENOSYS is never an answer.
- Files are made in pages of 4096 bytes: holes, SEEK_DATA and SEEK_HOLE go by whole pages, and Blksize is 4096. File names have up to 255 bytes, symbolic links up to 4095.
- The times of what happens are Header.Now of the request that does it, with its nanoseconds.
- A page of a listing has as many entries as fit into In.Size.`

const (
	strictAtime = "\n- Reading a file, a directory or a link sets its atime to Now; the Ledger's Atime is up to date."
	noAtime     = "\n- Reading never changes atime."
	kernelAsks  = "\n- The kernel checks permissions by the modes before it asks; only what it can't see is yours: the sticky bit, chattr flags, owners where they are changed."
	ownChecks   = "\n- The kernel checks no permissions. You do, by Header's Uid, Gid and Groups; Uid 0 may do everything."
	neverOpens  = "\n- OPEN, OPENDIR, RELEASE, FLUSH, FSYNC, FSYNCDIR and all locks are ENOSYS all the same: the kernel does without. Fh is 0 everywhere."
	readOnly    = "\n- The filesystem is mounted read-only: what would change it is EROFS."
)

// Persona is the world of a trace, by the options in its header.
func Persona(settings map[string]string) string {
	text := persona
	text += pick(readsTouch(settings), strictAtime, noAtime)
	text += pick(settings["own_permissions"] == "true", ownChecks, kernelAsks)
	text += pick(settings["read_only"] == "true", readOnly, "")
	text += pick(settings["cache"] == "aggressive", neverOpens, "")
	if off := settings["off"]; off != "" {
		text += "\n- These opcodes are ENOSYS all the same: " + off + "."
	}
	return text + options(settings)
}

// readsTouch says whether reading sets atime.
func readsTouch(settings map[string]string) bool { return settings["cache"] != "aggressive" }

// options is a line for who can read it: the size bounds what fits, and a server
// of the reference mounts accordingly.
func options(settings map[string]string) string {
	if len(settings) == 0 {
		return ""
	}
	b, err := json.Marshal(settings)
	if err != nil {
		panic(err) // strings always have a form
	}
	return "\nMount options: " + string(b)
}

func pick(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

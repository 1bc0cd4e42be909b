package run

// The world that language models are told of. It is the one that the traces were
// recorded in: nothing is invented, and what POSIX leaves open is said.

import "strings"

const persona = `An empty filesystem that behaves as Linux tmpfs does, down to its details. At first there is nothing but the root directory, NodeId 1, mode 040755, owned by uid 0 and gid 0, with the time of the first request as its times.
- Nothing is ever invented: what no request has made does not exist. A missing name is answered at once, for every program.
- Every opcode is implemented. ENOSYS is never an answer.
- Files are made in pages of 4096 bytes: holes, SEEK_DATA and SEEK_HOLE go by whole pages, and Blksize is 4096. File names have up to 255 bytes, symbolic links up to 4095.
- The times of what happens are Header.Now of the request that does it, with its nanoseconds.
- A page of a listing has as many entries as fit into In.Size.`

const (
	strictAtime = "\n- Reading a file, a directory or a link sets its atime to Now."
	noAtime     = "\n- Reading never changes atime."
	kernelAsks  = "\n- The kernel checks permissions by the modes before it asks; only what it can't see is yours: the sticky bit, chattr flags, owners where they are changed."
	ownChecks   = "\n- The kernel checks no permissions. You do, by Header's Uid, Gid and Groups; Uid 0 may do everything."
	readOnly    = "\n- The filesystem is mounted read-only: what would change it is EROFS."
)

// Persona is the world of a trace, by the options in its header.
func Persona(settings map[string]string) string {
	text := persona
	text += pick(settings["cache"] == "aggressive", noAtime, strictAtime)
	text += pick(settings["own_permissions"] == "true", ownChecks, kernelAsks)
	text += pick(settings["read_only"] == "true", readOnly, "")
	if off := settings["off"]; off != "" {
		text = strings.Replace(text, "ENOSYS is never an answer.", "But for these, which are ENOSYS: "+off+".", 1)
	}
	return text
}

func pick(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

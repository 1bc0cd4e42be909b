package proto

// Directory entries: struct fuse_dirent and fuse_direntplus, each followed by
// its name and padded to 8 bytes.

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/hanwen/go-fuse/v2/fuse"
)

const (
	direntLen   = 24 // FUSE_NAME_OFFSET
	entryOutLen = int(unsafe.Sizeof(fuse.EntryOut{}))
)

// EndCookie as the Off of a listing's last entry says that no more follow. The
// request that would only learn that is answered without asking. It is the
// largest cookie that 32-bit programs can seek to, and a number that language
// models know by heart.
const EndCookie = 1<<31 - 1

// DirentSize is the length in bytes of an entry on the wire: FUSE_DIRENT_SIZE
// or, with plus, FUSE_DIRENTPLUS_SIZE.
func DirentSize(name string, plus bool) int {
	n := direntLen + len(name)
	if plus {
		n += entryOutLen
	}
	return (n + 7) &^ 7
}

// appendDirents packs whole entries, as many as fit into limit bytes. The
// kernel asks for the rest from the last cookie that it got. One entry must
// fit: an empty reply would say that the directory has ended.
func appendDirents(dst []byte, entries []Dirent, plus bool, limit int) ([]byte, error) {
	room := limit
	for i := range entries {
		e := &entries[i]
		size := DirentSize(e.Name, plus)
		if size > room {
			if i == 0 {
				return dst, fmt.Errorf("Entries[0]: needs %d bytes, asked for %d", size, limit)
			}
			return dst, nil
		}
		dst, room = appendDirent(dst, e, plus, size), room-size
	}
	return dst, nil
}

func appendDirent(dst []byte, e *Dirent, plus bool, size int) []byte {
	end := len(dst) + size
	if plus {
		dst = append(dst, entryMemory(&e.Entry)...)
	}
	dst = binary.NativeEndian.AppendUint64(dst, e.Ino)
	dst = binary.NativeEndian.AppendUint64(dst, e.Off)
	dst = binary.NativeEndian.AppendUint32(dst, uint32(len(e.Name)))
	dst = binary.NativeEndian.AppendUint32(dst, e.Type)
	dst = append(dst, e.Name...)
	return append(dst, make([]byte, end-len(dst))...)
}

func entryMemory(e *fuse.EntryOut) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(e)), entryOutLen)
}

func decodeDirents(b []byte, plus bool) ([]Dirent, error) {
	entries := []Dirent{}
	for len(b) > 0 {
		var e Dirent
		n, err := decodeDirent(&e, b, plus)
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", len(entries), err)
		}
		entries, b = append(entries, e), b[n:]
	}
	return entries, nil
}

func decodeDirent(e *Dirent, b []byte, plus bool) (int, error) {
	rest := b
	if min := DirentSize("", plus); len(b) < min {
		return 0, fmt.Errorf("have %d bytes, want %d", len(b), min)
	}
	if plus {
		copy(entryMemory(&e.Entry), rest)
		rest = rest[entryOutLen:]
	}
	e.Ino = binary.NativeEndian.Uint64(rest)
	e.Off = binary.NativeEndian.Uint64(rest[8:])
	namelen := uint64(binary.NativeEndian.Uint32(rest[16:]))
	e.Type = binary.NativeEndian.Uint32(rest[20:])
	if namelen > uint64(len(rest)-direntLen) {
		return 0, fmt.Errorf("name of %d bytes, have %d", namelen, len(rest)-direntLen)
	}
	e.Name = string(rest[direntLen : direntLen+namelen])
	size := DirentSize(e.Name, plus)
	if size > len(b) {
		return 0, fmt.Errorf("have %d bytes, want %d", len(b), size)
	}
	return size, nil
}

package proto

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every field that looks like bits has a meaning, or no bit is defined.
func TestBitsAreComplete(t *testing.T) {
	undefined := map[string]string{
		"CopyFileRangeIn.Flags": "copy_file_range(2) defines none",
		"StatxOut.Flags":        "fuse.h defines none",
		"Extension.Type":        "numbers, not bits",
	}
	bits := regexp.MustCompile(`(Flags2?|Mode|Umask|Mask|Valid|Typ|Type|Whence|Events|Revents)$`)
	timeout := regexp.MustCompile(`\.(Attr|Entry)Valid$`)
	for key := range allFields() {
		_, known := Meanings[key]
		if bits.MatchString(key) && !timeout.MatchString(key) && undefined[key] == "" {
			require.True(t, known, "Meanings lacks %s", key)
		}
	}
}

func TestMeaning(t *testing.T) {
	for _, c := range []struct {
		key  string
		v    uint64
		want string
	}{
		{"OpenIn.Flags", 0, "O_RDONLY"},
		{"OpenIn.Flags", 33345, "O_WRONLY|O_CREAT|O_TRUNC|O_LARGEFILE"},
		{"OpenIn.Flags", 0x101002, "O_RDWR|O_SYNC"},
		{"OpenIn.Flags", 0x1000, "O_RDONLY|O_DSYNC"},
		{"OpenIn.Flags", 0x410002, "O_RDWR|O_TMPFILE"},
		{"OpenIn.Flags", 3, "0x3"},
		{"OpenIn.Flags", 1 << 40, "O_RDONLY|0x10000000000"},
		{"Attr.Mode", 0o40755, "S_IFDIR|0755"},
		{"Attr.Mode", 0o644, "0644"},
		{"Attr.Mode", 0, "0"},
		{"AccessIn.Mask", 0, "F_OK"},
		{"AccessIn.Mask", 6, "W_OK|R_OK"},
		{"SetAttrInCommon.Valid", 584, "FATTR_SIZE|FATTR_FH|FATTR_LOCKOWNER"},
		{"LseekIn.Whence", 4, "SEEK_HOLE"},
		{"FileLock.Typ", 0, "F_RDLCK"},
		{"RenameIn.Flags", 3, "RENAME_NOREPLACE|RENAME_EXCHANGE"},
		{"StatxIn.SxMask", 0xfff, "STATX_BASIC_STATS|STATX_BTIME"},
		{"CreateIn.Umask", 0o22, "022"},
	} {
		require.Equal(t, c.want, Meanings[c.key].String(c.v), "%s %#x", c.key, c.v)
	}
}

func TestLegend(t *testing.T) {
	assert.Equal(t, "F_RDLCK 0 shared lock, F_WRLCK 1 exclusive lock, F_UNLCK 2 no lock", Meanings["FileLock.Typ"].Legend())
	assert.Contains(t, Meanings["Attr.Mode"].Legend(), "S_IFREG 32768 regular file")
}

package trace

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// fields lists the fields of all structs of the protocol as "Struct.Field".
func fields() map[string]bool {
	all := map[string]bool{}
	var walk func(reflect.Type)
	walk = func(t reflect.Type) {
		for i := range t.NumField() {
			if f := t.Field(i); f.Type.Kind() == reflect.Struct {
				walk(f.Type)
			} else if f.IsExported() {
				all[t.Name()+"."+strings.TrimSuffix(f.Name, "_")] = true
			}
		}
	}
	for _, row := range proto.Rows() {
		for _, v := range []any{row.In, row.Out, row.List} {
			if v != nil {
				walk(reflect.TypeOf(v).Elem())
			}
		}
	}
	for _, v := range []any{proto.Dirent{}, fuse.NotifyInvalEntryOut{}} {
		walk(reflect.TypeOf(v))
	}
	return all
}

func TestTablesNameFields(t *testing.T) {
	all := fields()
	for key := range Meanings {
		require.True(t, all[key], "Meanings: no field %s", key)
	}
	for key := range views {
		require.True(t, all[key], "views: no field %s", key)
	}
	for name := range guards {
		require.True(t, all["SetAttrInCommon."+name] || all["Owner."+name], "guards: no field %s", name)
	}
}

// Every field that looks like bits has a meaning, or no bit is defined.
func TestBitsAreComplete(t *testing.T) {
	undefined := map[string]string{
		"CopyFileRangeIn.Flags": "copy_file_range(2) defines none",
		"StatxOut.Flags":        "fuse.h defines none",
	}
	bits := regexp.MustCompile(`(Flags2?|Mode|Umask|Mask|Valid|Typ|Type|Whence|Events|Revents)$`)
	timeout := regexp.MustCompile(`\.(Attr|Entry)Valid$`)
	for key := range fields() {
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

package trace

import (
	"reflect"
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
	for key := range views {
		require.True(t, all[key], "views: no field %s", key)
	}
	for name := range guards {
		require.True(t, all["SetAttrInCommon."+name] || all["Owner."+name], "guards: no field %s", name)
	}
}

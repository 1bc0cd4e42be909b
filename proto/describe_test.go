package proto

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// allFields lists the JSON form of everything in the tables as "Struct.Field".
func allFields() map[string]FieldInfo {
	all := map[string]FieldInfo{}
	var walk func([]FieldInfo)
	walk = func(list []FieldInfo) {
		for _, f := range list {
			all[f.Struct+"."+f.Name] = f
			t := f.Type
			if t.Kind() == reflect.Slice {
				t = t.Elem()
			}
			walk(FieldsOf(t))
		}
	}
	for _, row := range Rows() {
		for _, v := range []any{row.In, row.Out, row.List} {
			if v != nil {
				walk(FieldsOf(reflect.TypeOf(v).Elem()))
			}
		}
	}
	for _, v := range []any{Header{}, Dirent{}, Extension{}} {
		walk(FieldsOf(reflect.TypeOf(v)))
	}
	for _, form := range NotifyForms() {
		walk(form.Fields)
	}
	return all
}

func TestEveryFieldIsDescribed(t *testing.T) {
	used := map[string]bool{}
	for key, f := range allFields() {
		assert.NotEmpty(t, Describe(f.Struct, f.Name), key)
		used[key], used[f.Name] = true, true
	}
	for key, text := range descriptions {
		require.True(t, used[key], "no field %s", key)
		assert.LessOrEqual(t, len(text), 240, key)
		assert.Equal(t, strings.TrimSpace(text), text, key)
	}
}

func TestEveryMeaningIsOfAField(t *testing.T) {
	all := allFields()
	for key := range Meanings {
		require.Contains(t, all, key)
	}
}

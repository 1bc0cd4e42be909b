package serve

// response_format: which form an answer must have, and schemas that are refused.

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/llmfs-raw/llmfs-raw/schema"
)

// format is the form that an answer must have.
type format struct {
	kind   string // text, json_object, json_schema
	name   string
	schema string // as it was sent
}

var formatKinds = []string{"json_object", "json_schema", "text"}

var schemaName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

var schemaFields = fields{
	"name": {kind: stringKind, required: true}, "schema": {kind: objectKind},
	"strict": {kind: boolKind}, "description": {kind: stringKind},
}

// formats remembers schemas that are all right: checking one takes longer than
// answering.
var formats = newGenerations[key, struct{}](1 << 10)

// chatFormat reads response_format of Chat Completions, responsesFormat
// text.format of Responses, which has no object of its own for the schema.
func chatFormat(v gjson.Result) (format, *apiError) {
	const at = "response_format"
	f, err := formatOf(at, v)
	if err != nil || f.kind != "json_schema" {
		return f, err
	}
	inner := v.Get("json_schema")
	if !inner.IsObject() {
		return f, invalid(at+".json_schema", "missing_required_parameter", "Missing required parameter: '%s.json_schema'.", at)
	}
	if err := (fields{"type": {kind: stringKind}, "json_schema": {kind: objectKind}}).check(at+".", membersOf(v)); err != nil {
		return f, err
	}
	if err := schemaFields.check(at+".json_schema.", membersOf(inner)); err != nil {
		return f, err
	}
	return f, f.take(at, at+".json_schema.name", inner)
}

func responsesFormat(v gjson.Result) (format, *apiError) {
	const at = "text.format"
	f, err := formatOf(at, v)
	if err != nil || f.kind != "json_schema" {
		return f, err
	}
	table := fields{"type": {kind: stringKind}}
	for name, field := range schemaFields {
		table[name] = field
	}
	if err := table.check(at+".", membersOf(v)); err != nil {
		return f, err
	}
	return f, f.take(at+".schema", at+".name", v)
}

func formatOf(at string, v gjson.Result) (format, *apiError) {
	switch {
	case kindOf(v) == nullKind:
		return format{kind: "text"}, nil
	case !v.IsObject():
		return format{}, invalid(at, "invalid_type", "Invalid type for '%s': expected an object, but got %s instead.", at, kindOf(v))
	case !v.Get("type").Exists():
		return format{}, invalid(at+".type", "missing_required_parameter", "Missing required parameter: '%s.type'.", at)
	}
	f := format{kind: v.Get("type").String()}
	for _, known := range formatKinds {
		if f.kind == known {
			return f, nil
		}
	}
	return f, invalidValue(at+".type", f.kind, formatKinds)
}

// take checks name and schema. Without strict a schema is no more than advice.
func (f *format) take(at, nameAt string, v gjson.Result) *apiError {
	f.name, f.schema = v.Get("name").String(), v.Get("schema").Raw
	switch {
	case !schemaName.MatchString(f.name) && len(f.name) > 64:
		return invalid(nameAt, "string_above_max_length", "Invalid '%s': string too long. Expected a string with maximum length 64, but got a string with length %d instead.", nameAt, len(f.name))
	case !schemaName.MatchString(f.name):
		return invalid(nameAt, "invalid_value", "Invalid '%s': string does not match pattern. Expected a string that matches the pattern '%s'.", nameAt, schemaName)
	case !v.Get("strict").Bool():
		return nil
	case f.schema == "" || f.schema == "null":
		return invalid(at, "missing_required_parameter", "Missing required parameter: '%s'.", at)
	}
	return f.lint(at)
}

func (f *format) lint(at string) *apiError {
	k := keyOf(f.schema)
	if _, ok := formats.get(k); ok {
		return nil
	}
	if found := schema.Lint([]byte(f.schema)); len(found) > 0 {
		const most = 5
		return invalid(at, "invalid_json_schema", "Invalid schema for response_format '%s': %s.", f.name, strings.Join(found[:min(len(found), most)], "; "))
	}
	formats.put(k, struct{}{})
	return nil
}

// ours says whether a reply in its object can be what the schema describes.
func (f *format) ours() bool {
	if f.kind != "json_schema" || f.schema == "" {
		return true
	}
	var s struct{ Properties map[string]json.RawMessage }
	return json.Unmarshal([]byte(f.schema), &s) == nil && len(s.Properties) == 1 && s.Properties["Reply"] != nil
}

// fit leaves out the notifications of a reply whose schema has none: of those,
// a kernel with a cached mode may not hear that a write has cleared bits of it.
func (f *format) fit(reply []byte) []byte {
	if f.kind != "json_schema" || strings.Contains(f.schema, `"Notify"`) {
		return reply
	}
	if at := bytes.LastIndex(reply, []byte(`,"Notify":[`)); at >= 0 && gjson.GetBytes(reply, "Notify").Exists() {
		return append(reply[:at:at], '}')
	}
	return reply
}

package schema

// What every engine for structured output supports, and how much of it.

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The limits of strict structured output.
const (
	MaxProperties = 5000
	MaxDepth      = 10
	MaxEnum       = 1000
	maxItems      = 1999 // llama.cpp repeats no more
)

// keywords are what a schema of each kind may and must have.
var keywords = map[string]struct{ must, may []string }{
	"object":  {[]string{"type", "properties", "required", "additionalProperties"}, []string{"description"}},
	"integer": {[]string{"type", "minimum", "maximum"}, []string{"description"}},
	"string":  {[]string{"type"}, []string{"description", "pattern", "enum"}},
	"boolean": {[]string{"type"}, []string{"description"}},
	"array":   {[]string{"type", "items", "maxItems"}, []string{"description"}},
	"anyOf":   {[]string{"anyOf"}, nil},
	"$ref":    {[]string{"$ref"}, nil},
}

// Lint names everything in a schema that is outside of the portable subset:
// an object at the root, all members required in their order and no others
// allowed, strings, booleans, integers bounded within ±(2^53-1), short enums
// of strings, arrays with a maximum, alternatives and references without
// siblings, definitions at the root, anchored patterns without negated
// classes. It is nil for a portable schema.
func Lint(schema []byte) []string {
	l := &linter{used: map[string]bool{}, defs: map[string]json.RawMessage{}}
	root, err := members(schema)
	if err != nil {
		return []string{"#: no schema: " + err.Error()}
	}
	l.root(root)
	m := measure(schema)
	l.limit("members of objects", m.properties, MaxProperties)
	l.limit("levels", m.depth, MaxDepth)
	l.limit("enum values", m.enum, MaxEnum)
	return l.found
}

type linter struct {
	found []string
	defs  map[string]json.RawMessage
	used  map[string]bool
}

func (l *linter) report(path, format string, args ...any) {
	l.found = append(l.found, path+": "+fmt.Sprintf(format, args...))
}

func (l *linter) limit(what string, have, most int) {
	if have > most {
		l.report("#", "%d %s, at most %d", have, what, most)
	}
}

func (l *linter) root(root []member) {
	raw, _ := find(root, "$defs")
	defs, _ := members(raw)
	for _, d := range defs {
		l.defs[d.name] = d.value
	}
	rest := slices.DeleteFunc(slices.Clone(root), func(m member) bool { return m.name == "$defs" })
	if l.kind(rest) != "object" {
		l.report("#", "the root is no object")
	}
	l.members("#", rest)
	for _, d := range defs {
		l.schema("#/$defs/"+d.name, d.value)
	}
	for _, d := range defs {
		if !l.used[d.name] {
			l.report("#/$defs/"+d.name, "is not referred to")
		}
	}
}

func (l *linter) kind(list []member) string {
	for _, k := range []string{"anyOf", "$ref"} {
		if _, ok := find(list, k); ok {
			return k
		}
	}
	raw, _ := find(list, "type")
	return unquoted(raw)
}

func (l *linter) schema(path string, raw json.RawMessage) {
	list, err := members(raw)
	if err != nil {
		l.report(path, "%s is no object", excerpt(raw))
		return
	}
	l.members(path, list)
}

func (l *linter) members(path string, list []member) {
	kind := l.kind(list)
	words, ok := keywords[kind]
	if !ok {
		l.report(path, "type %q", kind)
		return
	}
	for _, must := range words.must {
		if _, ok := find(list, must); !ok {
			l.report(path, "%s without %s", kind, must)
		}
	}
	for _, m := range list {
		if !slices.Contains(words.must, m.name) && !slices.Contains(words.may, m.name) {
			l.report(path, "%s with %s", kind, m.name)
			continue
		}
		if check, ok := checks[m.name]; ok {
			check(l, path, m.value, list)
		}
	}
}

// checks are of the values of keywords; list has the keywords beside.
var checks map[string]func(l *linter, path string, value json.RawMessage, list []member)

func init() {
	checks = map[string]func(*linter, string, json.RawMessage, []member){
		"properties":           (*linter).properties,
		"additionalProperties": (*linter).additional,
		"minimum":              (*linter).bound,
		"maximum":              (*linter).bound,
		"pattern":              (*linter).pattern,
		"enum":                 (*linter).enum,
		"items":                (*linter).items,
		"maxItems":             (*linter).maxItems,
		"anyOf":                (*linter).anyOf,
		"$ref":                 (*linter).ref,
	}
}

func (l *linter) properties(path string, value json.RawMessage, list []member) {
	props, err := members(value)
	if err != nil {
		l.report(path, "properties: %v", err)
	}
	var names, required []string
	for _, p := range props {
		names = append(names, p.name)
		l.schema(path+"/properties/"+p.name, p.value)
	}
	raw, _ := find(list, "required")
	if json.Unmarshal(raw, &required) != nil || !slices.Equal(names, required) {
		l.report(path, "required is not every member in order")
	}
}

func (l *linter) additional(path string, value json.RawMessage, _ []member) {
	if string(value) != "false" {
		l.report(path, "additionalProperties is not false")
	}
}

func (l *linter) bound(path string, value json.RawMessage, list []member) {
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil || n > maxSafe || n < -maxSafe {
		l.report(path, "bound %s is not within ±(2^53-1)", value)
	}
	low, _ := find(list, "minimum")
	if min, err := strconv.ParseInt(string(low), 10, 64); err == nil && n < min {
		l.report(path, "maximum %d is below minimum %d", n, min)
	}
}

// exotic is what some engine's patterns lack.
var exotic = regexp.MustCompile(`\[\^|\(\?|\\[^.*+?()\[\]{}|/\\-]|[^\\][*+?}][?+]`)

func (l *linter) pattern(path string, value json.RawMessage, _ []member) {
	p := unquoted(value)
	if !strings.HasPrefix(p, "^") || !strings.HasSuffix(p, "$") {
		l.report(path, "pattern %s is not anchored", p)
	}
	if m := exotic.FindString(p); m != "" {
		l.report(path, "pattern %s has %s", p, m)
	}
	if _, err := regexp.Compile(p); err != nil {
		l.report(path, "pattern %s: %v", p, err)
	}
}

func (l *linter) enum(path string, value json.RawMessage, _ []member) {
	const longest = 64
	var words []string
	if json.Unmarshal(value, &words) != nil || len(words) == 0 {
		l.report(path, "enum is no list of strings")
	}
	for _, w := range words {
		if len(w) > longest {
			l.report(path, "enum value of %d bytes, at most %d", len(w), longest)
		}
	}
}

func (l *linter) items(path string, value json.RawMessage, _ []member) {
	l.schema(path+"/items", value)
}

func (l *linter) maxItems(path string, value json.RawMessage, _ []member) {
	if n, err := strconv.Atoi(string(value)); err != nil || n < 1 || n > maxItems {
		l.report(path, "maxItems %s is not within 1 to %d", value, maxItems)
	}
}

func (l *linter) anyOf(path string, value json.RawMessage, _ []member) {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil || len(list) == 0 {
		l.report(path, "anyOf without alternatives")
	}
	for i, raw := range list {
		l.schema(fmt.Sprintf("%s/anyOf/%d", path, i), raw)
	}
}

func (l *linter) ref(path string, value json.RawMessage, _ []member) {
	name, ok := strings.CutPrefix(unquoted(value), "#/$defs/")
	if _, known := l.defs[name]; !ok || !known {
		l.report(path, "$ref %s leads nowhere", value)
	}
	l.used[name] = true
}

func unquoted(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // "" where it is no string
	return s
}

package schema

// How large a schema is, in the terms of those who limit it.

import (
	"encoding/json"
	"strings"
)

type size struct{ properties, depth, defs, enum int }

// measure counts members and enum values where they stand, and levels along
// references: a schema below another is one level, a reference is none.
func measure(schema []byte) size {
	var root map[string]any
	if json.Unmarshal(schema, &root) != nil {
		return size{}
	}
	m := &measurer{defs: map[string]any{}, levels: map[string]int{}}
	if defs, ok := root["$defs"].(map[string]any); ok {
		m.defs = defs
	}
	m.count(root)
	for _, def := range m.defs {
		m.count(def)
	}
	m.total.depth, m.total.defs = m.depth(root), len(m.defs)
	return m.total
}

type measurer struct {
	defs   map[string]any
	levels map[string]int // of definitions; 0 while it is being counted, for recursion
	total  size
}

// count adds what stands in v and below it, references not followed.
func (m *measurer) count(v any) {
	s, _ := v.(map[string]any)
	props, _ := s["properties"].(map[string]any)
	enum, _ := s["enum"].([]any)
	m.total.properties += len(props)
	m.total.enum += len(enum)
	for _, sub := range subschemas(v) {
		m.count(sub)
	}
}

// reference is the number of levels of what v refers to.
func (m *measurer) reference(v any) (int, bool) {
	s, _ := v.(map[string]any)
	ref, ok := s["$ref"].(string)
	if !ok {
		return 0, false
	}
	name := strings.TrimPrefix(ref, "#/$defs/")
	if n, done := m.levels[name]; done {
		return n, true
	}
	m.levels[name] = 0
	m.levels[name] = m.depth(m.defs[name])
	return m.levels[name], true
}

// depth is the number of levels of v, references followed.
func (m *measurer) depth(v any) int {
	if n, ok := m.reference(v); ok {
		return n
	}
	deepest := 0
	for _, sub := range subschemas(v) {
		deepest = max(deepest, m.depth(sub))
	}
	return deepest + 1
}

// subschemas are the schemas directly below v.
func subschemas(v any) []any {
	s, _ := v.(map[string]any)
	var list []any
	if props, ok := s["properties"].(map[string]any); ok {
		for _, p := range props {
			list = append(list, p)
		}
	}
	if alternatives, ok := s["anyOf"].([]any); ok {
		list = append(list, alternatives...)
	}
	if items, ok := s["items"]; ok {
		list = append(list, items)
	}
	return list
}

package schema

// The validator's findings in words. Where no alternative fits, the one that
// is meant speaks: that of the same Errno or Code, or else the nearest.

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

const (
	ruleSchema = "schema"
	noMember   = "no such member here"
)

// tells are the members by which alternatives are told apart.
var tells = []string{"Errno", "Code"}

// wants are the patterns, and the alternatives for bytes, in words.
var wants = map[string]string{
	uintPattern:   "an integer in decimal digits",
	intPattern:    "an integer in decimal digits",
	base64Pattern: "base64 (standard alphabet, padded)",

	"a string or an object": `a string or {"base64":"…"}`,
}

// types are what JSON Schema calls them, in words.
var types = map[string]string{
	"object": "an object", "integer": "an integer", "string": "a string", "array": "an array", "boolean": "true or false",
}

func explain(e *validator.ValidationError, doc any) []Violation {
	list := explainer{doc}.all(e)
	slices.SortStableFunc(list, func(a, b Violation) int { return strings.Compare(a.Path, b.Path) })
	return list
}

type explainer struct{ doc any }

func (x explainer) all(e *validator.ValidationError) []Violation {
	if _, ok := e.ErrorKind.(*kind.AnyOf); ok {
		return x.best(e)
	}
	if len(e.Causes) == 0 {
		return x.leaf(e)
	}
	var list []Violation
	for _, c := range e.Causes {
		list = append(list, x.all(c)...)
	}
	return list
}

// best speaks for the alternatives, of which none fits.
func (x explainer) best(e *validator.ValidationError) []Violation {
	here, _ := x.at(e.InstanceLocation)
	var fits, others [][]Violation // others are of another type
	for _, c := range e.Causes {
		list := x.all(c)
		if len(list) == 1 && list[0].Path == here && isType(list[0].Want) {
			others = append(others, list)
			continue
		}
		fits = append(fits, list)
	}
	if len(fits) == 0 {
		return merge(others, here)
	}
	for _, name := range tells {
		told := slices.DeleteFunc(slices.Clone(fits), func(list []Violation) bool { return hasPath(list, join(here, name)) })
		if len(told) == 0 {
			return merge(fits, join(here, name))
		}
		fits = told
	}
	return slices.MinFunc(fits, func(a, b []Violation) int {
		return cmp.Or(cmp.Compare(strangers(a), strangers(b)), cmp.Compare(len(a), len(b)))
	})
}

// strangers counts members that an alternative does not have at all.
func strangers(list []Violation) int {
	n := 0
	for _, v := range list {
		if v.Want == noMember {
			n++
		}
	}
	return n
}

func isType(want string) bool {
	for _, t := range types {
		if t == want {
			return true
		}
	}
	return false
}

func hasPath(list []Violation, path string) bool {
	return slices.ContainsFunc(list, func(v Violation) bool { return v.Path == path })
}

// merge makes one violation of those of all alternatives at path.
func merge(lists [][]Violation, path string) []Violation {
	var out Violation
	var want []string
	for _, v := range slices.Concat(lists...) {
		if v.Path == path {
			out = v
			if !slices.Contains(want, v.Want) {
				want = append(want, v.Want)
			}
		}
	}
	out.Want = strings.Join(want, " or ")
	if words, ok := wants[out.Want]; ok {
		out.Want = words
	}
	return []Violation{out}
}

// leaf is one finding without causes.
func (x explainer) leaf(e *validator.ValidationError) []Violation {
	path, have := x.at(e.InstanceLocation)
	v := Violation{Rule: ruleSchema, Path: path, Have: have, Want: "what the schema says"}
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		return x.missing(path, k.Missing)
	case *kind.AdditionalProperties:
		return x.unknown(e.InstanceLocation, k.Properties)
	case *kind.Type:
		v.Want = types[k.Want[0]]
	case *kind.Minimum:
		v.Want = "an integer of at least " + k.Want.RatString()
	case *kind.Maximum:
		v.Want = "an integer of at most " + k.Want.RatString()
	case *kind.Pattern:
		v.Want = wants[k.Want]
	case *kind.MaxItems:
		v.Have, v.Want = fmt.Sprintf("%d elements", k.Got), fmt.Sprintf("at most %d", k.Want)
	case *kind.Enum:
		v.Want = fmt.Sprint(k.Want[0])
	}
	return []Violation{v}
}

func (x explainer) missing(path string, names []string) []Violation {
	var list []Violation
	for _, name := range names {
		list = append(list, Violation{Rule: ruleSchema, Path: join(path, name), Have: "nothing", Want: "a value"})
	}
	return list
}

func (x explainer) unknown(at []string, names []string) []Violation {
	var list []Violation
	for _, name := range names {
		path, have := x.at(append(slices.Clone(at), name))
		list = append(list, Violation{Rule: ruleSchema, Path: path, Have: have, Want: noMember})
	}
	return list
}

// at is the path of a location, and what stands there.
func (x explainer) at(location []string) (path, have string) {
	v := x.doc
	for i, token := range location {
		switch in := v.(type) {
		case map[string]any:
			v = in[token]
			if i > 0 || token != "Reply" {
				path = join(path, token)
			}
		case []any:
			n, _ := strconv.Atoi(token)
			v = in[n]
			path += "[" + token + "]"
		}
	}
	b, _ := json.Marshal(v) // it was read from JSON
	return path, excerpt(b)
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

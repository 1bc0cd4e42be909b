package serve

// The bodies of requests: JSON, with the fields and values that OpenAI takes.

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// readBody is the JSON object of a request.
func readBody(x *exchange) (members, *apiError) {
	text, err := io.ReadAll(x.r.Body)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		e := invalid("", "request_too_large", "Request body too large. The maximum is %d bytes.", large.Limit)
		e.status = http.StatusRequestEntityTooLarge
		return nil, e
	case err != nil:
		return nil, invalid("", "", "The body of your request broke off: %v", err)
	}
	return parseBody(string(text))
}

func parseBody(text string) (members, *apiError) {
	if !gjson.Valid(text) {
		return nil, invalid("", "", "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)")
	}
	body := gjson.Parse(text)
	if !body.IsObject() {
		return nil, invalid("", "invalid_type", "Invalid type for the body: expected an object, but got %s instead.", kindOf(body))
	}
	return membersOf(body), nil
}

// members are those of an object, found in one pass: a body may be long.
type members map[string]gjson.Result

func membersOf(object gjson.Result) members {
	m := members{}
	if object.IsObject() {
		object.ForEach(func(name, value gjson.Result) bool {
			m[name.Str] = value
			return true
		})
	}
	return m
}

// kind is a type of JSON, in the words of the messages.
type kind string

const (
	anyKind     kind = ""
	stringKind  kind = "a string"
	boolKind    kind = "a boolean"
	numberKind  kind = "a decimal"
	integerKind kind = "an integer"
	objectKind  kind = "an object"
	arrayKind   kind = "an array"
	nullKind    kind = "null"
)

func kindOf(v gjson.Result) kind {
	switch {
	case v.IsObject():
		return objectKind
	case v.IsArray():
		return arrayKind
	case v.IsBool():
		return boolKind
	case v.Type == gjson.String:
		return stringKind
	case v.Type == gjson.Number && v.Num == math.Trunc(v.Num) && !strings.ContainsAny(v.Raw, ".eE"):
		return integerKind
	case v.Type == gjson.Number:
		return numberKind
	}
	return nullKind
}

// field is what a field of a body may be. Null is as good as nothing, unless it
// is required.
type field struct {
	kind      kind
	or        kind // another type that is as good
	required  bool
	refused   bool // a field of the API that this model does not take
	low, high float64
	bounded   bool // low and high count
	longest   int  // characters; 0 is any number
	enum      []string
}

func between(k kind, low, high float64) field {
	return field{kind: k, bounded: true, low: low, high: high}
}

func atLeast(low float64) field { return between(integerKind, low, math.Inf(1)) }

// fields is a table of the fields of an object.
type fields map[string]field

// check holds an object against the table; at is the path to it, with a dot.
func (t fields) check(at string, object members) *apiError {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		f, ok := t[name]
		if !ok {
			return invalid(at+name, "unknown_parameter", "Unknown parameter: '%s'.", at+name)
		}
		if err := f.check(at+name, object[name]); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if _, ok := object[name]; t[name].required && !ok {
			return invalid(at+name, "missing_required_parameter", "Missing required parameter: '%s'.", at+name)
		}
	}
	return nil
}

func (f *field) check(path string, v gjson.Result) *apiError {
	have := kindOf(v)
	switch {
	case have == nullKind && !f.required:
		return nil
	case f.refused:
		return invalid(path, "unsupported_parameter", "Unsupported parameter: '%s' is not supported with this model.", path)
	case have != f.kind && have != f.or && f.kind != anyKind && !(f.kind == numberKind && have == integerKind):
		return invalid(path, "invalid_type", "Invalid type for '%s': expected %s, but got %s instead.", path, f.kind, have)
	case f.bounded && v.Num < f.low:
		return invalid(path, f.unit()+"_below_min_value", "Invalid '%s': %s below minimum value. Expected a value >= %v, but got %s instead.", path, f.unit(), f.low, v.Raw)
	case f.bounded && v.Num > f.high:
		return invalid(path, f.unit()+"_above_max_value", "Invalid '%s': %s above maximum value. Expected a value <= %v, but got %s instead.", path, f.unit(), f.high, v.Raw)
	case f.longest > 0 && len(v.Str) > f.longest:
		return invalid(path, "string_above_max_length", "Invalid '%s': string too long. Expected a string with maximum length %d, but got a string with length %d instead.", path, f.longest, len(v.Str))
	case len(f.enum) > 0 && !slices.Contains(f.enum, v.Str):
		return invalidValue(path, v.Str, f.enum)
	}
	return nil
}

// unit is the type in the codes of errors.
func (f *field) unit() string { return strings.Fields(string(f.kind))[1] }

func invalidValue(path, have string, want []string) *apiError {
	quoted := make([]string, len(want))
	for i, w := range want {
		quoted[i] = fmt.Sprintf("'%s'", w)
	}
	last := len(quoted) - 1
	list := quoted[last]
	if last > 0 {
		list = strings.Join(quoted[:last], ", ") + ", and " + list
	}
	return invalid(path, "invalid_value", "Invalid value: '%s'. Supported values are: %s.", have, list)
}

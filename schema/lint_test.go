package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEverySchemaIsPortable(t *testing.T) {
	for _, form := range []Form{All, Lean} {
		for _, s := range Schemas(form) {
			assert.Empty(t, Lint(s.JSON), s.Name)
			assert.LessOrEqual(t, s.Depth, MaxDepth, s.Name)
			assert.LessOrEqual(t, s.Properties, MaxProperties, s.Name)
		}
	}
}

func TestLintRefusesTheRest(t *testing.T) {
	// prop is a schema with one member of the given schema.
	prop := func(s string) string {
		return `{"type":"object","properties":{"A":` + s + `},"required":["A"],"additionalProperties":false}`
	}
	withDefs := func(defs, s string) string {
		return strings.Replace(prop(s), `{"type"`, `{"$defs":`+defs+`,"type"`, 1)
	}
	for _, good := range []string{
		prop(`{"type":"string"}`), prop(`{"type":"boolean","description":"is it"}`), prop(`{"type":"integer","minimum":-1,"maximum":1}`),
		prop(`{"type":"string","enum":["STORE"]}`), prop(`{"type":"array","items":{"type":"string"},"maxItems":8}`),
		prop(`{"anyOf":[{"type":"string"},{"type":"boolean"}]}`), withDefs(`{"B":{"type":"string"}}`, `{"$ref":"#/$defs/B"}`),
		prop(`{"type":"string","pattern":"^(0|[1-9][0-9]*)$"}`),
		withDefs(`{"B":`+prop(`{"anyOf":[{"type":"string"},{"$ref":"#/$defs/B"}]}`)+`}`, `{"$ref":"#/$defs/B"}`),
	} {
		assert.Empty(t, Lint([]byte(good)), good)
	}
	many := func(n int, format string) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(format, i))
		}
		return strings.Join(list, ",")
	}
	deep := prop(strings.Repeat(`{"anyOf":[`, 9) + `{"type":"string"}` + strings.Repeat(`]}`, 9))
	for bad, want := range map[string]string{
		`7`:    "#: no schema",
		`true`: "#: no schema",
		`{"type":"array","items":{"type":"string"},"maxItems":1}`: "#: the root is no object",
		`{"anyOf":[` + prop(`{"type":"string"}`) + `]}`:           "#: the root is no object",
		`{"type":"object"}`: "#: object without properties",
		`{"type":"object","properties":{"A":{"type":"string"}},"required":[],"additionalProperties":false}`:                              "#: required is not every member in order",
		strings.Replace(prop(`{"type":"string"}`), "false", "true", 1):                                                                   "#: additionalProperties is not false",
		strings.Replace(prop(`{"type":"string"}`), "false", `{"type":"string"}`, 1):                                                      "#: additionalProperties is not false",
		`{"type":"object","properties":{"A":{"type":"string"},"B":{"type":"string"}},"required":["B","A"],"additionalProperties":false}`: "#: required is not every member in order",
		prop(`{"type":"null"}`):            `#/properties/A: type "null"`,
		prop(`{"type":"number"}`):          `#/properties/A: type "number"`,
		prop(`{"type":["string","null"]}`): `#/properties/A: type ""`,
		prop(`true`):                       "#/properties/A: true is no object",
		prop(`{}`):                         `#/properties/A: type ""`,
		prop(`{"const":1}`):                `#/properties/A: type ""`,
		prop(`{"type":"integer"}`):         "#/properties/A: integer without minimum",
		prop(`{"type":"integer","minimum":0,"maximum":18446744073709551615}`):        "#/properties/A: bound 18446744073709551615 is not within",
		prop(`{"type":"integer","minimum":0,"maximum":9007199254740992}`):            "is not within ±(2^53-1)",
		prop(`{"type":"integer","minimum":2,"maximum":1}`):                           "maximum 1 is below minimum 2",
		prop(`{"type":"integer","minimum":0,"maximum":8,"multipleOf":2}`):            "integer with multipleOf",
		prop(`{"type":"integer","enum":[1]}`):                                        "integer with enum",
		prop(`{"type":"string","minLength":1}`):                                      "string with minLength",
		prop(`{"type":"string","format":"date-time"}`):                               "string with format",
		prop(`{"type":"string","enum":[1]}`):                                         "enum is no list of strings",
		prop(`{"type":"string","enum":["` + strings.Repeat("x", 65) + `"]}`):         "enum value of 65 bytes",
		prop(`{"type":"string","enum":[` + many(1001, `"%d"`) + `]}`):                "#: 1001 enum values, at most 1000",
		prop(`{"type":"string","pattern":"[0-9]"}`):                                  "is not anchored",
		prop(`{"type":"string","pattern":"^[^/]*$"}`):                                "has [^",
		prop(`{"type":"string","pattern":"^(?=a)a$"}`):                               "has (?",
		prop(`{"type":"string","pattern":"^\\D$"}`):                                  `has \D`,
		prop(`{"type":"string","pattern":"^a*?$"}`):                                  "has a*?",
		prop(`{"type":"string","pattern":"^(a$"}`):                                   "pattern ^(a$: error",
		prop(`{"type":"array","items":{"type":"string"}}`):                           "array without maxItems",
		prop(`{"type":"array","items":{"type":"string"},"maxItems":2000}`):           "maxItems 2000 is not within",
		prop(`{"type":"array","items":{"type":"string"},"maxItems":1,"minItems":1}`): "array with minItems",
		prop(`{"type":"array","items":{"type":"null"},"maxItems":1}`):                `#/properties/A/items: type "null"`,
		prop(`{"anyOf":[]}`): "anyOf without alternatives",
		prop(`{"anyOf":[{"type":"string"}],"description":"x"}`):                           "anyOf with description",
		prop(`{"oneOf":[{"type":"string"}]}`):                                             `#/properties/A: type ""`,
		prop(`{"allOf":[{"type":"string"}]}`):                                             `#/properties/A: type ""`,
		prop(`{"$ref":"#/$defs/B"}`):                                                      "leads nowhere",
		withDefs(`{"B":{"type":"string"}}`, `{"$ref":"#/$defs/B","description":"x"}`):     "$ref with description",
		withDefs(`{"B":{"type":"string"}}`, `{"type":"string"}`):                          "#/$defs/B: is not referred to",
		prop(withDefs(`{"B":{"type":"string"}}`, `{"type":"string"}`)):                    "#/properties/A: object with $defs",
		strings.Replace(prop(`{"type":"string"}`), `{"type"`, `{"$schema":"x","type"`, 1): "#: object with $schema",
		deep: "11 levels, at most 10",
		`{"type":"object","properties":{` + many(5001, `"P%d":{"type":"string"}`) + `},"required":[` + many(5001, `"P%d"`) + `],"additionalProperties":false}`: "5001 members of objects, at most 5000",
	} {
		found := strings.Join(Lint([]byte(bad)), "\n")
		assert.Contains(t, found, want, "%.200s", bad)
	}
}

func TestMeasureFollowsReferences(t *testing.T) {
	const flat = `{"$defs":{"B":{"type":"string"},"C":{"anyOf":[{"$ref":"#/$defs/B"},{"$ref":"#/$defs/C"}]}},"type":"object","properties":{"A":{"$ref":"#/$defs/C"}}}`
	assert.Equal(t, size{properties: 1, depth: 3, defs: 2}, measure([]byte(flat)))
}

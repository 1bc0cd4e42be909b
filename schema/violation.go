package schema

import "strings"

// Violation is one thing that is wrong with a reply, in words from which a
// model can mend it.
type Violation struct {
	Rule   string // the rule's name; "schema" for what the schema says
	Path   string // within the reply: "Out.Attr.Mode", "Entries[3].Name"; "" is the reply
	Have   string // what stands there
	Want   string // what has to
	Reason string // why: what the kernel does otherwise; "" where it is the schema that says so
}

// String is a line: Out.Attr.Mode: have 420, want … (reason).
func (v Violation) String() string {
	path, reason := v.Path, ""
	if path == "" {
		path = "the reply"
	}
	if v.Reason != "" {
		reason = " (" + v.Reason + ")"
	}
	return path + ": have " + v.Have + ", want " + v.Want + reason
}

// Invalid is the error of a reply that is not as its schema says.
type Invalid struct{ Violations []Violation }

// Error has a line for each violation.
func (e *Invalid) Error() string { return Lines(e.Violations) }

// Lines is a line for each violation.
func Lines(list []Violation) string {
	var lines []string
	for _, v := range list {
		lines = append(lines, v.String())
	}
	return strings.Join(lines, "\n")
}

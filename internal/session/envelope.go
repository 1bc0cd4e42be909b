package session

// The user's turn: a bare request, or an envelope around it.

import (
	"encoding/json"
	"unicode/utf8"
)

// envelope is what goes with a request; empty members are left out.
type envelope struct {
	ledger  []byte   // JSON
	left    leftOut  // what had to be left out
	since   []string // requests, as JSON, that needed no answer
	invalid []string // what was wrong with the answer before
	request string   // JSON
}

// leftOut counts what did not fit.
type leftOut struct {
	Pairs   int `json:",omitempty"` // earlier requests with their replies
	Nodes   int `json:",omitempty"` // of the way up to the root
	Entries int `json:",omitempty"` // of a listing
	Xattrs  int `json:",omitempty"`
	Bytes   int `json:",omitempty"` // of content
}

// text is the message.
func (e *envelope) text() string {
	dst := make([]byte, 0, len(e.ledger)+len(e.request)+256)
	dst = append(dst, '{')
	if e.ledger != nil {
		dst = append(append(append(dst, `"Ledger":`...), e.ledger...), ',')
	}
	if e.left != (leftOut{}) {
		left, _ := json.Marshal(e.left) // numbers can always be written
		dst = append(append(append(dst, `"LeftOut":`...), left...), ',')
	}
	dst = appendArray(dst, `"Since":[`, e.since, func(dst []byte, s string) []byte { return append(dst, s...) })
	dst = appendArray(dst, `"Invalid":[`, e.invalid, appendQuoted)
	if len(dst) == 1 {
		return e.request
	}
	return string(append(append(append(dst, `"Request":`...), e.request...), '}'))
}

func appendArray(dst []byte, key string, list []string, one func([]byte, string) []byte) []byte {
	if len(list) == 0 {
		return dst
	}
	dst = append(dst, key...)
	for i, s := range list {
		dst = one(comma(dst, i), s)
	}
	return append(dst, "],"...)
}

// appendQuoted writes text as a JSON string, whatever it holds.
func appendQuoted(dst []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = string([]rune(s))
	}
	quoted, _ := json.Marshal(s) // a string can always be written
	return append(dst, quoted...)
}

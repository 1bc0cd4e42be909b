package export

// Steps that say the same.

import (
	"crypto/sha256"
	"regexp"
)

// volatile are the members whose values a recording alone decides: numbers of
// requests and processes, and times. In messages they stand in JSON, or in JSON
// within a string.
var volatile = regexp.MustCompile(`(\\?"(?:Unique|Pid|Comm|Sec|Nsec|[ABMC]time|[ABMC]timensec)\\?":)(?:\d+|\\?"[^"\\]*\\?")`)

type sign [sha256.Size]byte

// signOf stands for a question and its answer.
func signOf(question, answer string) sign {
	h := sha256.New()
	for _, text := range []string{question, answer} {
		h.Write(volatile.ReplaceAll([]byte(text), []byte("${1}0")))
		h.Write([]byte{0})
	}
	return sign(h.Sum(nil))
}

// seen are the steps so far, and the split that has each.
type seen map[sign]Split

// add reports whether a step is new; where it is not, which split has it.
func (s seen) add(k sign, to Split) (has Split, fresh bool) {
	if has, ok := s[k]; ok {
		return has, false
	}
	s[k] = to
	return to, true
}

package openai

// maxBlank is how many characters of white space may stand in a row outside
// strings. Indentation has a tenth of that.
const maxBlank = 512

// blanks watches a stream of JSON for white space without end. Within strings
// it is content, and any number is right.
type blanks struct {
	run      int
	inString bool
	escaped  bool
}

// add reports whether the white space has gone on for too long.
func (b *blanks) add(text string) bool {
	for i := range len(text) {
		if b.next(text[i]); b.run > maxBlank {
			return true
		}
	}
	return false
}

func (b *blanks) next(c byte) {
	switch {
	case b.escaped:
		b.escaped = false
	case b.inString:
		b.escaped, b.inString = c == '\\', c != '"'
	case c == ' ' || c == '\n' || c == '\t' || c == '\r':
		b.run++
		return
	case c == '"':
		b.inString = true
	}
	b.run = 0
}

package serve

// How long texts are in tokens of the o200k encoding. Counting takes a
// microsecond for every few bytes, so counts are kept by content.

import (
	"sync"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
)

type tokens struct{ counts *generations[key, int] }

func newTokens() *tokens { return &tokens{newGenerations[key, int](1 << 16)} }

var o200k = sync.OnceValue(func() tokenizer.Codec {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		panic("serve: the encoding is part of the program: " + err.Error())
	}
	return codec
})

// count is the length of a text.
func (t *tokens) count(text string) int {
	k := keyOf(text)
	if n, ok := t.counts.get(k); ok {
		return n
	}
	n, err := o200k().Count(text)
	if err != nil {
		n = utf8.RuneCountInString(text)/4 + 1
	}
	t.counts.put(k, n)
	return n
}

// cut is the text's beginning of that many tokens, or the whole text.
func (t *tokens) cut(text string, most int) (cut string, shorter bool) {
	if t.count(text) <= most {
		return text, false
	}
	ids, _, err := o200k().Encode(text)
	if err != nil || most > len(ids) {
		return text, false
	}
	if cut, err = o200k().Decode(ids[:most]); err != nil {
		return "", true
	}
	for len(cut) > 0 && !utf8.ValidString(cut) { // a token may end within a character
		cut = cut[:len(cut)-1]
	}
	return cut, true
}

package serve

// The pace of an answer, and its pieces where it is streamed.

import (
	"time"
	"unicode/utf8"
)

// answerWriter writes one answer in the form of an API.
type answerWriter struct {
	s       *Server
	x       *exchange
	ask     *ask
	wire    *wire
	latency Latency
	began   time.Time // when the first token was due
	tokens  int       // that have been due since
}

// first waits for the first token.
func (w *answerWriter) first() error {
	err := pause(w.wire.ctx, w.latency.FirstToken)
	w.began = time.Now()
	return err
}

// after waits until n more tokens are due.
func (w *answerWriter) after(n int) error {
	w.tokens += n
	if w.latency.TokensPerSecond <= 0 {
		return w.wire.ctx.Err()
	}
	due := w.began.Add(time.Duration(float64(w.tokens) / w.latency.TokensPerSecond * float64(time.Second)))
	return pause(w.wire.ctx, time.Until(due))
}

// whole waits for a whole answer.
func (w *answerWriter) whole(out *said) error {
	if err := w.first(); err != nil {
		return err
	}
	return w.after(out.usage.completion)
}

// pace is how often a stream is flushed; it need not be oftener than anyone
// could see.
const pace = 20 * time.Millisecond

// stream calls emit with the pieces of a text of so many tokens.
func (w *answerWriter) stream(text string, tokens int, emit func(piece string) error) error {
	for len(text) > 0 {
		size, count := w.piece(len(text), tokens)
		for size < len(text) && !utf8.RuneStart(text[size]) {
			size++
		}
		if err := w.after(count); err != nil {
			return err
		}
		if err := emit(text[:size]); err != nil {
			return err
		}
		if w.latency.TokensPerSecond > 0 {
			_ = w.wire.flusher.Flush()
		}
		text, tokens = text[size:], tokens-count
	}
	return nil
}

// piece is how many of the bytes and tokens that are left come at once.
func (w *answerWriter) piece(bytes, tokens int) (size, count int) {
	const atOnce = 256 // tokens, where nothing is slow
	count = atOnce
	if w.latency.TokensPerSecond > 0 {
		count = max(1, int(w.latency.TokensPerSecond*pace.Seconds()))
	}
	if count >= tokens {
		return bytes, tokens
	}
	return max(1, bytes*count/tokens), count
}

// begin starts a stream of events.
func (w *answerWriter) begin() error {
	h := w.x.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	w.x.w.WriteHeader(200)
	_ = w.wire.flusher.Flush()
	return w.first()
}

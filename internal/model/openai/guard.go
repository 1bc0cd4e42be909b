package openai

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/openai/openai-go/v3/option"
)

// What a server can do wrong on the way.
var (
	errTimeout   = &failure{msg: "no answer in time", is: context.DeadlineExceeded}
	errStalled   = &failure{msg: "the server fell silent within its answer"}
	errTooLarge  = &failure{msg: "the answer is larger than the limit"}
	errNotStream = &failure{msg: "asked for a stream, the server sent a whole body: don't stream"}
	errBrokenOff = &failure{msg: "the stream ended within the answer"}
)

const (
	maxErrorBody = 64 << 10 // bytes of an error that are read
	// An event of a stream carries a few characters in some 300 bytes.
	streamOverhead = 8
)

// guard bounds every body: in size, and in the time that it may be silent.
type guard struct {
	idle     time.Duration
	maxBytes int64
	stream   bool
}

// do is the SDK's middleware around one attempt. It reads bodies that are no
// streams, so that the SDK repeats an attempt that broke off within the body,
// too.
func (g guard) do(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	res, err := next(req.WithContext(ctx))
	if err != nil {
		cancel(nil)
		return nil, err
	}
	media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if g.stream && res.StatusCode < 300 && media != "application/json" {
		res.Body = g.body(ctx, cancel, res.Body, g.maxBytes*streamOverhead)
		return res, nil
	}
	return g.buffer(ctx, cancel, res)
}

func (g guard) buffer(ctx context.Context, cancel context.CancelCauseFunc, res *http.Response) (*http.Response, error) {
	limit := g.maxBytes
	if res.StatusCode >= 400 {
		limit = maxErrorBody
	}
	body := g.body(ctx, cancel, res.Body, limit)
	defer func() { _ = body.Close() }()
	text, err := io.ReadAll(body)
	tooLarge := errors.Is(err, errTooLarge)
	switch {
	case res.StatusCode >= 400 && (err == nil || tooLarge):
		text = plainError(text)
	case tooLarge:
		res.Body = broken{err}
		return res, nil // not an error here: it would be tried again
	case err != nil:
		return nil, err
	case g.stream && res.StatusCode < 300:
		res.Body = broken{errNotStream}
		return res, nil
	}
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		res.Header.Set("Content-Type", "application/json") // some servers say text/plain
	}
	res.Body = io.NopCloser(bytes.NewReader(text))
	return res, nil
}

// broken is a body that can't be read.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }
func (b broken) Close() error             { return nil }

// body is a body with limits.
type body struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	idle   time.Duration
	left   int64
}

func (g guard) body(ctx context.Context, cancel context.CancelCauseFunc, rc io.ReadCloser, limit int64) *body {
	b := &body{ReadCloser: rc, ctx: ctx, cancel: cancel, idle: g.idle, left: limit}
	b.timer = time.AfterFunc(g.idle, func() { cancel(errStalled) })
	return b
}

func (b *body) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errTooLarge
	}
	b.timer.Reset(b.idle)
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left+1)])
	b.timer.Stop()
	if b.left -= int64(n); b.left < 0 {
		return n - 1, errTooLarge
	}
	if err != nil && !errors.Is(err, io.EOF) && errors.Is(context.Cause(b.ctx), errStalled) {
		err = errStalled
	}
	return n, err
}

// Close ends the attempt, and with it the server's work for it.
func (b *body) Close() error {
	b.timer.Stop()
	b.cancel(nil)
	return b.ReadCloser.Close()
}

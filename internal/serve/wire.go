package serve

// The way to the client, and what faults do to it.

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"time"
)

// wire writes the body of an answer.
type wire struct {
	w       http.ResponseWriter
	ctx     context.Context // ends with the client or the server
	flusher *http.ResponseController
	reset   int // bytes after which the connection breaks; below 0 is never
	bytes   int // at a time; 0 is all
	pause   time.Duration
}

var errReset = errors.New("connection reset by a fault")

// both is done when the client has gone or the server ends.
func (s *Server) both(x *exchange) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(x.r.Context())
	stop := context.AfterFunc(s.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

func newWire(s *Server, x *exchange, f *fault) *wire {
	w := &wire{w: x.w, flusher: http.NewResponseController(x.w), reset: -1}
	w.ctx = x.r.Context()
	if f.is("reset") {
		w.reset = f.After
	}
	if f.is("trickle") {
		w.bytes, w.pause = f.Bytes, f.Pause
	}
	return w
}

// Write implements io.Writer.
func (w *wire) Write(b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		part := b[n:]
		if w.bytes > 0 {
			part = part[:min(len(part), w.bytes)]
		}
		if err = w.part(part); err == nil {
			n += len(part)
		}
	}
	return n, err
}

func (w *wire) part(b []byte) error {
	if w.reset >= 0 {
		b = b[:min(len(b), w.reset)]
		w.reset -= len(b)
	}
	if _, err := w.w.Write(b); err != nil {
		return err
	}
	if w.reset == 0 {
		_ = w.flusher.Flush()
		return errReset
	}
	if w.bytes == 0 {
		return nil
	}
	_ = w.flusher.Flush()
	return pause(w.ctx, w.pause)
}

// pause sleeps unless ctx is done first.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// json writes a whole answer. Where only its bytes come slowly, its length is
// not announced.
func (w *wire) json(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.w.Header().Set("Content-Type", "application/json")
	_, err = w.Write(text)
	return err
}

// event writes one event of a stream; name is left out where it is "".
func (w *wire) event(name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var b []byte
	if name != "" {
		b = append(append(append(b, "event: "...), name...), '\n')
	}
	b = append(append(append(b, "data: "...), text...), "\n\n"...)
	_, err = w.Write(b)
	return err
}

// before does what a fault does ahead of an answer. It does not return where the
// connection ends.
func (s *Server) before(x *exchange, f *fault) *apiError {
	switch {
	case f.is("error"):
		return f.apiError()
	case f.is("hang"):
		s.hang(x, f.For)
	case f.is("reset") && f.After == 0:
		reset(x.w)
	}
	return nil
}

func (s *Server) hang(x *exchange, how time.Duration) {
	ctx, cancel := s.both(x)
	defer cancel()
	if how > 0 && pause(ctx, how) == nil {
		return
	}
	<-ctx.Done()
	panic(http.ErrAbortHandler)
}

// reset ends a connection with RST.
func reset(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
	}
	panic(http.ErrAbortHandler)
}

// plainly serves an endpoint that asks no model.
func (s *Server) plainly(x *exchange, serve func() *apiError) *apiError {
	f := s.faults.next(circumstances{endpoint: x.route.name})
	x.note = f.String()
	if err := s.before(x, f); err != nil {
		return err
	}
	if err := pause(x.r.Context(), f.latencyOr(Latency{}).FirstToken); err != nil {
		panic(http.ErrAbortHandler)
	}
	return serve()
}

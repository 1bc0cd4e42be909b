package serve

// The server: who may ask, and where.

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Server is an http.Handler. It keeps no state that an answer depends on, but
// for files and batches.
type Server struct {
	o       Options
	mux     *http.ServeMux
	worlds  *worlds
	numbers *numberings
	tokens  *tokens
	prompts *promptCache
	faults  *faultState
	store   *store
	serial  atomic.Uint64 // of ids of answers

	ctx   context.Context // of work in the background
	stop  context.CancelCauseFunc
	group sync.WaitGroup
}

var errClosed = errors.New("the server is closed")

// New makes a server. Close ends its work in the background.
func New(o Options) *Server {
	o = o.withDefaults()
	s := &Server{
		o: o, mux: http.NewServeMux(), worlds: newWorlds(o.World, o.CacheBytes), numbers: newNumberings(),
		tokens: newTokens(), prompts: newPromptCache(), faults: newFaultState(o.Faults), store: newStore(),
	}
	s.ctx, s.stop = context.WithCancelCause(context.Background())
	for _, r := range s.routes() {
		s.mux.Handle(r.method+" "+r.path, s.endpoint(r))
	}
	s.group.Go(s.runBatches)
	return s
}

// Close ends work in the background, and requests that hang.
func (s *Server) Close() {
	s.stop(errClosed)
	s.group.Wait()
}

// route is one endpoint. Its name is what rules of a fault script match.
type route struct {
	name, method, path string
	serve              func(*Server, *exchange) *apiError
}

func (s *Server) routes() []route {
	return []route{
		{"models", http.MethodGet, "/v1/models", (*Server).listModels},
		{"models", http.MethodGet, "/v1/models/{id}", (*Server).getModel},
		{"chat", http.MethodPost, "/v1/chat/completions", (*Server).chat},
		{"responses", http.MethodPost, "/v1/responses", (*Server).responses},
		{"files", http.MethodPost, "/v1/files", (*Server).createFile},
		{"files", http.MethodGet, "/v1/files", (*Server).listFiles},
		{"files", http.MethodGet, "/v1/files/{id}", (*Server).getFile},
		{"files", http.MethodDelete, "/v1/files/{id}", (*Server).deleteFile},
		{"files", http.MethodGet, "/v1/files/{id}/content", (*Server).getContent},
		{"batches", http.MethodPost, "/v1/batches", (*Server).createBatch},
		{"batches", http.MethodGet, "/v1/batches", (*Server).listBatches},
		{"batches", http.MethodGet, "/v1/batches/{id}", (*Server).getBatch},
		{"batches", http.MethodPost, "/v1/batches/{id}/cancel", (*Server).cancelBatch},
	}
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := s.admit(r); err != nil {
		err.write(w)
		return
	}
	if _, pattern := s.mux.Handler(r); pattern == "" {
		s.noSuchPage(r).write(w)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// admit checks the key.
func (s *Server) admit(r *http.Request) *apiError {
	key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	e := &apiError{status: http.StatusUnauthorized, kind: invalidRequest}
	switch {
	case !ok || strings.TrimSpace(key) == "":
		e.message = "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY)."
		return e
	case s.o.Key != "" && key != s.o.Key:
		e.code, e.message = "invalid_api_key", "Incorrect API key provided: "+masked(key)+"."
		return e
	}
	return nil
}

// masked shows the ends of a key.
func masked(key string) string {
	const ends = 4
	if len(key) < 3*ends {
		return strings.Repeat("*", len(key))
	}
	return key[:ends] + strings.Repeat("*", len(key)-2*ends) + key[len(key)-ends:]
}

func (s *Server) noSuchPage(r *http.Request) *apiError {
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := s.mux.Handler(other); pattern != "" {
			e := invalid("", "method_not_supported", "Not allowed to %s on %s. (HINT: Perhaps you meant to use a different HTTP method?)", r.Method, r.URL.Path)
			e.status = http.StatusMethodNotAllowed
			return e
		}
	}
	return notFound("unknown_url", "Invalid URL (%s %s)", r.Method, r.URL.Path)
}

// exchange is one request of a client and what answers it.
type exchange struct {
	w     http.ResponseWriter
	r     *http.Request
	route route
	id    string // x-request-id
	op    string // of the request to the filesystem, once that is known
	note  string // what a fault did, for the log
}

func (s *Server) endpoint(r route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		start := time.Now()
		req.Body = http.MaxBytesReader(w, req.Body, s.o.MaxBody)
		x := &exchange{w: w, r: req, route: r, id: s.newID("req_")}
		w.Header().Set("X-Request-Id", x.id)
		err := r.serve(s, x)
		status := http.StatusOK
		if err != nil {
			status = err.status
			err.write(w)
		}
		s.o.Log.Info("request", "endpoint", r.name, "method", req.Method, "path", req.URL.Path, "op", x.op, "status", status, "fault", x.note, "took", time.Since(start))
	})
}

// newID is an id that no other thing of this server has.
func (s *Server) newID(prefix string) string { return fmt.Sprintf("%s%08x", prefix, s.serial.Add(1)) }

func (s *Server) knows(model string) bool { return slices.Contains(s.o.Models, model) }

// ListenAndServe serves at addr, "127.0.0.1:8000" say, until ctx is done; an
// addr without a host is on the loopback interface alone. The server is closed
// then.
func (s *Server) ListenAndServe(ctx context.Context, addr string) error {
	if host, port, err := net.SplitHostPort(addr); err == nil && host == "" {
		addr = net.JoinHostPort("127.0.0.1", port)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	return s.Serve(ctx, l)
}

// Serve is ListenAndServe on a listener, which it closes.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		s.Close()
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	s.stop(errClosed) // what hangs ends now
	late, cancel := context.WithTimeout(context.Background(), s.o.Grace)
	defer cancel()
	err := server.Shutdown(late)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	if served := <-ended; err == nil && !errors.Is(served, http.ErrServerClosed) {
		err = served
	}
	s.Close()
	return err
}

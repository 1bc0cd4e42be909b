package serve

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/llmfs-raw/llmfs-raw/internal/model/openai"
)

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A server ends soon after its context, even where a client hangs.
func TestServe(t *testing.T) {
	var log bytes.Buffer
	s := New(Options{Faults: script(t, "rules: [{endpoint: chat, from: 2, do: hang}]"), Log: slog.New(slog.NewTextHandler(&log, nil))})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	c := client(t, "http://"+l.Addr().String()+"/v1", func(o *openai.Options) { o.Retries = -1 })
	_, err = c.Answer(t.Context(), lookupPrompt(t, 2))
	require.NoError(t, err)
	hung := make(chan error, 1)
	go func() {
		_, err := c.Answer(context.Background(), lookupPrompt(t, 4))
		hung <- err
	}()
	time.Sleep(50 * time.Millisecond)
	start := time.Now()
	cancel()
	assert.NoError(t, <-done)
	assert.Error(t, <-hung)
	assert.Less(t, time.Since(start), 900*time.Millisecond)
	assert.Contains(t, log.String(), "endpoint=chat method=POST path=/v1/chat/completions op=LOOKUP status=200")
	require.NoError(t, c.Close())
}

func TestListenAndServe(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	_, port, err := net.SplitHostPort(taken.Addr().String())
	require.NoError(t, err)
	s := New(Options{})
	defer s.Close()
	assert.ErrorContains(t, s.ListenAndServe(t.Context(), ":"+port), "127.0.0.1:"+port, "on the loopback interface alone")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	assert.NoError(t, s.ListenAndServe(ctx, "127.0.0.1:0"))
}

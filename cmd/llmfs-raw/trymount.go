package main

import (
	"context"
	"fmt"
	"time"

	"github.com/llmfs-raw/llmfs-raw/fuseraw"
	"github.com/llmfs-raw/llmfs-raw/internal/model/reference"
	"github.com/llmfs-raw/llmfs-raw/internal/session"
)

// mountReference mounts reference on dir until stop is called.
func mountReference(dir string) (stop func(), err error) {
	conn, err := fuseraw.Mount(dir, fuseraw.Options{})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended, done := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(done)
		ended <- conn.Serve(ctx, session.New(reference.New(reference.Options{Size: 1 << 20}), session.Options{}))
	}()
	stop = func() {
		cancel()
		<-done
	}
	select {
	case <-conn.Ready():
		return stop, nil
	case err := <-ended:
		cancel()
		return nil, fmt.Errorf("no INIT: %w", err)
	case <-time.After(10 * time.Second):
		stop()
		return nil, fmt.Errorf("the kernel sent no INIT within 10 s")
	}
}

package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/llmfs-raw/llmfs-raw/internal/serve"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// serveOptions are the flags of serve.
type serveOptions struct {
	listen     string
	models     []string
	key        string
	faults     string
	firstToken time.Duration
	tokenRate  float64
	cache      cacheFlag
}

func serveCommand() *cobra.Command {
	o := &serveOptions{}
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve the OpenAI API with reference as the model",
		Long: `Serve the OpenAI API (chat completions, responses, files, batches) with answers
from reference. State lives in the conversation alone, as with a language model,
so that everything between a mount and a model can be tried without one.`,
		Example: `  llmfs-raw serve --listen 127.0.0.1:8000 &
  OPENAI_BASE_URL=http://127.0.0.1:8000/v1 llmfs-raw mount --model gpt-test ~/world`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return serveAPI(c, o) },
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&o.listen, "listen", "127.0.0.1:8000", "`ADDRESS` to listen on")
	f.StringSliceVar(&o.models, "model", []string{serve.DefaultModel}, "`NAMES` of models to serve")
	f.StringVar(&o.key, "key", "", "the `KEY` that clients need (default any)")
	f.StringVar(&o.faults, "faults", "", "a `FILE` that says what goes wrong, and when")
	f.DurationVar(&o.firstToken, "first-token", 0, "how long the first token of an answer takes")
	f.Float64Var(&o.tokenRate, "tokens-per-second", 0, "how fast further tokens come (default at once)")
	o.cache = cacheNormal
	f.Var(&o.cache, "cache", "what the model lets the kernel do by itself: none, normal, or, for mounts with --cache aggressive, all that the prompt teaches")
	return c
}

func serveAPI(c *cobra.Command, o *serveOptions) error {
	opts := serve.Options{Models: o.models, Key: o.key, Latency: serve.Latency{FirstToken: o.firstToken, TokensPerSecond: o.tokenRate}}
	o.cache.reference(&opts.World)
	if o.cache == cacheAggressive {
		opts.World.Plain = true
		opts.World.Off = []proto.Opcode{proto.OpSetxattr, proto.OpGetxattr, proto.OpListxattr, proto.OpRemovexattr}
	}
	if o.faults != "" {
		faults, err := serve.ReadFaults(o.faults)
		if err != nil {
			return misuse(c, err)
		}
		opts.Faults = faults
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	server := serve.New(opts)
	defer server.Close()
	fmt.Fprintf(c.ErrOrStderr(), "%s at http://%s/v1\nstop it with Ctrl-C\n", strings.Join(o.models, ", "), o.listen)
	return server.ListenAndServe(ctx, o.listen)
}

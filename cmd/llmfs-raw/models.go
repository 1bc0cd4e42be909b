package main

// What --model names, and how each is opened.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/internal/model/command"
	"github.com/llmfs-raw/llmfs-raw/internal/model/openai"
	"github.com/llmfs-raw/llmfs-raw/internal/model/reference"
	"github.com/llmfs-raw/llmfs-raw/internal/model/replay"
	"github.com/llmfs-raw/llmfs-raw/internal/session"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

const modelUsage = "what answers: reference, replay:FILE, exec:COMMAND, or a language model's name"

// answerer is an opened model and how a session speaks with it.
type answerer struct {
	model.Model
	session session.Options
	blind   bool         // it does not look at who calls
	warm    warmer       // nil where there is nothing to compile
	close   func() error // nil where there is nothing to let go of
}

func (a *answerer) Close() error {
	if a.close == nil {
		return nil
	}
	return a.close()
}

func openModel(o *mountOptions) (*answerer, error) {
	kind, argument, _ := strings.Cut(o.model, ":")
	open, ok := map[string]func(*mountOptions, string) (*answerer, error){
		"reference": openReference, "replay": openReplay, "exec": openCommand,
	}[kind]
	if !ok {
		return openServer(o)
	}
	return open(o, argument)
}

func openReference(o *mountOptions, _ string) (*answerer, error) {
	opts := reference.Options{
		Size:             int64(o.size),
		CheckPermissions: o.ownPermissions,
		DirectIO:         o.directIO,
		RootUid:          uint32(os.Geteuid()),
		RootGid:          uint32(os.Getegid()),
		RootMode:         0o755,
	}
	o.cache.reference(&opts)
	filesystem := reference.New(opts)
	if err := plant(filesystem, o.told.seed); err != nil {
		return nil, err
	}
	if o.readOnly {
		filesystem.Freeze()
	}
	a := &answerer{Model: filesystem, blind: true}
	o.cache.session(&a.session, false)
	return a, nil
}

// plant makes the tree at dir in a filesystem, through the door that requests take.
func plant(m model.Model, dir string) error {
	if dir == "" {
		return nil
	}
	seed, err := session.ReadSeed(dir)
	if err != nil {
		return err
	}
	s := session.New(m, session.Options{})
	return seed.Plant(func(req *proto.Request) *proto.Reply { return s.Handle(context.Background(), req) })
}

func openReplay(_ *mountOptions, path string) (*answerer, error) {
	world, err := replay.Open(path, slog.Default())
	if err != nil {
		return nil, err
	}
	return &answerer{Model: world}, nil
}

// languageOptions are the session's for a language model.
func (o *mountOptions) languageOptions() (session.Options, error) {
	opts, err := o.told.options(o.model)
	o.cache.session(&opts, true)
	return opts, err
}

func openCommand(o *mountOptions, line string) (*answerer, error) {
	opts, err := o.languageOptions()
	if err != nil {
		return nil, err
	}
	cmd, err := command.New(line, command.Options{})
	if err != nil {
		return nil, err
	}
	return &answerer{Model: cmd, session: opts, close: cmd.Close}, nil
}

func openServer(o *mountOptions) (*answerer, error) {
	opts, err := o.languageOptions()
	if err != nil {
		return nil, err
	}
	client, err := newClient(&o.server, o.model)
	if err != nil {
		return nil, err
	}
	a := &answerer{Model: client, session: opts, close: client.Close}
	if o.told.warm {
		a.warm = client
	}
	return a, nil
}

func newClient(m *modelFlags, name string) (*openai.Client, error) {
	if m.baseURL == "" && os.Getenv("OPENAI_BASE_URL") == "" && os.Getenv("OPENAI_API_KEY") == "" {
		return nil, hint(fmt.Errorf("model %q needs a key or a server", name),
			"export OPENAI_API_KEY=…, or name a server with --base-url; --model reference needs neither")
	}
	return unaskedClient(m, name)
}

// unaskedClient is a client that may lack what it takes to be asked.
func unaskedClient(m *modelFlags, name string) (*openai.Client, error) {
	client, err := openai.New(m.options(name))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("model %q", name), err)
	}
	return client, nil
}

package main

// --cache: how much the kernel is to remember by itself. INIT, reference and the
// session have to agree on it, so one choice sets all three.

import (
	"errors"
	"fmt"
	"strings"

	"github.com/llmfs-raw/llmfs-raw/internal/model/reference"
	"github.com/llmfs-raw/llmfs-raw/internal/session"
	"github.com/llmfs-raw/llmfs-raw/internal/trace"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

const (
	cacheNone       = "none"
	cacheNormal     = "normal"
	cacheAggressive = "aggressive"
)

const cacheUsage = "what the kernel does without asking: none, normal, or aggressive (default aggressive for language models, else normal)"

// cacheFlag is the mode by name, "" where it was not given.
type cacheFlag string

func (f *cacheFlag) Set(s string) error {
	switch s {
	case cacheNone, cacheNormal, cacheAggressive:
		*f = cacheFlag(s)
		return nil
	}
	return fmt.Errorf("want %s, %s or %s", cacheNone, cacheNormal, cacheAggressive)
}

func (f *cacheFlag) String() string { return string(*f) }
func (f *cacheFlag) Type() string   { return "mode" }

// choose sets the mode where it was not given, and finds what it can't go with.
func (f *cacheFlag) choose(o *mountOptions) error {
	kind, argument, _ := strings.Cut(o.model, ":")
	language := kind != "reference" && kind != "replay"
	asked := o.ownPermissions || o.directIO // what needs OPEN
	if o.told.base {
		if *f != "" || !language {
			return errors.New("--baseline is for language models, and caches nothing")
		}
		*f = cacheNormal // as far as INIT goes: the session takes out what replies say
	}
	switch {
	case *f == cacheAggressive && asked:
		return errors.New("--cache aggressive goes without OPEN, which --own-permissions and --direct-io need")
	case *f == cacheNone && language:
		return errors.New("--cache none is for reference: a language model says itself what the kernel may remember")
	case *f != "":
	case kind == "replay" && recordedWith(argument) == cacheAggressive:
		*f = cacheAggressive
	case language && !asked:
		*f = cacheAggressive
	default:
		*f = cacheNormal
	}
	return nil
}

// recordedWith is the mode of the mount that a trace is of, "" where it does not say.
func recordedWith(path string) string {
	if path == "-" { // can be read only once
		return ""
	}
	r, err := trace.Open(path)
	if err != nil {
		return ""
	}
	defer r.Close()
	return r.Header().Options["cache"]
}

func (f cacheFlag) init(o *proto.InitOptions) {
	o.NoOpen, o.AlwaysPlus = f == cacheAggressive, f == cacheAggressive
}

func (f cacheFlag) reference(o *reference.Options) {
	if f == cacheNone {
		o.TTL = -1
	}
	if f == cacheAggressive {
		o.NoOpen, o.Content, o.EndCookie, o.NoAtime = true, true, true, true
	}
}

// session is for reference where language is false.
func (f cacheFlag) session(o *session.Options, language bool) {
	o.OpenOff = language && f == cacheAggressive
	o.KeepAttrs = f == cacheAggressive
	o.NoXattrs = !language && f == cacheAggressive
}

package scenario

// How a scenario's filesystem is mounted: flags of the same names as those of
// 'llmfs-raw mount', and a few that only a recording needs.

import (
	"flag"
	"fmt"
	"io"
	"strconv"

	"github.com/llmfs-raw/llmfs-raw/fuseraw"
	"github.com/llmfs-raw/llmfs-raw/internal/model/reference"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// Settings shape the requests and the answers of a recording.
type Settings struct {
	Cache          string
	Size, Inodes   int64 // of the filesystem; fixed, so that a trace does not depend on a machine's memory
	ReadOnly       bool  // answered by the filesystem; the kernel believes it can write
	DirectIO       bool
	OwnPermissions bool
	Readdirplus    bool
	MaxWrite       int
	Off            string // opcodes that the filesystem lacks, joined by commas
	Mounts         int    // how often the one filesystem is mounted: the second is a stranger's changes
}

func defaults() Settings {
	return Settings{Cache: "normal", Size: 1 << 30, Inodes: 1 << 16, Readdirplus: true, Mounts: 1}
}

func (s *Settings) parse(args []string) error {
	f := flag.NewFlagSet("mount", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&s.Cache, "cache", s.Cache, "")
	f.Int64Var(&s.Size, "size", s.Size, "")
	f.Int64Var(&s.Inodes, "inodes", s.Inodes, "")
	f.BoolVar(&s.ReadOnly, "read-only", s.ReadOnly, "")
	f.BoolVar(&s.DirectIO, "direct-io", s.DirectIO, "")
	f.BoolVar(&s.OwnPermissions, "own-permissions", s.OwnPermissions, "")
	f.BoolVar(&s.Readdirplus, "readdirplus", s.Readdirplus, "")
	f.IntVar(&s.MaxWrite, "max-write", s.MaxWrite, "")
	f.StringVar(&s.Off, "off", s.Off, "")
	f.IntVar(&s.Mounts, "mounts", s.Mounts, "")
	if err := f.Parse(args); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	if f.NArg() > 0 {
		return fmt.Errorf("mount: have %q, want flags", f.Args())
	}
	_, err := s.reference()
	return err
}

// options is what a trace's header says; reference.FromSettings reads it.
func (s *Settings) options() map[string]string {
	m := map[string]string{
		"size": strconv.FormatInt(s.Size, 10), "inodes": strconv.FormatInt(s.Inodes, 10), "cache": s.Cache,
		"read_only": strconv.FormatBool(s.ReadOnly), "direct_io": strconv.FormatBool(s.DirectIO),
		"own_permissions": strconv.FormatBool(s.OwnPermissions),
	}
	if s.Off != "" {
		m["off"] = s.Off
	}
	return m
}

func (s *Settings) reference() (reference.Options, error) {
	return reference.FromSettings(s.options())
}

// fuse is the mount's side. Reads are made one at a time, in order.
func (s *Settings) fuse() fuseraw.Options {
	aggressive := s.Cache == "aggressive"
	return fuseraw.Options{
		AllowOther: true, Dev: true, Suid: true,
		Init: proto.InitOptions{
			MaxWrite: uint32(s.MaxWrite), SyncRead: true, NoReaddirplus: !s.Readdirplus,
			OwnPermissions: s.OwnPermissions, NoOpen: aggressive, AlwaysPlus: aggressive,
		},
	}
}

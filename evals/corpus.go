package evals

// The corpus: traces, and the manifest that says what is in them.

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/internal/trace"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

//go:embed traces
var embedded embed.FS

// ManifestFile is the manifest's name in a corpus.
const ManifestFile = "manifest.json"

// ManifestVersion is what this package writes, and the only one it reads.
const ManifestVersion = 1

// Tier says how much a set of traces costs to run. full holds core.
type Tier string

const (
	Core Tier = "core" // about 400 steps, for cents
	Full Tier = "full" // several thousand, core included
	Long Tier = "long" // sessions of 500 to 5,000 steps
)

// Tiers lists them, the cheapest first.
var Tiers = []Tier{Core, Full, Long}

// Holds reports whether a run of tier t has the traces of the other.
func (t Tier) Holds(other Tier) bool { return t == other || t == Full && other == Core }

// Manifest says what a corpus holds and what it was made with.
type Manifest struct {
	Version  int         `json:"version"`
	Protocol string      `json:"protocol"` // of linux/fuse.h, "7.45"
	Made     []string    `json:"made"`     // programs and their versions
	Traces   []TraceInfo `json:"traces"`   // by name
}

// TraceInfo is one trace of a corpus.
type TraceInfo struct {
	Name   string `json:"name"` // of the scenario, "rename/exchange"
	File   string `json:"file"` // in the corpus
	SHA256 string `json:"sha256"`
	Area   string `json:"area"` // the POSIX area, "rename"
	Tier   Tier   `json:"tier"`
	Pairs  int    `json:"pairs"`
	Steps  int    `json:"steps"` // pairs whose reply the kernel reads

	Live *TranscriptInfo `json:"live,omitempty"` // nil where the scenario needs no mount
}

// Corpus is an opened one.
type Corpus struct {
	files    fs.FS
	Manifest Manifest
}

// Embedded is the corpus that the program brings along.
func Embedded() (*Corpus, error) {
	sub, err := fs.Sub(embedded, "traces")
	if err != nil {
		return nil, err
	}
	return OpenCorpus(sub)
}

// OpenCorpus reads the manifest of a corpus.
func OpenCorpus(files fs.FS) (*Corpus, error) {
	b, err := fs.ReadFile(files, ManifestFile)
	if err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	c := &Corpus{files: files}
	if err := json.Unmarshal(b, &c.Manifest); err != nil {
		return nil, fmt.Errorf("corpus: %s: %w", ManifestFile, err)
	}
	if c.Manifest.Version != ManifestVersion {
		return nil, fmt.Errorf("corpus: have version %d, want %d", c.Manifest.Version, ManifestVersion)
	}
	return c, nil
}

// Traces lists the traces of a tier, by name.
func (c *Corpus) Traces(t Tier) (list []TraceInfo) {
	for _, info := range c.Manifest.Traces {
		if t.Holds(info.Tier) {
			list = append(list, info)
		}
	}
	return list
}

// Trace reads a trace, after holding it against the manifest.
func (c *Corpus) Trace(info TraceInfo) (*Trace, error) {
	t, err := c.trace(info)
	if err != nil {
		return nil, fmt.Errorf("trace %s: %w", info.Name, err)
	}
	return t, nil
}

func (c *Corpus) trace(info TraceInfo) (*Trace, error) {
	f, err := c.files.Open(path.Clean(info.File))
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	r, err := trace.NewReader(io.TeeReader(f, sum), info.File)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	t := &Trace{TraceInfo: info, Header: r.Header()}
	for p, err := range r.Pairs() {
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		t.Pairs = append(t.Pairs, p)
	}
	_, err = io.Copy(sum, f)
	if have := hex.EncodeToString(sum.Sum(nil)); err == nil && have != info.SHA256 {
		err = fmt.Errorf("have SHA-256 %s, the manifest wants %s", have, info.SHA256)
	}
	return t, errors.Join(err, f.Close())
}

// Trace is a trace in memory.
type Trace struct {
	TraceInfo
	Header trace.Header
	Pairs  []*trace.Pair
}

// Asked reports whether a pair is a step: the kernel reads its reply, and no
// part of the daemon answers it, or has answered it, by itself.
func Asked(p *trace.Pair) bool {
	row := p.Req.Op.Row()
	own := []proto.Opcode{proto.OpInit, proto.OpInterrupt}
	if in, ok := p.Req.In.(*fuse.ReadIn); ok && in.Offset == proto.EndCookie && row.Reply != proto.ReplyBytes {
		return false // the end of a listing that its last page has announced
	}
	return p.Rep != nil && p.Note == "" && row.Reply != proto.ReplyNone && row.Reply != proto.ReplyIgnored && !slices.Contains(own, p.Req.Op)
}

package evals

// What the commands of a scenario gave when they were run on a mount of the
// reference: the transcript that live runs are held against.

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// TranscriptVersion is what this package writes, and the only one it reads.
const TranscriptVersion = 1

// TranscriptInfo is a transcript as the manifest names it.
type TranscriptInfo struct {
	File     string `json:"file"`
	SHA256   string `json:"sha256"`
	Commands int    `json:"commands"`
}

// Transcript is a script and what its commands gave. It holds the script, so
// that a corpus can be run live by itself.
type Transcript struct {
	Version  int               `json:"version"`
	Name     string            `json:"name"`     // of the scenario
	Settings map[string]string `json:"settings"` // of the filesystem, as in a trace's header
	Script   string            `json:"script"`
	Commands []Command         `json:"commands"`
}

// Command is one command of a script and what it gave.
type Command struct {
	Line int    `json:"line"` // in the script, from 1
	Text string `json:"text"`
	Outcome
}

// Word is what a command runs: a program, or a system call.
func (c *Command) Word() string {
	words := strings.Fields(c.Text)
	words = slices.DeleteFunc(words, func(w string) bool {
		return w == "!" || w == "&" || w == "exec" || w == "sys" || strings.HasPrefix(w, "@")
	})
	if len(words) == 0 {
		return c.Text
	}
	return path.Base(words[0])
}

// Outcome is what a command gave. Output that differs from one run to the next,
// as paths do, has been replaced; long output is cut, and its hash stands for the rest.
type Outcome struct {
	Exit   string `json:"exit"` // an exit code, a signal's name, a system call's errno; "" where it did not end
	Stdout string `json:"stdout,omitempty"`
	Stderr string `json:"stderr,omitempty"`
	Why    string `json:"why,omitempty"` // it did not end
}

// Hold compares an outcome with what is expected of the command. credit is the
// share of it that is right.
func (c *Command) Hold(have Outcome) (diffs []Diff, credit float64) {
	part := func(name, want, have string) {
		if want != have {
			diffs = append(diffs, Diff{Path: name, Class: "determined", Want: want, Have: have})
		}
	}
	const parts = 3
	part("Exit", c.Exit, have.Exit)
	switch c.Word() {
	case "getdents": // a part of a directory, and which one is the filesystem's choice
	case "find": // in the directory's order
		part("Stdout", sortedLines(c.Stdout), sortedLines(have.Stdout))
	default:
		part("Stdout", c.Stdout, have.Stdout)
	}
	part("Stderr", c.Stderr, have.Stderr)
	if len(diffs) == 1 && diffs[0].Path == "Stdout" && strings.HasPrefix(c.Text, "mix ") {
		var at int
		diffs[0], at = firstLine(diffs[0])
		return diffs, float64(at) / float64(strings.Count(c.Stdout, "\n"))
	}
	return diffs, float64(parts-len(diffs)) / parts
}

func sortedLines(s string) string {
	return strings.Join(slices.Sorted(strings.Lines(s)), "")
}

// firstLine is the first line of many in which a diff's sides differ, and its
// number, from 0.
func firstLine(d Diff) (Diff, int) {
	want, have := strings.SplitAfter(d.Want, "\n"), strings.SplitAfter(d.Have, "\n")
	for i := range want {
		if i >= len(have) || want[i] != have[i] {
			d.Path = fmt.Sprintf("Stdout[%d]", i)
			d.Want, d.Have = want[i], ""
			if i < len(have) {
				d.Have = have[i]
			}
			return d, i
		}
	}
	return d, len(want) - 1
}

// Transcript reads the transcript of a scenario, after holding it against the
// manifest. It is nil where the scenario has none, as it needs no mount.
func (c *Corpus) Transcript(info TraceInfo) (*Transcript, error) {
	if info.Live == nil {
		return nil, nil
	}
	t, err := c.transcript(info.Live)
	if err != nil {
		return nil, fmt.Errorf("transcript %s: %w", info.Name, err)
	}
	return t, nil
}

func (c *Corpus) transcript(info *TranscriptInfo) (*Transcript, error) {
	packed, err := fs.ReadFile(c.files, path.Clean(info.File))
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(packed)
	if have := hex.EncodeToString(sum[:]); have != info.SHA256 {
		return nil, fmt.Errorf("have SHA-256 %s, the manifest wants %s", have, info.SHA256)
	}
	z, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	text, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	t := &Transcript{}
	if err := json.Unmarshal(text, t); err != nil {
		return nil, err
	}
	if t.Version != TranscriptVersion {
		return nil, fmt.Errorf("have version %d, want %d", t.Version, TranscriptVersion)
	}
	return t, nil
}

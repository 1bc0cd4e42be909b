package scenario

// Recording: scenarios in, traces and their manifest out.

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/internal/trace"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// Recorder records scenarios.
type Recorder struct {
	Self []string  // the command line that calls Main, to which its arguments are added
	Work string    // a directory for mounts and scripts
	Log  io.Writer // gets what a script that fails says; nil for nowhere
}

// attempts is how often a scenario is tried whose recording came out in an order
// that its own trace does not explain. A busy machine can do that.
const attempts = 3

// Record runs a scenario and returns its trace as JSONL.
func (r *Recorder) Record(ctx context.Context, s *Scenario) (pairs []*trace.Pair, text []byte, err error) {
	if s.Wire {
		if pairs, err = wired(s); err == nil {
			text, err = encode(s, pairs)
		}
		if err != nil {
			err = fmt.Errorf("scenario %s: %w", s.Name, err)
		}
		return pairs, text, err
	}
	for range attempts {
		tape, err := r.play(ctx, s)
		if err != nil {
			return nil, nil, fmt.Errorf("scenario %s: %w", s.Name, err)
		}
		pairs = canonical(tape)
		if err = gild(s.Mount.options(), pairs); err == nil {
			text, err = encode(s, pairs)
			return pairs, text, err
		}
		r.say("scenario %s: %v\n", s.Name, err)
	}
	return nil, nil, fmt.Errorf("scenario %s: depends on more than its requests", s.Name)
}

func (r *Recorder) say(format string, args ...any) {
	if r.Log != nil {
		fmt.Fprintf(r.Log, format, args...)
	}
}

// play runs a scenario on a mount of its own.
func (r *Recorder) play(ctx context.Context, s *Scenario) (tape []taken, err error) {
	work, err := os.MkdirTemp(r.Work, "scenario")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	if err := os.Chmod(work, 0o755); err != nil {
		return nil, err
	}
	sess, err := overReference(&s.Mount)
	if err != nil {
		return nil, err
	}
	st, err := open(ctx, work, &s.Mount, sess, nil)
	if err != nil {
		return nil, err
	}
	st.settle()
	var log bytes.Buffer
	limited, stop := context.WithTimeout(ctx, longest)
	defer stop()
	err = run(limited, job{Self: r.Self, Name: s.Name, Script: s.File, Dirs: st.dirs, Work: work}, &log, func([]byte) error { st.settle(); return nil })
	if err != nil {
		r.say("%s", log.Bytes())
	}
	tape, e := st.tape.stop()
	return tape, errors.Join(err, e, st.close())
}

func encode(s *Scenario, pairs []*trace.Pair) ([]byte, error) {
	var b bytes.Buffer
	w, err := trace.NewWriter(&b, trace.Header{Created: epoch, Model: "reference", Options: s.Mount.options()})
	for _, p := range pairs {
		if err == nil {
			err = w.Write(p)
		}
	}
	return b.Bytes(), err
}

// write stores a trace in a corpus and returns its line of the manifest.
func write(dir string, s *Scenario, pairs []*trace.Pair, text []byte) (evals.TraceInfo, error) {
	info := evals.TraceInfo{Name: s.Name, File: s.Name + ".jsonl.zst", Area: s.Area, Tier: s.Tier, Pairs: len(pairs)}
	for _, p := range pairs {
		if evals.Asked(p) {
			info.Steps++
		}
	}
	var err error
	info.SHA256, err = writePacked(dir, info.File, text)
	return info, err
}

// pack makes one zstd frame; one goroutine, so that it is always the same.
func pack(text []byte) ([]byte, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		return nil, err
	}
	return enc.EncodeAll(text, nil), enc.Close()
}

// RecordAll records the scenarios that are wanted into a corpus, and keeps its
// other traces as far as they still have a scenario.
func (r *Recorder) RecordAll(ctx context.Context, list []*Scenario, dir string, wanted func(name string) bool, done func(evals.TraceInfo)) (failed error) {
	before := map[string]evals.TraceInfo{}
	if c, err := evals.OpenCorpus(os.DirFS(dir)); err == nil {
		for _, info := range c.Manifest.Traces {
			before[info.Name] = info
		}
	}
	m := evals.Manifest{Version: evals.ManifestVersion, Protocol: fmt.Sprintf("%d.%d", proto.Major, proto.Minor), Made: made(), Traces: []evals.TraceInfo{}}
	for _, s := range list {
		info, known := before[s.Name]
		if wanted(s.Name) {
			var err error
			if ctx.Err() != nil {
				return errors.Join(failed, context.Cause(ctx))
			}
			info, err = r.recordTo(ctx, dir, s)
			if failed = errors.Join(failed, err); err != nil {
				continue
			}
			done(info)
		} else if !known {
			continue
		}
		m.Traces = append(m.Traces, info)
	}
	return errors.Join(failed, writeManifest(dir, m))
}

func (r *Recorder) recordTo(ctx context.Context, dir string, s *Scenario) (evals.TraceInfo, error) {
	pairs, text, err := r.Record(ctx, s)
	if err != nil {
		return evals.TraceInfo{}, err
	}
	info, err := write(dir, s, pairs, text)
	if err != nil || s.Wire {
		return info, err
	}
	player := &Player{Self: r.Self, Work: r.Work, Log: r.Log}
	t, err := player.Transcribe(ctx, s)
	if err == nil {
		info.Live, err = writeTranscript(dir, t)
	}
	return info, err
}

// writeTranscript stores a transcript beside the trace.
func writeTranscript(dir string, t *evals.Transcript) (*evals.TranscriptInfo, error) {
	text, err := json.MarshalIndent(t, "", " ")
	if err != nil {
		return nil, err
	}
	info := &evals.TranscriptInfo{File: t.Name + ".transcript.json.zst", Commands: len(t.Commands)}
	info.SHA256, err = writePacked(dir, info.File, text)
	return info, err
}

// writePacked compresses a file of a corpus and returns its hash.
func writePacked(dir, file string, text []byte) (string, error) {
	packed, err := pack(text)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(packed)
	path := filepath.Join(dir, filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum[:]), os.WriteFile(path, packed, 0o644)
}

func writeManifest(dir string, m evals.Manifest) error {
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, evals.ManifestFile), append(b, '\n'), 0o644)
}

// tools are those whose version shapes a trace, and how to ask for it.
var tools = [][]string{
	{"git", "--version"}, {"sqlite3", "--version"}, {"tar", "--version"}, {"vim", "--version"},
	{"python3", "--version"}, {"cp", "--version"}, {"uname", "-sr"},
}

// made says what a corpus was made with.
func made() []string {
	list := []string{}
	for _, p := range tools {
		out, err := exec.Command("/usr/bin/"+p[0], p[1:]...).Output()
		if err == nil {
			first, _, _ := strings.Cut(string(out), "\n")
			list = append(list, p[0]+": "+strings.TrimSpace(first))
		}
	}
	return list
}

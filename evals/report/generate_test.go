package report

// Logs of runs that never were, with the shapes of real ones: steps in traces,
// errors that grow with what makes steps hard, rollouts that end, hostile replies.

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/evals"
)

// fake is a model: how often it errs at an easy step, what a thousand tokens cost.
type fake struct {
	name        string
	err         float64
	price, pace float64
}

var fakes = []fake{
	{"reference", 0, 0, 0.2}, {"large-2", 0.004, 0.06, 1900}, {"large-1", 0.011, 0.03, 1400}, {"medium", 0.03, 0.008, 700},
	{"small", 0.09, 0.0015, 320}, {"open-30b", 0.06, 0.0009, 450}, {"tiny-3b", 0.3, 0.0001, 90}, {"always-enosys", 0.9, 0, 0.1},
}

// manyFakes is what the page has to stay usable with.
func manyFakes(n int) (list []fake) {
	for i := range n {
		list = append(list, fake{fmt.Sprintf("vendor-%02d/model-with-a-long-name-%d", i%7, i), 0.002 * math.Pow(1.12, float64(i)), 0.0002 * float64(1+i%9), 100 + 37*float64(i)})
	}
	return list
}

var fakeAreas = []struct {
	name string
	ops  []string
}{
	{"files", []string{"LOOKUP", "CREATE", "WRITE", "READ", "GETATTR", "OPEN", "FLUSH"}}, {"directories", []string{"MKDIR", "RMDIR", "OPENDIR", "READDIRPLUS", "LOOKUP"}},
	{"rename", []string{"RENAME2", "LOOKUP", "GETATTR", "UNLINK"}}, {"permissions", []string{"SETATTR", "GETATTR", "OPEN", "ACCESS"}}, {"links", []string{"LINK", "SYMLINK", "READLINK", "UNLINK", "GETATTR"}},
	{"offsets", []string{"LSEEK", "FALLOCATE", "READ", "WRITE", "COPY_FILE_RANGE"}}, {"xattrs", []string{"SETXATTR", "GETXATTR", "LISTXATTR", "REMOVEXATTR"}}, {"locks", []string{"GETLK", "SETLK", "SETLKW", "FLUSH"}},
}

// fakeSteps are traces of 8 to 30 steps, steps in all.
func fakeSteps(steps int) (list []evals.StepResult) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for trace := 0; len(list) < steps; trace++ {
		area := fakeAreas[trace%len(fakeAreas)]
		for i := range min(8+rnd.IntN(23), steps-len(list)) {
			op := area.ops[rnd.IntN(len(area.ops))]
			tags := evals.Tags{Mutating: rnd.IntN(2) == 0, Distance: rnd.IntN(i + 1), Dir: rnd.IntN(40), History: i, Bytes: rnd.IntN(4096)}
			if tags.Mutating {
				tags.Changed = 1 + rnd.IntN(9)
			}
			list = append(list, evals.StepResult{
				Trace: fmt.Sprintf("%s/case-%d", area.name, trace), Area: area.name, Tier: evals.Core, Pair: 2*i + 1, Op: op, Tags: tags, WantErrno: "OK",
				Request:  json.RawMessage(fmt.Sprintf(`{"Op":%q,"Header":{"Unique":%d,"NodeId":%d,"Uid":1000,"Gid":1000,"Pid":412,"Comm":"sh","Now":{"Sec":1767322445,"Nsec":6}},"Names":["file-%d.txt"]}`, op, 8+2*i, 1+i%5, i)),
				Expected: json.RawMessage(fmt.Sprintf(`{"Errno":0,"Out":{"NodeId":%d,"Generation":0,"EntryValid":3600,"AttrValid":3600,"Attr":{"Ino":%d,"Size":%d,"Mode":33188,"Nlink":1,"Uid":1000,"Gid":1000}}}`, 2+i, 2+i, 100*i)),
			})
		}
	}
	return list
}

// hostile is what a page must show and never run.
const hostile = `</script><img src=x onerror="document.title='owned'"><script>document.title='owned'</script><!--`

// answer makes s what the model says to it.
func (f fake) answer(s *evals.StepResult, rnd *rand.Rand) {
	s.Model, s.Stage, s.Credit, s.HaveErrno, s.Reply = f.name, evals.Correct, 1, s.WantErrno, string(s.Expected)
	s.InputTokens, s.CachedTokens, s.OutputTokens = 2100+s.Tags.History*160, 1024, 90+rnd.IntN(60)
	s.Cost = f.price * (0.1*float64(s.InputTokens) + float64(s.OutputTokens)) / 1000
	s.Millis = f.pace * (0.6 + rnd.ExpFloat64()*0.5)
	hard := 1 + 0.35*float64(s.Tags.Changed) + 0.12*float64(s.Tags.Distance) + 0.04*float64(s.Tags.History)
	if rnd.Float64() >= min(f.err*hard, 0.97) {
		return
	}
	s.Credit = 0.5 + rnd.Float64()/2
	switch kind := rnd.Float64(); {
	case kind < 0.5:
		s.Stage, s.Reply = evals.Acceptable, `{"Errno":0,"Out":{"NodeId":3,"Attr":{"Ino":3,"Size":18446744073709551615,"Nlink":1}}}`
		s.Diffs = []evals.Diff{{Path: "Out.Attr.Nlink", Class: "determined", Want: "2", Have: "1"}, {Path: "Out.Attr.Size", Class: "determined", Want: "100", Have: "18446744073709551615"}}
	case kind < 0.8:
		s.Stage, s.HaveErrno, s.Reply = evals.Acceptable, "ENOENT", `{"Errno":2}`
		s.Diffs = []evals.Diff{{Path: "Errno", Class: "determined", Want: "0", Have: "2"}}
	case kind < 0.86:
		s.Stage, s.Problems = evals.Decodable, []string{"Out.NodeId: have 1, want the root's id in no entry"}
	case kind < 0.95:
		s.Stage, s.HaveErrno, s.Reply, s.Problems = evals.Answered, "", hostile, []string{"the reply is no JSON: " + hostile}
	default:
		s.Stage, s.HaveErrno, s.Reply, s.Refused, s.Credit = evals.Unanswered, "", "", rnd.IntN(2) == 0, 0
	}
}

// fakeRun is a whole log, in memory.
func fakeRun(models []fake, steps, trials int, modes ...evals.Mode) (evals.LogHeader, []evals.StepResult) {
	h := evals.LogHeader{Log: evals.LogName, Version: evals.LogVersion, Created: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), Program: "v0.9.0", Commit: "0123abc", Modes: modes,
		Tier: evals.Core, Trials: trials, Seed: 1, Context: "ledger", Fields: "all", Hashes: map[string]string{"prompt": "ab12", "traces": "cd34"}}
	gold := fakeSteps(steps)
	var lines []evals.StepResult
	for i, f := range models {
		h.Models = append(h.Models, f.name)
		for _, mode := range modes {
			for trial := range trials {
				rnd := rand.New(rand.NewPCG(uint64(i), uint64(trial)+100*uint64(len(mode))))
				lines = append(lines, f.play(gold, mode, trial, rnd)...)
			}
		}
	}
	return h, lines
}

func (f fake) play(gold []evals.StepResult, mode evals.Mode, trial int, rnd *rand.Rand) (lines []evals.StepResult) {
	for _, trace := range byTrace(gold) {
		for i, s := range trace {
			s.Mode, s.Trial = mode, trial
			f.answer(&s, rnd)
			s.Ended = mode == evals.Rollout && s.Stage != evals.Correct
			if mode == evals.Rollout && (s.Ended || i == len(trace)-1) {
				s.Of, s.Survived = len(trace), i
				if !s.Ended {
					s.Survived++
				}
			}
			lines = append(lines, s)
			if s.Ended {
				break
			}
		}
	}
	return lines
}

func byTrace(steps []evals.StepResult) (traces [][]evals.StepResult) {
	for i, s := range steps {
		if i == 0 || steps[i-1].Trace != s.Trace {
			traces = append(traces, nil)
		}
		traces[len(traces)-1] = append(traces[len(traces)-1], s)
	}
	return traces
}

// writeRun writes a log into a directory, compressed or not.
func writeRun(t testing.TB, dir string, compressed bool, h evals.LogHeader, lines []evals.StepResult) string {
	t.Helper()
	var text []byte
	add := func(v any) {
		b, err := json.Marshal(v)
		require.NoError(t, err)
		text = append(append(text, b...), '\n')
	}
	add(h)
	for i := range lines {
		add(&lines[i])
	}
	name := "steps.jsonl"
	if compressed {
		z, err := zstd.NewWriter(nil)
		require.NoError(t, err)
		name, text = "steps.jsonl.zst", z.EncodeAll(text, nil)
	}
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o644))
	return dir
}

// runsOf puts lines together without a file.
func runsOf(h evals.LogHeader, lines []evals.StepResult) *Runs {
	r := NewRuns()
	r.AddSource(Source{Dir: "run", LogHeader: h})
	for i := range lines {
		r.Add(&lines[i])
	}
	return r
}

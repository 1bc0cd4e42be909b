package run

// One contestant on one trace in one mode and trial, and its lines of the log.

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/evals/score"
	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/internal/trace"
	"github.com/llmfs-raw/llmfs-raw/proto"
	"github.com/llmfs-raw/llmfs-raw/schema"
)

// task says what a job is; its fields are in the order of the log.
type task struct {
	contestant *Contestant
	mode       evals.Mode
	trial      int
	info       evals.TraceInfo
}

type job struct {
	task
	*runner
	trace *evals.Trace
	gold  *score.Gold
	tags  []evals.Tags // of the pairs; nil where nobody computes them

	went  atomic.Int64 // steps that are answered
	lines []byte
}

// answer counts one more.
func (j *job) answer() {
	j.went.Add(1)
	j.advance(1)
}

// answered is what came of a question.
type answered struct {
	reply  []byte
	known  schema.Attrs // what a lean reply need not say again
	usage  model.Usage
	took   time.Duration
	cached bool
	kind   string // why there is no reply, where that is the model's own doing
	refuse bool
	infra  error // why there is no reply, where it is not
}

func (j *job) run(ctx context.Context) error {
	if j.contestant.World != nil {
		w, err := j.contestant.World(j.trace.Header.Options)
		if err != nil {
			return err
		}
		if j.mode == evals.Rollout {
			return j.rolloutWorld(ctx, w)
		}
		return j.forcedWorld(ctx, w)
	}
	if j.mode == evals.Rollout {
		return j.rolloutLanguage(ctx)
	}
	return j.forcedLanguage(ctx)
}

// reaches tells whether a request reaches what answers: neither the daemon's own
// requests do, nor those that it has answered by itself.
func reaches(p *trace.Pair) bool {
	return evals.Asked(p) || p.Note == "" && silent(p.Req) && p.Req.Op != proto.OpInterrupt
}

// line is a step's result on its way into the log.
type line struct {
	pair     int
	req      *proto.Request
	answered answered
	result   *score.Result
}

// add writes the line of one step.
func (j *job) add(i int, req *proto.Request, a answered, r *score.Result, more func(*evals.StepResult)) error {
	s, err := j.result(line{i, req, a, r})
	if err != nil {
		return err
	}
	if more != nil {
		more(s)
	}
	j.tally.add(s)
	j.lines, err = evals.AppendLine(j.lines, s)
	return err
}

func (j *job) result(l line) (*evals.StepResult, error) {
	p := j.gold.Pairs[l.pair]
	request, err := proto.AppendRequestJSON(nil, l.req)
	expected, err2 := proto.AppendReplyJSON(nil, p.Req, p.Rep)
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	s := &evals.StepResult{
		Model: j.contestant.Name, Mode: j.mode, Trial: j.trial, Trace: j.info.Name, Area: j.info.Area, Tier: j.info.Tier,
		Pair: l.pair, Op: p.Req.Op.String(), Request: request, Expected: expected, Reply: string(l.answered.reply),
		Stage: l.result.Stage, Credit: l.result.Credit, WantErrno: l.result.WantErrno, HaveErrno: l.result.HaveErrno,
		Diffs: l.result.Diffs, Problems: l.result.Problems,
	}
	if j.tags != nil {
		s.Tags = j.tags[l.pair]
	}
	j.account(s, l.answered)
	return s, nil
}

// account is what the answer cost, and why there is none.
func (j *job) account(s *evals.StepResult, a answered) {
	s.InputTokens, s.CachedTokens, s.OutputTokens = a.usage.InputTokens, a.usage.CachedTokens, a.usage.OutputTokens
	s.Cost, s.Millis, s.FromCache = j.contestant.cost(a.usage), float64(a.took)/float64(time.Millisecond), a.cached
	s.Refused = a.refuse
	if a.kind != "" {
		s.Problems = append(s.Problems, a.kind)
	}
	if a.infra != nil {
		s.Infra = a.infra.Error()
	}
}

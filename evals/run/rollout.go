package run

// One rollout: what the model says makes its history.

import (
	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/evals/score"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

type rollout struct {
	job   *job
	state *score.State
	asked int // steps so far

	diverged bool
	last     *score.Result
}

// step scores the answer to pair i. Where it is wrong the rollout ends, or goes on
// from gold's reply, which is then the result, in the model's numbers.
func (r *rollout) step(i int, req *proto.Request, a answered) (adopted *proto.Reply, goes bool, err error) {
	r.asked++
	r.last = r.state.Step(i, a.reply, a.known)
	wrong := r.last.Stage != evals.Correct && a.infra == nil
	first, last := wrong && !r.diverged, r.asked == len(r.job.gold.Steps)
	err = r.job.add(i, req, a, r.last, func(line *evals.StepResult) {
		line.Ended = first
		if first || last && !r.diverged && a.infra == nil {
			line.Survived, line.Of = r.asked, len(r.job.gold.Steps)
			if first {
				line.Survived--
			}
		}
	})
	r.diverged = r.diverged || wrong
	switch {
	case err != nil || a.infra != nil || wrong && !r.job.resync:
		return nil, false, err
	case wrong:
		return r.state.Adopt(i), true, nil
	}
	r.state.Accept(i, r.last.Reply)
	return nil, true, nil
}

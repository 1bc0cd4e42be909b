package report

// How far rollouts came.

import (
	"maps"
	"slices"

	"github.com/llmfs-raw/llmfs-raw/evals"
)

// rollout is one trial of one trace.
type rollout struct {
	trace string
	trial int
	lifetime
	of int // steps of the trace; 0 while the line that says how far it came is missing
}

// finished reports whether it came to an end: a run that was killed and errors
// of the infrastructure leave some that did not.
func (o *rollout) finished() bool { return o.of > 0 }

// rollouts puts the lines of each together. One that is not finished is known to
// have lived as long as its right answers go.
func (r *Runs) rollouts(g *group) (list []rollout) {
	if g.mode != evals.Rollout {
		return nil
	}
	for _, key := range r.keys(g) {
		trace := r.steps[key.step].trace
		if n := len(list); n == 0 || list[n-1].trace != trace || list[n-1].trial != key.trial {
			list = append(list, rollout{trace: trace, trial: key.trial})
		}
		list[len(list)-1].add(g.records[key])
	}
	return list
}

func (o *rollout) add(rec record) {
	switch {
	case rec.of > 0:
		o.of, o.steps, o.diverged = rec.of, rec.survived, rec.survived < rec.of
	case !o.finished() && rec.scored() && rec.outcome == Right:
		o.steps++
	}
}

func (r *Runs) survived(g *group) *Survival {
	rollouts := r.rollouts(g)
	if len(rollouts) == 0 {
		return nil
	}
	s := &Survival{}
	traces := map[string]cluster{}
	var lives []lifetime
	for _, o := range rollouts {
		lives = append(lives, o.lifetime)
		if !o.finished() {
			continue
		}
		s.Rollouts++
		s.Mean += float64(o.steps)
		if !o.diverged {
			s.Completed++
		}
		c := traces[o.trace]
		traces[o.trace] = cluster{c.n + 1, c.sum + float64(o.steps)/float64(o.of)}
	}
	s.Mean /= max(float64(s.Rollouts), 1)
	var clusters []cluster
	for _, trace := range slices.Sorted(maps.Keys(traces)) {
		clusters = append(clusters, traces[trace])
	}
	s.Share = clustered(clusters, len(clusters))
	s.Curve = survival(lives)
	if steps, ok := halfLife(s.Curve); ok {
		s.HalfLife = &steps
	}
	return s
}

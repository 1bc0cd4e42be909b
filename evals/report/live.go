package report

// Live runs by scenario: one counts as right where all of its commands do.

import "github.com/llmfs-raw/llmfs-raw/evals"

// Whole is how many scenarios were right from beginning to end, all trials together.
type Whole struct {
	Right int `json:"right"`
	Of    int `json:"of"` // that no error of the infrastructure cut short
}

// scenarios are the attempts at each.
func (r *Runs) scenarios(g *group) map[string]*attempts {
	type run struct {
		trace string
		trial int
	}
	right, cut := map[run]bool{}, map[run]bool{}
	for key, rec := range g.records {
		k := run{r.steps[key.step].trace, key.trial}
		was, seen := right[k]
		right[k] = (was || !seen) && rec.outcome == Right
		cut[k] = cut[k] || !rec.scored()
	}
	all := map[string]*attempts{}
	for k, ok := range right {
		if cut[k] {
			continue
		}
		if all[k.trace] == nil {
			all[k.trace] = &attempts{}
		}
		all[k.trace].n++
		if ok {
			all[k.trace].right++
		}
	}
	return all
}

// whole is nil in other modes.
func (r *Runs) whole(g *group) *Whole {
	if g.mode != evals.Live {
		return nil
	}
	w := &Whole{}
	for _, a := range r.scenarios(g) {
		w.Right += a.right
		w.Of += a.n
	}
	return w
}

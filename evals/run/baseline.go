package run

// A run against an earlier one.

import (
	"fmt"

	"github.com/llmfs-raw/llmfs-raw/evals"
)

// Regressions names the scores that are below the baseline's by more than the
// tolerance, a share of the steps, and those that are missing.
func Regressions(s, baseline *evals.Summary, tolerance float64) (worse []string) {
	if baseline == nil {
		return nil
	}
	for _, old := range baseline.Scores {
		now := find(s.Scores, old.Model, old.Mode)
		switch {
		case now == nil:
			worse = append(worse, fmt.Sprintf("%s %s is missing", old.Model, old.Mode))
		case now.Score < old.Score-tolerance:
			worse = append(worse, fmt.Sprintf("%s %s: score %.4f, was %.4f", old.Model, old.Mode, now.Score, old.Score))
		case now.Survived < old.Survived-tolerance:
			worse = append(worse, fmt.Sprintf("%s %s: survived %.4f, was %.4f", old.Model, old.Mode, now.Survived, old.Survived))
		}
	}
	return worse
}

func find(list []evals.ModelSummary, model string, mode evals.Mode) *evals.ModelSummary {
	for i := range list {
		if list[i].Model == model && list[i].Mode == mode {
			return &list[i]
		}
	}
	return nil
}

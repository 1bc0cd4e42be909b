package report

// Statistics: intervals clustered by trace, pass^k, survival.

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

const confidence = 0.95

// Interval is a share with its 95% interval.
type Interval struct {
	Share float64 `json:"share"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// cluster is one trace's part of a mean: n values that add up to sum.
type cluster struct{ n, sum float64 }

func total(clusters []cluster) (all cluster) {
	for _, c := range clusters {
		all.n += c.n
		all.sum += c.sum
	}
	return all
}

// clustered is the mean of values from 0 to 1, with a Wilson interval of as many
// observations as the variance between traces leaves. distinct, the number of
// different steps, bounds them: asking the same step again is no new evidence,
// and where all values agree the traces' variance says nothing.
func clustered(clusters []cluster, distinct int) Interval {
	all := total(clusters)
	if all.n == 0 {
		return Interval{High: 1}
	}
	p := min(max(all.sum/all.n, 0), 1)
	n, t := 1.0, distuv.UnitNormal.Quantile((1+confidence)/2)
	if len(clusters) > 1 {
		n, t = float64(distinct), student(len(clusters))
		if v := varianceOfMean(clusters); v > 0 {
			n = min(n, p*(1-p)/v)
		}
	}
	return wilson(p, max(n, 1), t)
}

func student(clusters int) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: float64(clusters - 1)}.Quantile((1 + confidence) / 2)
}

// varianceOfMean is the cluster-robust variance of a ratio: of the traces' sums
// of residuals, G/(G-1) Σe²/N². Residuals add up to 0, so that is their variance times G.
func varianceOfMean(clusters []cluster) float64 {
	all := total(clusters)
	residuals := make([]float64, len(clusters))
	for i, c := range clusters {
		residuals[i] = c.sum - all.sum/all.n*c.n
	}
	return stat.Variance(residuals, nil) * float64(len(clusters)) / (all.n * all.n)
}

func wilson(p, n, z float64) Interval {
	mid := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return Interval{Share: p, Low: min(max(mid-half, 0), p), High: max(min(mid+half, 1), p)}
}

// attempts are the trials of one step, or of one rollout.
type attempts struct{ n, right int }

// passAll estimates the probability that k trials of a step are all right,
// for k from 1 to the most trials: the mean of C(right,k)/C(n,k) over the steps
// with k trials, which is unbiased.
func passAll(steps []attempts) (pass []float64) {
	for k := 1; ; k++ {
		var sum, n float64
		for _, s := range steps {
			if s.n >= k {
				sum += chosenRight(s, k)
				n++
			}
		}
		if n == 0 {
			return pass
		}
		pass = append(pass, sum/n)
	}
}

func chosenRight(s attempts, k int) float64 {
	p := 1.0
	for i := range k {
		p *= max(0, float64(s.right-i)) / float64(s.n-i)
	}
	return p
}

// quantile is that of values, which it sorts; 0 of none.
func quantile(q float64, values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return stat.Quantile(q, stat.Empirical, values, nil)
}

// lifetime is how many steps a rollout survived, and whether it then diverged.
// One that came to its trace's end would have gone on: it is censored.
type lifetime struct {
	steps    int
	diverged bool
}

// CurvePoint is the share of rollouts that survive more than Step steps.
type CurvePoint struct {
	Step  int     `json:"step"`
	Share float64 `json:"share"`
}

// survival is the Kaplan–Meier estimate: a point at 0, one where the
// share falls, and one at the longest lifetime.
func survival(lives []lifetime) []CurvePoint {
	lives = slices.Clone(lives)
	slices.SortFunc(lives, func(a, b lifetime) int { return a.steps - b.steps })
	curve, share := []CurvePoint{{0, 1}}, 1.0
	for i := 0; i < len(lives); {
		at, diverged, alive := lives[i].steps, 0, len(lives)-i
		for ; i < len(lives) && lives[i].steps == at; i++ {
			if lives[i].diverged {
				diverged++
			}
		}
		share *= 1 - float64(diverged)/float64(alive)
		if diverged > 0 || i == len(lives) {
			curve = append(curve, CurvePoint{at, share})
		}
	}
	return curve
}

// halfLife is the step at which the curve falls to half or below; false where it never does.
func halfLife(curve []CurvePoint) (int, bool) {
	for _, p := range curve {
		if p.Share <= 0.5 {
			return p.Step, true
		}
	}
	return 0, false
}

package report

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func drawClusters(t *rapid.T) (list []cluster) {
	for range rapid.IntRange(1, 30).Draw(t, "clusters") {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		list = append(list, cluster{float64(n), float64(rapid.IntRange(0, n).Draw(t, "right"))})
	}
	return list
}

func TestIntervalHoldsItsPoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := drawClusters(t)
		distinct := int(total(list).n)
		i := clustered(list, distinct)
		require.LessOrEqual(t, 0.0, i.Low)
		require.LessOrEqual(t, i.Low, i.Share)
		require.LessOrEqual(t, i.Share, i.High)
		require.LessOrEqual(t, i.High, 1.0)
		require.Less(t, i.Low, i.High, "nothing is certain")
		require.InDelta(t, total(list).sum/total(list).n, i.Share, 1e-12)
	})
}

// Asking everything again, with the same answers, is no new evidence.
func TestIntervalIgnoresRepetition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := drawClusters(t)
		again := make([]cluster, len(list))
		for i, c := range list {
			again[i] = cluster{4 * c.n, 4 * c.sum}
		}
		distinct := int(total(list).n)
		a, b := clustered(list, distinct), clustered(again, distinct)
		require.InDelta(t, a.Low, b.Low, 1e-9)
		require.InDelta(t, a.High, b.High, 1e-9)
	})
}

// Steps that fall together are worth less than steps that fall alone.
func TestIntervalIsWiderWhereTracesDiffer(t *testing.T) {
	apart, together := []cluster{}, []cluster{}
	for i := range 20 {
		apart = append(apart, cluster{20, float64(17 + 2*(i%2))})
		together = append(together, cluster{20, map[bool]float64{true: 20, false: 0}[i%10 != 0]})
	}
	a, b := clustered(apart, 400), clustered(together, 400)
	assert.InDelta(t, a.Share, b.Share, 1e-9)
	assert.Greater(t, b.High-b.Low, 2*(a.High-a.Low))
}

// Against known figures: Wilson's interval of 0 of 10 is 0 to 0.2775.
func TestWilson(t *testing.T) {
	i := wilson(0, 10, 1.959964)
	assert.InDelta(t, 0.2775, i.High, 1e-4)
	assert.Zero(t, i.Low)
	i = wilson(0.5, 100, 1.959964)
	assert.InDelta(t, 0.4038, i.Low, 1e-4)
	assert.InDelta(t, 0.5962, i.High, 1e-4)
}

// The interval holds the truth about as often as it says: traces of unequal
// length whose models are better at some than at others.
func TestIntervalCovers(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	const runs = 2000
	held := 0
	for range runs {
		var list []cluster
		var distinct int
		for range 40 {
			n, p := 5+rnd.IntN(20), []float64{0.99, 0.9, 0.8, 0.5}[rnd.IntN(4)]
			c := cluster{n: float64(n)}
			for range n {
				if rnd.Float64() < p {
					c.sum++
				}
			}
			list, distinct = append(list, c), distinct+n
		}
		if i := clustered(list, distinct); i.Low <= 0.7975 && 0.7975 <= i.High {
			held++
		}
	}
	assert.InDelta(t, confidence, float64(held)/runs, 0.025)
}

func TestPassAll(t *testing.T) {
	assert.Equal(t, []float64{0.5, 0.25}, passAll([]attempts{{2, 2}, {2, 1}, {2, 1}, {2, 0}}))
	assert.InDeltaSlice(t, []float64{0.75, 0.5, 0.25, 0}, passAll([]attempts{{4, 3}}), 1e-12)
	assert.Empty(t, passAll(nil))
	assert.Equal(t, []float64{1, 1}, passAll([]attempts{{1, 1}, {2, 2}}), "a step with fewer trials counts where it has enough")
}

// The estimate is unbiased: over all runs it is p to the power of k.
func TestPassAllIsUnbiased(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	steps := make([]attempts, 200_000)
	for i := range steps {
		steps[i].n = 5
		for range 5 {
			if rnd.Float64() < 0.8 {
				steps[i].right++
			}
		}
	}
	for k, share := range passAll(steps) {
		assert.InDelta(t, math.Pow(0.8, float64(k+1)), share, 0.005)
	}
}

func TestPassAllNeverRises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var steps []attempts
		trials := rapid.IntRange(1, 8).Draw(t, "trials")
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			steps = append(steps, attempts{trials, rapid.IntRange(0, trials).Draw(t, "right")})
		}
		pass := passAll(steps)
		require.Len(t, pass, trials)
		for k := 1; k < trials; k++ {
			require.LessOrEqual(t, pass[k], pass[k-1]+1e-12)
		}
	})
}

// The example of Kaplan and Meier's estimate that textbooks have: 6, 6, 6, 6+, 7, 9+, 10, …
func TestSurvival(t *testing.T) {
	lives := []lifetime{{6, true}, {6, true}, {6, true}, {6, false}, {7, true}, {9, false}, {10, true}, {10, false}, {11, false}, {13, true}, {16, true},
		{17, false}, {19, false}, {20, false}, {22, true}, {23, true}, {25, false}, {32, false}, {32, false}, {34, false}, {35, false}}
	want := map[int]float64{0: 1, 6: 0.857, 7: 0.807, 10: 0.753, 13: 0.690, 16: 0.627, 22: 0.538, 23: 0.448, 35: 0.448}
	curve := survival(lives)
	require.Len(t, curve, len(want))
	for _, p := range curve {
		assert.InDelta(t, want[p.Step], p.Share, 0.0006, "after %d", p.Step)
	}
	half, ok := halfLife(curve)
	assert.True(t, ok)
	assert.Equal(t, 23, half)
	_, ok = halfLife(survival([]lifetime{{9, false}}))
	assert.False(t, ok, "what never diverged has no half-life")
}

func TestQuantile(t *testing.T) {
	assert.Equal(t, 3.0, quantile(0.5, []float64{5, 1, 3, 2, 4}))
	assert.Equal(t, 5.0, quantile(0.95, []float64{5, 1, 3, 2, 4}))
	assert.Zero(t, quantile(0.5, nil))
}

func TestMcNemar(t *testing.T) {
	assert.Equal(t, 1.0, mcNemar(0, 0))
	assert.Equal(t, 1.0, mcNemar(3, 3))
	assert.InDelta(t, 0.0386, mcNemar(10, 2), 1e-4)
	assert.Equal(t, mcNemar(10, 2), mcNemar(2, 10))
}

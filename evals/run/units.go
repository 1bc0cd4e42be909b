package run

// What is divided among shards: each trace in each trial.

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/llmfs-raw/llmfs-raw/evals"
)

type unit struct {
	trial int
	info  evals.TraceInfo
}

// units are all of them, in an order that the seed decides.
func units(traces []evals.TraceInfo, trials int, seed uint64) (list []unit) {
	for trial := range trials {
		for _, info := range traces {
			list = append(list, unit{trial, info})
		}
	}
	chance := rand.New(rand.NewPCG(seed, 0))
	chance.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	return list
}

// Shard is one of several parts of a run, from 1 on; the zero value is all of it.
type Shard struct{ I, N int }

// ParseShard reads "i/n".
func ParseShard(s string) (Shard, error) {
	if s == "" {
		return Shard{}, nil
	}
	i, n, ok := strings.Cut(s, "/")
	of, err := strconv.Atoi(n)
	part, err2 := strconv.Atoi(i)
	if !ok || err != nil || err2 != nil || part < 1 || part > of {
		return Shard{}, fmt.Errorf("shard %q: want i/n with i from 1 to n", s)
	}
	return Shard{part, of}, nil
}

// String is what ParseShard reads.
func (s Shard) String() string {
	if s.N == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.I, s.N)
}

// of are the units of a shard: the longest are dealt out first, each to the
// shard that has the fewest steps.
func (s Shard) of(all []unit) (mine []unit) {
	if s.N == 0 {
		return all
	}
	dealt := slices.Clone(all)
	slices.SortStableFunc(dealt, func(a, b unit) int { return cmp.Compare(b.info.Steps, a.info.Steps) })
	load := make([]int, s.N)
	for _, u := range dealt {
		least := slices.Index(load, slices.Min(load))
		load[least] += u.info.Steps + 1
		if least == s.I-1 {
			mine = append(mine, u)
		}
	}
	return mine
}

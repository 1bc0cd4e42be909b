package score

// Times. A time that the kernel has seen as some request's Now can be any
// moment from then until something else happened; one that nobody has seen was
// set by utimensat(2) and has to be exactly that.

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

func compareTimes(a, b proto.Time) int {
	return cmp.Or(cmp.Compare(a.Sec, b.Sec), cmp.Compare(a.Nsec, b.Nsec))
}

// instants are the times at which requests came, in order, each once.
type instants []proto.Time

func newInstants(all []proto.Time) instants {
	slices.SortFunc(all, compareTimes)
	return slices.Compact(all)
}

// holds says whether a time fits, and by which class it was judged. now is that
// of the request that the reply is for.
func (all instants) holds(want, have, now proto.Time) (bool, Class) {
	i, seen := slices.BinarySearchFunc(all, want, compareTimes)
	if want == have {
		return true, Bounded
	}
	if !seen {
		return false, Determined
	}
	if have.Sec == want.Sec && have.Nsec == 0 { // a clock of whole seconds
		return true, Bounded
	}
	early := compareTimes(have, want) < 0 || compareTimes(have, now) > 0
	late := i+1 < len(all) && compareTimes(have, all[i+1]) >= 0
	return !early && !late, Bounded
}

func timeText(t proto.Time) string { return fmt.Sprintf("%d.%09d", t.Sec, t.Nsec) }

package serve

// Numbers of nodes and handles for prompts that are answered at the same time.
// Each sees a past without the other, so each would give out the next number.
// A number that went into an answer is therefore not given to another request
// of the same conversation, whether or not the answer has become part of it; a
// request that is asked again gets the same number again.

import (
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/llmfs-raw/llmfs-raw/internal/model/reference"
)

const (
	mostRecords  = 256 // requests that are remembered of a mount
	mostMounts   = 8   // mounts with the same first messages
	memoryOfThem = 5 * time.Minute
)

type numberings struct {
	all *generations[key, *mounts]
}

func newNumberings() *numberings { return &numberings{newGenerations[key, *mounts](256)} }

// mounts have the same first messages.
type mounts struct {
	mu   sync.Mutex
	list [][]record // of each mount, the oldest first
}

// record is what a request was given.
type record struct {
	unique  uint64
	now     int64 // seconds, by the request
	at      time.Time
	started reference.Numbers // what came before the numbers given
	given   reference.Numbers // 0 where there was none
}

// serve answers a request with numbers that no other answer has.
func (n *numberings) serve(conversation key, w *world, request string) []byte {
	m, ok := n.all.get(conversation)
	if !ok {
		m = &mounts{}
		n.all.put(conversation, m)
	}
	header := gjson.Get(request, "Header")
	r := record{unique: header.Get("Unique").Uint(), now: header.Get("Now.Sec").Int(), at: time.Now()}
	m.mu.Lock()
	defer m.mu.Unlock()
	records := m.of(r)
	before := w.fs.Numbers()
	r.started = r.start(*records, before)
	w.fs.SetNumbers(r.started)
	reply := w.serve(request)
	after := w.fs.Numbers()
	r.given = reference.Numbers{Node: change(r.started.Node, after.Node), Fh: change(r.started.Fh, after.Fh)}
	w.fs.SetNumbers(reference.Numbers{Node: max(before.Node, r.given.Node), Fh: max(before.Fh, r.given.Fh)})
	if r.given != (reference.Numbers{}) {
		*records = append(*records, r)
	}
	return reply
}

// change is the second number, 0 where it is the first.
func change(before, after uint64) uint64 {
	if before == after {
		return 0
	}
	return after
}

// of are the records of the mount that a request is from.
func (m *mounts) of(r record) *[]record {
	for i := len(m.list) - 1; i >= 0; i-- {
		records := &m.list[i]
		for len(*records) > 0 && (len(*records) > mostRecords || r.at.Sub((*records)[0].at) > memoryOfThem) {
			*records = (*records)[1:]
		}
		if r.fits(*records) {
			return records
		}
	}
	m.list = append(m.list, nil)
	if len(m.list) > mostMounts {
		m.list = m.list[1:]
	}
	return &m.list[len(m.list)-1]
}

// fits says whether the request can be of the same mount: there, numbers of
// requests rise with the time.
func (r *record) fits(records []record) bool {
	const skew = 1 // seconds: requests are read in parallel
	for i := range records {
		o := &records[i]
		if o.unique < r.unique && o.now > r.now+skew || o.unique > r.unique && o.now+skew < r.now {
			return false
		}
		if o.unique == r.unique && o.now != r.now {
			return false
		}
	}
	return true
}

// start is where the request's numbers begin.
func (r *record) start(records []record, before reference.Numbers) reference.Numbers {
	n := before
	for i := range records {
		o := &records[i]
		if o.unique != r.unique {
			n.Node, n.Fh = max(n.Node, o.given.Node), max(n.Fh, o.given.Fh)
		} else if o.started.Node >= before.Node && o.started.Fh >= before.Fh {
			return o.started
		}
	}
	return n
}

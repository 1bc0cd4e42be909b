package scenario

// The script's command for long sessions: "mix SEED CALLS" makes that many calls,
// drawn by a seeded generator over few names, so that late calls depend on what
// was done long before. What a call gives is not checked here: the reference's
// replies are what a session is about.

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// mixer draws calls.
type mixer struct {
	*rand.Rand
	open []string // slots that hold a descriptor
	n    int      // calls so far
}

// mixed is one sort of calls, and how often it is drawn, relative to the others.
type mixed struct {
	weight int
	draw   func(*mixer) demand
}

var mixture = []mixed{
	{9, func(m *mixer) demand { return m.opens("O_RDWR|O_CREAT", "0644") }},
	{4, func(m *mixer) demand { return m.opens("O_RDONLY") }},
	{2, func(m *mixer) demand { return m.opens("O_WRONLY|O_CREAT|O_APPEND", "0600") }},
	{1, func(m *mixer) demand { return m.opens("O_RDWR|O_TRUNC") }},
	{1, func(m *mixer) demand { return m.opens("O_RDWR|O_CREAT|O_EXCL", "0640") }},
	{14, func(m *mixer) demand { return m.onOpen("pwrite", m.words(), m.offset()) }},
	{4, func(m *mixer) demand { return m.onOpen("write", m.words()) }},
	{14, func(m *mixer) demand { return m.onOpen("pread", strconv.Itoa(1+m.IntN(400)), m.offset()) }},
	{3, func(m *mixer) demand { return m.onOpen("ftruncate", m.offset()) }},
	{2, func(m *mixer) demand { return m.onOpen("fallocate", "PUNCH_HOLE|KEEP_SIZE", m.offset(), "100") }},
	{2, func(m *mixer) demand { return m.onOpen("lseek", m.offset(), "SEEK_HOLE") }},
	{5, func(m *mixer) demand { return m.onOpen("fstat") }},
	{5, (*mixer).closes},
	{9, func(m *mixer) demand { return m.on("stat") }},
	{2, func(m *mixer) demand { return m.on("lstat") }},
	{4, func(m *mixer) demand { return m.on("unlink") }},
	{7, func(m *mixer) demand { return m.on("rename", m.path()) }},
	{2, func(m *mixer) demand { return m.on("renameat2", m.path(), "RENAME_EXCHANGE") }},
	{1, func(m *mixer) demand { return m.on("renameat2", m.path(), "RENAME_NOREPLACE") }},
	{4, func(m *mixer) demand { return m.on("link", m.path()) }},
	{2, func(m *mixer) demand { return demand{Call: "symlink", Args: []string{m.name(), m.path()}} }},
	{1, func(m *mixer) demand { return m.on("readlink", "100") }},
	{3, func(m *mixer) demand { return m.on("mkdir", "0755") }},
	{2, func(m *mixer) demand { return m.on("rmdir") }},
	{4, func(m *mixer) demand { return demand{Call: "ls", Args: []string{m.dir()}} }},
	{3, func(m *mixer) demand { return m.on("chmod", fmt.Sprintf("0%o", m.IntN(0o10000))) }},
	{2, func(m *mixer) demand {
		return m.on("chown", strconv.Itoa(1000+m.IntN(3)), strconv.Itoa(2000+m.IntN(3)))
	}},
	{2, func(m *mixer) demand { return m.on("utimensat", m.time(), m.time()) }},
	{3, func(m *mixer) demand { return m.on("setxattr", m.attr(), m.words()) }},
	{3, func(m *mixer) demand { return m.on("getxattr", m.attr(), "300") }},
	{1, func(m *mixer) demand { return m.on("listxattr", "300") }},
	{1, func(m *mixer) demand { return m.on("removexattr", m.attr()) }},
	{2, func(m *mixer) demand { return m.on("truncate", m.offset()) }},
}

// mix makes calls as root.
func (r *runner) mix(ts *testscript.TestScript, _ bool, args []string) {
	seed, calls := parseMix(ts, args)
	m := newMixer(seed)
	for m.n = range calls {
		d := m.draw()
		o, err := r.call("root", d)
		ts.Check(err)
		if o.Bad != "" {
			ts.Fatalf("mix: %s", o.Bad)
		}
		m.took(d, o.Errno == 0)
		ts.Check(r.pause())
	}
}

func parseMix(ts *testscript.TestScript, args []string) (seed uint64, calls int) {
	if len(args) != 2 {
		ts.Fatalf("usage: mix SEED CALLS")
	}
	seed, err := strconv.ParseUint(args[0], 10, 64)
	ts.Check(err)
	calls, err = strconv.Atoi(args[1])
	ts.Check(err)
	return seed, calls
}

func newMixer(seed uint64) *mixer { return &mixer{Rand: rand.New(rand.NewPCG(seed, 0))} }

// took notes a descriptor that a call has got.
func (m *mixer) took(d demand, ok bool) {
	if d.To != "" && ok && !slices.Contains(m.open, d.To) {
		m.open = append(m.open, d.To)
	}
}

func (m *mixer) draw() demand {
	sum := 0
	for _, s := range mixture {
		sum += s.weight
	}
	for at, i := m.IntN(sum), 0; ; i++ {
		if at -= mixture[i].weight; at < 0 {
			return mixture[i].draw(m)
		}
	}
}

func pick[T any](m *mixer, list ...T) T { return list[m.IntN(len(list))] }

func (m *mixer) name() string { return pick(m, "ant", "bee", "cat", "dog", "elk", "fox", "gnu") }
func (m *mixer) dir() string  { return pick(m, ".", "north", "north/pole", "south") }
func (m *mixer) path() string { return m.dir() + "/" + m.name() }
func (m *mixer) attr() string { return "user." + pick(m, "colour", "owner", "note") }

// offset is small more often than not, and 0 now and then.
func (m *mixer) offset() string { return strconv.Itoa(m.IntN(1 + pick(m, 1, 40, 300, 9000))) }

func (m *mixer) time() string {
	return pick(m, "now", "omit", fmt.Sprintf("%d.%09d", 1_000_000_000+m.IntN(700_000_000), m.IntN(1_000_000_000)))
}

// words are bytes that tell which call wrote them.
func (m *mixer) words() string {
	return strings.Repeat(fmt.Sprintf("%s-%d ", m.name(), m.n), 1+m.IntN(12))
}

func (m *mixer) on(call string, more ...string) demand {
	return demand{Call: call, Args: append([]string{m.path()}, more...)}
}

func (m *mixer) opens(flags string, mode ...string) demand {
	return demand{Call: "open", Args: append([]string{m.path(), flags}, mode...), To: pick(m, "h1", "h2", "h3", "h4")}
}

// onOpen is a call on an open file; where there is none, one is opened.
func (m *mixer) onOpen(call string, more ...string) demand {
	if len(m.open) == 0 {
		return m.opens("O_RDWR|O_CREAT", "0644")
	}
	return demand{Call: call, Args: append([]string{pick(m, m.open...)}, more...)}
}

func (m *mixer) closes() demand {
	if len(m.open) == 0 {
		return m.on("stat")
	}
	i := m.IntN(len(m.open))
	slot := m.open[i]
	m.open = slices.Delete(m.open, i, i+1)
	return demand{Call: "close", Args: []string{slot}}
}

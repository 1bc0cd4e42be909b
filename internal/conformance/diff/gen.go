// Random sequences: single calls, and bursts in which one process opens a file and works on it.
// rapid draws and shrinks which bursts there are; what is in a burst follows from its seed.

package diff

import (
	"math/rand/v2"
	"slices"

	"pgregory.net/rapid"
)

// drawing is what the generators of arguments know. Names and descriptors of earlier calls are kept
// so that many calls meet something; whether those calls succeed is not known.
type drawing struct {
	*rand.Rand
	actor int
	slot  string // slot that the current burst works on, or ""
	bound [][]string
	known [][]string
}

// The types of names that calls make.
const (
	anyType = iota
	dirType
	fileType
	linkType
	types
)

// madeBy says which type of name a call makes, and which of its arguments is the name.
var madeBy = map[string]struct{ typ, arg int }{
	"mkdir": {dirType, 0}, "open": {fileType, 0}, "symlink": {linkType, 1}, "mknod": {fileType, 0},
	"link": {fileType, 1}, "linkfd": {fileType, 1}, "rename": {anyType, 1}, "renameat2": {anyType, 1},
}

// seedBits is how many bits of a seed are drawn: single ones, as rapid prefers small numbers.
const seedBits = 24

var (
	genSeed = rapid.Custom(func(t *rapid.T) (seed uint64) {
		for range seedBits {
			seed <<= 1
			if rapid.Bool().Draw(t, "") {
				seed |= 1
			}
		}
		return seed
	})
	genSeeds = rapid.SliceOfN(rapid.SliceOfN(genSeed, 1, 4), 1, 12)
)

// Scripts draws sequences.
var Scripts = rapid.Custom(func(t *rapid.T) Script {
	seed := genSeed.Draw(t, "")
	d := &drawing{bound: make([][]string, len(actors)), known: make([][]string, types)}
	d.Rand = rand.New(rand.NewPCG(seed, 0))
	s := Script{Quiet: d.IntN(4) == 0, Ops: d.prologue()}
	for _, seeds := range genSeeds.Draw(t, "") {
		for _, seed := range seeds {
			d.Rand = rand.New(rand.NewPCG(seed, 1))
			s.Ops = append(s.Ops, d.burst()...)
		}
	}
	return s
})

// prologue makes it likely that there are directories and files to work on.
func (d *drawing) prologue() []Op {
	var ops []Op
	for _, op := range []Op{
		{Call: "chmod", Args: []string{".", genOpenMode(d)}},
		{Call: "mkdir", Args: []string{"d", genOpenMode(d)}},
		{Call: "open", Args: []string{"a", "O_RDWR|O_CREAT", genOpenMode(d)}, To: "f0"},
		{Call: "mkdir", Args: []string{"d/e", genOpenMode(d)}},
		{Call: "open", Args: []string{"d/b", "O_RDWR|O_CREAT", genOpenMode(d)}, To: "f1"},
		{Call: "pwrite", Args: []string{"f0", argData.gen(d), "0"}},
		{Call: "symlink", Args: []string{genTarget(d), "s"}},
		{Call: "setxattr", Args: []string{"a", "user.a", argValue.gen(d), "0"}},
		{Call: "mkdir", Args: []string{"e", genOpenMode(d)}},
	} {
		if d.IntN(10) < 8 {
			op.Actor = []int{0, 0, 0, 2}[d.IntN(4)] * min(1, len(ops))
			d.learn(op)
			ops = append(ops, op)
		}
	}
	return ops
}

// burst draws a single call, or an open with some calls on its descriptor.
func (d *drawing) burst() []Op {
	d.actor, d.slot = genActor(d), ""
	if chance := d.IntN(10); chance < 6 {
		return []Op{d.op(pathRows)}
	} else if chance < 7 {
		return []Op{d.op(anyRows)}
	}
	d.slot = genSlot(d)
	path, flags, rows := argFile.gen(d), genOpenTo(d), fdRows
	switch d.IntN(12) {
	case 0, 1:
		path, flags, rows = argDir.gen(d), "O_RDONLY|O_DIRECTORY", dirRows
	case 2:
		path, flags = argDir.gen(d), "O_RDWR|O_TMPFILE"
	}
	ops := []Op{{Actor: d.actor, Call: "open", Args: []string{path, flags, genOpenMode(d)}, To: d.slot}}
	d.learn(ops[0])
	for range 1 + d.IntN(6) {
		ops = append(ops, d.op(rows))
	}
	return ops
}

func (d *drawing) op(rows []call) Op {
	row := rows[d.IntN(len(rows))]
	op := Op{Actor: d.actor, Call: row.name}
	for _, arg := range row.args {
		op.Args = append(op.Args, arg.gen(d))
	}
	if row.opens {
		op.To = genSlot(d)
	}
	d.learn(op)
	return op
}

// learn keeps what an operation may have made.
func (d *drawing) learn(op Op) {
	if op.To != "" {
		d.bound[op.Actor] = append(d.bound[op.Actor], op.To)
	}
	if made, makes := madeBy[op.Call]; makes {
		name := op.Args[made.arg]
		d.known[anyType] = append(d.known[anyType], name)
		if made.typ != anyType {
			d.known[made.typ] = append(d.known[made.typ], name)
		}
	}
}

// weighted repeats the rows that match by their weight.
func weighted(match func(call) bool) []call {
	var rows []call
	for _, row := range calls {
		for range row.weight {
			if match(row) {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// onDirectory are the descriptor calls that make sense on a directory.
var onDirectory = []string{"openat", "list", "fchdir", "fstat", "fchmod", "fchown", "futimens", "fsetxattr",
	"flock", "fsync", "getflags", "setflags", "dup", "reopen", "close", "read", "lseek"}

var (
	anyRows  = weighted(func(call) bool { return true })
	pathRows = weighted(func(c call) bool { return !c.onDescriptor() })
	fdRows   = weighted(call.onDescriptor)
	dirRows  = weighted(func(c call) bool { return slices.Contains(onDirectory, c.name) })
)

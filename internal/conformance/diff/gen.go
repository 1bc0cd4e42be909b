// Random sequences: single calls, and bursts in which one process opens a file and works on it.

package diff

import (
	"slices"

	"pgregory.net/rapid"
)

var (
	genActor   = rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2, 2, 3})
	genQuiet   = rapid.SampledFrom([]bool{false, false, false, true})
	genChance  = rapid.IntRange(0, 9)
	genAnyRow  = rapid.SampledFrom(weighted(func(call) bool { return true }))
	genPathRow = rapid.SampledFrom(weighted(func(c call) bool { return !c.onDescriptor() }))
	genFDRow   = rapid.SampledFrom(weighted(call.onDescriptor))
	genOpenTo  = sampled([]string{"8×O_RDWR|O_CREAT", "2×O_RDWR", "O_RDONLY", "O_RDWR|O_APPEND", "O_RDWR|O_TMPFILE",
		"O_WRONLY", "O_RDONLY|O_DIRECTORY", "O_RDWR|O_DIRECT"})
	genBursts  = rapid.SliceOfN(rapid.SliceOfN(rapid.Custom(drawBurst), 1, 4), 1, 12)
	genFDCalls = rapid.SliceOfN(rapid.Just(0), 0, 6)
)

// weighted repeats the rows that match by their weight.
func weighted(match func(call) bool) []string {
	var names []string
	for _, row := range calls {
		for range row.weight {
			if match(row) {
				names = append(names, row.name)
			}
		}
	}
	return names
}

// Scripts draws sequences.
var Scripts = rapid.Custom(func(t *rapid.T) Script {
	s := Script{Quiet: genQuiet.Draw(t, "")}
	s.Ops = drawPrologue(t)
	for _, bursts := range genBursts.Draw(t, "") {
		s.Ops = append(s.Ops, slices.Concat(bursts...)...)
	}
	return s
})

// drawPrologue makes it likely that there are directories and files to work on.
func drawPrologue(t *rapid.T) []Op {
	prologue := []Op{
		{Call: "mkdir", Args: []string{"d", argMode.gen(t, "")}},
		{Call: "open", Args: []string{"a", "O_RDWR|O_CREAT", argMode.gen(t, "")}, To: "f0"},
		{Call: "mkdir", Args: []string{"d/e", argMode.gen(t, "")}},
		{Call: "symlink", Args: []string{genTarget(t, ""), "s"}},
		{Call: "chmod", Args: []string{".", argMode.gen(t, "")}},
	}
	var ops []Op
	for _, op := range prologue {
		if genChance.Draw(t, "") >= 5 {
			op.Actor = genActor.Draw(t, "")
			ops = append(ops, op)
		}
	}
	return ops
}

// drawBurst draws a single call, or an open with some calls on its descriptor.
func drawBurst(t *rapid.T) []Op {
	actor := genActor.Draw(t, "")
	switch chance := genChance.Draw(t, ""); {
	case chance < 6:
		return []Op{drawOp(t, genPathRow, actor, "")}
	case chance < 7:
		return []Op{drawOp(t, genAnyRow, actor, "")}
	}
	slot := genSlot.Draw(t, "")
	path, mode := genPath(t, ""), argMode.gen(t, "")
	ops := []Op{{Actor: actor, Call: "open", Args: []string{path, genOpenTo(t, ""), mode}, To: slot}}
	for range genFDCalls.Draw(t, "") {
		ops = append(ops, drawOp(t, genFDRow, actor, slot))
	}
	return ops
}

func drawOp(t *rapid.T, rows *rapid.Generator[string], actor int, slot string) Op {
	row, _ := callNamed(rows.Draw(t, ""))
	op := Op{Actor: actor, Call: row.name}
	for _, arg := range row.args {
		op.Args = append(op.Args, arg.gen(t, slot))
	}
	if row.opens {
		op.To = genSlot.Draw(t, "")
	}
	return op
}

package evals

// What a corpus covers: which errno of which opcode, how often.

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// Cell is an answer that a corpus may have: an opcode and an errno, 0 for success.
type Cell struct {
	Op    proto.Opcode
	Errno syscall.Errno
}

// Coverage counts cells by tier.
type Coverage struct {
	Cells  map[Cell]map[Tier]int
	Traces map[Tier]int
	Pairs  map[Tier]int
	Steps  map[Tier]int
}

// Cover reads a corpus. A pair without a reply counts as success.
func (c *Corpus) Cover() (*Coverage, error) {
	v := &Coverage{Cells: map[Cell]map[Tier]int{}, Traces: map[Tier]int{}, Pairs: map[Tier]int{}, Steps: map[Tier]int{}}
	for _, info := range c.Manifest.Traces {
		t, err := c.Trace(info)
		if err != nil {
			return nil, err
		}
		for _, tier := range Tiers {
			if tier.Holds(info.Tier) {
				v.add(tier, t)
			}
		}
	}
	return v, nil
}

func (v *Coverage) add(tier Tier, t *Trace) {
	v.Traces[tier]++
	v.Pairs[tier] += len(t.Pairs)
	v.Steps[tier] += t.Steps
	for _, p := range t.Pairs {
		cell := Cell{Op: p.Req.Op}
		if p.Rep != nil {
			cell.Errno = p.Rep.Errno
		}
		if v.Cells[cell] == nil {
			v.Cells[cell] = map[Tier]int{}
		}
		v.Cells[cell][tier]++
	}
}

// Opcodes lists those that occur, in order.
func (v *Coverage) Opcodes() (ops []proto.Opcode) {
	for cell := range v.Cells {
		if !slices.Contains(ops, cell.Op) {
			ops = append(ops, cell.Op)
		}
	}
	slices.Sort(ops)
	return ops
}

// cells lists what a tier has, opcode by opcode.
func (v *Coverage) cells(tier Tier) []Cell {
	var list []Cell
	for cell := range maps.Keys(v.Cells) {
		if v.Cells[cell][tier] > 0 {
			list = append(list, cell)
		}
	}
	slices.SortFunc(list, func(a, b Cell) int {
		return cmp.Or(cmp.Compare(a.Op, b.Op), cmp.Compare(a.Errno, b.Errno))
	})
	return list
}

// Markdown is the coverage as a document: the matrix, transposed into a line for
// each opcode, as most of it would be empty.
func (v *Coverage) Markdown() string {
	var b strings.Builder
	b.WriteString("| tier | traces | pairs | steps | opcodes | opcode × errno |\n|---|---:|---:|---:|---:|---:|\n")
	for _, tier := range Tiers {
		cells := v.cells(tier)
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d |\n", tier, v.Traces[tier], v.Pairs[tier], v.Steps[tier], opcodes(cells), len(cells))
	}
	for _, tier := range Tiers {
		fmt.Fprintf(&b, "\n## %s\n\n| opcode | answers and how often |\n|---|---|\n", tier)
		v.lines(&b, tier)
	}
	if missing := v.missing(); len(missing) > 0 {
		fmt.Fprintf(&b, "\nSent by a plain mount, but in no trace: %s.\n", strings.Join(missing, ", "))
	}
	return b.String()
}

func (v *Coverage) lines(b *strings.Builder, tier Tier) {
	var last proto.Opcode
	for _, cell := range v.cells(tier) {
		name := "ok"
		if cell.Errno != 0 {
			name = proto.ErrnoName(cell.Errno)
		}
		switch {
		case cell.Op != last && last != 0:
			fmt.Fprintf(b, " |\n| %v | ", cell.Op)
		case cell.Op != last:
			fmt.Fprintf(b, "| %v | ", cell.Op)
		default:
			b.WriteString(", ")
		}
		last = cell.Op
		fmt.Fprintf(b, "%s %d", name, v.Cells[cell][tier])
	}
	if last != 0 {
		b.WriteString(" |\n")
	}
}

func opcodes(cells []Cell) int {
	ops := map[proto.Opcode]bool{}
	for _, cell := range cells {
		ops[cell.Op] = true
	}
	return len(ops)
}

// missing are the opcodes that a plain mount can send and no trace has.
func (v *Coverage) missing() (names []string) {
	have := v.Opcodes()
	for _, row := range proto.Rows() {
		if row.Unsent == "" && !slices.Contains(have, row.Op) {
			names = append(names, row.Name)
		}
	}
	return names
}

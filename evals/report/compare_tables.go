package report

// A comparison as tables.

import (
	"fmt"
	"io"
	"strconv"
)

// flipLimit bounds the flipped steps in tables; the JSON has all.
const flipLimit = 60

// WriteTable writes the comparison for a terminal.
func (c *Comparison) WriteTable(w io.Writer) error { return writeTables(w, c.grids(), c.Notes) }

// WriteMarkdown writes the comparison as Markdown.
func (c *Comparison) WriteMarkdown(w io.Writer) error { return writeMarkdown(w, c.grids(), c.Notes) }

func (c *Comparison) grids() []*grid {
	g := &grid{title: "difference", note: "B less A in percentage points, paired by step; the interval is clustered by trace"}
	g.head = []string{"mode", "A", "B", "steps", "A %", "B %", "B − A", "95%", "only A right", "only B right", "both", "neither", "McNemar p"}
	all := []*grid{g}
	for _, p := range c.Pairs {
		g.row(string(p.Mode), p.A, p.B, strconv.Itoa(p.Steps), percent(p.ShareA), percent(p.ShareB), points(p.Diff.Mean),
			points(p.Diff.Low)+" to "+points(p.Diff.High), strconv.Itoa(p.OnlyA), strconv.Itoa(p.OnlyB),
			strconv.Itoa(p.BothRight), strconv.Itoa(p.BothWrong), fmt.Sprintf("%.2g", p.McNemar))
		if len(p.Flips) > 0 {
			all = append(all, p.flipped())
		}
		if p.AloneA+p.AloneB > 0 {
			g.note += fmt.Sprintf("; %s, %s and %s: %d steps were asked of A alone and %d of B alone, and are left out", p.Mode, p.A, p.B, p.AloneA, p.AloneB)
		}
	}
	return all
}

func (p *Pair) flipped() *grid {
	g := &grid{title: fmt.Sprintf("%s: steps that flipped from %s to %s", p.Mode, p.A, p.B), head: []string{"flip", "trace", "pair", "op", "A", "B", "why"}}
	if len(p.Flips) > flipLimit {
		g.note = fmt.Sprintf("the first %d of %d; --format json has all", flipLimit, len(p.Flips))
	}
	for _, f := range p.Flips[:min(len(p.Flips), flipLimit)] {
		flip := "won"
		if f.B < f.A {
			flip = "lost"
		}
		g.row(flip, f.Trace, strconv.Itoa(f.Pair), f.Op, percent(f.A), percent(f.B), clip(f.Why, 100))
	}
	return g
}

func points(d float64) string {
	if s := fmt.Sprintf("%+.1f", 100*d); s != "-0.0" && s != "+0.0" {
		return s
	}
	return "0.0"
}

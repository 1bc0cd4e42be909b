package report

// The report as tables, for terminals, Markdown and CSV.

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/llmfs-raw/llmfs-raw/evals"
)

// grid is a titled table: a header, and cells that are text or numbers.
type grid struct {
	title string
	note  string
	head  []string
	rows  [][]string
}

func (g *grid) row(cells ...string) { g.rows = append(g.rows, cells) }

// left are the columns of words; all others are numbers.
var left = map[string]bool{"model": true, "mode": true, "area": true, "opcode": true, "trace": true, "op": true, "A": true, "B": true, "why": true, "flip": true}

func (g *grid) writer(clean func(string) string) table.Writer {
	w := table.NewWriter()
	w.SetStyle(table.StyleLight)
	w.Style().Options = table.Options{SeparateHeader: true}
	w.Style().Format.Header = text.FormatDefault
	w.SuppressTrailingSpaces()
	var configs []table.ColumnConfig
	for i, name := range g.head {
		if !left[name] {
			configs = append(configs, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	w.SetColumnConfigs(configs)
	w.AppendHeader(tableRow(g.head, clean))
	for _, row := range g.rows {
		w.AppendRow(tableRow(row, clean))
	}
	return w
}

func tableRow(cells []string, clean func(string) string) (row table.Row) {
	for _, c := range cells {
		row = append(row, clean(c))
	}
	return row
}

// printable is s without what moves a terminal's cursor: models write some of it.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return '\uFFFD'
		}
		return r
	}, s)
}

// plain is printable, and no HTML to those who render Markdown.
func plain(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(printable(s))
}

// WriteTable writes the report for a terminal.
func (rep *Report) WriteTable(w io.Writer) error { return writeTables(w, rep.grids(), rep.Notes) }

// WriteMarkdown writes the report as Markdown.
func (rep *Report) WriteMarkdown(w io.Writer) error {
	return writeMarkdown(w, rep.grids(), rep.Notes)
}

func writeTables(w io.Writer, grids []*grid, notes []string) error {
	var b strings.Builder
	for _, g := range grids {
		fmt.Fprintf(&b, "%s\n", printable(g.title))
		if g.note != "" {
			fmt.Fprintf(&b, "%s\n", printable(g.note))
		}
		fmt.Fprintf(&b, "\n%s\n\n", g.writer(printable).Render())
	}
	for _, n := range notes {
		fmt.Fprintf(&b, "note: %s\n", printable(n))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeMarkdown(w io.Writer, grids []*grid, notes []string) error {
	var b strings.Builder
	for _, g := range grids {
		fmt.Fprintf(&b, "## %s\n\n", plain(g.title))
		if g.note != "" {
			fmt.Fprintf(&b, "%s\n\n", plain(g.note))
		}
		fmt.Fprintf(&b, "%s\n\n", g.writer(plain).RenderMarkdown())
	}
	for _, n := range notes {
		fmt.Fprintf(&b, "- %s\n", plain(n))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// grids are the tables of all modes.
func (rep *Report) grids() (all []*grid) {
	for _, mode := range modes {
		entries := rep.in(mode)
		if len(entries) == 0 {
			continue
		}
		all = append(all, leaderboard(mode, entries), outcomes(mode, entries))
		for _, by := range []struct{ dimension, title, column string }{
			{"area", "by area", "area"}, {"op", "by opcode", "opcode"}, {"changed", "by changed fields", "changed"},
			{"distance", "by steps back to the fact that decides", "distance"}, {"history", "by steps before", "history"},
		} {
			all = append(all, crossing(fmt.Sprintf("%s: share right %s", mode, by.title), by.column, by.dimension, entries))
		}
	}
	return all
}

func (rep *Report) in(mode evals.Mode) (entries []*Entry) {
	for _, e := range rep.Entries {
		if e.Mode == mode {
			entries = append(entries, e)
		}
	}
	return entries
}

func leaderboard(mode evals.Mode, entries []*Entry) *grid {
	k := 1
	for _, e := range entries {
		k = max(k, len(e.Pass))
	}
	g := &grid{title: fmt.Sprintf("%s: leaderboard", mode)}
	g.head = []string{"#", "model", "score", "95%", "steps"}
	if mode == evals.Rollout {
		g.note = "ranked by the share of a trace's steps that is survived before the first divergence"
		g.head = []string{"#", "model", "survived", "95%", "half-life", "whole traces", "score", "steps"}
	}
	if mode == evals.Live {
		g.note = "steps are the commands of scenarios, run on a mount"
		g.head = []string{"#", "model", "score", "95%", "whole scenarios", "steps"}
	}
	if k > 1 {
		g.head = append(g.head, "pass^"+strconv.Itoa(k))
	}
	g.head = append(g.head, "tokens in", "out", "$", "p50 ms", "p95 ms", "infra")
	for _, e := range entries {
		g.row(leader(e, k)...)
	}
	return g
}

func leader(e *Entry, k int) []string {
	h := e.headline()
	row := []string{strconv.Itoa(e.Rank), e.Model, percent(h.Share), span(h)}
	if e.Steps == 0 {
		row = []string{strconv.Itoa(e.Rank), e.Model, "–", "–"}
	}
	if s := e.Survived; s != nil {
		row = append(row, s.halfLifeText(), fmt.Sprintf("%d/%d", s.Completed, s.Rollouts), percent(e.Score.Share))
	}
	if w := e.Whole; w != nil {
		row = append(row, fmt.Sprintf("%d/%d", w.Right, w.Of))
	}
	row = append(row, strconv.Itoa(e.Steps))
	if k > 1 {
		pass := "–"
		if len(e.Pass) == k {
			pass = percent(e.Pass[k-1])
		}
		row = append(row, pass)
	}
	return append(row, strconv.Itoa(e.InputTokens), strconv.Itoa(e.OutputTokens), dollars(e.Cost), millis(e.P50), millis(e.P95), strconv.Itoa(e.Infra))
}

func (s *Survival) halfLifeText() string {
	if s.HalfLife == nil {
		return fmt.Sprintf(">%d", s.Curve[len(s.Curve)-1].Step)
	}
	return strconv.Itoa(*s.HalfLife)
}

func outcomes(mode evals.Mode, entries []*Entry) *grid {
	g := &grid{title: fmt.Sprintf("%s: funnel and what went wrong", mode), note: "shares of steps; the first five columns are reached one after the other"}
	g.head = []string{"#", "model", "answered", "valid", "decodable", "acceptable", "correct", "wrong data", "wrong errno", "refusals", "credit"}
	for _, e := range entries {
		row := []string{strconv.Itoa(e.Rank), e.Model}
		for _, share := range e.Reached[1:] {
			row = append(row, percent(share))
		}
		row = append(row, percent(e.Outcomes[WrongData]), percent(e.Outcomes[WrongErrno]), percent(e.Refused), percent(e.Credit))
		g.row(row...)
	}
	return g
}

// crossing has a row for each value of a dimension and a column for each model, by rank.
func crossing(title, column, dimension string, entries []*Entry) *grid {
	g := &grid{title: title, note: "columns are models, by their number in the leaderboard", head: []string{column, "steps"}}
	for _, e := range entries {
		g.head = append(g.head, strconv.Itoa(e.Rank))
	}
	for _, key := range keysOf(entries, dimension) {
		steps, cells := 0, []string{}
		for _, e := range entries {
			part := e.part(dimension, key)
			if part == nil {
				cells = append(cells, "–")
				continue
			}
			steps = max(steps, part.Steps)
			cells = append(cells, percent(part.Score.Share))
		}
		g.row(append([]string{key, strconv.Itoa(steps)}, cells...)...)
	}
	return g
}

// percent never rounds up to 100 nor down to 0.
func percent(share float64) string {
	s := strconv.FormatFloat(100*share, 'f', 1, 64)
	switch {
	case s == "100.0" && share < 1:
		return "99.9"
	case s == "0.0" && share > 0:
		return "0.1"
	}
	return s
}

func span(i Interval) string { return percent(i.Low) + "–" + percent(i.High) }

func dollars(d float64) string {
	if d == 0 {
		return "–"
	}
	return strconv.FormatFloat(d, 'f', 4, 64)
}

func millis(ms float64) string {
	if ms < 1 {
		return strconv.FormatFloat(ms, 'g', 2, 64)
	}
	if ms < 10 {
		return strconv.FormatFloat(ms, 'f', 2, 64)
	}
	return strconv.FormatFloat(ms, 'f', 0, 64)
}

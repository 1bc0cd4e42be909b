package report

// The report as CSV: one line for each model, mode and part, numbers as they are.

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
)

var csvHead = []string{"mode", "model", "by", "key", "steps", "share", "low", "high", "rank", "credit",
	"answered", "valid", "decodable", "acceptable", "wrong_data", "wrong_errno", "refused", "pass_all",
	"survived", "survived_low", "survived_high", "input_tokens", "cached_tokens", "output_tokens", "cost", "p50_ms", "p95_ms", "infra"}

// WriteCSV writes it. The line with by = "all" is the leaderboard's; the others
// fill the columns up to high only.
func (rep *Report) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	_ = c.Write(csvHead) // c.Error has it
	for _, e := range rep.Entries {
		_ = c.Write(e.csv())
		for _, d := range dimensions {
			for _, p := range e.By[d.name] {
				_ = c.Write(wide([]string{string(e.Mode), printable(e.Model), d.name, printable(p.Key), strconv.Itoa(p.Steps), decimal(p.Score.Share), decimal(p.Score.Low), decimal(p.Score.High)}))
			}
		}
	}
	c.Flush()
	return c.Error()
}

func (e *Entry) csv() []string {
	row := []string{string(e.Mode), printable(e.Model), "all", "", strconv.Itoa(e.Steps), decimal(e.Score.Share), decimal(e.Score.Low), decimal(e.Score.High), strconv.Itoa(e.Rank), decimal(e.Credit)}
	for _, share := range e.Reached[1 : len(e.Reached)-1] {
		row = append(row, decimal(share))
	}
	row = append(row, decimal(e.Outcomes[WrongData]), decimal(e.Outcomes[WrongErrno]), decimal(e.Refused))
	row = append(row, e.csvPass())
	if s := e.Survived; s != nil {
		row = append(row, decimal(s.Share.Share), decimal(s.Share.Low), decimal(s.Share.High))
	} else {
		row = append(row, "", "", "")
	}
	return append(row, strconv.Itoa(e.InputTokens), strconv.Itoa(e.CachedTokens), strconv.Itoa(e.OutputTokens),
		decimal(e.Cost), decimal(e.P50), decimal(e.P95), strconv.Itoa(e.Infra))
}

func (e *Entry) csvPass() string {
	if len(e.Pass) == 0 {
		return ""
	}
	return decimal(e.Pass[len(e.Pass)-1])
}

func wide(row []string) []string {
	return append(row, slices.Repeat([]string{""}, len(csvHead)-len(row))...)
}

func decimal(f float64) string { return fmt.Sprintf("%.6g", f) }

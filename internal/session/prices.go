package session

// What models cost: a dated table, which a file can override. A model that no
// row fits has no price; none is invented.

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
)

//go:embed prices.json
var listPrices []byte

// Price is what one sort of model costs.
type Price struct {
	Model  string  // a pattern as path.Match has it
	Input  float64 // US dollars for a million input tokens that were not cached
	Cached float64 // … that were
	Output float64 // … for a million output tokens
	Date   string  // since when, or when it was read
	Source string
}

// Prices is a table; the first row that fits counts.
type Prices []Price

// LoadPrices is the embedded table, behind the rows of file where that is not "".
// The file is a JSON array of objects with the members of Price.
func LoadPrices(file string) (Prices, error) {
	var all Prices
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("prices: %w", err)
		}
		if all, err = parsePrices(text); err != nil {
			return nil, fmt.Errorf("prices: %s: %w", file, err)
		}
	}
	embedded, err := parsePrices(listPrices)
	return append(all, embedded...), err
}

func parsePrices(text []byte) (Prices, error) {
	var all Prices
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	for i, p := range all {
		if _, err := path.Match(p.Model, ""); err != nil || p.Model == "" {
			return nil, fmt.Errorf("row %d: %q is no pattern", i+1, p.Model)
		}
		if p.Input < 0 || p.Cached < 0 || p.Output < 0 {
			return nil, fmt.Errorf("row %d: a price is negative", i+1)
		}
	}
	return all, nil
}

// Find is the price of a model, nil where none is known.
func (ps Prices) Find(name string) *Price {
	for i := range ps {
		if ok, _ := path.Match(ps[i].Model, name); ok {
			return &ps[i]
		}
	}
	return nil
}

// Cost is in US dollars; 0 where there is no price.
func (p *Price) Cost(u model.Usage) float64 {
	if p == nil {
		return 0
	}
	fresh := u.InputTokens - u.CachedTokens
	return (float64(fresh)*p.Input + float64(u.CachedTokens)*p.Cached + float64(u.OutputTokens)*p.Output) / 1e6
}

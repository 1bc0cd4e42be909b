package session

// What a session may spend. A request that would begin beyond the bound is
// refused; what is in flight is finished, so the last answers may exceed it by
// their own length.

import (
	"fmt"
	"sync"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
)

// Budget bounds a session; 0 is no bound.
type Budget struct {
	MaxCost   float64 // US dollars; needs a price
	MaxTokens uint64  // input and output
	MaxCalls  uint64  // questions to the model, repairs included
}

// Check tells whether the budget can be kept: a bound on the cost needs a price.
func (b Budget) Check(modelName string, price *Price) error {
	if b.MaxCost > 0 && price == nil {
		return fmt.Errorf("cost of %s: no price is known for it, want one in a price file", modelName)
	}
	return nil
}

type budget struct {
	Budget
	price *Price

	mu       sync.Mutex
	calls    uint64
	used     model.Usage
	reserved int // estimated tokens of the prompts in flight
}

// begin reserves a call, or says why there is none left.
func (b *budget) begin(tokens int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	total := uint64(b.used.InputTokens + b.used.OutputTokens + b.reserved)
	cost := b.price.Cost(b.used) + b.price.Cost(model.Usage{InputTokens: b.reserved})
	switch {
	case b.MaxCalls > 0 && b.calls >= b.MaxCalls:
		return fmt.Errorf("%w: %d calls of %d", errBudget, b.calls, b.MaxCalls)
	case b.MaxTokens > 0 && total+uint64(tokens) > b.MaxTokens:
		return fmt.Errorf("%w: %d tokens of %d, and the next prompt has about %d", errBudget, total, b.MaxTokens, tokens)
	case b.MaxCost > 0 && (b.price == nil || cost >= b.MaxCost):
		return fmt.Errorf("%w: $%.4f of $%.4f", errBudget, cost, b.MaxCost)
	}
	b.calls++
	b.reserved += tokens
	return nil
}

// end replaces the reservation by what was used.
func (b *budget) end(tokens int, used model.Usage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reserved -= tokens
	b.used = sum(b.used, used)
}

// spent is what has been used so far, in tokens and dollars.
func (b *budget) spent() (model.Usage, float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used, b.price.Cost(b.used)
}

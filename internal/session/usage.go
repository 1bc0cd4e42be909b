package session

// What each request has cost, for whoever records it.

import (
	"sync"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
)

// usages keeps the last ones, so that a session that nobody records does not grow.
type usages struct {
	mu    sync.Mutex
	slots [4096]struct {
		unique uint64
		used   model.Usage
	}
}

// add adds to what the request has cost.
func (u *usages) add(unique uint64, used model.Usage) {
	if used == (model.Usage{}) {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	slot := &u.slots[slotOf(unique)]
	if slot.unique == unique {
		used = sum(used, slot.used)
	}
	slot.unique, slot.used = unique, used
}

func (u *usages) take(unique uint64) (used model.Usage) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if slot := &u.slots[slotOf(unique)]; slot.unique == unique {
		used, slot.used, slot.unique = slot.used, model.Usage{}, 0
	}
	return used
}

// slotOf: the kernel's numbers rise by 2.
func slotOf(unique uint64) uint64 { return unique / 2 % uint64(len(usages{}.slots)) }

// TakeUsage is what the answer to the request cost, repairs included; it is
// asked for once, soon after the answer.
func (s *Session) TakeUsage(unique uint64) model.Usage { return s.usage.take(unique) }

func sum(a, b model.Usage) model.Usage {
	return model.Usage{
		InputTokens:  a.InputTokens + b.InputTokens,
		CachedTokens: a.CachedTokens + b.CachedTokens,
		OutputTokens: a.OutputTokens + b.OutputTokens,
	}
}

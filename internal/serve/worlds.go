package serve

// Worlds that are kept, by the conversation so far, so that the next prompt
// need not begin at its first message.

import (
	"container/list"
	"sync"

	"github.com/llmfs-raw/llmfs-raw/internal/model/reference"
)

// saveEvery is how many steps apart copies are made. A prompt that branches off
// from where another has gone on starts at such a copy.
const saveEvery = 32

type worlds struct {
	options reference.Options
	most    int64 // bytes

	mu    sync.Mutex
	kept  map[key]*list.Element // of *keptWorld
	used  *list.List            // the last used first
	bytes int64
}

type keptWorld struct {
	key   key
	world *world
	copy  bool // it stays, and is cloned for who wants to go on from it
	bytes int64
}

func newWorlds(o reference.Options, most int64) *worlds {
	return &worlds{options: o, most: most, kept: map[key]*list.Element{}, used: list.New()}
}

// at is a world that has answered all steps, for the caller alone.
func (w *worlds) at(c *conversation) *world {
	found, from := w.latest(c)
	if found == nil {
		found = w.fresh(c)
	}
	for i := from; i < len(c.steps); i++ {
		found.replay(c.steps[i])
		w.save(found, c.chain[i+1], i+1)
	}
	return found
}

// latest is the world that has come furthest on the way, and how far.
func (w *worlds) latest(c *conversation) (found *world, steps int) {
	for i := len(c.steps); i > 0; i-- {
		if found = w.take(c.chain[i]); found != nil {
			return found, i
		}
	}
	return nil, 0
}

func (w *worlds) take(k key) *world {
	w.mu.Lock()
	e := w.kept[k]
	if e == nil {
		w.mu.Unlock()
		return nil
	}
	kept := e.Value.(*keptWorld)
	if !kept.copy {
		w.drop(e)
		w.mu.Unlock()
		return kept.world
	}
	w.used.MoveToFront(e)
	w.mu.Unlock()
	return &world{fs: kept.world.fs.Clone(), saved: kept.world.saved}
}

// fresh is a world at the start of a conversation.
func (w *worlds) fresh(c *conversation) *world {
	if seed := c.seed(); seed != "" {
		if state, err := parseLedger(seed); err == nil {
			return &world{fs: reference.Restore(c.options(w.options), state)}
		}
	}
	return &world{fs: reference.New(c.options(w.options))}
}

// save keeps a copy if it is time for one.
func (w *worlds) save(of *world, k key, steps int) {
	if steps-of.saved < saveEvery {
		return
	}
	of.saved = steps
	w.put(&keptWorld{key: k, world: &world{fs: of.fs.Clone(), saved: steps}, copy: true})
}

// keep holds a world for the prompt that goes on from it.
func (w *worlds) keep(of *world, k key, steps int) {
	w.save(of, k, steps)
	w.put(&keptWorld{key: k, world: of})
}

// put makes room for a world. Where there is one already, they are the same,
// and a copy is worth more.
func (w *worlds) put(k *keptWorld) {
	k.bytes = k.world.fs.Footprint()
	w.mu.Lock()
	defer w.mu.Unlock()
	if old := w.kept[k.key]; old != nil {
		if old.Value.(*keptWorld).copy {
			return
		}
		w.drop(old)
	}
	w.kept[k.key] = w.used.PushFront(k)
	w.bytes += k.bytes
	for w.bytes > w.most && w.used.Len() > 1 {
		w.drop(w.used.Back())
	}
}

func (w *worlds) drop(e *list.Element) {
	kept := w.used.Remove(e).(*keptWorld)
	delete(w.kept, kept.key)
	w.bytes -= kept.bytes
}

package serve

// A map of bounded size, and the keys of what is cached.

import (
	"hash/maphash"
	"sync"
)

// generations forgets what has not been used for long: when the young map is
// full, it becomes the old one.
type generations[K comparable, V any] struct {
	most       int // of each map
	mu         sync.Mutex
	young, old map[K]V
}

func newGenerations[K comparable, V any](most int) *generations[K, V] {
	return &generations[K, V]{most: most, young: map[K]V{}}
}

func (g *generations[K, V]) get(k K) (V, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	v, ok := g.young[k]
	if !ok {
		if v, ok = g.old[k]; ok {
			g.add(k, v)
		}
	}
	return v, ok
}

func (g *generations[K, V]) put(k K, v V) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.add(k, v)
}

func (g *generations[K, V]) add(k K, v V) {
	if len(g.young) >= g.most {
		g.old, g.young = g.young, make(map[K]V, g.most/4)
	}
	g.young[k] = v
}

// key stands for a text, or for a row of texts.
type key struct{ a, b uint64 }

var seedA, seedB = maphash.MakeSeed(), maphash.MakeSeed()

func keyOf(text string) key { return key{maphash.String(seedA, text), maphash.String(seedB, text)} }

// then is the key of what k stands for and others after it.
func (k key) then(more ...key) key {
	for _, m := range more {
		pair := [2]key{k, m}
		k = key{maphash.Comparable(seedA, pair), maphash.Comparable(seedB, pair)}
	}
	return k
}

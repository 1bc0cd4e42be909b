package serve

// What of a prompt is cached, by OpenAI's rule: the longest beginning that an
// earlier prompt with the same key has had, in steps of 128 tokens from 1,024
// on. Whole messages are compared exactly; of the first message that differs
// the common part counts by its share of the bytes.

import "strings"

const (
	leastCached = 1024
	cachedStep  = 128
	mostKept    = 64 << 10 // bytes of a message that are kept for comparison
)

type promptCache struct {
	seen     *generations[key, struct{}]
	siblings *generations[key, string] // what came after a beginning, the last time
}

func newPromptCache() *promptCache {
	return &promptCache{newGenerations[key, struct{}](1 << 17), newGenerations[key, string](1 << 11)}
}

// cached notes a prompt and says how many of its tokens were cached. lead are
// the tokens before the first message.
func (c *promptCache) cached(start key, lead int, messages []message) int {
	chain := make([]key, len(messages)+1)
	chain[0] = start
	for i := range messages {
		chain[i+1] = chain[i].then(messages[i].key)
	}
	at := len(messages)
	for at >= 0 && !c.has(chain[at]) {
		c.seen.put(chain[at], struct{}{})
		at--
	}
	common := 0
	if at >= 0 {
		common = lead
		for i := range messages[:at] {
			common += messages[i].tokens
		}
	}
	if next := max(at, 0); next < len(messages) {
		if at >= 0 {
			common += c.partly(chain[at], &messages[next])
		}
		raw := messages[next].raw
		c.siblings.put(chain[next], strings.Clone(raw[:min(len(raw), mostKept)]))
	}
	if common < leastCached {
		return 0
	}
	return common / cachedStep * cachedStep
}

func (c *promptCache) has(k key) bool {
	_, ok := c.seen.get(k)
	return ok
}

// partly is how many tokens a message has in common with its sibling.
func (c *promptCache) partly(after key, m *message) int {
	sibling, _ := c.siblings.get(after)
	n := 0
	for n < len(sibling) && n < len(m.raw) && sibling[n] == m.raw[n] {
		n++
	}
	return m.tokens * n / max(len(m.raw), 1)
}

package serve

// A conversation with a filesystem, as package session holds it: which requests
// there have been, what was answered, and what is asked now.

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/llmfs-raw/llmfs-raw/internal/model/reference"
)

// conversation is what messages say.
type conversation struct {
	system []message
	steps  []step
	chain  []key // chain[i] stands for everything before step i
	user   key   // of the last message
	last   envelope
}

// step is a pair. assistant is nil where nothing was answered.
type step struct{ user, assistant *message }

// envelope is what a user's message holds; a bare request is one, too.
type envelope struct {
	request string // JSON; "" where the message asks nothing
	op      string
	since   []string
	ledger  string // JSON, or ""
	left    leftOut
	invalid bool
}

// leftOut is what the ledger has and does not show.
type leftOut struct{ bytes, xattrs, entries bool }

func parseEnvelope(text string) (e envelope) {
	if len(text) == 0 || text[0] != '{' || !gjson.Valid(text) {
		return e
	}
	v := gjson.Parse(text)
	if op := v.Get("Op"); op.Type == gjson.String {
		return envelope{request: text, op: op.Str}
	}
	request := v.Get("Request")
	if op := request.Get("Op"); op.Type == gjson.String {
		e.request, e.op = request.Raw, op.Str
	}
	for _, since := range v.Get("Since").Array() {
		e.since = append(e.since, since.Raw)
	}
	e.ledger, e.invalid = v.Get("Ledger").Raw, v.Get("Invalid").Exists()
	e.left = leftOut{v.Get("LeftOut.Bytes").Int() > 0, v.Get("LeftOut.Xattrs").Int() > 0, v.Get("LeftOut.Entries").Int() > 0}
	return e
}

// converse reads messages: system messages wherever they are, and pairs. Where
// the last message mends an answer, the request as it was first asked is the
// last one: it has the ledger.
func converse(messages []message) *conversation {
	c := &conversation{}
	for i := range messages {
		m := &messages[i]
		switch {
		case m.role == roleSystem || m.role == roleDeveloper:
			c.system = append(c.system, *m)
		case m.role == roleUser:
			c.steps = append(c.steps, step{user: m})
		case m.role == roleAssistant && len(c.steps) > 0:
			c.steps[len(c.steps)-1].assistant = m
		}
	}
	if k := len(c.steps) - 1; k >= 0 && c.steps[k].assistant == nil {
		c.ask(c.steps[k].user)
		c.steps = c.steps[:k]
	}
	if k := len(c.steps) - 1; k >= 0 && c.last.invalid {
		c.ask(c.steps[k].user)
		c.steps = c.steps[:k]
	}
	c.link()
	return c
}

func (c *conversation) ask(m *message) { c.user, c.last = m.key, parseEnvelope(m.content()) }

func (c *conversation) link() {
	k := key{}
	for i := range c.system {
		k = k.then(c.system[i].key)
	}
	c.chain = append(make([]key, 0, len(c.steps)+1), k)
	for _, step := range c.steps {
		k = k.then(step.keys()...)
		c.chain = append(c.chain, k)
	}
}

func (s *step) keys() []key {
	if s.assistant == nil {
		return []key{s.user.key, {}}
	}
	return []key{s.user.key, s.assistant.key}
}

// world is the key of the conversation as such.
func (c *conversation) world() key { return c.chain[0] }

// now stands for everything before the last message, after for that and an answer.
func (c *conversation) now() key { return c.chain[len(c.chain)-1] }

func (c *conversation) after(answer string) key {
	return c.now().then(c.user, keyOfMessage(roleAssistant, answer))
}

// seed is the ledger of what existed from the start, which a system message may
// have on a line of its own, or "".
func (c *conversation) seed() string {
	const start = "\n" + `{"Nodes":[`
	for i := range c.system {
		if _, after, ok := strings.Cut(c.system[i].content(), start); ok {
			line, _, _ := strings.Cut(after, "\n")
			return start[1:] + line
		}
	}
	return ""
}

// settings are mount options that a system message may have, as JSON on a line of
// their own after "Mount options: "; nil where there are none.
func (c *conversation) settings() (all map[string]string) {
	const start = "\nMount options: "
	for i := range c.system {
		if _, after, ok := strings.Cut(c.system[i].content(), start); ok {
			line, _, _ := strings.Cut(after, "\n")
			if json.Unmarshal([]byte(line), &all) == nil {
				return all
			}
		}
	}
	return nil
}

// options are those of the conversation, or else those given.
func (c *conversation) options(otherwise reference.Options) reference.Options {
	settings := c.settings()
	if settings == nil {
		return otherwise
	}
	o, err := reference.FromSettings(settings)
	if err != nil {
		return otherwise
	}
	return o
}

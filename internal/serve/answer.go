package serve

// From a conversation to what is answered.

import (
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/internal/model/reference"
	"github.com/llmfs-raw/llmfs-raw/proto"
	"github.com/llmfs-raw/llmfs-raw/schema"
)

// said is an answer before it has the form of either API.
type said struct {
	id        string
	created   int64
	content   string
	null      bool // content is null
	reasoning string
	refusal   string
	finish    string // stop, length, content_filter
	empty     bool   // there is no choice
	usage     usage
}

// usage is what an answer has cost, in tokens.
type usage struct{ prompt, cached, completion int }

const (
	stop          = "stop"
	length        = "length"
	contentFilter = "content_filter"
)

// say answers a question.
func (s *Server) say(a *ask) *said {
	out := &said{id: s.newID(idPrefixes[a.api]), created: time.Now().Unix(), finish: stop}
	out.usage.prompt = a.tokens(s.tokens)
	out.usage.cached = s.prompts.cached(a.start(), a.lead(s.tokens), a.messages)
	switch {
	case !a.format.ours():
		out.refusal, out.null = "I am a filesystem: I answer requests of a kernel, in the form that package schema gives to replies.", true
	case a.format.kind == "text" && a.talk.last.request == "":
		out.content = "I am a filesystem. Ask me as a kernel would, in JSON."
	default:
		out.content = s.reply(a)
	}
	return out
}

var idPrefixes = map[string]string{"chat": "chatcmpl-", "responses": "resp_"}

// reply is the answer to the last request of a conversation, as the history
// will have it.
func (s *Server) reply(a *ask) string {
	c := a.talk
	switch {
	case c.last.request == "":
		return a.wrap(fail)
	case c.last.ledger != "":
		return a.wrap(s.replyByLedger(a))
	}
	w := s.worlds.at(c)
	w.quietly(c.last.since)
	answer := a.wrap(s.answer(a, w))
	s.worlds.keep(w, c.after(answer), len(c.steps)+1)
	return answer
}

func (a *ask) wrap(reply []byte) string { return string(schema.Wrap(a.format.fit(reply))) }

// replyByLedger needs nothing but the ledger. What it would need and does not
// see it does not make up.
func (s *Server) replyByLedger(a *ask) []byte {
	c := a.talk
	state, err := parseLedger(c.last.ledger)
	if err != nil || c.last.blind() {
		return fail
	}
	state.Page, state.End = true, !c.last.left.entries
	dense(state)
	return s.answer(a, &world{fs: reference.Restore(c.options(s.o.World), state)})
}

// answer is a world's reply, as short as the schema allows.
func (s *Server) answer(a *ask, w *world) []byte {
	c := a.talk
	if !s.o.World.Plain || !strings.HasSuffix(a.format.name, "_lean") {
		return s.numbers.serve(c.world(), w, c.last.request)
	}
	req, err := proto.ParseRequestJSON([]byte(c.last.request))
	if err != nil {
		return fail
	}
	var known before
	known.attr, known.ok = w.fs.Attr(req.Header.NodeId)
	return schema.Shorten(req, s.numbers.serve(c.world(), w, c.last.request), &known)
}

// before is the node of a request as it was.
type before struct {
	attr fuse.Attr
	ok   bool
}

// Attr implements schema.Attrs.
func (b *before) Attr(uint64) (fuse.Attr, bool) { return b.attr, b.ok }

// dense gives files the blocks that they have without holes, at least: a ledger
// has their number from before they were written.
func dense(s *reference.State) {
	const perPage, pageSize = 8, 4096
	for i := range s.Nodes {
		if a := s.Nodes[i].Attr; a != nil && a.Mode&syscall.S_IFMT == syscall.S_IFREG {
			a.Blocks = max(a.Blocks, (a.Size+pageSize-1)/pageSize*perPage)
		}
	}
}

// asksXattrs are requests whose reply is extended attributes.
var asksXattrs = []string{"GETXATTR", "LISTXATTR"}

// blind says whether what was left out would be the reply.
func (e *envelope) blind() bool {
	return e.left.bytes || e.left.xattrs && slices.Contains(asksXattrs, e.op)
}

// limit cuts an answer to the length that was asked for, and counts it.
func (s *Server) limit(a *ask, out *said) {
	if a.most > 0 && out.content != "" {
		if cut, shorter := s.tokens.cut(out.content, a.most); shorter {
			out.content, out.finish = cut, length
		}
	}
	out.usage.completion = s.tokens.count(out.content) + s.tokens.count(out.reasoning) + s.tokens.count(out.refusal)
}

package serve

// A filesystem that goes along with a conversation.

import (
	"context"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/internal/model/reference"
	"github.com/llmfs-raw/llmfs-raw/proto"
	"github.com/llmfs-raw/llmfs-raw/schema"
)

// world has answered the requests of some beginning of a conversation.
type world struct {
	fs    *reference.FS
	saved int // steps at which it was last saved
}

// fail is the reply to what can't be answered.
var fail = []byte(`{"Errno":5}`)

// serve answers one request.
func (w *world) serve(request string) []byte {
	answer, err := w.fs.Answer(context.Background(), &model.Prompt{Request: []byte(impatient(request))})
	if err != nil {
		return fail
	}
	return answer.Reply
}

// impatient makes a request that would wait for a lock one that fails with
// EAGAIN: the lock can only go in another message, which this one is not going
// to see.
func impatient(request string) string {
	const waits, doesNot = `"Op":"SETLKW"`, `"Op":"SETLK"`
	if gjson.Get(request, "Op").Str != "SETLKW" {
		return request
	}
	return strings.Replace(request, waits, doesNot, 1)
}

// given are the numbers that a recorded answer gives out, if it does.
func given(answer gjson.Result) (n reference.Numbers) {
	out := answer.Get("Out")
	for _, path := range []string{"NodeId", "EntryOut.NodeId"} {
		n.Node = max(n.Node, out.Get(path).Uint())
	}
	for _, path := range []string{"Fh", "OpenOut.Fh"} {
		n.Fh = max(n.Fh, out.Get(path).Uint())
	}
	return n
}

// replay brings the world to where it was after a step. What was answered is
// true: a request that failed changes nothing, numbers are those that were
// told, and what the world does not know it takes over.
func (w *world) replay(s step) {
	e := parseEnvelope(s.user.content())
	w.quietly(e.since)
	if e.request == "" || s.assistant == nil {
		return
	}
	told := gjson.Get(s.assistant.content(), "Reply")
	if !told.IsObject() || told.Get("Errno").Int() != 0 {
		return
	}
	reply := w.as(given(told), e.request)
	if string(reply) != told.Raw {
		w.adopt(e.request, told.Raw)
	}
}

func (w *world) quietly(requests []string) {
	for _, r := range requests {
		w.serve(r)
	}
}

// as answers a request with the numbers that it is known to give out, as far as
// they are free.
func (w *world) as(n reference.Numbers, request string) []byte {
	before := w.fs.Numbers()
	next := before
	if n.Node > 0 && w.fs.Free(reference.Numbers{Node: n.Node}) {
		next.Node = n.Node - 1
	}
	if n.Fh > 0 && w.fs.Free(reference.Numbers{Fh: n.Fh}) {
		next.Fh = n.Fh - 1
	}
	if next == before {
		return w.serve(request)
	}
	w.fs.SetNumbers(next)
	reply := w.serve(request)
	after := w.fs.Numbers()
	w.fs.SetNumbers(reference.Numbers{Node: max(before.Node, after.Node), Fh: max(before.Fh, after.Fh)})
	return reply
}

// adopt takes over what another answerer, or this one in another state, said.
func (w *world) adopt(request, told string) {
	req, err := proto.ParseRequestJSON([]byte(request))
	if err != nil {
		return
	}
	whole, err := schema.Complete(req, []byte(told), w.fs)
	if err != nil {
		return
	}
	if reply, err := proto.ParseReplyJSON(req, whole); err == nil {
		w.fs.Adopt(req, reply)
	}
}

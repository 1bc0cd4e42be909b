package score

// The funnel: answered, valid, decodable, acceptable, correct.

import (
	"bytes"
	"errors"

	"github.com/tidwall/gjson"

	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/proto"
	"github.com/llmfs-raw/llmfs-raw/schema"
)

// Result is what a reply is worth.
type Result struct {
	Stage     evals.Stage
	Credit    float64
	WantErrno string
	HaveErrno string
	Diffs     []Diff
	Problems  []string

	Reply *proto.Reply // nil where it could not be decoded
}

// Step scores the bytes that answer pair i; none stand for no answer. known is
// what a lean reply need not say again; it may be nil.
func (s *State) Step(i int, raw []byte, known schema.Attrs) *Result {
	gold := s.gold.Pairs[i]
	req := s.Request(i)
	r := &Result{Stage: evals.Unanswered, WantErrno: errnoText(errnoOf(gold.Req.Op, gold.Rep))}
	s.said = nil
	if len(raw) == 0 {
		return r
	}
	if s.Bare {
		raw = schema.Wrap(raw)
	}
	r.HaveErrno = errnoIn(raw)
	if !r.read(s, req, raw, known) {
		return r
	}
	r.HaveErrno = errnoText(errnoOf(req.Op, r.Reply))
	violations := schema.Check(req, r.Reply, nodes{s, i})
	if len(violations) == 0 {
		r.Stage = evals.Acceptable
	}
	for _, v := range violations {
		r.Problems = append(r.Problems, v.String())
	}
	c := &comparison{gold: s.gold, req: gold.Req, renaming: s.ids(i).over()}
	c.reply(s.gold.pages[i], s.before(i), gold.Rep, r.Reply)
	r.Diffs, r.Credit = c.diffs, c.credit()
	if r.Stage == evals.Acceptable && len(c.diffs) == 0 {
		r.Stage = evals.Correct
		if s.renaming != nil {
			s.said = c.renaming
		}
	}
	return r
}

// read decodes the reply, into the kernel's bytes and not only into structs.
func (r *Result) read(s *State, req *proto.Request, raw []byte, known schema.Attrs) bool {
	r.Stage = evals.Answered
	reply, err := decode(s.Fields, req, raw, known)
	if err != nil || !canonical(req, reply, raw) {
		if invalid := schema.Validate(req.Op, s.Fields, raw); invalid != nil {
			r.problem(invalid)
			return false
		}
	}
	r.Stage = evals.Valid
	if err == nil {
		_, _, err = s.gold.wire.EncodeReply(nil, req, reply)
	}
	if err != nil {
		r.problem(err)
		return false
	}
	r.Stage, r.Reply = evals.Decodable, reply
	return true
}

// canonical tells whether a reply is as the codec writes it. Then the schema lets
// it through, which is much faster to find out so.
func canonical(req *proto.Request, r *proto.Reply, raw []byte) bool {
	const few = 100 // schemas bound the length of lists
	if len(r.Entries) > few || len(r.Notify) > few {
		return false
	}
	text, err := proto.AppendReplyJSON(make([]byte, 0, len(raw)), req, r)
	return err == nil && bytes.Equal(schema.Wrap(text), raw)
}

func decode(form schema.Form, req *proto.Request, raw []byte, known schema.Attrs) (*proto.Reply, error) {
	inner, err := schema.Unwrap(raw)
	if err != nil {
		return nil, err
	}
	if form == schema.Lean {
		if inner, err = schema.Complete(req, inner, known); err != nil {
			return nil, err
		}
	}
	return proto.ParseReplyJSON(req, inner)
}

func (r *Result) problem(err error) {
	var invalid *schema.Invalid
	if !errors.As(err, &invalid) {
		r.Problems = append(r.Problems, err.Error())
		return
	}
	for _, v := range invalid.Violations {
		r.Problems = append(r.Problems, v.String())
	}
}

// errnoIn is the errno of a reply that need not be valid, "" where it has none.
func errnoIn(raw []byte) string {
	e := gjson.GetBytes(raw, "Reply.Errno")
	if e.Type != gjson.Number {
		return ""
	}
	return errnoText(errnoNumber(e.Int()))
}

package session

// A language model's answer: taken out of its wrapping, checked, completed.

import (
	"bytes"
	"encoding/json"
	"errors"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/proto"
	"github.com/llmfs-raw/llmfs-raw/schema"
)

func (s *Session) schemaOf(op proto.Opcode) model.Schema { return schemaOf(op, s.opts.Fields) }

func schemaOf(op proto.Opcode, form schema.Form) model.Schema {
	f := schema.For(op, form)
	return model.Schema{Name: f.Name, JSON: f.JSON}
}

// Schemas lists what a session's answers are asked for with, so that servers
// can compile it beforehand.
func Schemas(form schema.Form) (list []model.Schema) {
	for _, row := range proto.Rows() {
		if asked(row) {
			list = append(list, schemaOf(row.Op, form))
		}
	}
	return list
}

// asked tells whether requests of a row reach a language model on a plain mount.
func asked(row *proto.Row) bool {
	return row.Unsent == "" && !unread(row.Op) && row.Op != proto.OpInit
}

// read is the reply in an answer and, for the history, the answer in canonical
// form; or what is wrong with it.
func (s *Session) read(req *proto.Request, answer []byte) (reply *proto.Reply, said string, wrong []string) {
	if err := schema.Validate(req.Op, s.opts.Fields, answer); err != nil {
		return nil, "", faults(err)
	}
	inner, err := schema.Unwrap(answer)
	if err != nil {
		return nil, "", faults(err)
	}
	whole := inner
	if s.opts.Fields == schema.Lean {
		if whole, err = schema.Complete(req, inner, s.memory.ledger); err != nil {
			return nil, "", faults(err)
		}
	}
	if reply, err = proto.ParseReplyJSON(req, whole); err != nil {
		return nil, "", faults(err)
	}
	for _, v := range schema.Check(req, reply, s.memory.ledger) {
		wrong = append(wrong, v.String())
	}
	if req.Op == proto.OpOpen && reply.Errno == syscall.ENOSYS && !s.opts.OpenOff {
		wrong = append(wrong, openStaysOn)
	}
	return reply, s.canonical(req, reply, inner), wrong
}

const openStaysOn = "Errno: have ENOSYS, want another answer (without OPEN nobody would tell about O_TRUNC)"

// canonical is an accepted answer without white space: all fields as the codec
// writes them, or the lean ones as the model gave them.
func (s *Session) canonical(req *proto.Request, reply *proto.Reply, inner []byte) string {
	if s.opts.Fields == schema.All {
		if text, err := proto.AppendReplyJSON(nil, req, reply); err == nil {
			return string(schema.Wrap(text))
		}
	}
	var b bytes.Buffer
	if err := json.Compact(&b, inner); err != nil {
		return string(schema.Wrap(inner))
	}
	return string(schema.Wrap(b.Bytes()))
}

// faults is a line for each thing that is wrong.
func faults(err error) []string {
	var invalid *schema.Invalid
	if !errors.As(err, &invalid) {
		return []string{err.Error()}
	}
	var lines []string
	for _, v := range invalid.Violations {
		lines = append(lines, v.String())
	}
	return lines
}

// Type implements schema.Known.
func (l *ledger) Type(id uint64) (bits uint32, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.nodes[id]
	if n == nil || !n.told {
		return 0, false
	}
	return n.kind(), true
}

// Attr implements schema.Attrs.
func (l *ledger) Attr(id uint64) (fuse.Attr, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.nodes[id]
	if n == nil || !n.told {
		return fuse.Attr{}, false
	}
	return n.attr, true
}

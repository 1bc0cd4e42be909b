package schema

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// The steps that a reply goes through, one by one.
func BenchmarkReply(b *testing.B) {
	req := &proto.Request{Op: proto.OpLookup, Names: []string{"a"}}
	whole, lean := []byte(entry), []byte(`{"Errno":0,"Out":{"NodeId":2,"Attr":{"Size":12,`+stat+`}}}`)
	wrapped := Wrap(whole)
	reply, err := proto.ParseReplyJSON(req, whole)
	require.NoError(b, err)
	require.NoError(b, Validate(req.Op, All, wrapped))
	for name, step := range map[string]func() error{
		"unwrap":   func() error { _, err := Unwrap(wrapped); return err },
		"validate": func() error { return Validate(req.Op, All, wrapped) },
		"complete": func() error { _, err := Complete(req, lean, nil); return err },
		"check":    func() error { Check(req, reply, known); return nil },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				require.NoError(b, step())
			}
		})
	}
}

// All schemas, made from the table: once in a process.
func BenchmarkSchemas(b *testing.B) {
	for b.Loop() {
		for _, row := range proto.Rows() {
			if row.Reply != proto.ReplyNone {
				reflectReply(row, Lean)
			}
		}
	}
}

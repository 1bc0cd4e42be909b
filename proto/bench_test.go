package proto

import (
	"crypto/rand"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/require"
)

// The whole way of a LOOKUP and its EntryOut: wire → JSON → wire, both ways.
func BenchmarkLookupBothWays(b *testing.B) {
	req, reply := lookup()
	reqBytes, err := whole.AppendRequest(nil, req)
	require.NoError(b, err)
	repBytes, err := whole.AppendReply(nil, req, reply)
	require.NoError(b, err)
	var text, wire []byte
	b.ReportAllocs()
	for b.Loop() {
		r, _ := whole.DecodeRequest(reqBytes)
		r.Header.Comm, r.Header.Now = "sh", Time{Sec: 1767322445, Nsec: 6}
		text, _ = AppendRequestJSON(text[:0], r)
		r2, err := ParseRequestJSON(text)
		if err != nil {
			b.Fatal(err)
		}
		wire, _ = whole.AppendRequest(wire[:0], r2)

		a, _ := whole.DecodeReply(r2, repBytes)
		text, _ = AppendReplyJSON(text[:0], r2, a)
		a2, err := ParseReplyJSON(r2, text)
		if err != nil {
			b.Fatal(err)
		}
		wire, _ = whole.AppendReply(wire[:0], r2, a2)
	}
}

// The JSON part of it, here and over encoding/json on the same structs.
func BenchmarkLookupJSON(b *testing.B) {
	req, reply := lookup()
	b.Run("proto", func(b *testing.B) {
		var text []byte
		b.ReportAllocs()
		for b.Loop() {
			text, _ = AppendRequestJSON(text[:0], req)
			if _, err := ParseRequestJSON(text); err != nil {
				b.Fatal(err)
			}
			text, _ = AppendReplyJSON(text[:0], req, reply)
			if _, err := ParseReplyJSON(req, text); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		type request struct {
			Op     string
			Header Header
			Names  []string
		}
		type answer struct {
			Errno int
			Out   *fuse.EntryOut
		}
		in, out := request{Op: "LOOKUP", Header: req.Header, Names: req.Names}, answer{Out: reply.Out.(*fuse.EntryOut)}
		b.ReportAllocs()
		for b.Loop() {
			var r request
			text, _ := json.Marshal(in)
			if err := json.Unmarshal(text, &r); err != nil {
				b.Fatal(err)
			}
			var a answer
			text, _ = json.Marshal(out)
			if err := json.Unmarshal(text, &a); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkSteps(b *testing.B) {
	req, reply := lookup()
	reqBytes, _ := whole.AppendRequest(nil, req)
	repBytes, _ := whole.AppendReply(nil, req, reply)
	reqText, _ := AppendRequestJSON(nil, req)
	repText, _ := AppendReplyJSON(nil, req, reply)
	var buf []byte
	for _, step := range []struct {
		name string
		run  func() error
	}{
		{"decode-request", func() error { _, err := whole.DecodeRequest(reqBytes); return err }},
		{"request-to-json", func() (err error) { buf, err = AppendRequestJSON(buf[:0], req); return err }},
		{"request-from-json", func() error { _, err := ParseRequestJSON(reqText); return err }},
		{"encode-request", func() (err error) { buf, err = whole.AppendRequest(buf[:0], req); return err }},
		{"decode-reply", func() error { _, err := whole.DecodeReply(req, repBytes); return err }},
		{"reply-to-json", func() (err error) { buf, err = AppendReplyJSON(buf[:0], req, reply); return err }},
		{"reply-from-json", func() error { _, err := ParseReplyJSON(req, repText); return err }},
		{"encode-reply", func() (err error) { buf, err = whole.AppendReply(buf[:0], req, reply); return err }},
	} {
		b.Run(step.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := step.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Payloads of 1 MiB to JSON and back.
func BenchmarkPayload(b *testing.B) {
	random := make([]byte, 1<<20)
	_, _ = rand.Read(random)
	for name, data := range map[string][]byte{
		"binary": random,
		"text":   []byte(strings.Repeat("The quick brown fox jumps over the lazy dog. ", 1<<20/45)),
		"lines":  []byte(strings.Repeat("package proto // the wire\n", 1<<20/26)),
		"prose":  []byte(strings.Repeat("the quick brown fox jumps over the lazy dog, 0123456789 times\n", 1<<20/62)),
	} {
		req := &Request{Op: OpWrite, In: &fuse.WriteIn{Size: uint32(len(data))}, Data: data}
		text, err := AppendRequestJSON(nil, req)
		require.NoError(b, err)
		b.Run("to-json/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				text, _ = AppendRequestJSON(text[:0], req)
			}
		})
		b.Run("from-json/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := ParseRequestJSON(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

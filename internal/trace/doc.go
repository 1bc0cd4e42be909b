// Package trace records what happened between the kernel and whatever
// answered it, and reads it back: one request and its reply a line.
//
// # Format
//
// A trace is JSONL: UTF-8, one JSON object a line, each line ended by "\n" and
// at most [MaxLine] bytes long. A file whose name ends in .zst is one zstd
// frame of the same lines. Readers go by the content, not by the name.
//
// The first line is the header:
//
//	trace    string   always "llmfs-raw"
//	version  integer  the version of the format, 1; see below
//	created  string   when recording began, RFC 3339
//	wire     object   null, or what INIT had negotiated before recording began:
//	  minor         integer  minor version of the FUSE protocol, 7.minor
//	  setxattr_ext  boolean  SETXATTR has 16 bytes before its name, not 8
//	model    string   what answered
//	options  object   strings by name: the settings that shaped the answers
//
// Each further line is a pair, in the order in which replies were made:
//
//	req      object   the request, as [proto.AppendRequestJSON] writes it
//	rep      object   the reply, as [proto.AppendReplyJSON] writes it; null for
//	                  requests that take none (FORGET, BATCH_FORGET, INTERRUPT)
//	ns       integer  nanoseconds from reading the request to having its reply
//	usage    object   what the answer cost; left out where all of it is zero:
//	  input_tokens   integer  tokens of the prompt, cached ones included
//	  cached_tokens  integer  tokens of the prompt that were read from a cache
//	  output_tokens  integer  tokens of the answer
//	kernel   object   only where kernel bytes are recorded:
//	  req  string  base64: the whole message read from /dev/fuse
//	  rep  string  base64: the whole message written back; null where there was none
//	note     string   what the daemon did by itself ("interrupted", "deadline",
//	                  "reply refused: …"); left out where it did nothing
//
// The INIT pair is part of the trace. Readers take from it what wire says.
//
// Keys stand in the order above and without white space, so a trace that is
// read and written again is the same bytes.
//
// # Versions
//
// A new key does not change the version: readers ignore keys that they do not
// know. A change of meaning does, and readers refuse versions above their own.
// Version 0, without a header and with the flat structs of encoding/json, is
// still read; see upgrade.go.
//
// # What is never lost
//
// Each pair is handed to the kernel by one write(2), compressed or not, before
// [Writer.Write] returns. A daemon that writes the pair before it answers the
// request loses nothing that any program has seen, however the daemon ends. A
// crash of the whole machine can cost the last seconds: there is no fsync(2).
// What a killed daemon leaves is at worst a torn last line, which [Reader]
// leaves out and reports by [Reader.Truncated]. A zstd frame without an end is
// reported, too, though all its lines may be whole.
package trace

// Package serve is the other side of the wire: an OpenAI-compatible server that
// answers from the filesystem of package reference, by reading the messages. It
// is a model to test against, with usage, latency and faults.
//
// # Endpoints
//
// GET /v1/models and /v1/models/{id}; POST /v1/chat/completions and
// /v1/responses, streamed or not; POST, GET and DELETE of /v1/files, with
// /content; POST and GET of /v1/batches, with /cancel. What OpenAI refuses is
// refused with its status, type, code and param: a missing key, unknown fields,
// values out of range, schemas outside of the portable subset under strict.
// Not served: tools, images, audio, stored responses, n above 1.
//
// # Where the answers come from
//
// A conversation is what package session documents. All state is in it: no
// answer depends on what the server remembers, but for the numbers under
// "Parallel prompts".
//
// Without a ledger, the requests of all user messages, those of Since included,
// are replayed on a new filesystem. It is kept for the prompt that goes on from
// there; a prompt that branches off starts at a copy, one of which is made every
// 32 steps. What an assistant's message says was told to the kernel, so it is
// true where the replay differs: a request that failed is not replayed; nodes
// and handles get the numbers that were told; nodes, names, handles and bytes
// that the replay does not know are taken over, as after another model, or in
// a window. What the replay knows stays: of requests that were answered in
// parallel, the later one may be told the older state. A failed flock(2)
// conversion, which loses the lock that it had, is the one failure with an
// effect; it is lost.
//
// With a ledger, the filesystem is made of the ledger alone, for one answer. A
// READ of bytes that LeftOut counts, and a GETXATTR or LISTXATTR where it counts
// Xattrs, get EIO: nothing is made up. What a ledger does not hold: flags of
// chattr(1); blocks reserved by fallocate(2) and holes that were read, so LSEEK
// may take one for the other; atime since it was last told; birth times; Blocks,
// which are taken to be those of a file without holes where no more were told;
// ACLs that were inherited, and a capability that a write has taken away; the
// whiteout that RENAME2 left; the order of locks that GETLK looks through; the
// order of a directory's names and their cookies, which stay what was told, with
// new names last.
//
// The filesystem is mounted as the server's options say, or as a line of a system
// message does, "Mount options: " and an object as the header of a trace has it.
//
// In a window, a node that was not mentioned within it is ESTALE and a name
// missing. A tree that a system message shows as a seed is there from the start.
// SETLKW of a lock that is held fails with EAGAIN: another prompt would have to
// free it. What is no request gets EIO, a schema that is not of a reply a refusal.
// Notifications are left out where the schema has none: then a kernel that has
// cached the mode of a file does not hear that FALLOCATE, say, has cleared bits.
// Replies are whole in lean form, too, which lets fields out, but need not.
//
// # Parallel prompts
//
// Two prompts with the same past would both give out the next number. A number
// that went into an answer is not given to another request for 5 minutes, even
// if the answer was dropped; the same request, by Unique and Now, gets it again.
// So numbers are dense in a session without parallel requests, and have gaps
// otherwise. A conversation is told by its system message, and mounts with the
// same one by Unique, which rises with Now.
//
// # Usage
//
// Tokens of o200k: every message costs 4 more than its content, a prompt 3 more,
// and its schema counts. Cached tokens are what an earlier prompt with the same
// prompt_cache_key, model and schema began with: whole messages, and of the next
// one its share of bytes; in steps of 128, from 1,024 on.
//
// # Faults
//
// A script is YAML, or JSON, with a seed and rules:
//
//	seed: 7
//	rules:
//	  - do: latency            # goes together with another rule
//	    first_token: 300ms
//	    tokens_per_second: 80
//	  - name: busy             # for the log
//	    endpoint: chat         # or a list; chat, responses, files, batches, models
//	    op: [READ, WRITE]      # opcodes; without it every request
//	    from: 10               # of those requests the 10th to the 100th
//	    to: 100
//	    every: 5               # of those every fifth: 14, 19 …
//	    probability: 0.5       # of those half, by the seed
//	    times: 3               # and no more than 3
//	    do: error
//	    status: 429
//	    retry_after: 2s
//
// Every rule counts the requests that its endpoint, op and model name. Of rules
// that hit a request the first one counts, and the first latency. Actions, each
// with its keys and what they are by default:
//
//	latency         first_token, tokens_per_second (all at once)
//	error           status (500), retry_after, and code, type, message (OpenAI's)
//	reset           after: bytes of the answer's body (0: before the answer, by RST)
//	hang            for: how long, and then the answer (without end)
//	trickle         bytes (1) at a time, pause (100ms)
//	truncate        tokens (8): cut there, finish_reason length
//	refuse          text
//	content_filter  no content, finish_reason content_filter
//	empty_choices
//	garbage         text: no JSON
//	fence           the reply in ```json, after a line of prose
//	whitespace      count (4096) line breaks within the JSON, finish_reason length
//	wrong           field: "Out.Attr.Size"; valid, but not true (a number of the reply)
//	invalid         JSON that is no reply
//	null_content
//	reasoning       the reply in reasoning_content
//
// Batches see error and what changes content; other endpoints see error, reset,
// hang and first_token.
package serve

// Package command asks a program: any script or local model that reads and
// writes lines of JSON can serve a mount.
//
// # Protocol
//
// The command is started once, by sh -c, with its own process group. Each line
// on its standard input is one message, ended by "\n", UTF-8, at most
// [MaxLine] bytes:
//
//	{"id":7,"op":"LOOKUP","request":{…},"messages":[…],"schema":{"name":"LOOKUP","schema":{…}}}
//	{"cancel":7}
//
// id counts from 1 and is never used twice. request is the kernel's request.
// messages (role and content, as chat completions have them) and schema, the
// JSON Schema of the reply, are left out where the session makes none.
//
// Each line on its standard output is an answer, in any order:
//
//	{"id":7,"reply":{"Errno":2}}
//	{"id":7,"reply":{…},"usage":{"input_tokens":900,"cached_tokens":800,"output_tokens":40}}
//	{"id":7,"error":"what went wrong"}
//
// testdata/hello.py is an example, a filesystem with one file.
//
// Requests come while others are unanswered; a program that handles one at a
// time is right, too. cancel says that nobody waits for an answer any more; one
// that comes all the same is dropped. Empty lines are skipped.
//
// Standard output is for answers only. A line that is no answer, or is longer
// than MaxLine, means that the two sides are out of step: the program is killed,
// as it is when it dies by itself, and all requests that wait fail. Output for
// people goes to standard error, which is passed on line by line.
//
// A program that has died is started again, after a pause that doubles from
// [Options.Backoff], and at most [Options.Restarts] times without an answer in
// between. Requests that come in the pause wait for its end.
//
// The end of standard input means to end. What is left of the process group
// after [Options.Grace] is killed.
package command

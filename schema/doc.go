// Package schema makes the JSON Schema of an opcode's reply from its row in the
// table of package proto, and checks a model's reply in three steps: against
// the schema ([Validate]), by strict decoding (proto.ParseReplyJSON) and
// against what the kernel takes ([Check]).
//
// The schemas stay within what every engine for structured output supports;
// [Lint] says what that is. Three things follow from it:
//
//   - The root is an object with one member, Reply, because alternatives can't
//     stand at the root: see [Wrap] and [Unwrap].
//   - Alternatives take the place of optional members: a failure, a success
//     and, where a reply holds an entry, a success with notifications.
//   - Integers and bytes are bare references to shared definitions, so fields
//     are described in the definition of their struct.
//
// In the form [Lean] a reply may leave out what nearly always has the same
// value; [Complete] fills it in by [Defaults].
package schema

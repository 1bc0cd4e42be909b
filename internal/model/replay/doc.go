// Package replay serves a recorded trace as a world without a model: the same
// request on the same state gets the same reply, times to live, node ids, handles
// and notifications included.
//
// # Which requests are the same
//
// Those with the same opcode, node, user, group, In, Names and Data. Left out is
// what differs between two runs of one program: the request's number, process,
// program and time; file handles, lock owners and the bits that announce them;
// times in SETATTR that mean "now"; pointers of the caller in IOCTL; and all that
// INIT offers, as that is the kernel's.
//
// # State
//
// The state is a position in the trace. It begins before the first pair, and
// moves only when a change is replayed: a request of an opcode that changes the
// filesystem (see [changes]) which succeeded when it was recorded. A change that
// is asked for gets its reply once, and all that the trace holds up to it is then
// true. Changes that come in another order, as parallel ones do, so each get
// their reply, and the state is that of the last of them in the trace.
//
// Any other request gets, of the replies that were recorded for it, the next one
// that still holds: not one from before the latest change that was replayed, where
// there is one from after it, and none from after the next change that was not
// replayed, unless there is no other. Where it is asked more often than it was
// recorded, its last reply holds.
//
// So a repetition of the recorded requests gets the recorded replies; so do
// requests between two changes in any other order; and requests that the kernel
// asks more or less often than before get what was true at that state.
//
// # What was never recorded
//
// It fails with [Unrecorded], is logged and counted. An opcode that the world
// answered with nothing but ENOSYS, or that was never asked, is ENOSYS, which
// tells the kernel to do without it. Requests whose replies the kernel takes none
// of, or ignores, succeed.
//
// Replies that the daemon made by itself, to requests that were interrupted or
// ran out of time, are no part of the world.
package replay

// Package proto is the FUSE wire protocol as one table: a row for each opcode
// of linux/fuse.h 7.45, a codec for the kernel's bytes and a codec for the
// JSON that a model reads and writes. Both codecs are derived from the row by
// reflection; no opcode has code of its own.
//
// A request travels bytes → [Request] → JSON → [Request], and its answer
// JSON → [Reply] → bytes, without losing a bit.
package proto

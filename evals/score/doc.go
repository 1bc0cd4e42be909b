// Package score holds a reply against what the reference said.
//
// A trace is made ready once, as a [Gold]. A [State] is one way through it:
// forced, where all that went before is gold, or a rollout, where it is what the
// model itself has said, under other numbers. [State.Step] takes the bytes that
// came back and says how far they came and what is wrong with them.
//
// What counts is data: a class for each field of the structs of linux/fuse.h
// (classes.go), and the errnos that POSIX allows besides (errnos.go).
package score

// Package diff is a differential property test of a mounted filesystem.
//
// Random sequences of system calls, made by four processes of three users, are run on a tmpfs and on
// the filesystem under test. Every result, errno, stat field and byte is compared. A sequence that
// differs is shrunk to a short script, which can be pasted into testdata/NAME.script as a named test.
//
//	op.go          one operation as data
//	table.go       one row per system call: arguments, generator, executor
//	args.go        the kinds of argument: how each is generated and checked
//	gen.go         sequences of operations
//	names.go       the generators of paths and descriptors
//	consts.go      names of constants in scripts
//	script.go      operations as text and back
//	call_*.go      the executors, which make the system call
//	snapshot.go    stat and the tree, as a process sees them
//	remove.go      the end of a sequence's tree
//	worker.go      the process that makes the calls
//	proc.go        the worker as seen by the test
//	world.go       two filesystems with their processes, and a sequence run on both
//	compare.go     what has to be equal
//	exclusions.go  what need not be equal, each with the reason
//	shrink.go      a failing script made short
//	target.go      the filesystems: a tmpfs, a mount of the command
package diff

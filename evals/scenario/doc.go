// Package scenario runs the scripts of evals/scenarios on a real mount and makes
// traces of them.
//
// A scenario is a testscript whose working directory is the mount. Three sorts of
// processes take part, because a process that serves a mount must never look
// into it: the one that serves and records; the runner, which reads the script;
// and what the runner starts, programs and workers. A worker makes single system
// calls that a shell can't say, as the user that the script names.
//
// The runner tells the recorder when a command of the script has ended. The
// recorder then waits until the kernel has nothing more to say and closes a
// window. Within a window, requests are put into the one order that does not
// depend on scheduling; see canon.go. The gold replies are those of a fresh
// reference filesystem that answers the ordered requests; see gold.go.
//
// A live run (live.go, lively.go) is the same with another filesystem behind the
// mount: any model that a session speaks with. Nothing is recorded or ordered; what
// each command gives is held against a transcript, which is a live run over the
// reference.
package scenario

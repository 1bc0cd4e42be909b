// Package run asks models the steps of a corpus and writes down what they say.
//
// A contestant is either a world, an embedded filesystem that keeps its own
// books, or a language model, which is shown the past as a session shows it. A
// job is one contestant on one trace in one mode and one trial. Jobs run in any
// order and many at a time; the log is always in the same one.
//
// Answers of language models are kept in a file as they come, so that a run that
// was killed goes on where it was, and pays for nothing twice.
package run

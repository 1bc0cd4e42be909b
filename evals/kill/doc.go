// Package kill tests the instrument: it has mutants of the reference, each with
// one known bug, answer the corpus, and says which of them are found out.
//
// A mutant is killed by a tier in a mode if at least one of its replies is not
// correct there. One that nothing kills shows what the corpus does not ask, or
// the scores do not see. The reference itself must be correct throughout, and
// noise must rank in the order of how much of it there is.
package kill

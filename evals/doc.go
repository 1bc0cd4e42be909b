// Package evals holds what an evaluation of models is made of: the corpus of
// recorded traces and the log of a run.
//
// A corpus is a directory of traces (see internal/trace) and a manifest. Each
// trace is the recording of one scenario over the reference filesystem; each
// of its pairs whose reply the kernel reads is a step that a model can be asked
// to answer. Sub-packages do the work:
//
//	evals/scenario  scenarios, and how they are recorded and played live
//	evals/score     a reply against what the reference said
//	evals/run       asking models, teacher-forced and as rollouts
//	evals/report    tables, pages, comparisons
package evals

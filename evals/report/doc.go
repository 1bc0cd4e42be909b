// Package report reads the logs of runs and says what they came to: the
// leaderboard as a table, Markdown, JSON, CSV or one page of HTML, and the
// difference between two runs.
//
// Steps of one trace stand and fall together, so that every interval is
// clustered by trace. Lines that tell of an error of the infrastructure are
// counted and are no score.
package report

package main

// Output rules. What was asked for goes to standard output; all else, errors
// included, to standard error. An error is one line: "llmfs-raw: ", no capital,
// no full stop; where something can be done about it, a hint line follows.
// Exit codes: 0, 1 the operation failed, 2 wrong use.

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

const (
	exitFailed = 1
	exitMisuse = 2
)

// hintedError is an error that comes with what to do about it.
type hintedError struct {
	err  error
	hint string
	code int
}

func (e *hintedError) Error() string { return e.err.Error() }
func (e *hintedError) Unwrap() error { return e.err }

// hint adds what to do about err; nil stays nil.
func hint(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &hintedError{err: err, hint: fmt.Sprintf(format, args...), code: exitFailed}
}

// misuse marks err as wrong use of c. A hint that it has stays.
func misuse(c *cobra.Command, err error) error {
	var h *hintedError
	if errors.As(err, &h) {
		return &hintedError{err: err, hint: h.hint, code: exitMisuse}
	}
	return &hintedError{err: err, hint: fmt.Sprintf("'%s --help' says how it is used", c.CommandPath()), code: exitMisuse}
}

func misuseArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if check == nil {
			return nil
		}
		if err := check(c, args); err != nil {
			return misuse(c, err)
		}
		return nil
	}
}

// report prints err and returns the exit code.
func report(w io.Writer, err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintf(w, "llmfs-raw: %s\n", firstLine(err.Error()))
	var h *hintedError
	if !errors.As(err, &h) {
		return exitFailed
	}
	fmt.Fprintf(w, "hint: %s\n", h.hint)
	return h.code
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/llmfs-raw/llmfs-raw/internal/trace"
)

func traceCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "trace",
		Short: "Read what 'mount --record' has written",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(traceShowCommand(), traceStatCommand(), traceVerifyCommand(), traceCutCommand())
	return c
}

func traceShowCommand() *cobra.Command {
	o := trace.ShowOptions{}
	c := &cobra.Command{
		Use:   "show FILE",
		Short: "Print a trace like strace: one line an op, nodes as paths",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.Color = trace.Colored(c.OutOrStdout())
			return withTrace(c, args[0], func(r *trace.Reader) error { return trace.Show(c.OutOrStdout(), r, o) })
		},
	}
	c.Flags().BoolVarP(&o.All, "all", "a", false, "show every field that is not 0, and each request's number")
	c.Flags().IntVar(&o.Excerpt, "excerpt", 32, "bytes of a payload to show")
	return c
}

func traceStatCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "stat FILE",
		Short: "Count a trace's requests by opcode and errno",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return withTrace(c, args[0], func(r *trace.Reader) error { return trace.Stat(c.OutOrStdout(), r) })
		},
	}
}

func traceVerifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify FILE...",
		Short: "Check every line of traces, both ways through the codec",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			bad := 0
			for _, path := range args {
				err := withTrace(c, path, func(r *trace.Reader) error { return verifyOne(c.OutOrStdout(), r, &bad) })
				if err != nil {
					return err
				}
			}
			if bad > 0 {
				return fmt.Errorf("%d problems", bad)
			}
			return nil
		},
	}
}

func verifyOne(w io.Writer, r *trace.Reader, bad *int) error {
	report, err := trace.Verify(r)
	if report != nil {
		*bad += len(report.Problems)
		if werr := report.Write(w); werr != nil {
			return werr
		}
	}
	return err
}

func traceCutCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "cut FILE N|#UNIQUE|TIME",
		Short: "Copy the beginning of a trace",
		Long: `Copy the beginning of a trace: its first N pairs, or all up to the request
numbered UNIQUE, or all before TIME (RFC 3339).`,
		Example: `  llmfs-raw trace cut session.jsonl 100 -o first.jsonl
  llmfs-raw trace cut session.jsonl.zst '#412' | llmfs-raw trace show -`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			limit, err := parseLimit(args[1])
			if err != nil {
				return misuse(c, err)
			}
			return withTrace(c, args[0], func(r *trace.Reader) error { return cutTo(c, r, limit, output) })
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "write to `FILE` (compressed if it ends in .zst), not to standard output")
	return c
}

func cutTo(c *cobra.Command, r *trace.Reader, limit trace.Limit, output string) (err error) {
	w := c.OutOrStdout()
	if output != "" {
		file, err := trace.CreateFile(output, trace.Options{})
		if err != nil {
			return err
		}
		defer func() {
			if cerr := file.Close(); err == nil {
				err = cerr
			}
		}()
		w = file
	}
	_, err = trace.Cut(w, r, limit)
	return err
}

func parseLimit(s string) (trace.Limit, error) {
	if n, err := strconv.Atoi(s); err == nil && n >= 0 {
		return trace.First(n), nil
	}
	if s != "" && s[0] == '#' {
		if unique, err := strconv.ParseUint(s[1:], 10, 64); err == nil {
			return trace.Through(unique), nil
		}
	}
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return trace.Before(t), nil
	}
	return nil, fmt.Errorf("have %q, want a number of pairs, #UNIQUE or an RFC 3339 time", s)
}

// withTrace opens path, lets use read it, and says if its last line was torn.
func withTrace(c *cobra.Command, path string, use func(*trace.Reader) error) error {
	r, err := trace.Open(path)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return hint(err, "'llmfs-raw mount --record %s DIR' writes one", path)
		}
		return err
	}
	defer r.Close()
	err = use(r)
	if r.Truncated() {
		fmt.Fprintf(c.ErrOrStderr(), "%s: the last line is torn and left out: the recording was cut off\n", path)
	}
	return err
}

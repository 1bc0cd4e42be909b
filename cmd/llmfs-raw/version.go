package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/llmfs-raw/llmfs-raw/internal/trace"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of the program and of what it speaks",
		Args:  cobra.NoArgs,
		Run:   func(c *cobra.Command, _ []string) { writeVersion(c.OutOrStdout()) },
	}
}

func writeVersion(w io.Writer) {
	fmt.Fprintf(w, "llmfs-raw %s\n", programVersion())
	fmt.Fprintf(w, "FUSE %d.%d, from %d.%d on\n", proto.Major, proto.Minor, proto.Major, proto.MinMinor)
	fmt.Fprintf(w, "trace format %d\n", trace.Version)
	fmt.Fprintf(w, "%s %s/%s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// programVersion is the module's version or, in a build from a checkout, its
// commit.
func programVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return info.Main.Version + " " + s.Value
		}
	}
	return info.Main.Version
}

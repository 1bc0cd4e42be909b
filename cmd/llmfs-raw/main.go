// Command llmfs-raw mounts a filesystem whose every answer is JSON.
package main

import (
	"os"

	"github.com/spf13/cobra"
)

func main() { os.Exit(run(os.Args[1:])) }

// run is the program; its result is the exit code.
func run(args []string) int {
	root := rootCommand()
	root.SetArgs(args)
	return report(os.Stderr, root.Execute())
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "llmfs-raw",
		Short: "A Linux filesystem answered by a model",
		Long: `llmfs-raw mounts a real Linux filesystem whose every answer comes from a model:
the kernel's requests go to it as JSON, its JSON goes back as replies.
Without a key the embedded model, reference, serves a complete POSIX
filesystem in memory.`,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		Run:           func(c *cobra.Command, _ []string) { _ = c.Help() },
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return misuse(c, err) })
	root.AddCommand(mountCommand(), umountCommand(), opsCommand(), schemaCommand(), traceCommand(), doctorCommand(), serveCommand(), evalsCommand(), versionCommand(), manCommand())
	eachCommand(root, func(c *cobra.Command) { c.Args = misuseArgs(c.Args) })
	return root
}

func eachCommand(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, sub := range c.Commands() {
		eachCommand(sub, do)
	}
}

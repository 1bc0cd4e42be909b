package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/llmfs-raw/llmfs-raw/fuseraw"
)

func umountCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "umount DIR",
		Aliases: []string{"unmount"},
		Short:   "Unmount a filesystem, even one that is busy or whose daemon has died",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			lazy, err := fuseraw.Unmount(args[0])
			if err != nil {
				return hint(err, "'mount -t %s' lists what is mounted", fuseraw.Type)
			}
			if lazy {
				fmt.Fprintf(c.ErrOrStderr(), "%s was busy or dead: it is gone from the tree, and ends when the last program lets go of it\n", args[0])
			}
			return nil
		},
	}
}

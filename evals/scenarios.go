package evals

import (
	"embed"
	"io/fs"
)

//go:embed scenarios
var scenarios embed.FS

// Scenarios are the scripts that the corpus is recorded from, as AREA/NAME.txtar.
func Scenarios() fs.FS {
	sub, err := fs.Sub(scenarios, "scenarios")
	if err != nil {
		panic(err) // the name is a constant
	}
	return sub
}

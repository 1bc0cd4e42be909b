package report

// Reading logs.

import (
	"errors"
	"fmt"

	"github.com/llmfs-raw/llmfs-raw/evals"
)

// Load reads the logs of runs, by their directories.
func Load(dirs ...string) (*Runs, error) {
	r := NewRuns()
	for _, dir := range dirs {
		if err := r.load(dir); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *Runs) load(dir string) (err error) {
	log, err := evals.OpenLog(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	name := r.AddSource(Source{Dir: dir, LogHeader: log.Header})
	lines := 0
	for s, err := range log.Steps() {
		if err != nil {
			return err
		}
		s.Model = name(s.Model)
		r.Add(s)
		lines++
	}
	if log.Torn() {
		r.Note("%s ends in a torn line, which is left out: the run was cut off", dir)
	}
	if lines == 0 {
		return fmt.Errorf("log %s: have a header and no steps", dir)
	}
	return nil
}

package kill

// Having the mutants answer.

import (
	"github.com/llmfs-raw/llmfs-raw/evals/run"
	"github.com/llmfs-raw/llmfs-raw/internal/model/faulty"
	"github.com/llmfs-raw/llmfs-raw/internal/model/reference"
)

// Reference is the contestant that must always be right.
const Reference = "reference"

// Prefix is what a mutant's name as a contestant begins with.
const Prefix = "faulty:"

// Contestants are the reference and the mutants.
func Contestants(mutants []faulty.Mutant) []*run.Contestant {
	list := []*run.Contestant{{Name: Reference, World: world(func(o reference.Options) (run.World, error) {
		return reference.New(o), nil
	})}}
	for _, m := range mutants {
		list = append(list, &run.Contestant{Name: Prefix + m.Name, World: world(func(o reference.Options) (run.World, error) {
			return faulty.New(m.Name, o)
		})})
	}
	return list
}

// world makes filesystems as a trace's header says.
func world(open func(reference.Options) (run.World, error)) func(map[string]string) (run.World, error) {
	return func(settings map[string]string) (run.World, error) {
		o, err := reference.FromSettings(settings)
		if err != nil {
			return nil, err
		}
		return open(o)
	}
}

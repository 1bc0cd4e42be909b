package main

// The contestants of evals, by name.

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	evalrun "github.com/llmfs-raw/llmfs-raw/evals/run"
	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/internal/model/command"
	"github.com/llmfs-raw/llmfs-raw/internal/model/faulty"
	"github.com/llmfs-raw/llmfs-raw/internal/model/reference"
	"github.com/llmfs-raw/llmfs-raw/internal/session"
)

const contestantUsage = "`NAMES` of what is asked: reference, faulty:MUTANT, exec:COMMAND, or a language model's"

// contestants opens models by name. seed is sent along where it is not nil.
func contestants(names []string, server *modelFlags, prices session.Prices, seed *uint64) (list []*evalrun.Contestant, err error) {
	for _, name := range names {
		c := &evalrun.Contestant{Name: name}
		kind, argument, _ := strings.Cut(name, ":")
		switch {
		case name == "reference":
			c.World = referenceWorld
		case kind == "faulty":
			err = faultyContestant(c, argument)
		case kind == "exec":
			c.Model = func(int) (model.Model, error) { return command.New(argument, command.Options{}) }
			c.Price = prices.Find(name)
		default:
			serverContestant(c, server, seed)
			c.Price = prices.Find(name)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

func referenceWorld(settings map[string]string) (evalrun.World, error) {
	o, err := reference.FromSettings(settings)
	if err != nil {
		return nil, err
	}
	return reference.New(o), nil
}

func faultyContestant(c *evalrun.Contestant, mutant string) error {
	if _, err := faulty.New(mutant, reference.Options{Size: 1 << 20, Inodes: 16}); err != nil {
		return err
	}
	c.World = func(settings map[string]string) (evalrun.World, error) {
		o, err := reference.FromSettings(settings)
		if err != nil {
			return nil, err
		}
		return faulty.New(mutant, o)
	}
	return nil
}

// checkServers finds language models that nobody can be asked about: no key, no
// server. Only who asks needs one.
func checkServers(list []*evalrun.Contestant, server *modelFlags) error {
	for _, c := range list {
		if c.Settings == nil { // no server's
			continue
		}
		if _, err := newClient(server, c.Name); err != nil {
			return err
		}
	}
	return nil
}

func serverContestant(c *evalrun.Contestant, server *modelFlags, seed *uint64) {
	c.Settings = server.settings()
	if seed != nil && !server.responses {
		c.Settings["seed"] = strconv.FormatUint(*seed, 10)
	}
	c.Model = func(trial int) (model.Model, error) {
		with := *server
		if _, seeded := c.Settings["seed"]; seeded {
			with.extra = maps.Clone(server.extra)
			if err := with.extra.Set(fmt.Sprintf("seed=%d", *seed+uint64(trial))); err != nil {
				return nil, err
			}
		}
		return unaskedClient(&with, c.Name)
	}
}

// settings are what answers depend on, by the names of the flags.
func (m *modelFlags) settings() map[string]string {
	all := map[string]string{
		"base-url": m.baseURL, "reasoning-effort": m.reasoningEffort, "temperature": m.temperature.String(),
	}
	if m.responses {
		all["responses"] = "true"
	}
	if m.maxOutput > 0 {
		all["max-output"] = strconv.Itoa(m.maxOutput)
	}
	for _, key := range slices.Sorted(maps.Keys(m.extra)) {
		all["extra "+key] = string(m.extra[key])
	}
	maps.DeleteFunc(all, func(_, v string) bool { return v == "" })
	return all
}

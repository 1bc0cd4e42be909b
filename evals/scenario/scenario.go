package scenario

// What a scenario's file says of it.

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/llmfs-raw/llmfs-raw/evals"
)

// Scenario is one script.
type Scenario struct {
	Name  string // "rename/exchange"
	Area  string // "rename"
	Tier  evals.Tier
	Mount Settings
	Wire  bool   // it is made of requests, see wire.go
	File  []byte // the txtar file
}

// Load reads all scenarios of a directory of AREA/NAME.txtar, by name.
func Load(files fs.FS) ([]*Scenario, error) {
	paths, err := fs.Glob(files, "*/*.txtar")
	if err != nil {
		return nil, err
	}
	slices.Sort(paths)
	var list []*Scenario
	for _, p := range paths {
		b, err := fs.ReadFile(files, p)
		if err != nil {
			return nil, err
		}
		s, err := Parse(strings.TrimSuffix(p, ".txtar"), b)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// Parse reads the header of a scenario: comment lines before the first command.
// "# tier: T" is required, "# mount: FLAGS" and "# wire: why" are not; all else
// is for readers.
func Parse(name string, file []byte) (*Scenario, error) {
	s := &Scenario{Name: name, Area: path.Dir(name), File: file, Mount: defaults()}
	for lines := bufio.NewScanner(bytes.NewReader(file)); lines.Scan(); {
		line, comment := strings.CutPrefix(lines.Text(), "#")
		if !comment {
			break
		}
		if err := s.header(strings.TrimSpace(line)); err != nil {
			return nil, fmt.Errorf("scenario %s: %w", name, err)
		}
	}
	if s.Tier == "" {
		return nil, fmt.Errorf("scenario %s: have no line '# tier: core|full|long'", name)
	}
	return s, nil
}

func (s *Scenario) header(line string) error {
	key, value, _ := strings.Cut(line, ": ")
	switch key {
	case "tier":
		s.Tier = evals.Tier(value)
		if !slices.Contains(evals.Tiers, s.Tier) {
			return fmt.Errorf("tier: have %q, want one of %q", value, evals.Tiers)
		}
	case "wire":
		s.Wire = true
	case "mount":
		return s.Mount.parse(strings.Fields(value))
	}
	return nil
}

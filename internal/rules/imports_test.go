// Package rules holds the project's rules about its own code, as tests.
package rules

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	root   = "../.."
	module = "github.com/llmfs-raw/llmfs-raw/"
)

// allowed says which of our packages a package may import; whatever is not
// listed is forbidden, and a package without a row fails. "*" is every one.
// Tests may import everything but what would make a cycle.
var allowed = map[string][]string{
	"proto":                    {},
	"schema":                   {"proto"},
	"fuseraw":                  {"proto"},
	"internal/trace":           {"proto"},
	"internal/model":           {"proto"},
	"internal/model/command":   {"proto", "internal/model"},
	"internal/model/openai":    {"proto", "internal/model"},
	"internal/model/reference": {"proto", "internal/model"},
	"internal/model/replay":    {"proto", "internal/model", "internal/trace"},
	"internal/serve":           {"proto", "schema", "internal/model", "internal/model/reference"},
	"internal/session":         {"proto", "schema", "internal/model"},
	"internal/model/faulty":    {"proto", "internal/model", "internal/model/reference"},
	"evals":                    {"proto", "internal/trace"},
	"evals/sample":             {"proto", "internal/trace", "internal/model/reference", "internal/session", "evals"},
	"evals/scenario":           {"proto", "schema", "internal/trace", "internal/model", "internal/model/reference", "internal/session", "evals", "fuseraw"},
	"evals/score":              {"proto", "schema", "internal/trace", "evals"},
	"evals/run":                {"proto", "schema", "internal/trace", "internal/model", "internal/model/reference", "internal/session", "evals", "evals/score"},
	"evals/report":             {"evals"},
	"evals/kill":               {"internal/model/faulty", "internal/model/reference", "evals", "evals/run"},
	"evals/export":             {"proto", "schema", "internal/trace", "internal/model", "internal/session", "evals", "evals/run", "evals/score"},
	"cmd/llmfs-raw":            {"*"},

	// Tests and benchmarks of the whole, through the command.
	"internal/bench":                 {"internal/conformance/mounttest"},
	"internal/conformance/calls":     {"internal/conformance/mounttest"},
	"internal/conformance/diff":      {"internal/conformance/mounttest"},
	"internal/conformance/faults":    {"internal/conformance/mounttest"},
	"internal/conformance/mounttest": {},
	"internal/conformance/posix":     {"internal/conformance/mounttest"},
	"internal/conformance/programs":  {"internal/conformance/mounttest"},
	"internal/rules":                 {},
}

// reserved are packages and calls that one place alone may use.
var reserved = []struct {
	what   *regexp.Regexp
	owners []string
	why    string
}{
	{regexp.MustCompile(`"net/http"`), []string{"internal/model/openai", "internal/serve"}, "the network is for the model client and the model server"},
	{regexp.MustCompile(`Open\("/dev/fuse"`), []string{"fuseraw"}, "one place speaks with the kernel"},
	{regexp.MustCompile(`"unsafe"`), []string{"proto", "fuseraw", "internal/conformance/diff"}, "memory is for the codec and for system calls"},
}

func TestImports(t *testing.T) {
	for dir, files := range sources(t) {
		may, ok := allowed[dir]
		require.True(t, ok, "%s has no row in the table of allowed imports", dir)
		for _, file := range files {
			for _, imported := range ownImports(t, file) {
				assert.True(t, slices.Contains(may, "*") || slices.Contains(may, imported), "%s imports %s", file, imported)
			}
		}
	}
	for dir := range allowed {
		assert.DirExists(t, filepath.Join(root, dir), "the table of allowed imports has a row for it")
	}
}

func TestReservedUses(t *testing.T) {
	for dir, files := range sources(t) {
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, r := range reserved {
				assert.False(t, r.what.Match(text) && !slices.Contains(r.owners, dir), "%s uses %v: %s", file, r.what, r.why)
			}
		}
	}
}

// sources are the files that are no tests, by directory.
func sources(t *testing.T) map[string][]string {
	found := map[string][]string{}
	walk(t, func(file string) {
		dir := path.Dir(filepath.ToSlash(strings.TrimPrefix(file, root+string(filepath.Separator))))
		if strings.HasSuffix(file, "_test.go") {
			found[dir] = append(found[dir], []string{}...)
			return
		}
		found[dir] = append(found[dir], file)
	})
	require.NotEmpty(t, found)
	return found
}

// walk visits the Go files of the module.
func walk(t *testing.T, visit func(file string)) {
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != ".." && file != root):
			return filepath.SkipDir
		case !d.IsDir() && strings.HasSuffix(file, ".go"):
			visit(file)
		}
		return nil
	})
	require.NoError(t, err)
}

func ownImports(t *testing.T, file string) (own []string) {
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	require.NoError(t, err)
	for _, spec := range tree.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		require.NoError(t, err)
		if rest, ok := strings.CutPrefix(name, module); ok {
			own = append(own, rest)
		}
	}
	return own
}

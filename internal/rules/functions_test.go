package rules

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Functions are short: median 10 lines at most, 90th percentile 40, none
// over 80. Tests are left out.
func TestFunctionLengths(t *testing.T) {
	var lengths []int
	walk(t, func(file string) {
		if strings.HasSuffix(file, "_test.go") {
			return
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, file, nil, 0)
		require.NoError(t, err)
		for _, decl := range tree.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				n := set.Position(f.End()).Line - set.Position(f.Pos()).Line + 1
				lengths = append(lengths, n)
				assert.LessOrEqual(t, n, 80, "%s: %s", file, f.Name.Name)
			}
		}
	})
	slices.Sort(lengths)
	median, p90 := lengths[len(lengths)/2], lengths[len(lengths)*9/10]
	fmt.Printf("%d functions, lines: median %d, 90th percentile %d, longest %d\n", len(lengths), median, p90, lengths[len(lengths)-1])
	assert.LessOrEqual(t, median, 10)
	assert.LessOrEqual(t, p90, 40)
}

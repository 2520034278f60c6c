package house

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// The functions whose cyclomatic complexity is above one of these are counted.
const (
	complexAbove  = 15
	tooComplexFor = 40
)

var (
	// takesHub matches a function whose first parameter, a context aside, is the object that holds the whole program.
	takesHub = regexp.MustCompile(`(?m)^func \w+(\[.*\])?\((ctx context\.Context, )?\w+ \*(app\.)?(Rooms|App)\b`)
	// isShape matches an exported form of a note, a hit or a session.
	isShape = regexp.MustCompile(`(?m)^type [A-Z]\w*(View|Answer|Head|Row|Hit|Result|Report) `)
)

// readSource counts in the Go files below internal, tests aside. Packages whose name ends in test are
// support of tests: their lines are not counted.
func readSource(root string) ([]Figure, error) {
	var complicated, tooComplicated, hub, shapes, lines int
	err := filepath.WalkDir(filepath.Join(root, "internal"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, n := range complexities(file) {
			if n > complexAbove {
				complicated++
			}
			if n > tooComplexFor {
				tooComplicated++
			}
		}
		hub += len(takesHub.FindAll(text, -1))
		shapes += len(isShape.FindAll(text, -1))
		if !strings.HasSuffix(filepath.Dir(name), "test") {
			lines += strings.Count(string(text), "\n")
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the source: %w", err)
	}
	return []Figure{
		{"complex-15", "functions with a cyclomatic complexity over 15", complicated},
		{"complex-40", "functions with a cyclomatic complexity over 40", tooComplicated},
		{"hub", "functions that take the object that holds the whole program", hub},
		{"shapes", "exported types of a note, a hit or a session", shapes},
		{"lines", "production lines, without test support", lines},
	}, nil
}

// complexities returns the cyclomatic complexity of each function of a file, counted as
// gocyclo does: 1, and 1 for each if, for, case, && and ||. A function literal counts towards
// the function around it; one that is the value of a package variable counts on its own.
func complexities(file *ast.File) (all []int) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			all = append(all, complexity(d))
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if values, ok := spec.(*ast.ValueSpec); ok {
					for _, v := range values.Values {
						if f, ok := v.(*ast.FuncLit); ok {
							all = append(all, complexity(f))
						}
					}
				}
			}
		}
	}
	return all
}

func complexity(function ast.Node) int {
	n := 1
	ast.Inspect(function, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if node.List != nil { // not default
				n++
			}
		case *ast.CommClause:
			if node.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}

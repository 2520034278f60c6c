package postgres

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// tables finds the tables of ours that a statement reads or writes.
var tables = regexp.MustCompile(`(FROM|JOIN|INTO|UPDATE)\s+anamnesis\.[a-z_]+`)

// TestStatements reads every constant and literal of the package that is SQL about our
// tables, and makes sure that the statement names the workspace as its first parameter,
// once for every table that it reads or writes.
func TestStatements(t *testing.T) {
	seen := 0
	for _, s := range statements(t, ".") {
		if !tables.MatchString(s.text) {
			continue
		}
		seen++
		if problem := unscoped(s.text); problem != "" {
			t.Errorf("%s: %s:\n%s", s.at, problem, s.text)
		}
	}
	if seen < 50 {
		t.Errorf("only %d statements were found", seen)
	}
}

func TestStatementsCatch(t *testing.T) {
	for _, wrong := range []string{
		"SELECT 1 FROM anamnesis.notes n WHERE n.key = $1",
		"SELECT 1 FROM anamnesis.notes n JOIN anamnesis.texts t ON t.note = n.key WHERE n.workspace = $1",
		"DELETE FROM anamnesis.notes WHERE workspace = $2",
		"INSERT INTO anamnesis.texts (note, workspace) VALUES ($1, $2)",
		"INSERT INTO anamnesis.texts (workspace, note) SELECT $2, 1",
		"SELECT 1 FROM anamnesis.workspaces WHERE name = $1",
	} {
		if unscoped(wrong) == "" {
			t.Errorf("this was let through: %s", wrong)
		}
	}
}

var (
	scoped   = regexp.MustCompile(`\b(workspace = \$1|w\.id = \$1|id = \$1)`)
	inserted = regexp.MustCompile(`INSERT INTO anamnesis\.[a-z]+( AS [a-z]+)? \(workspace, [^)]*\)\s+(VALUES \(|SELECT (DISTINCT )?)\$1`)
)

// unscoped says what is wrong with a statement, "" when nothing is.
func unscoped(text string) string {
	named := len(tables.FindAllString(text, -1))
	ways := len(scoped.FindAllString(text, -1)) + len(inserted.FindAllString(text, -1))
	switch {
	case strings.Contains(text, "INSERT INTO") && !inserted.MatchString(text):
		return "it does not insert the workspace ($1) first"
	case ways < named:
		return strconv.Itoa(named) + " tables, and " + strconv.Itoa(ways) + " times their workspace ($1)"
	}
	return ""
}

type statement struct{ at, text string }

// statements returns the strings of a package: what is added up, as one. Values that are
// not known stand as a blank.
func statements(t *testing.T, dir string) (all []statement) {
	t.Helper()
	fset := token.NewFileSet()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	constants := make(map[string]string)
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	for range 3 { // constants that are made of constants
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				if v, ok := n.(*ast.ValueSpec); ok {
					for i, name := range v.Names {
						if i < len(v.Values) {
							if text, ok := textOf(v.Values[i], constants); ok {
								constants[name.Name] = text
							}
						}
					}
				}
				return true
			})
		}
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			for _, arg := range call.Args { // a statement is an argument of what asks it
				if text, ok := textOf(arg, constants); ok {
					all = append(all, statement{fset.Position(arg.Pos()).String(), text})
				}
			}
			return true
		})
	}
	return all
}

// textOf returns what a string expression is.
func textOf(e ast.Expr, constants map[string]string) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, err := strconv.Unquote(e.Value)
			return text, err == nil
		}
	case *ast.Ident:
		text, ok := constants[e.Name]
		return text, ok
	case *ast.CallExpr: // where begins with this; visible is a separate statement
		if f, ok := e.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "where" {
			return "n.workspace = $1", true
		}
	case *ast.ParenExpr:
		return textOf(e.X, constants)
	case *ast.BinaryExpr:
		x, ok := textOf(e.X, constants)
		y, ok2 := textOf(e.Y, constants)
		return x + y, e.Op == token.ADD && (ok || ok2)
	}
	return "", false
}

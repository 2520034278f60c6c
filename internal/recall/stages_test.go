package recall_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The doc comment of Recall names the stages that it calls, in their order.
func TestStages(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "recall.go", nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var recall *ast.FuncDecl
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "Recall" {
			recall = f
		}
	}
	var named []string
	for line := range strings.Lines(recall.Doc.Text()) {
		if stage, ok := strings.CutPrefix(line, "\t"); ok {
			named = append(named, strings.Fields(stage)[0])
		}
	}
	var called []string
	var open []ast.Node // what is being visited; a call counts when its arguments are done
	ast.Inspect(recall.Body, func(n ast.Node) bool {
		if n != nil {
			open = append(open, n)
			return true
		}
		last := open[len(open)-1]
		open = open[:len(open)-1]
		if call, ok := last.(*ast.CallExpr); ok {
			if f, ok := call.Fun.(*ast.SelectorExpr); ok {
				if on, ok := f.X.(*ast.Ident); ok && on.Name != "time" {
					called = append(called, f.Sel.Name)
				}
			}
		}
		return true
	})
	if d := cmp.Diff(called, named); d != "" {
		t.Errorf("the doc comment of Recall does not name its stages (-called +named):\n%s", d)
	}
}

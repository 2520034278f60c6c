package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// mayWrite says whether a room may change what the store keeps: the one door in,
// and the store itself. Nobody else names a store.Writer, which is the only thing
// that can, or asks for one.
func mayWrite(pkg string) bool {
	return pkg == "ingest" || pkg == "store" || strings.HasPrefix(pkg, "store/")
}

// writes returns the places in a file that ask for a Writer or name its type,
// under whatever name package store is imported there.
func writes(f source) (found []ast.Node) {
	name := f.nameOf(rooms + "store")
	ast.Inspect(f.file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, _ := sel.X.(*ast.Ident)
		if sel.Sel.Name == "BeginWrite" || x != nil && name != "" && x.Name == name && sel.Sel.Name == "Writer" {
			found = append(found, sel)
		}
		return true
	})
	return found
}

// TestOneDoor checks that every change of what the store keeps goes through ingest.
func TestOneDoor(t *testing.T) {
	asked := 0
	for _, f := range sources(t) {
		if f.lab {
			continue // it uses whatever it measures
		}
		found := writes(f)
		if mayWrite(f.pkg) {
			asked += len(found)
			continue
		}
		for _, n := range found {
			t.Errorf("%s: %s writes to the store; a change of a note goes through package ingest", f.at(n), f.pkg)
		}
		if name := f.nameOf(rooms + "store"); name == "." {
			t.Errorf("%s imports package store without a name", f.path)
		}
	}
	if asked == 0 {
		t.Error("nobody asks for a Writer; is BeginWrite called otherwise now?")
	}
}

// TestOneDoorCatches makes sure that an offender would be seen.
func TestOneDoorCatches(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int
	}{
		{`import "anamnesis/internal/store"; func f(s *store.Store) { w, _ := s.BeginWrite(nil); w.End() }`, 1},
		{`import files "anamnesis/internal/store"; func f(w *files.Writer) {}`, 1},
		{`import "anamnesis/internal/store"; func f(s *store.Store) { begin := s.BeginWrite; begin(nil) }`, 1},
		{`import ("io"; "anamnesis/internal/store"); func f(s *store.Store, w io.Writer) { s.Lock(nil) }`, 0},
	} {
		f := source{fset: token.NewFileSet()}
		var err error
		if f.file, err = parser.ParseFile(f.fset, "x.go", "package x; "+tt.text, 0); err != nil {
			t.Fatal(err)
		}
		if got := len(writes(f)); got != tt.want {
			t.Errorf("%s\nfound %d, want %d", tt.text, got, tt.want)
		}
	}
}

package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// documented is the first name of a doc comment, behind an article.
var documented = regexp.MustCompile(`^(?:An? |The )?([A-Za-z_][A-Za-z0-9_]*)`)

// camel is a word that can only be the name of something in the code.
var camel = regexp.MustCompile(`^[a-z]+[A-Z]`)

// TestDocNames checks that the doc comment of something begins with its name, where it begins
// with a name: a comment that a renaming left behind leads readers astray.
func TestDocNames(t *testing.T) {
	check := func(set *token.FileSet, name string, doc *ast.CommentGroup) {
		m := documented.FindStringSubmatch(doc.Text())
		if m != nil && m[1] != name && (ast.IsExported(name) || camel.MatchString(m[1])) {
			t.Errorf("%s: the comment of %s is about %s", set.Position(doc.Pos()), name, m[1])
		}
	}
	look := func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				check(set, d.Name.Name, d.Doc)
			case *ast.GenDecl:
				if len(d.Specs) != 1 {
					continue
				}
				switch s := d.Specs[0].(type) {
				case *ast.TypeSpec:
					check(set, s.Name.Name, d.Doc)
				case *ast.ValueSpec:
					check(set, s.Names[0].Name, d.Doc)
				}
			}
		}
		return nil
	}
	for _, folder := range []string{".", "../" + lab} {
		if err := filepath.WalkDir(folder, look); err != nil {
			t.Fatal(err)
		}
	}
}

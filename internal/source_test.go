package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"
)

// module is the path of this module, and its rooms stand below internal. The programs
// that train and measure are another module, in the folder lab, above all rooms.
const (
	module = "anamnesis"
	rooms  = module + "/internal/"
	lab    = "lab"
)

// A source is one Go file of the program; test files are none.
type source struct {
	path    string // from the root of the repository, with slashes
	pkg     string // below internal, with slashes; "main" for the program, "lab" for the laboratory
	lab     bool   // belongs to the laboratory
	imports []string
	file    *ast.File
	fset    *token.FileSet
}

var parseOnce = sync.OnceValues(parseSources)

// sources returns the Go files of the program for all platforms: build
// constraints are not looked at.
func sources(t *testing.T) []source {
	t.Helper()
	all, err := parseOnce()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 50 {
		t.Fatalf("found %d files; is this the repository?", len(all))
	}
	return all
}

func parseSources() ([]source, error) {
	var all []source
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() && name != ".." && (base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go") {
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel("..", name)
		if err != nil {
			return err
		}
		s := source{path: filepath.ToSlash(rel), pkg: "main", fset: token.NewFileSet()}
		dir := path.Dir(s.path)
		switch room, ok := strings.CutPrefix(dir, "internal/"); {
		case ok:
			s.pkg = room
		case dir == lab || strings.HasPrefix(dir, lab+"/"):
			s.pkg, s.lab = lab, true
		}
		if s.file, err = parser.ParseFile(s.fset, s.path, data, parser.ParseComments); err != nil {
			return err
		}
		for _, spec := range s.file.Imports {
			p, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if room, ok := strings.CutPrefix(p, rooms); ok {
				s.imports = append(s.imports, room)
			} else if strings.HasPrefix(p, module+"/") {
				s.imports = append(s.imports, lab)
			}
		}
		all = append(all, s)
		return nil
	})
	return all, err
}

// at says where a node stands.
func (s source) at(n ast.Node) token.Position { return s.fset.Position(n.Pos()) }

// nameOf returns the name by which a file calls an imported package, "" when it
// does not import it.
func (s source) nameOf(pkg string) string {
	for _, spec := range s.file.Imports {
		if spec.Path.Value != strconv.Quote(pkg) {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path.Base(pkg)
	}
	return ""
}

// environment lists what reads or changes the environment of the process.
var environment = map[string][]string{
	"os": {
		"Getenv", "LookupEnv", "Environ", "ExpandEnv", "Setenv", "Unsetenv", "Clearenv",
		"UserHomeDir", "UserConfigDir", "UserCacheDir",
	},
	"syscall": {"Getenv", "Environ", "Setenv", "Unsetenv", "Clearenv"},
}

// TestEnvironment keeps the environment in the fuse box: a setting that is read
// elsewhere has no row, no page and no source.
func TestEnvironment(t *testing.T) {
	for _, s := range sources(t) {
		if _, suite := suiteOf(s.pkg); s.pkg == "config" || s.lab || suite {
			continue
		}
		for pkg, functions := range environment {
			name := s.nameOf(pkg)
			if name == "." {
				t.Errorf("%s imports %s with a dot; name it", s.path, pkg)
			}
			if name == "" {
				continue
			}
			ast.Inspect(s.file, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				x, ok := sel.X.(*ast.Ident)
				if !ok || x.Name != name || x.Obj != nil || !slices.Contains(functions, sel.Sel.Name) {
					return true
				}
				t.Errorf("%v: %s.%s outside of config; give the setting a row there", s.at(n), pkg, sel.Sel.Name)
				return true
			})
		}
	}
}

// blank lists the packages that may be imported for their effect, and why.
// A database driver is not among them: package index/sqlite names its own.
var blank = map[string]string{
	"embed": "the compiler wants it beside //go:embed of a string or bytes",
}

// TestNoInit keeps work out of package initialisation, which every hook pays for.
func TestNoInit(t *testing.T) {
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%v: a function init; make it a function that somebody calls, or a literal", s.at(f))
			}
		}
		for _, spec := range s.file.Imports {
			p, _ := strconv.Unquote(spec.Path.Value)
			if spec.Name != nil && spec.Name.Name == "_" && blank[p] == "" {
				t.Errorf("%v: blank import of %s; nothing registers itself here", s.at(spec), p)
			}
		}
	}
}

// maxMethods is how many exported methods a type may have. One with more is a
// whole program behind one name.
const maxMethods = 25

func TestMethods(t *testing.T) {
	methods := make(map[string]int)
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || !f.Name.IsExported() {
				continue
			}
			of := f.Recv.List[0].Type
			if star, ok := of.(*ast.StarExpr); ok {
				of = star.X
			}
			if generic, ok := of.(*ast.IndexExpr); ok {
				of = generic.X
			}
			if name, ok := of.(*ast.Ident); ok && name.IsExported() {
				methods[path.Dir(s.path)+"."+name.Name]++
			}
		}
	}
	for name, n := range methods {
		if n > maxMethods {
			t.Errorf("%s has %d exported methods, at most %d: look for the types in it", name, n, maxMethods)
		}
	}
}

// maxColumns is the longest line, a tab counted as one column.
const maxColumns = 140

func TestLineWidth(t *testing.T) {
	for _, s := range sources(t) {
		data, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(s.path)))
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(data), "\n") {
			if n := utf8.RuneCountInString(line); n > maxColumns {
				t.Errorf("%s:%d has %d columns, at most %d", s.path, i+1, n, maxColumns)
			}
		}
	}
}

// vague lists the words that say nothing about what they name.
var vague = []string{"manager", "service", "helper", "util", "common", "core", "adapter", "port"}

// isVague reports whether a word, or its singular, is one of them.
func isVague(word string) bool {
	word = strings.ToLower(word)
	return slices.Contains(vague, word) || slices.Contains(vague, strings.TrimSuffix(word, "s"))
}

// words splits a name at its capitals: HTTPServer is HTTP and Server.
func words(name string) []string {
	var all []string
	runes := []rune(name)
	begin := 0
	for i := 1; i <= len(runes); i++ {
		switch {
		case i == len(runes), runes[i] == '_',
			unicode.IsUpper(runes[i]) && !unicode.IsUpper(runes[i-1]),
			unicode.IsUpper(runes[i]) && i+1 < len(runes) && unicode.IsLower(runes[i+1]):
			all = append(all, strings.Trim(string(runes[begin:i]), "_"))
			begin = i
		}
	}
	return all
}

func TestWords(t *testing.T) {
	for _, s := range sources(t) {
		for dir := range strings.SplitSeq(path.Dir(s.path), "/") {
			if isVague(dir) {
				t.Errorf("%s: a folder named %s says nothing; name it after what is in it", s.path, dir)
			}
		}
		for _, d := range s.file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			for _, spec := range g.Specs {
				name := spec.(*ast.TypeSpec).Name.Name
				if slices.ContainsFunc(words(name), isVague) {
					t.Errorf("%v: type %s says nothing; name it after what it is", s.at(spec), name)
				}
			}
		}
	}
}

func TestWordSplit(t *testing.T) {
	for name, want := range map[string]string{
		"Report": "Report", "HTTPServer": "HTTP Server", "noteUtil": "note Util", "a_port": "a port", "ID": "ID",
	} {
		if got := strings.Join(words(name), " "); got != want {
			t.Errorf("words(%q) = %q, want %q", name, got, want)
		}
	}
}

// TestPackageComments wants every package to say what it does.
func TestPackageComments(t *testing.T) {
	documented := make(map[string]bool)
	for _, s := range sources(t) {
		dir := path.Dir(s.path)
		begin := "Package " + s.file.Name.Name + " "
		if s.file.Name.Name == "main" {
			begin = ""
		}
		has := s.file.Doc != nil && strings.HasPrefix(s.file.Doc.Text(), begin)
		documented[dir] = documented[dir] || has
	}
	for dir, has := range documented {
		if !has {
			t.Errorf("package %s has no comment that says what it does", dir)
		}
	}
}

// TestHarnessNames keeps a coding agent's name and the names of its files inside
// packages agent and connect: another agent is added there and nowhere else. The settings have
// a row for each home folder, llm calls a program of that name as a model, and
// texts for people, which have spaces in them, say what they like.
func TestHarnessNames(t *testing.T) {
	exempt := []string{"agent", "connect", "config", "llm"}
	for _, s := range sources(t) {
		room, _, _ := strings.Cut(s.pkg, "/")
		if s.lab || slices.Contains(exempt, room) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil || strings.ContainsAny(text, " \n") {
				return true
			}
			if text == "claude" || text == "codex" || strings.Contains(text, ".claude") || strings.Contains(text, ".codex") {
				t.Errorf("%v: %s is for packages agent and connect to know", s.at(lit), lit.Value)
			}
			return true
		})
	}
}

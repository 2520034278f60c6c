package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// plain lists words that are not used in comments, messages, help and pages, with
// what an engineer would write. Most stood for a standard term, or twisted a
// sentence around its subject.
var plain = []struct{ word, better string }{
	{"anew", "again, rebuilt, rewritten"},
	{"told", "shown, injected, informed, distinguished"},
	{"who asks", "the caller, the question, the login"},
	{"of its own", "separate, its own X"},
	{"by itself", "alone, separately, on its own"},
	{"meanwhile", "since, at the same time"},
	{"asked in vain", "no result"},
	{"nearly exist", "near-duplicate"},
	{"waits for a look", "to review"},
	{"was heard of", "ran"},
	{"anybody's memory", "too many"},
	{"takes the smallest part that does", "depends on the smallest interface"},
	{"doomed", "erased"},
}

// proper lists what may hold such a word: it is data, not a sentence of ours.
var proper = map[string][]string{
	"internal/learn/cues.go":       {"told"}, // what users say
	"internal/redact/injection.go": {"told"}, // what attackers say
	"internal/english_test.go":     nil,      // this list
	"docs/decisions/history.md":    nil,      // how it was called
	"docs/format.md":               {"told"}, // a folder of the store
	"docs/troubleshooting.md":      {"told"}, // the id of a check
}

func isProper(path, word string) bool {
	words, ok := proper[path]
	return ok && (words == nil || slices.Contains(words, word))
}

// badWords returns the words of a text that are not plain.
func badWords(text string) (all []string) {
	lower := strings.Join(strings.Fields(strings.ToLower(comment.ReplaceAllString(text, " "))), " ")
	for _, p := range plain {
		for from := 0; ; {
			i := strings.Index(lower[from:], p.word)
			if i < 0 {
				break
			}
			i += from
			from = i + len(p.word)
			if !inWord(lower, i-1) && !inWord(lower, from) {
				all = append(all, p.word)
			}
		}
	}
	return all
}

// comment matches what stands before the lines of a comment.
var comment = regexp.MustCompile(`(?m)^\s*//`)

func inWord(s string, i int) bool {
	return i >= 0 && i < len(s) && (s[i] == '_' || s[i] >= 'a' && s[i] <= 'z')
}

// capital matches a capital that begins a word of an identifier.
var capital = regexp.MustCompile(`[A-Z]`)

// TestEnglish finds these words in the comments of all Go files, in the identifiers of
// those that are no test, in the texts that the program prints, which have spaces in them,
// and in all pages.
func TestEnglish(t *testing.T) {
	found := func(path, at, text string) {
		for _, w := range badWords(text) {
			if !isProper(path, w) {
				i := slices.IndexFunc(plain, func(p struct{ word, better string }) bool { return p.word == w })
				t.Errorf("%s says %q; better: %s", at, w, plain[i].better)
			}
		}
	}
	for _, p := range pages(t) {
		found(p.path, p.path, p.text)
	}
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() && name != ".." && (base == "testdata" || strings.HasPrefix(base, ".")) {
			return fs.SkipDir
		}
		if d.IsDir() || filepath.Ext(base) != ".go" {
			return nil
		}
		path := strings.TrimPrefix(filepath.ToSlash(name), "../")
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		for _, g := range file.Comments {
			var b strings.Builder
			for _, c := range g.List {
				b.WriteString(c.Text + "\n")
			}
			found(path, fset.Position(g.Pos()).String(), b.String())
		}
		if strings.HasSuffix(name, "_test.go") {
			return nil
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if field, ok := n.(*ast.Field); ok && field.Tag != nil {
				field.Tag = nil
			}
			if id, ok := n.(*ast.Ident); ok {
				found(path, fset.Position(id.Pos()).String(), capital.ReplaceAllString(id.Name, " $0"))
			}
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if s, err := strconv.Unquote(lit.Value); err == nil && strings.Contains(s, " ") {
					found(path, fset.Position(lit.Pos()).String(), s)
				}
			}
			return true
		})
		return nil
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
}

func TestBadWords(t *testing.T) {
	for text, want := range map[string]string{
		"It is made anew.":                       "anew",
		"// a file of\n// its own, Told by hand": "told, of its own",
		"untold renewals, SweepTold, retold":     "",
		"what was shown":                         "",
	} {
		if got := strings.Join(badWords(text), ", "); got != want {
			t.Errorf("badWords(%q) = %q, want %q", text, got, want)
		}
	}
}

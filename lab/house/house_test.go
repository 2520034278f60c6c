package house

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestComplexities checks the counting rules of gocyclo.
func TestComplexities(t *testing.T) {
	const text = `package p
func plain() {}
func all(a, b bool, c chan int) {
	if a && b || a { // 1 + 3
		for range 3 { // 5
			for { // 6
				break
			}
		}
	}
	switch { // no branch
	case a, b: // 7
	default:
	}
	select {
	case <-c: // 8
	default:
	}
	_ = func() { if a {} } // 9
}
var value = func(a bool) { if a {} }
var inner = []any{func(a bool) { if a {} }}
`
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]int{1, 9, 2}, complexities(file)); d != "" {
		t.Error(d)
	}
}

func TestPatch(t *testing.T) {
	const text = "a\n\tb\n\nc\nd\nc\n"
	for _, test := range []struct{ name, diff, want, wrong string }{
		{"two parts", " a\n+x\n@@\n-d\n+e\n", "a\nx\n\tb\n\nc\ne\nc\n", ""},
		{"an empty line", " \tb\n\n-c\n", "a\n\tb\n\nd\nc\n", ""},
		{"twice", "-c\n", "", "2 times"},
		{"missing", " z\n+y\n", "", "0 times"},
		{"no sign", "a\n", "", "begins with"},
	} {
		got, err := patch(text, test.diff)
		switch {
		case test.wrong == "" && (err != nil || got != test.want):
			t.Errorf("%s: %q, %v, want %q", test.name, got, err, test.want)
		case test.wrong != "" && (err == nil || !strings.Contains(err.Error(), test.wrong)):
			t.Errorf("%s: error %v, want one with %q", test.name, err, test.wrong)
		}
	}
}

// tree makes a folder with the files that a Book reads.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func figures(add, lines int) []Figure {
	return []Figure{{"run-add", "functions executed by add", add}, {"lines", "production lines", lines}}
}

func TestCheck(t *testing.T) {
	const reason = "House: run-add 90 -> 100: it asks the team.\n"
	for _, test := range []struct {
		name, book, changelog string
		figures               []Figure
		wrong                 string // part of the error, "" for none
	}{
		{"the same", `{"run-add": [100], "lines": [1000]}`, "", figures(100, 1000), ""},
		{"better", `{"run-add": [100], "lines": [1000]}`, "", figures(50, 900), ""},
		{"5 % worse", `{"run-add": [100], "lines": [1000]}`, "", figures(105, 1050), ""},
		{"6 % worse", `{"run-add": [100], "lines": [1000]}`, "", figures(106, 1000), `"House: run-add 100 -> 106:"`},
		{"one more of few", `{"run-add": [3], "lines": [1000]}`, "", figures(4, 1000), "from 3 to 4"},
		{"from zero", `{"run-add": [0], "lines": [1000]}`, "", figures(1, 1000), "from 0 to 1"},
		{"no record", `{"lines": [1000]}`, "", figures(100, 1000), "run-add"},
		{"no measure", `{"run-add": [100], "lines": [1000], "old": [1]}`, "", figures(100, 1000), "old"},
		{"a step down", `{"run-add": [120, 100], "lines": [1000]}`, "", figures(100, 1000), ""},
		{"a step up", `{"run-add": [90, 100], "lines": [1000]}`, reason, figures(100, 1000), ""},
		{"a step up without a reason", `{"run-add": [90, 100], "lines": [1000]}`, "", figures(100, 1000), `"House: run-add 90 -> 100:"`},
		{"an empty reason", `{"run-add": [90, 100], "lines": [1000]}`, "House: run-add 90 -> 100: \n", figures(100, 1000), "run-add"},
		{"a reason for another step", `{"run-add": [80, 100], "lines": [1000]}`, reason, figures(100, 1000), "80 -> 100"},
	} {
		dir := tree(t, map[string]string{bookPath: test.book, "CHANGELOG.md": "", "changelog/unreleased/x.md": "Change: x\n\n" + test.changelog})
		book, err := ReadBook(dir)
		if err != nil {
			t.Fatal(err)
		}
		err = book.Check(dir, test.figures)
		if (err == nil) != (test.wrong == "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
			t.Errorf("%s: error %v, want %q", test.name, err, test.wrong)
		}
	}
}

func TestUpdate(t *testing.T) {
	dir := tree(t, map[string]string{bookPath: `{"run-add": [100], "lines": [1000]}`, "CHANGELOG.md": ""})
	update := func(figures []Figure) error {
		book, err := ReadBook(dir)
		if err != nil {
			t.Fatal(err)
		}
		return book.Update(dir, figures)
	}
	want := func(text string) {
		t.Helper()
		if got, err := os.ReadFile(filepath.Join(dir, bookPath)); err != nil || string(got) != text {
			t.Errorf("the book is %q, %v, want %q", got, err, text)
		}
	}
	if err := update(figures(90, 1040)); err != nil {
		t.Error(err)
	}
	want("{\n  \"run-add\": [100, 90],\n  \"lines\": [1000]\n}\n") // 4 % more lines are not recorded
	if err := update(figures(100, 1000)); err == nil || !strings.Contains(err.Error(), "House: run-add 90 -> 100:") {
		t.Errorf("a worse count was recorded without a reason: %v", err)
	}
	want("{\n  \"run-add\": [100, 90],\n  \"lines\": [1000]\n}\n")
	if err := os.WriteFile(filepath.Join(dir, "CHANGELOG.md"), []byte("- House: run-add 90 -> 100: it asks the team.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := update(figures(100, 1000)); err != nil {
		t.Error(err)
	}
	want("{\n  \"run-add\": [100, 90, 100],\n  \"lines\": [1000]\n}\n")
}

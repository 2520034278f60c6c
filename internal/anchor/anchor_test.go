package anchor_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anamnesis/internal/anchor"
)

// tree writes files below a new folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		write(t, root, name, text)
	}
	return root
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	file := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, root string) *anchor.Clone {
	t.Helper()
	c, err := anchor.Open(root, 1000)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

const seats = `package seats

// SeatMap is the hall.
type SeatMap struct {
	Rows int
}

func parseRow(s string) int {
	return len(s)
}

func Other() {}
`

func TestStamps(t *testing.T) {
	root := tree(t, map[string]string{
		"internal/seats.go": seats,
		"Makefile":          "db: deps\n\tdocker compose up -d db\n\ntest:\n\tgo test ./...\n",
		"package.json":      "{\n  \"scripts\": {\n    \"e2e\": \"playwright test\"\n  }\n}\n",
		"README.md":         "# hello\n",
		"app.py":            "class Order:\n    def total_cents(self):\n        return 1\n\n    def other(self):\n        return 2\n",
	})
	for _, tt := range []struct {
		text    string
		anchors []string
		want    string
	}{
		{"Never change parseRow without its test", []string{"internal/seats.go"}, "internal/seats.go#parseRow"},
		{"Never change parseRow without its test", []string{root + "/internal/seats.go"}, "internal/seats.go#parseRow"},
		{"Use the SeatMap struct, not a map", []string{"internal/seats.go"}, "internal/seats.go#SeatMap"},
		{"We use structs, no maps", []string{"internal/seats.go"}, ""},
		{"Keep README.md short", nil, "README.md"},
		{"Keep internal/seats.go free of http", nil, "internal/seats.go"},
		{"Run `make db` before the tests", nil, "Makefile#db"},
		{"Please make sure that it works", nil, ""},
		{"Run pnpm e2e for the pages", nil, "package.json#e2e"},
		{"total_cents is an integer", []string{"app.py"}, "app.py#total_cents"},
		{"Read ../../etc/passwd.txt first", []string{"/etc/hosts", "../x.go"}, ""},
		{"", []string{"internal/seats.go"}, ""},
	} {
		var got []string
		for _, s := range open(t, root).Stamps(anchor.Subject{Text: tt.text, Anchors: tt.anchors}) {
			got = append(got, s.About())
			if back, ok := anchor.Parse(s.String()); !ok || back != s {
				t.Errorf("Parse(%q) = %v, %v", s, back, ok)
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, root string)
		want   anchor.State
		where  string
	}{
		{"nothing", func(*testing.T, string) {}, anchor.Same, ""},
		{"another function", func(t *testing.T, root string) {
			write(t, root, "internal/seats.go", seats+"\nfunc New() int { return 1 }\n")
		}, anchor.Same, ""},
		{"white space", func(t *testing.T, root string) {
			write(t, root, "internal/seats.go", strings.ReplaceAll(seats, "\t", "    "))
		}, anchor.Same, ""},
		{"moved in its file", func(t *testing.T, root string) {
			write(t, root, "internal/seats.go", "// a line\n\n"+seats)
		}, anchor.Same, ""},
		{"another body", func(t *testing.T, root string) {
			write(t, root, "internal/seats.go", strings.Replace(seats, "len(s)", "len(s) + 1", 1))
		}, anchor.Changed, ""},
		{"renamed", func(t *testing.T, root string) {
			write(t, root, "internal/seats.go", strings.ReplaceAll(seats, "parseRow", "readRow"))
		}, anchor.Gone, ""},
		{"file moved", func(t *testing.T, root string) {
			if err := os.MkdirAll(filepath.Join(root, "hall"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(filepath.Join(root, "internal/seats.go"), filepath.Join(root, "hall/seats.go")); err != nil {
				t.Fatal(err)
			}
		}, anchor.Moved, "hall/seats.go"},
		{"file gone", func(t *testing.T, root string) {
			if err := os.Remove(filepath.Join(root, "internal/seats.go")); err != nil {
				t.Fatal(err)
			}
		}, anchor.Gone, ""},
		{"a folder in its place", func(t *testing.T, root string) {
			file := filepath.Join(root, "internal/seats.go")
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(file, 0o755); err != nil {
				t.Fatal(err)
			}
		}, anchor.Unknown, ""},
		{"a link out of the clone", func(t *testing.T, root string) {
			file := filepath.Join(root, "internal/seats.go")
			out := filepath.Join(t.TempDir(), "seats.go")
			if err := os.Rename(file, out); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(out, file); err != nil {
				t.Fatal(err)
			}
		}, anchor.Unknown, ""},
		{"too large", func(t *testing.T, root string) {
			write(t, root, "internal/seats.go", seats+strings.Repeat("x", 1<<20))
		}, anchor.Unknown, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := tree(t, map[string]string{"internal/seats.go": seats})
			stamps := open(t, root).Stamps(anchor.Subject{Text: "Never change parseRow", Anchors: []string{"internal/seats.go"}})
			if len(stamps) != 1 {
				t.Fatalf("got %d stamps", len(stamps))
			}
			tt.change(t, root)
			got := open(t, root).Check(t.Context(), stamps)[0]
			if got.State != tt.want || got.Where != tt.where {
				t.Errorf("got %s %q, want %s %q", got.State, got.Where, tt.want, tt.where)
			}
		})
	}
}

func TestWorst(t *testing.T) {
	for _, tt := range []struct {
		states []anchor.State
		want   anchor.State
	}{
		{nil, anchor.Same},
		{[]anchor.State{anchor.Unknown}, anchor.Same},
		{[]anchor.State{anchor.Gone, anchor.Same}, anchor.Changed},
		{[]anchor.State{anchor.Gone, anchor.Unknown}, anchor.Gone},
		{[]anchor.State{anchor.Gone, anchor.Gone}, anchor.Gone},
		{[]anchor.State{anchor.Moved, anchor.Changed}, anchor.Changed},
		{[]anchor.State{anchor.Moved, anchor.Same}, anchor.Moved},
	} {
		var all []anchor.Finding
		for _, s := range tt.states {
			all = append(all, anchor.Finding{State: s})
		}
		if got := anchor.Worst(all); got != tt.want {
			t.Errorf("%v: got %s, want %s", tt.states, got, tt.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"a.go@0123456789abcdef", "a@b.go#x@0123456789abcdef", "../a@0123456789abcdef", "#@0123456789abcdef", "/etc/passwd#x@0123456789abcdef",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, ok := anchor.Parse(text)
		if !ok {
			return
		}
		if s.String() != text && s.Name != "" {
			t.Errorf("%q became %q", text, s)
		}
		if strings.HasPrefix(s.File, "/") || s.File == ".." || strings.HasPrefix(s.File, "../") {
			t.Errorf("%q leads out", s.File)
		}
	})
}

func FuzzStamps(f *testing.F) {
	f.Add("Never change parseRow in a.go", seats)
	f.Add("make db", "db:\n\tx\n")
	f.Fuzz(func(t *testing.T, text, file string) {
		root := t.TempDir()
		for _, name := range []string{"a.go", "Makefile", "package.json"} {
			if err := os.WriteFile(filepath.Join(root, name), []byte(file), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		c := open(t, root)
		stamps := c.Stamps(anchor.Subject{Text: text, Anchors: []string{"a.go"}})
		for _, got := range c.Check(t.Context(), stamps) {
			if got.State != anchor.Same {
				t.Errorf("%s is %s at once", got.Stamp, got.State)
			}
		}
	})
}

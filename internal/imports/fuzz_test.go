package imports_test

import (
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"anamnesis/internal/imports"
	"anamnesis/internal/note"
	"anamnesis/internal/redact"
)

// Whatever a learning's file holds, its note is valid and read as it is written.
func FuzzLearning(f *testing.F) {
	for _, s := range []string{
		fullLearning, "", "---\n---\n", "---\ntitle: a\n---\nb", "---\ntags: [a, *b]\nx: &a [b]\ny: *a\n---\nc\n", "---\na: |\n  b\n\n\nc: {d: [e, {f: g}]}\n---\n",
		"---\nid: ../../x\ntype: episode\nmachine_id: y\nkind: z\nscope: project:\n---\n# T\n", "---\nx: !!binary a\ny: 'b\nz: \"\\x\"\n---\nd",
	} {
		f.Add(s)
	}
	red, err := redact.New()
	if err != nil {
		f.Fatal(err)
	}
	im := imports.New(nil, nil, nil, nil, red, imports.Options{MachineID: "box"})
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || len(text) > 64<<10 {
			return // decoded and bounded by the caller
		}
		for _, r := range text {
			if r == 0 || r == '\r' {
				return // as well
			}
		}
		n := im.ReadLearning("stem", text)
		if err := n.ValidateNew(); err != nil {
			t.Fatalf("%v\n%q", err, n.Format())
		}
		again, err := note.Parse(n.Format())
		if err != nil || !note.Equal(n, again) {
			t.Fatalf("%v\n%q\n%+v", err, n.Format(), again)
		}
	})
}

func TestDecode(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"a/b", "a-b/c", "a.b/c.d", "a_b", "x/y-z", "x-y/z", "ü"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(d)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ dir, want string }{
		{"a/b", "a-b"},           // the longest name first
		{"a-b/c", "a-b/c"},       //
		{"a.b/c.d", "a.b/c.d"},   //
		{"x/y-z", "x-y/z"},       // nothing tells which of the two; the same one every time
		{"ü", "ü"},               //
		{"x/gone-x", "x/gone-x"}, // what is gone is one name
		{"nothing", "nothing"},
	} {
		got := imports.Decode(imports.Slug(filepath.Join(dir, filepath.FromSlash(tt.dir))))
		if got != filepath.Join(dir, filepath.FromSlash(tt.want)) {
			t.Errorf("%s: %s, want %s", tt.dir, got, tt.want)
		}
	}
	for _, name := range []string{"", "-", "relative", "..", "-..", "--------------------------------"} {
		if got := imports.Decode(name); got != "" && !filepath.IsAbs(got) {
			t.Errorf("%q: %q", name, got)
		}
	}
}

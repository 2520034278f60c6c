package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"anamnesis/internal/embed/transformer"
)

// TestMain lets the program of the tests be the one whose memory is measured.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == readsCommand {
		if err := run(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

var tinyModels = []modelShape{
	{name: "encoder, tiny", hidden: 16, layers: 1, heads: 2, inner: 32, positions: 256},
	{name: "cross-encoder, tiny", hidden: 16, layers: 1, heads: 2, inner: 32, positions: 256, cross: true},
}

// TestModelsSection measures two tiny models, twice, and finds one section in the page.
func TestModelsSection(t *testing.T) {
	s := &stage{ctx: t.Context(), short: true, seed: 1, table: newTable(), dir: t.TempDir()}
	s.rough = s.binary("naive")
	if err := s.build("", s.rough, naive); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "performance.md")
	before, after := "# Performance\n\n| a | b |\n", "## How to read this\n\n- Something.\n"
	if err := os.WriteFile(out, []byte(before+"\n"+after), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.models(tinyModels, out); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	if !strings.HasPrefix(page, before+"\n"+modelsTitle) || !strings.HasSuffix(page, "\n\n"+after) || strings.Count(page, modelsTitle) != 1 {
		t.Errorf("the section does not stand where it should:\n%s", page)
	}
	const figure = ` [0-9.]*[1-9][0-9.]* ms, [0-9]+\.[0-9]+× \|`
	memory := ` [0-9]+ MB \|`
	if runtime.GOOS == "windows" {
		memory = ` \|`
	}
	for _, want := range []string{
		`\| encoder, tiny, 1 × 16 \| 2\.0 MB \| [0-9.]+ ms \|` + strings.Repeat(figure, 4) + memory,
		`\| cross-encoder, tiny, 1 × 16 \| 2\.0 MB \| [0-9.]+ ms \| \|` + strings.Repeat(figure, 3) + memory,
		`How well real weights find notes was \*\*not measured\*\*`,
		"`go run -C lab ./bench -models -out ../docs/performance.md`",
	} {
		if !regexp.MustCompile(want).MatchString(page) {
			t.Errorf("no %s in\n%s", want, page)
		}
	}
	if remade := string(withModels(s.report(), modelsOf(data))); !strings.Contains(remade, string(modelsOf(data))+"\n## How to read this\n") {
		t.Errorf("a page that is made again loses the section:\n%s", remade)
	}
}

// TestModelTexts makes sure that the texts are as long as the table says.
func TestModelTexts(t *testing.T) {
	for _, shape := range tinyModels {
		dir := t.TempDir()
		if err := shape.write(dir, 1); err != nil {
			t.Fatal(err)
		}
		m, err := transformer.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range modelTasks() {
			if task.skips(shape) {
				continue
			}
			question, texts := taskTexts(m, task)
			if len(texts) != task.texts {
				t.Errorf("%s, %s: %d texts", shape.name, task, len(texts))
			}
			for _, text := range texts {
				got := m.Tokens(text)
				if shape.cross { // a beginning, the question, an end, the text, an end
					got += m.Tokens(question) - 1
				}
				if got != task.tokens {
					t.Errorf("%s, %s: a text of %d tokens", shape.name, task, got)
				}
			}
		}
	}
}

func TestWithModels(t *testing.T) {
	section := modelsTitle + "\nnew\n"
	for _, tt := range []struct{ page, want string }{
		{"", "\n" + section},
		{"# P\n", "# P\n\n" + section},
		{"# P\n\n## A\n\na\n\n## B\n\nb\n", "# P\n\n## A\n\na\n\n" + section + "\n## B\n\nb\n"},
		{"# P\n\n" + modelsTitle + "\nold\n\n## B\n\nb\n", "# P\n\n" + section + "\n## B\n\nb\n"},
		{"# P\n\n## B\n\nb\n\n" + modelsTitle + "\nold\n", "# P\n\n## B\n\nb\n\n" + section},
	} {
		got := string(withModels([]byte(tt.page), []byte(section)))
		if got != tt.want {
			t.Errorf("withModels(%q)\n got %q\nwant %q", tt.page, got, tt.want)
		}
		if tt.page != "" && strings.TrimRight(string(modelsOf([]byte(got))), "\n")+"\n" != section {
			t.Errorf("modelsOf(%q) = %q", got, modelsOf([]byte(got)))
		}
		if again := string(withModels([]byte(tt.page), nil)); again != tt.page {
			t.Errorf("without a section %q becomes %q", tt.page, again)
		}
	}
}

package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestSite builds the site of this repository: each link within it leads somewhere.
func TestSite(t *testing.T) {
	pages, err := read(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	files, dead, err := build(pages)
	if err != nil {
		t.Fatal(err)
	}
	if len(dead) > 0 {
		t.Errorf("links that lead nowhere:\n%s", strings.Join(dead, "\n"))
	}
	for _, name := range []string{"index.html", "docs/index.html", "docs/sync.html", "docs/decisions/index.html"} {
		if !strings.Contains(string(files[name]), "<main>\n<h1") {
			t.Errorf("%s has no heading", name)
		}
	}
	if err := run("../..", t.TempDir()); err != nil {
		t.Error(err)
	}
}

func TestBuild(t *testing.T) {
	files, dead, err := build(map[string][]byte{
		"README.md": []byte("# Top\n\n[a](docs/a.md#two-words-more) [b](docs/b.md) [c](docs/a.md#none) [l](LICENSE) " +
			"[w](https://example.com/x.md) ![p](docs/p.svg) ![q](docs/q.svg)\n\n<script>alert(1)</script>\n"),
		"docs/a.md":  []byte("# A & B\n\n## Two words, `more`\n\n[up](../README.md) [here](#a--b)\n"),
		"docs/p.svg": []byte("<svg/>"),
		"LICENSE":    []byte("text"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"README.md: docs/b.md", "README.md: docs/a.md#none", "README.md: docs/q.svg"}; !slices.Equal(dead, want) {
		t.Errorf("dead links %q, want %q", dead, want)
	}
	top, a := string(files["index.html"]), string(files["docs/a.html"])
	for _, want := range []string{
		`href="docs/a.html#two-words-more"`, `href="https://example.com/x.md"`, `href="LICENSE"`, `src="docs/p.svg"`,
		`<a href="index.html" aria-current="page">Top</a>`,
	} {
		if !strings.Contains(top, want) {
			t.Errorf("the first page has no %s:\n%s", want, top)
		}
	}
	if strings.Contains(top, "<script") {
		t.Error("raw HTML of a page is rendered")
	}
	for _, want := range []string{`href="../index.html"`, `id="two-words-more"`, `href="#a--b"`, "<title>A &amp; B · Anamnesis</title>"} {
		if !strings.Contains(a, want) {
			t.Errorf("the second page has no %s:\n%s", want, a)
		}
	}
}

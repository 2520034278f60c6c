package internal_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
)

var update = flag.Bool("update", false, "rewrite docs/decisions/README.md")

// A page is one markdown file of the repository, testdata and the tools' folders left out.
type page struct {
	path string // from the root of the repository, with slashes
	text string
}

var readPagesOnce = sync.OnceValues(readPages)

func pages(t *testing.T) []page {
	t.Helper()
	all, err := readPagesOnce()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 20 {
		t.Fatalf("found %d pages; is this the repository?", len(all))
	}
	return all
}

func readPages() (all []page, _ error) {
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() && name != ".." && (base == "testdata" || base == "node_modules" || strings.HasPrefix(base, ".")) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(base, ".md") {
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
		all = append(all, page{filepath.ToSlash(rel), string(data)})
		return nil
	})
	return all, err
}

// read returns the text of a page of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	all := pages(t)
	i := slices.IndexFunc(all, func(p page) bool { return p.path == name })
	if i < 0 {
		t.Fatalf("there is no %s", name)
	}
	return all[i].text
}

// TestDecisionIndex compares docs/decisions/README.md with the titles of the pages.
func TestDecisionIndex(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Decisions\n\n<!-- Generated from the titles by `make generate`. Do not edit. -->\n\n" +
		"One page for each subject that shapes the code: what holds now, why, what follows, what was rejected. A page is\n" +
		"changed when a decision changes; [history.md](history.md) keeps what was decided before.\n\n| page | title |\n|---|---|\n")
	n := 0
	for _, p := range pages(t) {
		dir, name := path.Split(p.path)
		if dir != "docs/decisions/" || name == "README.md" || name == "history.md" {
			continue
		}
		title, _, _ := strings.Cut(p.text, "\n")
		title, ok := strings.CutPrefix(title, "# ")
		if !ok {
			t.Errorf("%s begins without a title", p.path)
		}
		fmt.Fprintf(&b, "| [%s](%s) | %s |\n", strings.TrimSuffix(name, ".md"), name, title)
		n++
	}
	if n == 0 {
		t.Error("there are no pages of decisions")
	}
	index := filepath.Join("..", "docs", "decisions", "README.md")
	if *update {
		if err := os.WriteFile(index, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(index); err != nil || string(got) != b.String() {
		t.Errorf("docs/decisions/README.md is stale (%v); run `make generate`", err)
	}
}

var (
	decisionPath   = regexp.MustCompile(`decisions/([\w-]+\.md)`)
	decisionNumber = regexp.MustCompile(`(?i)\bdecision (?:record )?\d+`)
)

// TestDecisionReferences wants what the code and the pages say of a decision to
// name a page that exists. Numbers are those of former records.
func TestDecisionReferences(t *testing.T) {
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() && name != ".." && (base == "testdata" || base == "node_modules" || base == ".git" || base == ".tools") {
			return fs.SkipDir
		}
		if d.IsDir() || !slices.Contains([]string{".go", ".md", ".yml", ".yaml", ".txt", ".sql", ".js", ".html", ""}, filepath.Ext(base)) {
			return nil
		}
		if !d.Type().IsRegular() || base == "docs_test.go" {
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, m := range decisionPath.FindAllStringSubmatch(string(data), -1) {
			if _, err := os.Stat(filepath.Join("..", "docs", "decisions", m[1])); err != nil {
				t.Errorf("%s names docs/decisions/%s, which does not exist", name, m[1])
			}
		}
		if m := decisionNumber.FindString(string(data)); m != "" {
			t.Errorf("%s says %q; name the page of docs/decisions", name, m)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// fenced matches blocks of code, whose brackets are no links.
var fenced = regexp.MustCompile("(?ms)^ *```.*?^ *```")

var (
	linked  = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	inline  = regexp.MustCompile("`[^`\n]*`")
)

// slug is the anchor that a forge gives a heading.
func slug(title string) string {
	title = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`).ReplaceAllString(title, "$1")
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ', r == '-':
			return '-'
		case r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}

// deadLinks lists the relative links of a page that lead nowhere. exists reports
// whether there is a file or folder, and anchors returns those of a page.
func deadLinks(p page, exists func(string) bool, anchors func(string) []string) (dead []string) {
	text := inline.ReplaceAllString(fenced.ReplaceAllString(p.text, ""), "")
	for _, m := range linked.FindAllStringSubmatch(text, -1) {
		if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
			continue
		}
		file, anchor, _ := strings.Cut(m[1], "#")
		target := p.path
		if file != "" {
			target = path.Join(path.Dir(p.path), file)
		}
		if !exists(target) || anchor != "" && strings.HasSuffix(target, ".md") && !slices.Contains(anchors(target), anchor) {
			dead = append(dead, m[1])
		}
	}
	return dead
}

func anchorsOf(text string) (all []string) {
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		all = append(all, slug(m[1]))
	}
	return all
}

// TestLinks wants every relative link of every page to lead to a file, and to a
// heading when it names one.
func TestLinks(t *testing.T) {
	exists := func(name string) bool {
		_, err := os.Stat(filepath.Join("..", filepath.FromSlash(name)))
		return err == nil
	}
	for _, p := range pages(t) {
		for _, link := range deadLinks(p, exists, func(name string) []string { return anchorsOf(read(t, name)) }) {
			t.Errorf("%s: the link %s leads nowhere", p.path, link)
		}
	}
}

func TestDeadLinks(t *testing.T) {
	p := page{"docs/a.md", "[b](b.md) [c](c.md) [up](../README.md#the-house) [no](../README.md#no) [web](https://x.org) `[d](d.md)`\n" +
		"```\n[e](e.md)\n```\n[here](#a-b)\n"}
	exists := func(name string) bool { return name == "docs/b.md" || name == "README.md" || name == "docs/a.md" }
	anchors := func(name string) []string {
		return map[string][]string{"README.md": anchorsOf("## The house\n"), "docs/a.md": anchorsOf("# A, b\n")}[name]
	}
	got := strings.Join(deadLinks(p, exists, anchors), " ")
	if want := "c.md ../README.md#no"; got != want {
		t.Errorf("dead links %q, want %q", got, want)
	}
}

// TestDocsIndex wants docs/README.md to lead to every page of docs.
func TestDocsIndex(t *testing.T) {
	index := read(t, "docs/README.md")
	for _, p := range pages(t) {
		if dir, name := path.Split(p.path); dir == "docs/" && name != "README.md" && !strings.Contains(index, "]("+name) {
			t.Errorf("docs/README.md has no line for %s", name)
		}
	}
}

// commands returns the commands that docs/cli.md lists, "config set" as well as
// "config". It is generated from the tree of commands.
func commands(t *testing.T) []string {
	var all []string
	for _, m := range regexp.MustCompile(`(?m)^## anamnesis (.+)$`).FindAllStringSubmatch(read(t, "docs/cli.md"), -1) {
		all = append(all, m[1])
	}
	if len(all) < 20 {
		t.Fatalf("docs/cli.md lists %d commands", len(all))
	}
	return all
}

var (
	spans = regexp.MustCompile("(?s)```.*?```|`[^`\n]+(?:\n[^`\n]+)?`")
	// shellComment is what a line of a block says behind its command.
	shellComment = regexp.MustCompile(`(?m) # .*$`)
	command      = regexp.MustCompile(`(?m)(?:^|[\s$(;&|"'` + "`" + `])anamnesis[ \n]+((?:[a-z][a-z-]*)(?:[ \n]+[a-z][a-z-]*)?)`)
)

// unknownCommands lists what a page types after the name of the program that is
// no command. Of a command with subcommands, the word behind it must be one.
func unknownCommands(text string, known []string) (unknown []string) {
	for _, span := range spans.FindAllString(text, -1) {
		span = shellComment.ReplaceAllString(span, "")
		for _, m := range command.FindAllStringSubmatch(span, -1) {
			all := strings.Fields(m[1])
			if !slices.Contains(known, all[0]) {
				unknown = append(unknown, all[0])
				continue
			}
			parent := slices.ContainsFunc(known, func(k string) bool { return strings.HasPrefix(k, all[0]+" ") })
			if len(all) > 1 && parent && !slices.Contains(known, all[0]+" "+all[1]) && strings.Contains(span, "anamnesis "+m[1]+"`") {
				unknown = append(unknown, m[1])
			}
		}
	}
	return unknown
}

// builtin lists the commands that cobra brings along.
var builtin = []string{"help", "completion"}

// TestCommandsInDocs wants every command that a page tells to type to exist.
// docs/compatibility.md and the changelog also name former ones.
func TestCommandsInDocs(t *testing.T) {
	known := append(commands(t), builtin...)
	for _, p := range pages(t) {
		if !isGuide(p.path) {
			continue
		}
		text := p.text
		if before, example, ok := strings.Cut(text, "\n### Example: a command\n"); ok {
			_, after, _ := strings.Cut(example, "\n## ")
			text = before + after // the example adds a command
		}
		for _, name := range unknownCommands(text, known) {
			t.Errorf("%s names the command %q, which docs/cli.md does not list", p.path, name)
		}
	}
}

func TestUnknownCommands(t *testing.T) {
	known := []string{"add", "config", "config set", "search"}
	text := "Run `anamnesis add`, `anamnesis config set K V`, `anamnesis find x`, `anamnesis config put`.\n```\n$ anamnesis search words here\n" +
		"anamnesis serch x # not anamnesis into\n```\nThe anamnesis program is small."
	got := strings.Join(unknownCommands(text, known), ", ")
	if want := "find, config put, serch"; got != want {
		t.Errorf("unknown commands %q, want %q", got, want)
	}
}

// isGuide reports whether a page describes the program of today.
func isGuide(name string) bool {
	return name != "docs/compatibility.md" && name != "CHANGELOG.md" && !strings.HasPrefix(name, "docs/decisions/history")
}

// unknownSettings lists the names in back-ticks that begin like a setting, such as
// `recall.min_overlap`, and are none. A name that ends like a file is one.
func unknownSettings(text string, known []string) (unknown []string) {
	var sections []string
	for _, k := range known {
		if section, _, ok := strings.Cut(k, "."); ok {
			sections = append(sections, section)
		}
	}
	for _, m := range regexp.MustCompile("`([a-z]+(?:\\.[a-z0-9_]+)+)(?:=[^`]*)?`").FindAllStringSubmatch(text, -1) {
		section, _, _ := strings.Cut(m[1], ".")
		file := slices.Contains([]string{".go", ".md", ".json", ".jsonl", ".txt", ".yaml", ".toml", ".db", ".sh"}, path.Ext(m[1]))
		if slices.Contains(sections, section) && !file && !slices.Contains(known, m[1]) {
			unknown = append(unknown, m[1])
		}
	}
	return unknown
}

// TestSettingsInDocs wants every setting that a page names to exist.
func TestSettingsInDocs(t *testing.T) {
	var known []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z0-9_.]+)`").FindAllStringSubmatch(read(t, "docs/settings.md"), -1) {
		known = append(known, m[1])
	}
	if len(known) < 20 {
		t.Fatalf("docs/settings.md lists %d settings", len(known))
	}
	for _, p := range pages(t) {
		if !isGuide(p.path) {
			continue
		}
		for _, name := range unknownSettings(p.text, known) {
			t.Errorf("%s names the setting %q, which docs/settings.md does not list", p.path, name)
		}
	}
}

func TestUnknownSettings(t *testing.T) {
	known := []string{"recall.k", "inject.page.on"}
	got := strings.Join(unknownSettings("`recall.k=3` `recall.depth` `inject.page.on` `inject.go` `other.thing` `inject.off=false`", known), ", ")
	if want := "recall.depth, inject.off"; got != want {
		t.Errorf("unknown settings %q, want %q", got, want)
	}
}

// TestGlossary requires that no word is explained by both glossaries: docs/concepts.md for
// users and ARCHITECTURE.md for developers.
func TestGlossary(t *testing.T) {
	row := regexp.MustCompile(`(?m)^\| ([a-z -]+) \| `)
	seen := make(map[string]string)
	for name, section := range map[string]string{"docs/concepts.md": "## Words", "ARCHITECTURE.md": "## Terms"} {
		_, after, ok := strings.Cut(read(t, name), "\n"+section+"\n")
		if !ok {
			t.Fatalf("%s has no section %q", name, section)
		}
		table, _, _ := strings.Cut(after, "\n## ")
		words := row.FindAllStringSubmatch(table, -1)[1:] // without its head
		for _, w := range words {
			if other, twice := seen[w[1]]; twice {
				t.Errorf("%q is explained in %s and in %s", w[1], other, name)
			}
			seen[w[1]] = name
		}
	}
}

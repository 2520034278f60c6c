package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"anamnesis/lab/origin"
)

// pairsOf returns what a file gives, as "kind: query → passage".
func pairsOf(files ...origin.File) (all []string) {
	for _, p := range extract(files) {
		all = append(all, p.Kind+": "+clean(p.Query, 200)+" → "+clean(p.Passage, 120))
	}
	return all
}

func TestExtract(t *testing.T) {
	long := strings.Repeat("It is told at length what happens then. ", 5)
	for _, tt := range []struct {
		path, data string
		want       []string // each begins one of the pairs
	}{
		{
			"a.go", "package a\n\n// Open opens the named file for reading. " + long + "\nfunc Open(name string) error {\n" +
				"\tif name == \"\" {\n\t\treturn errors.New(\"the name of the file is missing\")\n\t}\n\treturn nil\n}\n\n" +
				"type T struct {\n\t// MaxSize is the greatest size in bytes.\n\tMaxSize int\n}\n",
			[]string{
				"doc-code: opens the named file for reading. → func Open(name string) error {",
				"opening: opens the named file for reading. → It is told at length",
				"error: the name of the file is missing → Open opens the named file",
				"field: T Max Size → is the greatest size in bytes.",
			},
		},
		{"a_test.go", "package a\n\nfunc TestOpenMissingFile(t *testing.T) { open(\"no\") }\n", []string{"test-code: Open Missing File → open("}},
		{
			"cmd.go", "package a\n\nvar c = &cobra.Command{Use: \"get\", Short: \"Show a thing\", Long: \"It shows it.\", Example: `# all of them\nthing get --all`}\n",
			[]string{"command: Show a thing → get It shows it.", "comment-line: all of them → thing get --all"},
		},
		{
			"doc/a.md", "# Guide\n\n## How do I stop it?\n\nSend the signal. Stop with the [other page](b.md):\n\n```\nkill 1\n```\n\n## Usage\n\nwords here\n",
			[]string{
				"link: Stop with the other page: → Other. About other things",
				"prose-code: Stop with the other page: → kill 1",
				"question: How do I stop it? → Send the signal.",
				"heading: Guide Usage → words here",
			},
		},
		{
			"a.rst", "Title of it\n===========\n\nUse :func:`open` so::\n\n   open(1)\n\nMore of it\n----------\n\nA body.\n",
			[]string{"prose-code: Use open so:: → open(1)", "heading: Title of it → Use open so::", "heading: More of it → A body."},
		},
		{
			"p.html", "<title>Page</title><h1>The thing</h1><p>What it is for:</p><pre>run it</pre><h2>Limits</h2><p>None &amp; more.</p>",
			[]string{"prose-code: What it is for: → run it", "heading: Page The thing → What it is for:", "heading: The thing Limits → None & more."},
		},
		{
			"man/man1/ls.1", ".TH LS 1\n.SH NAME\nls \\- list files of a folder\n.SH DESCRIPTION\nIt lists them.\n.TP\n.B \\-l\nUse the long format. More of it.\n",
			[]string{"manual: list files of a folder → ls. It lists them.", "option: Use the long format. → ls -l More of it. list files"},
		},
		{
			"m.py", "import os\n\ndef walk(top):\n    \"\"\"Walk a tree of folders.\n\n    " + long + "\n    \"\"\"\n    return top\n",
			[]string{"docstring: Walk a tree of folders. → def walk(top):", "opening: Walk a tree of folders. → It is told"},
		},
		{"x.d.ts", "/**\n * Opens a page. It waits.\n * @param a what\n */\nopen(a: string): Page;\n", []string{"jsdoc: Opens a page. → open(a: string): Page; It waits."}},
		{"do.sh", "#!/bin/sh\n# remove old logs\nfind . -mtime +7 -delete\n\nls\n", []string{"comment-line: remove old logs → find . -mtime +7 -delete"}},
		{
			"w/data.noun", `00001740 03 n 02 folder 0 file_folder 0 000 | covering that is folded; "keep it in a folder"` + "\n",
			[]string{"gloss: covering that is folded → folder, file folder", "gloss: folder file folder → covering", "example: folder file folder, covering that is folded → keep it"},
		},
		{"locale_en-US.json", "{\n  \"repo.new_tag\": \"Make a new tag\",\n}\n", []string{"setting: repo new tag → Make a new tag"}},
	} {
		t.Run(tt.path, func(t *testing.T) {
			got := pairsOf(origin.File{Path: tt.path, Data: []byte(tt.data)}, origin.File{Path: "doc/b.md", Data: []byte("# Other\n\nAbout other things.\n")})
			for _, want := range tt.want {
				if !slices.ContainsFunc(got, func(p string) bool { return strings.HasPrefix(p, want) }) {
					t.Errorf("no pair %q in\n%s", want, strings.Join(got, "\n"))
				}
			}
		})
	}
}

func TestNothingOfTheEvaluationDataIsKept(t *testing.T) {
	dir := t.TempDir()
	line := `{"id":"1","title":"Delete all the old files","text":"find . -name x\nof the folder that nobody needs any more today"}`
	if err := os.WriteFile(filepath.Join(dir, "corpus.jsonl"), []byte(line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	forbidden := make(shingles)
	if n, err := forbidden.folder(dir); err != nil || n != 1 {
		t.Fatalf("%d files, %v", n, err)
	}
	s := newSieve(forbidden)
	kept := s.choose(&sources[0], []pair{
		{Kind: "k", Query: "remove what is old", Passage: "Of the folder: that nobody, needs any MORE today."},
		{Kind: "k", Query: "remove what is older", Passage: "Of the folder that nobody needs any other thing is true."},
		{Kind: "k", Query: "remove old files quickly", Passage: "delete all the old files find name x of it"},
	})
	if len(kept) != 1 || kept[0].Query != "remove what is older" {
		t.Errorf("kept %+v", kept)
	}
	if s.dropped["eight words in a row stand in the evaluation data"] != 2 {
		t.Errorf("dropped %v", s.dropped)
	}
}

func TestSieve(t *testing.T) {
	s := newSieve(nil)
	p := pair{Kind: "k", Query: "how to open files", Passage: "call the function that opens them"}
	all := []pair{p, p, {Kind: "k", Query: "the", Passage: p.Passage + " now"}, {Kind: "k", Query: p.Query, Passage: "too short"}}
	for i := range 4 {
		all = append(all, pair{Kind: "k", Query: p.Query, Passage: p.Passage + strings.Repeat(" again", i+1)})
	}
	if kept := s.choose(&sources[0], all); len(kept) != perQuery {
		t.Errorf("%d pairs are kept, want %d", len(kept), perQuery)
	}
	want := map[string]int{"seen before": 1, "too short or too long": 2, "asked too often": 2}
	if diff := cmp.Diff(want, s.dropped); diff != "" {
		t.Error(diff)
	}
}

func TestSourcesPageIsFresh(t *testing.T) {
	var want bytes.Buffer
	if err := list(&want); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("SOURCES.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.String(), string(got)); diff != "" {
		t.Errorf("run go run -C lab ./pairs -manifest > lab/pairs/SOURCES.md: %s", diff)
	}
	names := make(map[string]bool)
	held := 0
	for _, s := range sources {
		if s.licence == "" || s.version == "" || s.sum == "" && s.kind != "go" || names[s.name] {
			t.Errorf("%s has no licence, version or checksum, or stands twice", s.name)
		}
		names[s.name] = true
		if s.held {
			held++
		}
		for _, bad := range []string{"GPL", "MPL", "NC", "SA"} {
			if strings.Contains(s.licence, bad) {
				t.Errorf("%s: %s", s.name, s.licence)
			}
		}
	}
	if held < 5 {
		t.Errorf("only %d sources are held out", held)
	}
}

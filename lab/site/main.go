// Site makes a static web site of the documentation:
//
//	go run -C lab ./site -out ../site
//
// Each page of markdown becomes one of HTML at the same place, with a list of all pages beside
// it. Nothing is loaded from elsewhere, and there is no script. A link within the pages that leads
// nowhere is an error, and then nothing is written.
package main

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	root := flag.String("root", "..", "the `folder` of the repository")
	out := flag.String("out", "", "the `folder` to write; it is made, and its files are replaced")
	flag.Parse()
	if err := run(*root, *out); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

func run(root, out string) error {
	if out == "" {
		return fmt.Errorf("give the folder to write: -out DIR")
	}
	pages, err := read(os.DirFS(root))
	if err != nil {
		return err
	}
	files, dead, err := build(pages)
	if err != nil {
		return err
	}
	if len(dead) > 0 {
		return fmt.Errorf("links that lead nowhere:\n  %s", strings.Join(dead, "\n  "))
	}
	for name, content := range files {
		at := filepath.Join(out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil { //nolint:gosec // pages for everybody
			return err
		}
		if err := os.WriteFile(at, content, 0o644); err != nil { //nolint:gosec // the same
			return err
		}
	}
	fmt.Fprintf(os.Stdout, "%d pages in %s\n", len(pages), out)
	return nil
}

// read returns the pages of a repository, by their path: those at the top that readers need, and
// all below docs, with the pictures there.
func read(repository fs.FS) (map[string][]byte, error) {
	pages := make(map[string][]byte)
	take := func(name string) error {
		text, err := fs.ReadFile(repository, name)
		pages[name] = text
		return err
	}
	for _, name := range []string{
		"README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE", "changelog/TEMPLATE.md",
	} {
		if err := take(name); err != nil {
			return nil, err
		}
	}
	err := fs.WalkDir(repository, "docs", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains([]string{".md", ".svg"}, filepath.Ext(name)) {
			return err
		}
		return take(name)
	})
	return pages, err
}

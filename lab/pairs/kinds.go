package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"path"
	"regexp"
	"strings"

	"anamnesis/lab/origin"
)

// extract takes the pairs out of the files of a source. The kinds of pairs:
//
//	heading       a heading (with the one above it where it is short) → its section
//	question      a heading that is a question → its section
//	opening       the first sentence of a section or doc comment → the rest of it
//	prose-code    the sentence before a block of code → the code
//	link          a sentence of a page → the page of the same source that it links to
//	doc-code      the first sentence of a Go doc comment → the code
//	field         the name of a field → what its comment says
//	test-code     the name of a test → its body
//	command       the short description of a command → the long one and its examples
//	error         the text of an error → the function that returns it
//	comment-line  a comment in a script or an example → the command below it
//	docstring     the first line of a Python docstring → signature and rest
//	jsdoc         the first sentence of a JSDoc comment → the declaration
//	manual        the NAME line of a manual page → its DESCRIPTION
//	option        what an option does → the option and its page's purpose
//	gloss         the words of a dictionary's entry → what they mean
//	example       what a word means → a sentence with it
//	setting       the key of a user interface's text → the text
func extract(files []origin.File) []pair {
	x := &extractor{pages: make(map[string]string)}
	for i := range files {
		if strings.HasSuffix(files[i].Path, ".gz") {
			if z, err := gzip.NewReader(bytes.NewReader(files[i].Data)); err == nil {
				files[i].Data, _ = io.ReadAll(z)
			}
			files[i].Path = strings.TrimSuffix(files[i].Path, ".gz")
		}
		switch ext := path.Ext(files[i].Path); ext {
		case ".md", ".html":
			x.pages[path.Clean(files[i].Path)] = opening(ext, string(files[i].Data))
		}
	}
	for _, f := range files {
		x.file(f.Path, f.Data)
	}
	return x.pairs
}

// An extractor collects the pairs of one source.
type extractor struct {
	pairs []pair
	pages map[string]string // how a page begins, for links to it
}

func (x *extractor) emit(kind, query, passage string) {
	x.pairs = append(x.pairs, pair{Kind: kind, Query: query, Passage: passage})
}

var manualPage = regexp.MustCompile(`/man\d?/.*\.\d\w*$|/mann/`)

func (x *extractor) file(name string, data []byte) {
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	base := path.Base(name)
	switch ext := path.Ext(name); {
	case manualPage.MatchString("/" + name):
		x.manual(text)
	case ext == ".go":
		x.golang(name, data)
	case ext == ".py":
		x.python(text)
	case strings.HasSuffix(name, ".d.ts"):
		x.typescript(text)
	case ext == ".sh", base == "Makefile":
		x.script(text)
	case strings.Contains(name, "wordnet/data."), strings.Contains(name, "/data.noun"), strings.Contains(name, "/data.verb"),
		strings.Contains(name, "/data.adj"), strings.Contains(name, "/data.adv"):
		x.wordnet(text)
	case strings.HasPrefix(base, "locale_en") || base == "en.json":
		x.locale(text)
	case ext == ".md":
		x.sections(name, markdown(text))
	case ext == ".rst", ext == ".txt":
		x.sections(name, rst(text))
	case ext == ".html":
		x.sections(name, webPage(text))
	}
}

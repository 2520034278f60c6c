package main

import (
	"bytes"
	"compress/gzip"
	"go/scanner"
	"go/token"
	"io"
	"strings"

	"anamnesis/lab/origin"
)

// paragraphs takes the text of a file apart into paragraphs. Words of one
// paragraph are neighbours of each other, words of two are not.
func paragraphs(form, path string, data []byte) []string {
	if strings.HasSuffix(path, ".gz") {
		r, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil
		}
		if data, err = io.ReadAll(r); err != nil {
			return nil
		}
		path = strings.TrimSuffix(path, ".gz")
	}
	if form == "module" { // a Go module: its comments and its documents
		form = "text"
		if strings.HasSuffix(path, ".go") {
			form = "go"
		}
	}
	text := string(data)
	switch form {
	case "html":
		return blocks(origin.PlainHTML(text))
	case "roff":
		return blocks(origin.PlainRoff(text))
	case "go":
		return blocks(goComments(data))
	case "wordnet":
		if strings.Contains(path, "/index.") {
			return nil
		}
		return glosses(text)
	case "strings":
		return []string{printable(data)}
	}
	return blocks(text)
}

// blocks cuts at blank lines.
func blocks(text string) []string {
	var all []string
	for _, b := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n") {
		if b = strings.TrimSpace(b); len(b) > 20 && strings.ContainsRune(b, ' ') {
			all = append(all, b)
		}
	}
	return all
}

// goComments returns the comments of a Go file, without directives.
func goComments(data []byte) string {
	var out strings.Builder
	fset := token.NewFileSet()
	var s scanner.Scanner
	s.Init(fset.AddFile("", -1, len(data)), data, func(token.Position, string) {}, scanner.ScanComments)
	last := 0
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return out.String()
		}
		if tok != token.COMMENT {
			continue
		}
		line := fset.Position(pos).Line
		if line > last+1 {
			out.WriteString("\n")
		}
		last = line + strings.Count(lit, "\n")
		if strings.HasPrefix(lit, "//go:") || strings.HasPrefix(lit, "// Copyright") || strings.HasPrefix(lit, "//line") {
			continue
		}
		lit = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(lit, "/*"), "//"), "*/")
		out.WriteString(lit + "\n")
	}
}

// printable returns the runs of prose in a binary file, one a line.
func printable(data []byte) string {
	var out strings.Builder
	start := -1
	for i := 0; i <= len(data); i++ {
		if i < len(data) && (data[i] >= ' ' && data[i] < 0x7f || data[i] == '\n') {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 && i-start > 20 && bytes.Count(data[start:i], []byte(" ")) > 2 {
			out.Write(data[start:i])
			out.WriteByte('\n')
		}
		start = -1
	}
	return out.String()
}

package main

import (
	"bytes"
	"compress/gzip"
	"go/scanner"
	"go/token"
	"html"
	"io"
	"regexp"
	"strings"
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
		return blocks(stripHTML(text))
	case "roff":
		return blocks(stripRoff(text))
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

var (
	hidden   = regexp.MustCompile(`(?is)<(script|style|head|nav)\b.*?</(script|style|head|nav)>|<!--.*?-->`)
	blockTag = regexp.MustCompile(`(?i)</?(p|div|li|ul|ol|dl|dt|dd|tr|table|h[1-6]|pre|section|article|blockquote|br)\b[^>]*>`)
	otherTag = regexp.MustCompile(`<[^>]*>`)
	blank    = regexp.MustCompile(`\n[ \t]+\n`)
)

func stripHTML(text string) string {
	text = hidden.ReplaceAllString(text, " ")
	text = blockTag.ReplaceAllString(text, "\n\n")
	text = otherTag.ReplaceAllString(text, "")
	return blank.ReplaceAllString(html.UnescapeString(text), "\n\n")
}

var (
	roffEscape = regexp.MustCompile(`\\f(\[[^]]*\]|\(..|.)|\\s[-+]?\d|\\[&|^%/,c]|\\\*?\[[^]]*\]|\\\*?\(..`)
	mdocMacro  = regexp.MustCompile(`\b(Ar|Fl|Xr|Nm|Cm|Op|Pa|Ic|Dv|Ev|Em|Sy|Li|Ql|Dq|Sq|Pq|Ns|No|Va|Vt|Fa|Fn|Ft|Oo|Oc|Brq|Bro|Brc|Aq|` +
		`Ac|Ao|Do|Dc|So|Sc|Bq|Tn|Ux)\b`)
)

// stripRoff takes the words out of a manual page, man and mdoc alike.
func stripRoff(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, `.\"`), strings.HasPrefix(line, `'\"`):
			continue
		case strings.HasPrefix(line, "."):
			macro, rest, _ := strings.Cut(strings.TrimPrefix(line, "."), " ")
			switch strings.TrimSpace(macro) {
			case "PP", "P", "LP", "Pp", "SH", "SS", "Sh", "Ss", "TP", "IP", "It", "sp", "HP":
				out.WriteString("\n\n")
			case "TH", "Dd", "Dt", "Os", "ds", "de", "if", "ie", "el", "nr", "so", "Bd", "Bl", "El", "Ed", "ad", "nh", "ta", "in", "ll":
				continue
			}
			line = mdocMacro.ReplaceAllString(rest, " ")
		}
		line = strings.NewReplacer(`\-`, "-", `\(aq`, "'", `\e`, `\`).Replace(line)
		out.WriteString(roffEscape.ReplaceAllString(line, ""))
		out.WriteByte('\n')
	}
	return out.String()
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

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.`)

// golang takes pairs out of a Go file.
func (x *extractor) golang(name string, data []byte) {
	if len(data) > 2<<20 || generated.Match(data[:min(len(data), 4096)]) && !strings.Contains(name, "types.go") {
		return
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, data, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return
	}
	source := func(from, to token.Pos) string {
		a, b := fset.Position(from).Offset, fset.Position(to).Offset
		return string(data[a:min(b, a+2*passageBytes)])
	}
	if f.Doc != nil && !strings.HasPrefix(f.Doc.Text(), "Copyright") {
		if s, rest := first(f.Doc.Text()); len(rest) > 80 {
			x.emit("opening", withoutName(s), rest)
		}
	}
	test := strings.HasSuffix(name, "_test.go")
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body == nil {
				continue
			}
			if test {
				if t, ok := strings.CutPrefix(d.Name.Name, "Test"); ok && t != "" {
					x.emit("test-code", split(t), source(d.Body.Pos()+1, d.End()))
				}
				continue
			}
			x.documented(d.Doc, source(d.Pos(), d.End()))
			x.errors(d, source)
		case *ast.GenDecl:
			if len(d.Specs) == 1 {
				x.documented(d.Doc, source(d.Pos(), d.End()))
			}
			for _, s := range d.Specs {
				x.spec(s, source)
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if c, ok := n.(*ast.CompositeLit); ok {
			x.cobra(c)
		}
		return true
	})
}

func (x *extractor) documented(doc *ast.CommentGroup, code string) {
	if doc == nil {
		return
	}
	s, rest := first(doc.Text())
	x.emit("doc-code", withoutName(s), code)
	if len(rest) > 120 {
		x.emit("opening", withoutName(s), rest)
	}
}

func (x *extractor) spec(s ast.Spec, source func(from, to token.Pos) string) {
	t, ok := s.(*ast.TypeSpec)
	if !ok {
		if v, ok := s.(*ast.ValueSpec); ok && v.Doc != nil {
			x.emit("field", split(v.Names[0].Name), v.Doc.Text())
		}
		return
	}
	x.documented(t.Doc, source(t.Pos(), t.End()))
	fields, ok := t.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, f := range fields.Fields.List {
		if doc := f.Doc; doc != nil && len(f.Names) == 1 {
			text := doc.Text()
			x.emit("field", split(t.Name.Name)+" "+split(f.Names[0].Name), withoutName(text))
		}
	}
}

// errors pairs the texts of errors with the function that makes them.
func (x *extractor) errors(d *ast.FuncDecl, source func(from, to token.Pos) string) {
	head := source(d.Pos(), d.Body.Pos())
	if d.Doc != nil {
		head = d.Doc.Text() + head
	}
	count := 0
	ast.Inspect(d.Body, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok || len(c.Args) == 0 || count == 2 {
			return count < 2
		}
		sel, ok := c.Fun.(*ast.SelectorExpr)
		if !ok || !slices.Contains([]string{"Errorf", "New", "Wrap", "Wrapf", "Error", "Fatalf"}, sel.Sel.Name) {
			return true
		}
		for _, a := range c.Args {
			if lit, ok := a.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil && len(text) > 15 {
					x.emit("error", verbs.ReplaceAllString(text, " "), head+source(max(d.Body.Pos(), c.Pos()-300), d.End()))
					count++
				}
				break
			}
		}
		return true
	})
}

var verbs = regexp.MustCompile(`%[-+#0-9.]*[a-zA-Z]`)

// cobra pairs the short description of a command with its long one and its examples.
func (x *extractor) cobra(c *ast.CompositeLit) {
	text := make(map[string]string)
	for _, e := range c.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		key, ok := kv.Key.(*ast.Ident)
		if !ok {
			continue
		}
		ast.Inspect(kv.Value, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if s, err := strconv.Unquote(lit.Value); err == nil {
					text[key.Name] += s
				}
			}
			_, isFunc := n.(*ast.FuncLit)
			return !isFunc
		})
	}
	if short := text["Short"] + text["Usage"]; short != "" {
		x.emit("command", short, text["Use"]+text["Name"]+"\n"+text["Long"]+text["Description"]+"\n"+text["Example"])
	}
	if text["Example"] != "" {
		x.script(text["Example"])
	}
}

// withoutName takes the name away that a doc comment begins with: a question does
// not know it.
func withoutName(s string) string {
	name, rest, ok := strings.Cut(s, " ")
	if ok && len(name) > 1 && (strings.ContainsFunc(name[1:], unicode.IsUpper) || unicode.IsUpper(rune(name[0])) && len(rest) > 20) {
		return rest
	}
	return s
}

// split cuts a name into its words.
func split(name string) string {
	var b strings.Builder
	var last rune
	for _, r := range name {
		if r == '_' || r == '-' {
			r = ' '
		}
		if unicode.IsUpper(r) && (unicode.IsLower(last) || unicode.IsDigit(last)) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}

// script pairs comments with the commands below them.
func (x *extractor) script(text string) {
	var comment, code []string
	flush := func() {
		if len(comment) > 0 && len(comment) < 6 && len(code) > 0 {
			x.emit("comment-line", strings.Join(comment, " "), strings.Join(code, "\n"))
		}
		comment, code = nil, nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#!"), strings.HasPrefix(line, "# Copyright"):
		case strings.HasPrefix(line, "#"):
			if len(code) > 0 {
				flush()
			}
			comment = append(comment, strings.TrimLeft(line, "# "))
		case line == "":
			flush()
		case len(code) < 8:
			code = append(code, line)
		}
	}
	flush()
}

var docstring = regexp.MustCompile(`(?s)\n([ \t]*)((?:async )?(?:def|class) [^\n]*(?:\n[^\n]*){0,8}?:)[ \t]*\n` +
	`[ \t]*[rRuU]?"""(.*?)"""([^\0]{0,600})`)

// python pairs the first line of a docstring with the signature and what follows.
func (x *extractor) python(text string) {
	for _, m := range docstring.FindAllStringSubmatch("\n"+text, -1) {
		if strings.Count(m[2], "\n") > 0 && !strings.HasSuffix(m[2], "):") || strings.Contains(m[2], `"""`) {
			continue
		}
		code := m[4]
		if i := strings.Index(code, "\n"+m[1]+"def "); i >= 0 {
			code = code[:i]
		}
		short, rest, _ := strings.Cut(strings.TrimSpace(m[3]), "\n\n")
		if s, more := first(short); len(s) < len(short) {
			short, rest = s, more+" "+rest
		}
		x.emit("docstring", short, m[2]+"\n"+clean(rest, passageBytes/2)+"\n"+code)
		if len(rest) > 200 {
			x.emit("opening", short, rest)
		}
	}
}

var jsdoc = regexp.MustCompile(`(?s)/\*\*(.*?)\*/\s*([^\n]*(?:\n[^\n/]*){0,3})`)

// typescript pairs JSDoc comments with declarations.
func (x *extractor) typescript(text string) {
	for _, m := range jsdoc.FindAllStringSubmatch(text, -1) {
		var lines []string
		for line := range strings.Lines(m[1]) {
			line = strings.TrimPrefix(strings.TrimSpace(line), "*")
			if strings.HasPrefix(strings.TrimSpace(line), "@") {
				break
			}
			lines = append(lines, strings.TrimSpace(line))
		}
		s, rest := first(strings.Join(lines, " "))
		if strings.Contains(s, "license") || strings.Contains(s, "Copyright") {
			continue
		}
		x.emit("jsdoc", s, m[2]+" "+rest)
	}
}

package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"html/template"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

//go:embed page.html
var frame string

var (
	layout   = template.Must(template.New("page").Parse(frame))
	markdown = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
)

// A page is one of the site.
type page struct {
	path    string
	source  []byte
	tree    ast.Node
	title   string
	anchors []string
}

// build renders pages. dead lists the links within them that lead nowhere, "page: link".
func build(sources map[string][]byte) (files map[string][]byte, dead []string, err error) {
	pages := make(map[string]*page)
	files = make(map[string][]byte)
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		if path.Ext(name) == ".md" {
			pages[name] = parse(name, sources[name])
		} else {
			files[name] = sources[name]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		p := pages[name]
		dead = append(dead, p.relink(pages, sources)...)
		content, err := p.render(pages)
		if err != nil {
			return nil, nil, err
		}
		files[target(name)] = content
	}
	return files, dead, nil
}

// target returns where a page stands: README.md is the page that a server shows for its folder.
func target(name string) string {
	dir, base := path.Split(name)
	if base == "README.md" {
		return dir + "index.html"
	}
	return strings.TrimSuffix(name, ".md") + ".html"
}

func parse(name string, source []byte) *page {
	p := &page{path: name, source: source, title: path.Base(name)}
	ids := &slugs{taken: make(map[string]bool)}
	p.tree = markdown.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(ids))))
	_ = ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if h, ok := n.(*ast.Heading); ok && entering {
			if h.Level == 1 {
				p.title = words(h, source)
			}
			if id, ok := h.AttributeString("id"); ok {
				p.anchors = append(p.anchors, string(id.([]byte)))
			}
		}
		return ast.WalkContinue, nil
	})
	return p
}

// words returns the text of a node without its marks.
func words(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(c ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := c.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// relink points the links of a page to the pages of the site, and returns those that lead nowhere.
func (p *page) relink(pages map[string]*page, sources map[string][]byte) (dead []string) {
	_ = ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			to, ok := p.resolve(string(n.Destination), pages, sources)
			if !ok {
				dead = append(dead, p.path+": "+string(n.Destination))
			}
			n.Destination = []byte(to)
		case *ast.Image:
			if _, ok := p.resolve(string(n.Destination), pages, sources); !ok {
				dead = append(dead, p.path+": "+string(n.Destination))
			}
		}
		return ast.WalkContinue, nil
	})
	return dead
}

// resolve returns where a link leads in the site.
func (p *page) resolve(link string, pages map[string]*page, sources map[string][]byte) (to string, ok bool) {
	if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
		return link, true
	}
	file, anchor, anchored := strings.Cut(link, "#")
	at := p.path
	if file != "" {
		at = path.Join(path.Dir(p.path), file)
	}
	other := pages[at]
	switch {
	case other == nil:
		return link, sources[at] != nil
	case anchored && !slices.Contains(other.anchors, anchor):
		return link, false
	case file == "":
		return link, true
	}
	dir, base := path.Split(file)
	to = dir + target(base)
	if anchored {
		to += "#" + anchor
	}
	return to, true
}

// A group is a part of the list of pages.
type group struct {
	Title string
	Pages []entry
}

type entry struct {
	Title, Link string
	Here        bool
}

func (p *page) render(pages map[string]*page) ([]byte, error) {
	var body, out bytes.Buffer
	if err := markdown.Renderer().Render(&body, p.source, p.tree); err != nil {
		return nil, err
	}
	up := strings.Repeat("../", strings.Count(p.path, "/"))
	groups := []*group{{Title: "Anamnesis"}, {Title: "Pages"}, {Title: "Agents"}, {Title: "Decisions"}}
	of := map[string]*group{".": groups[0], "docs": groups[1], "docs/agents": groups[2], "docs/decisions": groups[3]}
	for _, name := range slices.SortedFunc(maps.Keys(pages), frontFirst) {
		if g := of[path.Dir(name)]; g != nil {
			g.Pages = append(g.Pages, entry{pages[name].title, up + target(name), name == p.path})
		}
	}
	err := layout.Execute(&out, map[string]any{
		"Title": p.title, "Groups": groups,
		"Body": template.HTML(body.String()), //nolint:gosec // rendered from our own pages, raw HTML left out
	})
	return out.Bytes(), err
}

// frontFirst orders pages by their path, with the front page of each folder before the others.
func frontFirst(a, b string) int {
	front := func(name string) int {
		if path.Base(name) == "README.md" {
			return 0
		}
		return 1
	}
	return cmp.Or(front(a)-front(b), strings.Compare(a, b))
}

// slugs gives headings the anchors that a forge gives them, so that one link works in both places.
type slugs struct{ taken map[string]bool }

func (s *slugs) Generate(title []byte, _ ast.NodeKind) []byte {
	slug := strings.Map(func(r rune) rune {
		switch {
		case r == ' ', r == '-':
			return '-'
		case r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(string(title)))
	for s.taken[slug] {
		slug += "-1"
	}
	s.taken[slug] = true
	return []byte(slug)
}

func (s *slugs) Put(id []byte) { s.taken[string(id)] = true }

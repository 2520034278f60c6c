package anchor

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// maxStamps is how many stamps a note has at most.
const maxStamps = 6

// A Subject is what a note says, and what it is about.
type Subject struct {
	Text    string   // its title and its rule
	Anchors []string // paths, names and commands; a path may be absolute
}

// Stamps returns stamps of what a subject names in the clone: files that are named by
// their path or the last part of it, symbols of those files, targets of build files.
func (c *Clone) Stamps(s Subject) []Stamp {
	tokens := tokensOf(s.Text)
	names := slices.DeleteFunc(slices.Clone(tokens), func(t string) bool { return !isName(t) })
	var all []Stamp
	add := func(st Stamp) bool {
		lines, err := c.lines(st.File)
		if err != nil || !inside(st.File) || len(st.About()) > maxAbout {
			return false
		}
		block := lines
		if st.Name != "" {
			if block = definition(lines, st); block == nil {
				return false
			}
		}
		st.Hash = hash(block)
		all = append(all, st)
		return true
	}
	for _, t := range targets(s.Text) {
		for _, file := range t.files {
			if add(Stamp{File: file, Name: t.name}) {
				break
			}
		}
	}
	var files []string
	for _, candidate := range slices.Concat(tokens, s.Anchors) {
		file := c.below(candidate)
		if strings.ContainsAny(path.Base(file), "./") && inside(file) && !slices.Contains(files, file) && len(files) < maxStamps {
			files = append(files, file)
		}
	}
	for _, file := range files {
		symbols := false
		for _, name := range names {
			if !strings.HasSuffix(file, name) {
				symbols = add(Stamp{File: file, Name: name}) || symbols
			}
		}
		if !symbols && slices.ContainsFunc(tokens, func(t string) bool { return t == file || t == path.Base(file) || c.below(t) == file }) {
			add(Stamp{File: file})
		}
	}
	all = sorted(all)
	return all[:min(len(all), maxStamps)]
}

// below makes a path one below the root of the clone.
func (c *Clone) below(file string) string {
	if rest, ok := strings.CutPrefix(file, strings.TrimRight(c.root.Name(), "/")+"/"); ok {
		file = rest
	}
	return strings.TrimPrefix(file, "./")
}

// tokensOf are the words of a text, without what stands around them.
func tokensOf(text string) (all []string) {
	for _, w := range strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("`\"'“”‘’«»()[]{}<>,;，。：；！？（）", r)
	}) {
		if w = strings.Trim(w, ".:!?*"); w != "" && len(w) <= 200 && !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return all
}

// isName reports whether a word is a name of code rather than of a language: it has an
// underscore, a digit behind a letter, or a capital behind a small letter.
func isName(w string) bool {
	w = strings.TrimSuffix(w, "()")
	var before rune
	odd := false
	for i, r := range w {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_':
			return false
		case i == 0 && unicode.IsDigit(r):
			return false
		case r == '_', unicode.IsDigit(r), unicode.IsUpper(r) && unicode.IsLower(before):
			odd = true
		}
		before = r
	}
	return odd && len(w) >= 3
}

type target struct {
	name  string
	files []string // that may hold it
}

// runs finds what a text runs. It is made when it is first asked for: every hook pays
// for what is made before main.
var runs = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(make|just|(?:npm|pnpm|yarn|bun) run|pnpm|yarn) ([A-Za-z][\w:.-]{0,60})`)
})

// targets are the targets of build files that a text runs.
func targets(text string) (all []target) {
	for _, m := range runs().FindAllStringSubmatch(text, maxStamps) {
		t := target{name: strings.TrimRight(m[2], ".:-")}
		switch m[1] {
		case "make":
			t.files = []string{"Makefile", "makefile", "GNUmakefile"}
		case "just":
			t.files = []string{"justfile", "Justfile"}
		default:
			t.files = []string{"package.json"}
		}
		all = append(all, t)
	}
	return all
}

package anchor

import (
	"path"
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// maxBlock is how many lines define one thing at most.
const maxBlock = 200

// maxUses is how many lines stand for a name that no line defines.
const maxUses = 20

// definers are words that stand before a name where it is defined, in the languages
// that people write.
var definers = sync.OnceValue(func() []string {
	return strings.Fields(`func function fn def class struct interface enum trait type impl module namespace record object
	const let var val static macro_rules! define sub procedure table view index message service rpc export alias resource`)
})

// definition returns the lines that define what a stamp names, nil when it is not
// there. It knows no grammar: a line that defines a name has it behind a word such as
// "func" or "class", or before "=", ":", ":=" or "("; what is indented deeper below it
// belongs to it. Where no line defines the name, the lines that use it stand for it.
func definition(lines []string, s Stamp) []string {
	if target := buildTarget(lines, s); target != nil {
		return target
	}
	word := regexp.MustCompile(`(?:^|[^\pL\pN_])` + regexp.QuoteMeta(s.Name) + `(?:$|[^\pL\pN_])`)
	var uses []string
	best, points := -1, 0
	for i, l := range lines {
		if len(l) > 2000 || !word.MatchString(l) {
			continue
		}
		if len(uses) < maxUses {
			uses = append(uses, l)
		}
		if p := defines(l, s.Name); p > points {
			best, points = i, p
		}
	}
	if best < 0 {
		return uses
	}
	return block(lines, best)
}

// defines says how surely a line defines a name: 0 for not at all.
func defines(line, name string) int {
	before, after, ok := strings.Cut(line, name)
	if !ok {
		return 0
	}
	words := strings.FieldsFunc(before, func(r rune) bool { return !unicode.IsLetter(r) && r != '_' && r != '!' })
	rest := strings.TrimSpace(after)
	for _, w := range words {
		for _, d := range definers() {
			if strings.EqualFold(w, d) {
				return 3
			}
		}
	}
	switch lead := strings.TrimLeft(strings.TrimSpace(before), "\"'-*"); {
	case lead != "":
		return 0
	case strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, "=="), strings.HasPrefix(rest, ":"), strings.HasPrefix(rest, `":`):
		return 2
	case strings.HasPrefix(rest, "(") && strings.HasSuffix(strings.TrimSpace(line), "{"):
		return 2
	}
	return 0
}

// block is a line and what is indented deeper below it, up to the bracket that closes it.
func block(lines []string, first int) []string {
	depth := indent(lines[first])
	end := first + 1
	for ; end < len(lines) && end-first < maxBlock; end++ {
		l := strings.TrimSpace(lines[end])
		if l == "" || indent(lines[end]) > depth {
			continue
		}
		if strings.Trim(l, "})];,") == "" || l == "end" {
			end++
		}
		break
	}
	return lines[first:min(end, len(lines))]
}

func indent(line string) (n int) {
	for _, r := range line {
		switch r {
		case ' ':
			n++
		case '\t':
			n += 8
		default:
			return n
		}
	}
	return n
}

// buildTarget returns what a build file does for a target, nil when it is no build file
// or has none of that name.
func buildTarget(lines []string, s Stamp) []string {
	switch path.Base(s.File) {
	case "Makefile", "makefile", "GNUmakefile", "justfile", "Justfile":
		for i, l := range lines {
			if head, _, ok := strings.Cut(l, ":"); ok && indent(l) == 0 && !strings.HasPrefix(l, "#") {
				for t := range strings.FieldsSeq(head) {
					if t == s.Name {
						return block(lines, i)
					}
				}
			}
		}
	case "package.json":
		for _, l := range lines {
			if strings.HasPrefix(strings.TrimSpace(l), `"`+s.Name+`":`) {
				return []string{strings.TrimRight(l, " ,")}
			}
		}
	}
	return nil
}

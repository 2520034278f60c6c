package recall

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"anamnesis/internal/note"
	"anamnesis/internal/text/shell"
)

// shortRule is how long, in characters, the body of a note may be that is a rule as a whole: the
// code in a longer one is of its explanations.
const shortRule = 600

// A Runs returns the commands by which a program of a name is run, as patterns of triggers: the
// name itself, or "make NAME" for a target of the project; none where there is no such program.
type Runs func(name string) []string

// propose returns the triggers that a note without any has by its form: the command lines and
// paths in back-ticks, its anchors, and the programs that its title or rule names after "not",
// "never" or "instead of". It reads nothing but the note and what runs says.
func propose(n *note.Note, runs Runs) (all []note.Trigger) {
	add := func(kind note.TriggerKind, pattern string) {
		t, err := note.ParseTrigger(string(kind) + ":" + pattern)
		if err == nil && len(all) < note.MaxTriggers && !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	texts := []string{n.Title, n.Rule, n.Fix, n.HowToApply}
	switch {
	case n.Quoted():
		texts = []string{n.Title, ""} // the user typed no more
	case utf8.RuneCountInString(n.Body) <= shortRule:
		texts = append(texts, n.Body)
	}
	for _, text := range texts[:2] {
		for _, name := range ruledOut(text) {
			for _, pattern := range runs(name) {
				add(note.OnCommand, pattern)
			}
		}
	}
	for _, text := range texts {
		for _, span := range codeSpans(text) {
			if glob := globOf(span); glob != "" {
				add(note.OnPath, glob)
			}
			for _, words := range commandLines(span) {
				if len(words) > 1 && len(runs(words[0])) > 0 {
					add(note.OnCommand, strings.Join(words, " "))
				}
			}
		}
	}
	for _, a := range n.Anchors {
		if n.Quoted() {
			break
		}
		if glob := globOf(a); glob != "" {
			add(note.OnPath, glob)
		}
	}
	return all
}

// proposedWords is how many words of a command line a proposed trigger has.
const proposedWords = 6

// commandLines returns the words of the commands in a code span, without placeholders and what
// follows them.
func commandLines(span string) (all [][]string) {
	for _, c := range shell.Commands(strings.TrimPrefix(span, "$ ")) {
		forms := c.Forms
		if shell.Silent(forms) {
			continue
		}
		words := slices.Clone(forms[0][:min(len(forms[0]), proposedWords)])
		words[0] = shell.Program(words[0])
		if i := slices.IndexFunc(words, func(w string) bool {
			return w == "" || w == "..." || w == "…" || strings.ContainsAny(w, " \t$<>[]{}")
		}); i >= 0 {
			words = words[:i]
		}
		all = append(all, words)
	}
	return all
}

// codeSpans returns the texts in back-ticks that stand in lines, without blocks of code.
func codeSpans(text string) (all []string) {
	fence := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		mark := line[:min(3, len(line))]
		switch {
		case fence != "" && mark == fence:
			fence = ""
		case fence != "":
		case mark == "```" || mark == "~~~":
			fence = mark
		default:
			for {
				_, rest, ok := strings.Cut(line, "`")
				span, after, closed := strings.Cut(rest, "`")
				if !ok || !closed || len(all) == 4*note.MaxTriggers {
					break
				}
				all = append(all, strings.TrimSpace(span))
				line = after
			}
		}
	}
	return all
}

// globOf returns the glob of files that a code span or an anchor is, "" when it is none. A name
// that stands in every folder means the one at the project's root.
func globOf(span string) string {
	glob := strings.TrimPrefix(withoutLine(strings.ReplaceAll(span, `\`, "/")), "./")
	switch {
	case glob == "" || glob[0] == '-' || glob[0] == '~' || strings.ContainsAny(glob, " \t()=,;$<>\"'|&#") || strings.Contains(glob, "://"),
		!strings.ContainsFunc(glob, unicode.IsLetter):
		return ""
	case strings.Contains(glob, "/"):
		return glob
	case !fileLike(glob):
		return ""
	case slices.Contains(commonFiles, glob) || slices.Contains(bareFiles, glob):
		return "/" + glob
	}
	return glob
}

// ruledOut returns the words after "not", "never" and "instead of" that stand where a program
// does: in back-ticks, behind "use" or "run", or at the end of what is ruled out.
func ruledOut(text string) (names []string) {
	words := strings.Fields(text)
	is := func(i int, any ...string) bool {
		return i < len(words) && slices.Contains(any, strings.ToLower(words[i]))
	}
	for i := range words {
		next := i + 1
		switch {
		case is(i, "not", "never"):
		case is(i, "instead") && is(next, "of"):
			next++
		default:
			continue
		}
		used := is(next, "use", "using", "run", "running", "with")
		if used {
			next++
		}
		for ; next < len(words); next += 2 {
			w := words[next]
			name := strings.Trim(w, "\"'`*_,.;:!?()")
			joined := is(next+1, "or", "nor", "and")
			ended := next+1 == len(words) || joined || strings.ContainsRune(",.;:!?)", rune(w[len(w)-1]))
			if !used && !ended && !strings.Contains(w, "`") {
				break
			}
			for part := range strings.SplitSeq(name, "/") {
				if isProgram(part) {
					names = append(names, part)
				}
			}
			if !joined {
				break
			}
		}
	}
	return names
}

// isProgram reports whether a word has the form of a program's name.
func isProgram(w string) bool {
	return w != "" && len(w) <= 40 && path.Base(w) == w && strings.ContainsFunc(w, unicode.IsLetter) &&
		!strings.ContainsFunc(w, func(r rune) bool {
			return r > 0x7f || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_.+-", r)
		})
}

package recall

import (
	"path"
	"slices"
	"strings"

	"anamnesis/internal/note"
	"anamnesis/internal/text/shell"
)

// fit returns the first of some triggers that fits the action.
func (n *actionNames) fit(triggers []note.Trigger) (t note.Trigger, ok bool) {
	i := slices.IndexFunc(triggers, n.fits)
	if i < 0 {
		return t, false
	}
	return triggers[i], true
}

// fits reports whether the action is what a trigger is about.
func (n *actionNames) fits(t note.Trigger) bool {
	switch t.Kind {
	case note.OnCommand:
		words := strings.Fields(t.Pattern)
		return slices.ContainsFunc(n.commands, func(c shell.Command) bool {
			return slices.ContainsFunc(c.Forms, func(fields []string) bool { return commandFits(words, fields) })
		})
	case note.OnPath:
		return slices.ContainsFunc(n.files, func(f actionFile) bool { return f.fits(t.Pattern) })
	case note.OnError:
		return n.output != "" && strings.Contains(n.output, strings.ToLower(t.Pattern))
	}
	return false
}

// maxTriggerWords is how many words of a trigger are looked at.
const maxTriggerWords = 32

// commandFits reports whether the fields of a command begin with the words of a trigger. An
// option of the call, and a value behind it, may stand between the words; an option of the
// trigger may stand anywhere in the call.
func commandFits(words, fields []string) bool {
	if len(words) == 0 || len(fields) == 0 || len(words) > maxTriggerWords {
		return false
	}
	program, rest := strings.TrimPrefix(words[0], "./"), fields[1:]
	if !wordFits(program, shell.Program(fields[0])) && !wordFits(program, strings.TrimPrefix(fields[0], "./")) {
		return false
	}
	var order []string
	for _, w := range words[1:] {
		switch {
		case !isOption(w):
			order = append(order, w)
		case !hasOption(rest, w):
			return false
		}
	}
	// at holds how many words have been met, one bit each way it can be counted; valued is the
	// same where the field before was an option, so that the next one may be its value.
	at, valued, all := uint64(1), uint64(0), uint64(1)<<len(order)
	for _, f := range rest {
		if (at|valued)&all != 0 {
			break
		}
		now := at | valued
		switch {
		case f == "":
		case isOption(f) || f[0] == '+':
			at, valued = 0, now
			if f == "--" || strings.Contains(f, "=") {
				at, valued = now, 0
			}
		default:
			next := valued
			for i, w := range order {
				if now&(1<<i) == 0 {
					continue
				}
				if wordFits(w, f) {
					next |= 1 << (i + 1)
				} else if strings.Contains(f, "=") && !strings.Contains(w, "=") { // an assignment
					next |= 1 << i
				}
			}
			at, valued = next, 0
		}
	}
	return (at|valued)&all != 0
}

func isOption(f string) bool { return len(f) > 1 && f[0] == '-' }

// hasOption reports whether a command has an option: as it is written, with a value behind "=",
// or as one of several letters behind one dash.
func hasOption(fields []string, option string) bool {
	letters := func(f string) bool {
		return len(f) > 1 && f[0] == '-' && strings.Trim(f[1:], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
	}
	if slices.ContainsFunc(fields, func(f string) bool {
		name, _, _ := strings.Cut(f, "=")
		return isOption(f) && (wordFits(option, f) || wordFits(option, name))
	}) {
		return true
	}
	if !letters(option) {
		return false
	}
	for i := 1; i < len(option); i++ {
		if !slices.ContainsFunc(fields, func(f string) bool { return letters(f) && strings.IndexByte(f, option[i]) > 0 }) {
			return false
		}
	}
	return true
}

// wordFits reports whether a word is what a pattern says, in which * is any text.
func wordFits(pattern, word string) bool {
	p, w, star, mark := 0, 0, -1, 0
	for w < len(word) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, w
			p++
		case p < len(pattern) && pattern[p] == word[w]:
			p++
			w++
		case star >= 0:
			mark++
			p, w = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// fits reports whether a file is what a glob says: one without a slash is about names in any
// folder, one with a slash about paths below the project, or, where it begins with one, about
// absolute paths, too. A folder stands for all that is in it.
func (f actionFile) fits(glob string) bool {
	glob = strings.TrimPrefix(strings.ReplaceAll(glob, `\`, "/"), "./")
	below := func(p, file string) bool {
		segments := strings.Split(strings.Trim(file, "/"), "/")
		p = strings.Trim(p, "/")
		return matchSegments(strings.Split(p, "/"), segments) || matchSegments(strings.Split(p+"/**", "/"), segments)
	}
	switch {
	case strings.HasPrefix(glob, "/") && f.abs != "" && below(glob, f.abs):
		return true
	case f.outside || strings.Trim(glob, "*/") == "":
		return false
	case !strings.Contains(glob, "/"):
		ok, err := path.Match(glob, path.Base(f.rel))
		return ok && err == nil
	}
	return below(glob, f.rel)
}

// matchSegments matches a path; ** is any number of folders.
func matchSegments(pattern, segments []string) bool {
	at := make([]bool, len(pattern)+1)
	at[0] = true
	for i := 0; i <= len(segments); i++ {
		for j, p := range pattern {
			at[j+1] = at[j+1] || at[j] && p == "**"
		}
		if i == len(segments) {
			break
		}
		next := make([]bool, len(at))
		for j, p := range pattern {
			if !at[j] {
				continue
			}
			if p == "**" {
				next[j] = true
			} else if ok, err := path.Match(p, segments[i]); ok && err == nil {
				next[j+1] = true
			}
		}
		at = next
	}
	return at[len(pattern)]
}

// Bounds of what is looked at of the output of a failed command, in bytes.
const (
	outputHead = 8 << 10
	outputTail = 24 << 10
)

// failure returns the output of a failed command as triggers are compared with it: in one line
// of small letters.
func failure(output string) string {
	if len(output) > outputHead+outputTail {
		output = output[:outputHead] + "\n" + output[len(output)-outputTail:]
	}
	return strings.ToLower(strings.Join(strings.Fields(strings.ToValidUTF8(output, "")), " "))
}

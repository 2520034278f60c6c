package risk

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"anamnesis/internal/text/shell"
)

// A line is a command line in a text, or what may be one.
type line struct {
	text string
	sure bool // the text shows it as a command; else its own shape decides
	code bool // it is set as code: a span or a block
}

// shells are the languages of fenced blocks that hold command lines.
var shells = []string{
	"sh", "bash", "zsh", "fish", "shell", "console", "terminal", "shellsession", "shell-session",
	"powershell", "pwsh", "ps1", "bat", "cmd",
}

// lines returns the command lines of a text: those of blocks, behind a prompt, in code spans, and in prose.
func lines(text string) (all []line) {
	fence, sure, code := "", false, false
	var block []string
	end := func() {
		if len(block) > 0 {
			all = append(all, blockLines(block, sure)...)
		}
		block = nil
	}
	for raw := range strings.Lines(text) {
		raw = strings.TrimRight(raw, "\r\n")
		trimmed := strings.TrimSpace(raw)
		mark := fenceMark(trimmed)
		switch {
		case fence != "" && mark != "" && strings.HasPrefix(mark, fence) && trimmed == mark:
			end()
			fence = ""
		case fence != "":
			if !code {
				block = append(block, raw)
			}
		case mark != "":
			fence = mark
			info := strings.ToLower(strings.TrimSpace(strings.TrimLeft(trimmed, mark[:1])))
			info, _, _ = strings.Cut(info, " ")
			sure, code = slices.Contains(shells, info), info != "" && !slices.Contains(shells, info)
		default:
			all = append(all, proseLines(raw, trimmed)...)
		}
	}
	end()
	return all
}

// fenceMark returns the run of at least three marks that a line of a fence begins with.
func fenceMark(s string) string {
	if s == "" || s[0] != '`' && s[0] != '~' {
		return ""
	}
	run := s[:len(s)-len(strings.TrimLeft(s, s[:1]))]
	if len(run) < 3 || strings.Contains(s[len(run):], run[:1]) {
		return ""
	}
	return run
}

// blockLines returns the command lines of a block. Where one has prompts, what is without one is output.
func blockLines(block []string, sure bool) (all []line) {
	prompts := slices.ContainsFunc(block, func(s string) bool { return prompt(strings.TrimSpace(s)) != "" })
	if sure && !prompts {
		return []line{{strings.Join(block, "\n"), true, true}}
	}
	for _, s := range block {
		s = strings.TrimSpace(s)
		switch p := prompt(s); {
		case p != "":
			all = append(all, line{p, true, true})
		case !prompts:
			all = append(all, line{s, false, true})
		}
	}
	return all
}

// prompt returns what follows the prompt of a shell at the begin of a line, "" where there is none.
func prompt(s string) string {
	for _, p := range []string{"$ ", "% ", "PS> ", "C:\\> "} {
		if rest, ok := strings.CutPrefix(s, p); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// proseLines returns the command lines of a line of prose.
func proseLines(raw, trimmed string) (all []line) {
	if trimmed == "" {
		return nil
	}
	if p := prompt(trimmed); p != "" {
		return []line{{p, true, true}}
	}
	if strings.HasPrefix(raw, "    ") || strings.HasPrefix(raw, "\t") {
		all = append(all, line{trimmed, false, true})
	}
	rest := trimmed
	var prose strings.Builder
	for {
		before, span, after, ok := nextSpan(rest)
		prose.WriteString(before)
		if !ok {
			break
		}
		all = append(all, line{span, ordered(before), true})
		prose.WriteString(" \x00 ")
		rest = after
	}
	return append(all, sentences(prose.String(), trimmed)...)
}

// nextSpan returns the first code span of a line.
func nextSpan(s string) (before, span, after string, ok bool) {
	i := strings.IndexByte(s, '`')
	if i < 0 {
		return s, "", "", false
	}
	n := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
	mark := s[i : i+n]
	j := strings.Index(s[i+n:], mark)
	if j < 0 {
		return s, "", "", false
	}
	return s[:i], s[i+n : i+n+j], s[i+n+j+n:], true
}

// orderWords end what precedes a command: "run", "führe". The closed class of the languages of package claim.
var orderWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:\b(?:run|runs|rerun|execute|launch|start(?: it)? with|exec|führe|starte` +
		`|exécute[rz]?|lance[rz]?|` +
		`ejecut[ae]r?|corre|esegui|execut[ae]r?)(?:\s+(?:first|always|once|then|immer|zuerst|toujours|siempre|this|the command|le` +
		`|la|el))?|運行|运行|执行|実行)\s*:?\s*$`)
})

// ordered reports whether what precedes a span orders to run it.
func ordered(before string) bool { return orderWords().MatchString(before) }

// positions are where a command can begin in prose: with the line, behind a mark, and behind words that introduce one.
var positions = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^\s*(?:[-*•]\s+|\d+[.)]\s+)|[:,;(—–"“«]\s*|[.!?]\s+|\b(?:run|execute|invoke|launch|start|with` +
		`|via|then|and|by|` +
		`führe|mit|dann|und|avec|puis|et|con|y|luego|poi|com|use|do|first|always|to)\s+`)
})

// sentences returns what can be a command in prose. whole is the line with its code spans.
func sentences(prose, whole string) (all []line) {
	if strings.Contains(whole, "|") && !strings.HasPrefix(whole, "|") {
		all = append(all, line{whole, false, false})
	}
	for _, at := range append([][]int{{0, 0}}, positions().FindAllStringIndex(prose, 64)...) {
		rest := strings.TrimLeft(prose[at[1]:], " ")
		cut, _, _ := strings.Cut(rest, "\x00")
		if cut = sentenceEnd(cut); cut == "" {
			continue
		}
		if !begins(cut) {
			continue
		}
		all = append(all, line{strings.TrimSpace(cut), ordered(prose[:at[1]]) && flagged(cut), false})
	}
	return all
}

// sentenceEnd cuts a text behind its first sentence.
func sentenceEnd(s string) string {
	for i := 0; i+1 < len(s); i++ {
		if (s[i] == '.' || s[i] == '!' || s[i] == '?') && (s[i+1] == ' ') && i > 0 && s[i-1] != ' ' {
			return s[:i]
		}
	}
	return strings.TrimRight(s, " .!?")
}

// determiners begin a phrase of prose in the languages of package claim, and name no program: "its --long form", "the -v flag".
var determiners = sync.OnceValue(func() map[string]bool {
	all := make(map[string]bool)
	for _, w := range strings.Fields(`a an the this that these those its their your our my his her each every any no
		der die das den dem des ein eine einen einem einer sein seine ihr ihre le la les un une des son sa ses leur el los las una su sus il lo
		gli i suo sua o os um uma seu de het een zijn haar`) {
		all[w] = true
	}
	return all
})

// begins reports whether a text can begin with a program: a name in lower case, or a path.
func begins(s string) bool {
	word, _, _ := strings.Cut(s, " ")
	return programLike(word) && !determiners()[word]
}

var programForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:(?:\.{0,2}|~|[\w.@-]+)(?:/[\w.@+-]+)+|[a-z][a-z0-9._+-]*|[A-Z]:\\\S+|[A-Z][a-z]+-[A-Z]\w+)$`)
})

func programLike(word string) bool { return programForm().MatchString(word) }

// shaped reports whether fields look like a command: a program, and a flag or a path behind it.
func shaped(fields []string) bool {
	return len(fields) > 1 && programLike(fields[0]) && slices.ContainsFunc(fields[1:], func(f string) bool {
		return flagForm().MatchString(f) || strings.HasPrefix(f, "~/") || strings.HasPrefix(f, "./") || strings.HasPrefix(f, "../")
	})
}

var flagForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^--?[A-Za-z][\w-]*(?:=.*)?$`) })

// shows reports whether a line shows by its shape that it is a command, and no sentence, name or statement.
func (l *line) shows(c shell.Command) bool {
	if !l.code {
		return flagged(l.text)
	}
	return begins(l.text) && (shaped(c.Forms[0]) || len(c.Wrote) > 0)
}

// flagged reports whether a command in prose shows by its shape that it is one.
func flagged(s string) bool {
	fields := strings.Fields(s)
	if len(fields) == 0 {
		return false
	}
	if len(fields) > 1 && flagForm().MatchString(fields[1]) {
		return true
	}
	if strings.Contains(fields[0], "/") && !inside(fields[0]) {
		return true
	}
	return len(fields) > 1 && (strings.HasPrefix(fields[1], "./") || strings.HasPrefix(fields[1], "~/")) && !shell.Silent([][]string{fields})
}

package session

import (
	"path"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"anamnesis/internal/index"
	"anamnesis/internal/text"
	"anamnesis/internal/text/smalltalk"
)

// maxTitle is how many characters a title has at most.
const maxTitle = 70

// vague are words that say nothing of what a session was about.
var vague = sync.OnceValue(func() map[string]bool {
	return words(`commit push pull merge branch branches continue proceed check recheck review again yes no please implement following
		plan look help fix error errors issue issues problem bug code change changes changed file files test tests work working thing
		things stuff bit other another next step steps let lets make do can could should would want need update see read run now just
		also this that these those here there pr context task tasks status current question questions feedback summary summarize
		describe tell give get go ok okay hello hi hey thanks first last new old one two all any some start begin end finish done
		implementation request comments comment`)
})

func words(list string) map[string]bool {
	all := make(map[string]bool)
	for _, w := range strings.Fields(list) {
		for _, t := range index.Tokens(w) {
			all[t] = true
		}
	}
	return all
}

// telling counts the words of a text that say what it is about.
func telling(s string) (n int) {
	for _, t := range index.Tokens(s) {
		if !vague()[t] && strings.ContainsFunc(t, func(r rune) bool { return r > '9' }) {
			n++
		}
	}
	return n
}

// Real reports whether the user asked something with a subject.
func (e *Exchange) Real() bool {
	return e.Ask != "" && !e.Command && smalltalk.Of(e.Ask) == smalltalk.None
}

// enough is how many telling words make a title; one of the first two asks needs one less.
const enough = 3

// TitleOf says what a session was about: the client's own title, else the first ask that tells, else
// the error that was pasted, the files that were edited, or the agent's own words. summaries are what
// the client wrote about conversations, of which some are of others. It is "" for a session that says
// nothing.
func TitleOf(own string, summaries []string, all []Exchange) string {
	if telling(own) >= 2 {
		return text.Cut(own, maxTitle)
	}
	if s := ownSummary(summaries, all); s != "" {
		return text.Cut(s, maxTitle)
	}
	best, most := "", 0
	for i := range all {
		e := &all[i]
		for _, s := range titlesIn(e) {
			n := telling(s)
			switch {
			case i < 2 && n > 0: // what was asked late is a part of it
				n++
			case i > 4:
				n--
			}
			if n > most {
				best, most = s, n
			}
			if n >= enough {
				return best
			}
		}
	}
	if most >= 1 {
		return best
	}
	return lastResort(all)
}

// ownSummary is the last summary most of whose words stand in what the user asked.
func ownSummary(summaries []string, all []Exchange) string {
	if len(summaries) == 0 {
		return ""
	}
	asked := make(map[string]bool)
	for i := range all {
		for _, t := range index.Tokens(all[i].Ask) {
			asked[t] = true
		}
	}
	for _, s := range slices.Backward(summaries) {
		tokens := index.Tokens(s)
		shared := 0
		for _, t := range tokens {
			if asked[t] {
				shared++
			}
		}
		if telling(s) >= 2 && 2*shared > len(tokens) {
			return s
		}
	}
	return ""
}

// titlesIn are the sentences of an ask that may be a title, the best first: of a plan its heading, of a
// command its name with the arguments, of an error that was pasted the line that says it.
func titlesIn(e *Exchange) (all []string) {
	add := func(s string) {
		s = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(s), "#*->•✖✗❌$ "))
		s = strings.TrimRight(s, " :,;.")
		if s != "" {
			all = append(all, text.Cut(s, maxTitle))
		}
	}
	if e.Command {
		if name, args, ok := strings.Cut(e.Ask, " "); ok && strings.TrimSpace(args) != "" {
			add(strings.TrimPrefix(name, "/") + " " + args)
		}
		return all
	}
	if e.Ask == "" || smalltalk.Of(e.Ask) != smalltalk.None {
		return nil
	}
	sentences := text.Sentences(picture().ReplaceAllString(e.Ask, " "))
	lines := strings.Split(e.Ask, "\n")
	page := strings.HasPrefix(strings.TrimSpace(lines[0]), "#") && len(lines) > 5
	if page || len(sentences) > 0 && telling(sentences[0]) == 0 {
		if m := titleLine().FindStringSubmatch(e.Ask + "\n" + e.Pasted); m != nil {
			add(m[1])
		}
		add(planHeading(e.Ask + "\n" + e.Pasted))
		if page { // that a command of the client wrote out
			return all
		}
	}
	for i, s := range sentences {
		if strings.HasSuffix(s, ":") && i+1 < len(sentences) {
			s += " " + sentences[i+1]
		}
		if len(all) < 6 && smalltalk.Of(s) == smalltalk.None && !promptLine(s) && !counts(s) {
			add(s)
		}
	}
	if len(all) == 0 || telling(all[0]) < 2 {
		if errors := e.pastedErrors(); len(errors) > 0 {
			all = slices.Insert(all, 0, text.Cut(errorLine(*e, -1, errors[0]), maxTitle))
		}
	}
	return all
}

// picture is the place of a picture in an ask, as clients mark it.
var picture = text.Form(`\s*\[Image #?\d*\]\s*`)

// titleLine is a line that names what a page is about: "title: Sync stats".
var titleLine = text.Form(`(?im)^[^\n]{0,60}\btitle:[ \t]+(\S[^\n]{3,})$`)

// planHeading is the first heading of a plan or of an issue in a text, without the word "Plan:".
func planHeading(s string) string {
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		if heading := strings.TrimLeft(line, "# "); strings.HasPrefix(line, "#") && telling(heading) >= 2 {
			if kind, rest, ok := strings.Cut(heading, ":"); ok && telling(kind) == 0 {
				heading = strings.TrimSpace(rest)
			}
			return heading
		}
	}
	return ""
}

// counts reports whether a sentence is one word, or mostly numbers: the summary of a test run.
func counts(s string) bool {
	words := strings.Fields(s)
	n := 0
	for _, w := range words {
		if strings.ContainsAny(w, "0123456789") {
			n++
		}
	}
	return len(smalltalk.Words(s)) < 2 || strings.HasPrefix(s, "@") && len(words) < 2 || 3*n > len(words)
}

var greeting = text.Form(`(?i)^(?:hello|hi|hey|hallo|bonjour|hola|ol[aá])\b`)

// promptLine reports whether a line is one of a shell's prompt or of a log, a greeting, or what a client
// puts behind a plan.
func promptLine(s string) bool {
	s = strings.TrimSpace(s)
	prompt := strings.HasPrefix(s, "[") && strings.Contains(s, "]") && strings.ContainsAny(s, "/~") || strings.HasPrefix(s, "$ ")
	return prompt || greeting().MatchString(s) || strings.HasPrefix(s, "If you need specific details") ||
		strings.HasPrefix(s, "===") || strings.HasPrefix(s, "---") || utf8.RuneCountInString(s) > 600
}

// lastResort makes a title of what was done.
func lastResort(all []Exchange) string {
	var files []string
	for i := range all {
		for _, s := range all[i].Steps {
			if name := path.Base(strings.ReplaceAll(s.File, `\`, "/")); s.File != "" && !slices.Contains(files, name) {
				files = append(files, name)
			}
		}
	}
	if len(files) > 0 {
		return text.Cut("Changes to "+strings.Join(files[:min(len(files), 3)], ", "), maxTitle)
	}
	for i := range all {
		for _, s := range text.Sentences(all[i].Reply) {
			if telling(s) >= enough {
				return text.Cut(s, maxTitle)
			}
		}
	}
	for i := range all {
		if s := strings.Join(strings.Fields(all[i].Ask), " "); s != "" {
			return text.Cut(s, maxTitle)
		}
	}
	return ""
}

// Informative reports whether a text says what it is about.
func Informative(s string) bool { return telling(s) >= 2 }

// Empty reports whether a title says nothing of what a session was about.
func Empty(title string) bool {
	return !Informative(title) || !strings.Contains(title, " ") || promptLine(title)
}

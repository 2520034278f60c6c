package reflection

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"anamnesis/internal/index"
)

// A kind says what a clause does to the sentence that it is in. Words whose kinds
// share a bit can open the same clause.
type kind uint16

const (
	condition kind = 1 << iota
	onlyWhen
	exception
	prohibition
	lack // without
	choice
	end
	earlier
	later
)

// openers are the words that open a clause, each kind with its own. What follows,
// up to the next mark or the next such word, is the clause.
var openers = []struct {
	kind  kind
	words string
}{
	{onlyWhen, `only(?: when| whenever| if| after| once| while| during)?|solely|exclusively|nothing but`},
	{exception, `except(?:ing)?(?: for| on| in| when| if| where)?|unless|excluding|` +
		`apart from|other than|aside from|but not|with the exception of`},
	{choice, `instead of|rather than|in place of`},
	{prohibition, `never|not|no|cannot|nobody|none|neither|nor|(?:do|does|did|must|wo|should|ca|is|are|was|were|could|would|has|have)n'?t`},
	{lack, `without`},
	{end, `until|till`},
	{earlier, `before|prior to|ahead of`},
	{condition | later, `once|as soon as`},
	{later, `after|following`},
	{condition, `if|when|whenever|while|during|as long as|so long as|in case(?: of)?|provided(?: that)?|` +
		`(?:each|every|any) ?time|where|wherever`},
}

// A grammar is the compiled forms. They are compiled when the first notes are
// compared, because hooks pay for what is done at the start of the program.
type grammar struct {
	kinds                           []*regexp.Regexp // of openers, in their order
	opening                         *regexp.Regexp   // the words of all openers, the longest first
	marks, stops                    *regexp.Regexp
	boundNo, reason, joined, hedge  *regexp.Regexp
	number, bound, boundAfter, code *regexp.Regexp
}

var forms = sync.OnceValue(func() (g grammar) {
	var all []string
	for _, o := range openers {
		all = append(all, o.words)
		g.kinds = append(g.kinds, regexp.MustCompile(`(?i)^(?:`+o.words+`)$`))
	}
	g.opening = regexp.MustCompile(`(?i)\b(?:` + strings.Join(all, "|") + `)\b`)
	g.opening.Longest()
	g.marks = regexp.MustCompile(`[.!?;:,()\n]+(?:\s|$)|\n`)
	g.stops = regexp.MustCompile(`[.!?;\n]+(?:\s|$)|\n`)
	g.boundNo = regexp.MustCompile(`(?i)\bno (?:more|less|fewer) than\b`)
	g.reason = regexp.MustCompile(`(?i)\b(?:because|since|so that|as it|as they)\b.*`)
	g.joined = regexp.MustCompile(`(?i)\b(?:and|or)\b`)
	g.hedge = regexp.MustCompile(`(?i)\b(?:usually|mostly|generally|typically|normally|sometimes|often|rarely|seldom|` +
		`preferably|ideally|optionally|try to|should|may|might|consider|avoid|prefer)\b`)
	g.number = regexp.MustCompile(`(?i)(\d+(?:[.:,/_-]\d+)*)(?:\s?(` + units + `)\b|(%|[a-z]{1,3}\b)?)`)
	g.bound = regexp.MustCompile(`(?i)(>=|<=|!=|==|[<>≥≤≠]|\b(?:at least|at most|no more than|no less than|no fewer than|` +
		`more than|less than|fewer than|over|under|up to|below|above|exactly)\b)\s*(-?\d+(?:[.:,/_-]\d+)*)`)
	g.boundAfter = regexp.MustCompile(`(?i)(-?\d+(?:[.:,/_-]\d+)*)\s*(?:[a-z%]+ )?(at least|at most|or more|or less|or fewer)\b`)
	g.code = regexp.MustCompile("`([\\w.-]+)`")
	return g
})

func kindOf(words string) kind {
	for i, o := range openers {
		if forms().kinds[i].MatchString(words) {
			return o.kind
		}
	}
	return 0
}

// leftOut are words without which a clause still says the same.
var leftOut = map[string]bool{"file": true, "ever": true, "allow": true, "permit": true}

var bounding = strings.NewReplacer("no more than", "at most", "no less than", "at least", "no fewer than", "at least")

// clauses lists the exceptions, conditions and prohibitions of a text.
func clauses(text string) (all []qualifier) {
	text = forms().boundNo.ReplaceAllStringFunc(text, func(s string) string { return bounding.Replace(strings.ToLower(s)) })
	for _, piece := range forms().marks.Split(text, -1) {
		found := forms().opening.FindAllStringIndex(piece, -1)
		for i, at := range found {
			end := len(piece)
			if i+1 < len(found) {
				end = found[i+1][0]
			}
			body := forms().reason.ReplaceAllString(piece[at[1]:end], "")
			q := qualifier{
				text: strings.TrimSpace(piece[at[0]:end]), kind: kindOf(piece[at[0]:at[1]]),
				piece: index.Words(piece), several: forms().joined.MatchString(body),
			}
			for _, w := range index.Words(body) {
				if !index.Stopword(w) {
					q.tokens = append(q.tokens, w)
				}
			}
			if len(q.tokens) > 0 {
				all = append(all, q)
			}
		}
	}
	return all
}

// says reports whether the clause c says what q says, or more; from is the text of q.
func (c qualifier) says(q qualifier, from analysis) bool {
	if c.kind == 0 {
		return false
	}
	tokens := slices.Clone(q.tokens)
	if len(tokens) > 2 {
		tokens = slices.DeleteFunc(tokens, func(t string) bool { return leftOut[t] })
	}
	all := func(of []string) bool {
		return !slices.ContainsFunc(tokens, func(t string) bool { return !slices.Contains(of, t) })
	}
	const against = prohibition | exception | choice | lack
	switch {
	case c.kind&q.kind != 0:
	case c.kind&against != 0 && q.kind&against != 0: // "not X" for "instead of X", "except on X"
	default:
		return false
	}
	switch {
	case all(c.tokens):
	case c.kind&condition != 0 && q.kind&condition != 0 && len(q.piece) > 0 && all(c.piece) && within(c.tokens, q.tokens):
		// "When A do B" in one breath, for "do B whenever A"
	case c.kind == prohibition && q.kind == prohibition && slices.Contains(c.tokens, tokens[0]) && all(c.piece):
		// "Tests must not run on X", for "never run tests on X"
	case c.kind == prohibition && q.kind == prohibition && within(c.tokens, nil) && all(c.piece):
		// "Pushing to main is not allowed", for "do not push to main"
		return true
	case c.kind == exception && q.kind == prohibition && within(c.tokens, q.tokens) && all(c.piece):
	default:
		return false
	}
	added := slices.ContainsFunc(c.tokens, func(t string) bool { return !from.words[t] && !leftOut[t] })
	switch {
	case c.kind&(condition|onlyWhen|earlier|later|end) != 0: // "if A or B" is another condition than "if A"
		return !added || !c.several || q.several
	case c.kind&(prohibition|lack) != 0: // "never on Friday night" is less than "never on Friday"
		return !added || c.several
	}
	return true
}

// within reports whether b holds all of a, but what may be left out.
func within(a, b []string) bool {
	return !slices.ContainsFunc(a, func(t string) bool { return !leftOut[t] && !slices.Contains(b, t) })
}

// An utterance is the words of a text between two stops.
type utterance struct {
	words  map[string]bool
	hedges []string // words that make it less firm
}

func utterances(text string) (all []utterance) {
	for _, part := range forms().stops.Split(text, -1) {
		s := utterance{words: make(map[string]bool)}
		for _, w := range index.Words(part) {
			s.words[w] = true
		}
		for _, h := range forms().hedge.FindAllString(part, -1) {
			s.hedges = append(s.hedges, strings.ToLower(h))
		}
		if len(s.words) > 0 {
			all = append(all, s)
		}
	}
	return all
}

// weakened lists where the text says with a "usually" what from says without one.
func (r analysis) weakened(from analysis) (lost []string) {
	for _, s := range from.sentences {
		if len(s.hedges) > 0 {
			continue
		}
		var best utterance
		most := -1
		for _, t := range r.sentences {
			shared := 0
			for w := range s.words {
				if t.words[w] && !index.Stopword(w) {
					shared++
				}
			}
			if shared > most || shared == most && len(t.hedges) < len(best.hedges) {
				best, most = t, shared
			}
		}
		if most > 0 && len(best.hedges) > 0 {
			lost = append(lost, "that it holds always, not “"+best.hedges[0]+"”")
		}
	}
	return lost
}

// opposites are words of which one says what the other denies.
var opposites = [][2]string{
	{"enable", "disable"},
	{"allow", "forbid"},
	{"start", "stop"},
	{"include", "exclude"},
	{"increase", "decrease"},
	{"true", "false"},
	{"add", "remove"},
	{"lock", "unlock"},
	{"accept", "reject"},
	{"minimum", "maximum"},
	{"pass", "fail"},
	{"connect", "disconnect"},
	{"open", "close"},
	{"encrypt", "decrypt"},
	{"upgrade", "downgrade"},
	{"mount", "unmount"},
	{"always", "never"},
	{"first", "last"},
	{"push", "pull"},
	{"install", "uninstall"},
}

// reversed lists what the text denies of what from says, or says of what from denies.
func (r analysis) reversed(from analysis) (lost []string) {
	for _, pair := range opposites {
		a, b := index.Words(pair[0])[0], index.Words(pair[1])[0]
		switch {
		case from.words[a] && !from.words[b] && r.words[b] && !r.words[a]:
			lost = append(lost, pair[0]+" (it says "+pair[1]+")")
		case from.words[b] && !from.words[a] && r.words[a] && !r.words[b]:
			lost = append(lost, pair[1]+" (it says "+pair[0]+")")
		}
	}
	const against = prohibition | exception | choice | lack
	for _, c := range r.qualifiers {
		if c.kind&against == 0 || c.kind == exception {
			continue
		}
		said := slices.ContainsFunc(from.sentences, func(s utterance) bool {
			return !slices.ContainsFunc(c.tokens, func(t string) bool { return !s.words[t] })
		})
		denied := slices.ContainsFunc(from.qualifiers, func(q qualifier) bool {
			return q.kind&against != 0 && slices.ContainsFunc(c.tokens, func(t string) bool {
				return slices.Contains(q.tokens, t) || slices.Contains(q.piece, t)
			})
		})
		if said && !denied {
			lost = append(lost, "it says the opposite: "+c.text)
		}
	}
	return lost
}

// longForms are short forms of words that developers use in both ways.
var longForms = map[string]string{
	"db": "database", "dbs": "databases", "repo": "repository", "repos": "repositories", "env": "environment", "envs": "environments",
	"config": "configuration", "configs": "configurations", "docs": "documentation", "deps": "dependencies", "dep": "dependency",
	"dir": "directory", "dirs": "directories", "folder": "directory", "folders": "directories", "prod": "production",
	"pr": "pull request", "prs": "pull requests", "k8s": "kubernetes", "ts": "typescript", "js": "javascript",
	"msg": "message", "msgs": "messages", "param": "parameter", "params": "parameters", "arg": "argument", "args": "arguments",
	"app": "application", "apps": "applications", "spec": "specification", "specs": "specifications", "pkg": "package",
	"pkgs": "packages", "lib": "library", "libs": "libraries", "cert": "certificate", "certs": "certificates",
	"creds": "credentials", "tmp": "temporary", "temp": "temporary", "cmd": "command", "cmds": "commands", "fn": "function",
	"func": "function", "var": "variable", "vars": "variables", "vm": "virtual machine", "vms": "virtual machines",
	"perf": "performance", "max": "maximum", "admin": "administrator", "admins": "administrators", "info": "information",
	"modify": "change", "modifies": "changes", "modified": "changed", "alter": "change", "altered": "changed", "alters": "changes",
	"delete": "remove", "deletes": "removes", "deleted": "removed", "deleting": "removing",
}

// writtenOut writes out the short forms that stand as words of their own, and
// leaves identifiers, paths and code as they are.
func writtenOut(text string) string {
	var b strings.Builder
	code := false
	for at := 0; at < len(text); {
		end := at + strings.IndexAny(text[at:]+" ", " \t\n")
		word := text[at:end]
		core := strings.Trim(word, `.,;:!?()"'`)
		if long, ok := longForms[strings.ToLower(core)]; ok && !code && !strings.Contains(word, "`") {
			word = strings.Replace(word, core, long, 1)
		}
		code = code != (strings.Count(text[at:end], "`")%2 == 1)
		b.WriteString(word)
		if end < len(text) {
			b.WriteByte(text[end])
		}
		at = end + 1
	}
	return b.String()
}

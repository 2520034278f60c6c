package lesson

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"anamnesis/internal/agent"
	"anamnesis/internal/redact"
	"anamnesis/internal/smalltalk"
)

// The bounds of what is written, in characters and pieces.
const (
	maxTitle   = 100
	maxQuote   = 200
	maxCommand = 120
	maxAnchors = 6
	maxAsked   = 120
)

// write makes a lesson of a signal, from its structure. What makes no sentence that a
// colleague would write is not written: ok is false. refused says that it reads like orders
// to an agent.
func write(s *agent.Session, sig Signal, clean Clean) (l Lesson, ok, refused bool) {
	switch {
	case sig.fix != nil:
		l = writeFix(s, sig)
	case sig.permit != nil:
		l = writePermit(s, sig)
	default:
		l = writeSaid(s, sig, clean)
	}
	if refused = l.Title != "" && redact.PromptInjection(l.Title+"\n"+l.Rule); refused || l.Title == "" {
		return Lesson{}, false, refused
	}
	l.Kind, l.Now, l.Again, l.Except = sig.Kind, sig.Now, sig.Again, sig.Except
	return l, true, false
}

// writeSaid writes what the user said.
func writeSaid(s *agent.Session, sig Signal, clean Clean) Lesson {
	rules := rulesOf(sig.Said)
	if len(rules) == 0 {
		return Lesson{}
	}
	rule := Cut(strings.Join(rules, " "), maxSaid)
	quote := Cut(strings.Join(sig.Said, " "), maxQuote)
	l := Lesson{
		Title: titleOf(rules), Rule: rule, Window: window(s.Turns, sig, quote), Confidence: confidence(sig.Score),
		Why: "the user said: “" + quote + "”",
	}
	files := touched(s, l.Window.From, sig.Turn)
	l.Anchors = anchors(strings.Join(sig.Said, " "), files)
	l.Category = category(rule, sig.Kind)
	l.Apply = occasion(s.Turns, l.Window.From, sig.Turn, files, clean)
	if sig.After != "" {
		l.Apply = upper(strings.TrimPrefix(l.Apply+", ", ", ") + "after " + sig.After)
	}
	return l
}

// occasion says where a lesson was learnt: what the user had asked for, and the files
// that the agent had edited.
func occasion(turns []agent.Turn, from, to int, files []string, clean Clean) string {
	var b strings.Builder
	for range 4 { // what was asked, and not the rule before this one
		if sig, ok := weigh(turns[from].Text, true); from == 0 || !ok || sig.Score < minScore {
			break
		}
		from = before(turns, from)
	}
	if t := &turns[from]; from < to && t.Human() && smalltalk.Of(t.Text) == smalltalk.None {
		if asked := Cut(clean(head(OwnWords(t.Text), 4*maxQuote)), maxAsked); asked != "" {
			fmt.Fprintf(&b, "when asked “%s”", asked)
		}
	}
	if len(files) > 0 {
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString("in " + strings.Join(files[:min(len(files), 3)], ", "))
	}
	return upper(b.String())
}

// rulesOf makes rules of what was said, and leaves out what only objects or blames
// where there is more.
func rulesOf(sentences []string) (rules []string) {
	var blames []string
	for i, sentence := range sentences {
		r := imperative(sentence)
		switch c := cuesOf(r); {
		case r == "":
		case blame().MatchString(r) || len(c.words) == 1 && len(sentences) > 1 && !named(r) && (i == 0 || c.any != 0):
			blames = append(blames, r)
		default:
			rules = append(rules, r)
		}
	}
	if len(rules) == 0 {
		return blames
	}
	return rules
}

// blame is a sentence about what the agent did, and no rule.
var blame = form(`(?i)^you (?:forgot|missed|edited|changed|removed|wrote|used|ran|put|left|committed|logged|just)\b`)

// writeFix writes what made a command pass.
func writeFix(s *agent.Session, sig Signal) Lesson {
	f := sig.fix
	failed, line := code(f.failed), Cut(symptom(f.output), 140)
	if line == "" {
		return Lesson{}
	}
	l := Lesson{Category: "tools", Confidence: 0.5}
	if len(f.did) > 0 {
		did := make([]string, len(f.did))
		for i, c := range f.did {
			did[i] = code(c)
		}
		l.Title = Cut(fmt.Sprintf("Run %s when %s fails", strings.Join(did, " and "), failed), maxTitle+60)
		l.Rule = fmt.Sprintf("When %s fails with “%s”, run %s first.", failed, line, strings.Join(did, ", then "))
	} else {
		l.Title = Cut(fmt.Sprintf("Run %s", code(f.passed)), maxTitle+60)
		l.Rule = fmt.Sprintf("Run %s; %s fails with “%s”.", code(f.passed), failed, line)
	}
	l.Failed, l.Symptom, l.Did = Cut(f.failed, maxCommand), line, append(slices.Clone(f.did), f.passed)
	if len(f.did) > 0 {
		l.Did = slices.Clone(f.did)
	}
	quote := Cut(f.failed+" → "+strings.Join(append(slices.Clone(f.did), f.passed), " → "), maxQuote)
	l.Window = window(s.Turns, sig, quote)
	l.Why = fmt.Sprintf("%s failed (%s), and passed afterwards.", failed, line)
	l.Anchors = []string{firstWords(f.failed, 3)}
	return l
}

// code writes a command line as code.
func code(line string) string {
	line, _, _ = strings.Cut(line, "\n")
	return "`" + Cut(strings.ReplaceAll(line, "`", "'"), maxCommand) + "`"
}

func firstWords(s string, n int) string {
	words := strings.Fields(s)
	return strings.Join(words[:min(n, len(words))], " ")
}

// confidence makes a number from a score: the threshold is an even chance, and no
// single sentence is certain.
func confidence(score float64) float64 {
	c := 0.5 + (score-minScore)/10
	return float64(int(min(max(c, 0.3), 0.9)*100)) / 100
}

// leads stand before what is to be done, and are no part of it.
var leads = form(`(?i)^\s*(?:`, strings.Join([]string{
	`(?:hm+|uh+|oh|hey|ok|okay|ah|yeah|yes|yep|no|nope|nah|wait|hold on|stop|btw|by the way|fyi(?: for later)?|please|well|and|also|so|` +
		`but|fine|right|agreed|generally|important|hi)\b\s*[,:;!.…-]*`,
	`(?:are you (?:kidding|serious)|one (?:more|last|other) (?:thing|rule)|one thing|one rule(?: for [^:]{0,40})?|change of plan|` +
		`small update|new rule|rule(?: for [^:]{0,40})?|hard rule)\b[^:,!?.]{0,20}[:,!?.]+`,
	`(?:(?:please |and |you should |always )*(?:remember|keep in mind|keep this in mind|note|don'?t forget)(?: this)?(?: please)?` +
		`(?: for (?:the next time|later|every \w+|each \w+|all [^:,]{0,30}))?(?: that| this|[:,]))\s*`,
	`(?:(?:the|our|a) (?:rule|convention) (?:is|here is)(?: that)?)\s*`,
	`(?:from now on|from today on|going forward|as i said|like i said|since we'?re here|for the record|now)\b[,:]?\s+`,
	`(?:we (?:have |'?ve )?(?:decided|agreed)(?: last week| yesterday)?(?: that| on| to)?)\s+`,
	`(?:ja|nein|also|bitte|und|auch|ach ja|merk(?:e)?(?: dir)?(?: bitte)?|denk(?:e)? d(?:a)?ran|übrigens)\b\s*[,:;!.-]*(?:\s*dass\s)?`,
	`(?:non|oui|et|aussi|autre chose|retiens(?: que| bien que)?|souviens-toi (?:que|qu['’])|rappelle-toi (?:que|qu['’]))[,:;!.]*\s*`,
	`(?:sí|no|y|otra cosa|por cierto|recuerda(?: que)?|ten en cuenta(?: que)?)\b[,:;!.]*\s*`,
	`(?:请?记住|注意|不对|不|请)[，,：:！!。]\s*`,
}, "|"), `)`)

// subjects stand before the verb of a rule of a team; without them it is an order.
var subjects = form(`(?i)^(?:we|wir|on|nous|let'?s|lass uns)\s+(?:all\s+|only\s+)?`)

// weVerbs are what follows "we" where the rest is an order without it.
var weVerbs = form(`(?i)^we\s+(always|never|only|don'?t|do not|use|keep|say|write|put|set|ship|pin|store|test|run|stay|go|render|`,
	`report|count|stick|mock|format|log|name|build|do)\b`)

// tails are what a person adds and nobody needs.
var tails = form(`(?i)[,;. ]*\b(?:please|pls|ok|okay|thanks|thx|bitte|por favor|s'il te plaît|remember (?:this|that)(?: please)?|`,
	`please remember(?: this| that)?|write (?:that|this) down[^.]*|keep (?:that|this) in mind|put that in your memory|`,
	`note (?:that|it)[^.]*)\s*[.!]*$`)

// imperative makes a rule of a sentence: what only leads to it is cut, and "we use X"
// becomes "Use X".
func imperative(sentence string) string {
	s := strings.TrimSpace(sentence)
	for range 6 {
		short := leads().ReplaceAllString(s, "")
		if short == s || len(smalltalk.Words(short)) < 1 {
			break
		}
		if prohibition(s, short) {
			break
		}
		s = strings.TrimSpace(short)
	}
	if weVerbs().MatchString(s) {
		s = subjects().ReplaceAllString(s, "")
	} else if strings.HasPrefix(strings.ToLower(s), "let") {
		s = subjects().ReplaceAllString(s, "")
	}
	for range 3 {
		s = strings.TrimSpace(tails().ReplaceAllString(s, ""))
	}
	s = strings.TrimLeft(s, " ,;:.!-–")
	if len(smalltalk.Words(s)) == 0 {
		return ""
	}
	s = upper(s)
	if last, _ := utf8.DecodeLastRuneInString(s); !strings.ContainsRune(".!?。！？…", last) {
		s += "."
	}
	return s
}

// prohibition reports whether what would be cut is the "no" of "no barrel files".
func prohibition(s, short string) bool {
	cutOff := strings.ToLower(strings.TrimSpace(strings.TrimSuffix(s, short)))
	return cutOff == "no" || cutOff == "non" || cutOff == "不"
}

func upper(s string) string {
	if s == "" {
		return ""
	}
	r, n := utf8.DecodeRuneInString(s)
	first, _, _ := strings.Cut(s, " ")
	if identifier(strings.Trim(first, ",:;")) {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

// titleOf picks the sentence that says the most, and cuts it where its reason begins.
func titleOf(rules []string) string {
	best, most := "", -1.0
	for i, r := range rules {
		c := cuesOf(r)
		points := c.points(r) - 0.2*float64(i)
		if c.orders() || c.has(modal) {
			points++
		}
		if n := len(c.words); n < 3 {
			points -= 4
		} else if c.has(outright) && n <= 5 {
			points -= 3
		}
		if points > most {
			best, most = r, points
		}
	}
	title := strings.TrimRight(best, ".。")
	if whole := strings.TrimRight(strings.Join(rules, " "), ".。"); utf8.RuneCountInString(whole) <= maxTitle {
		title = whole
	}
	if utf8.RuneCountInString(title) > maxTitle {
		for _, stop := range []string{"; ", " because ", ", otherwise ", " so that ", ". ", " - ", ", "} {
			if before, _, ok := strings.Cut(title, stop); ok && len(smalltalk.Words(before)) >= 4 && utf8.RuneCountInString(before) <= maxTitle {
				title = before
				break
			}
		}
	}
	return Cut(title, maxTitle)
}

// touched are the files that were edited between two turns, as paths below the folder
// in which the session worked.
func touched(s *agent.Session, from, to int) (files []string) {
	for i := from; i <= to && i < len(s.Turns); i++ {
		for _, u := range s.Turns[i].Tools {
			if u.Path == "" {
				continue
			}
			name := strings.TrimPrefix(u.Path, strings.TrimRight(s.Dir, "/")+"/")
			if !slices.Contains(files, name) {
				files = append(files, name)
			}
		}
	}
	return files
}

// anchors are what a lesson is about: names in the user's words, then files.
func anchors(text string, files []string) (all []string) {
	add := func(a string) {
		if a != "" && len(all) < maxAnchors && !slices.Contains(all, a) && utf8.RuneCountInString(a) <= 80 {
			all = append(all, a)
		}
	}
	for _, w := range strings.Fields(text) {
		if w = strings.Trim(w, ".,;:!?\"'“”()`"); identifier(w) && strings.ContainsFunc(w, unicode.IsLetter) {
			add(w)
		}
	}
	for _, f := range files {
		add(f)
	}
	return all
}

// categories are told by words, in their order.
var categories = []struct {
	name  string
	words []string
}{
	{"security", strings.Fields("password secret token vault private confidential iban permission admin certificate tls force-unlock")},
	{"tests", strings.Fields("test tests spec specs fixture fixtures mock snapshot factory coverage detekt lint")},
	{"process", strings.Fields("commit commits branch release tag changelog review merge publish version pull ci deploy")},
	{"data", strings.Fields("column columns table tables migration migrations query index database transaction dates timestamps")},
	{"code-style", strings.Fields("name names naming case import imports format heading headings style comments tabs spaces title")},
	{"tools", strings.Fields("use npm pnpm cargo docker install run command module package library")},
}

// category says what a rule is about, as well as words can tell.
func category(rule string, kind Kind) string {
	words := smalltalk.Words(rule)
	for _, c := range categories {
		if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(c.words, w) }) {
			return c.name
		}
	}
	if kind == Decision {
		return "architecture"
	}
	return "domain"
}

// Paths are the anchors of a lesson that are files.
func (l *Lesson) Paths() (all []string) {
	for _, a := range l.Anchors {
		if path.Ext(a) != "" && !strings.ContainsAny(a, " ()") || strings.Contains(a, "/") {
			all = append(all, a)
		}
	}
	return all
}

package capture

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"anamnesis/internal/smalltalk"
)

// The bounds of what is kept of the user's own words, in characters and pieces.
const (
	maxStatement  = 320
	maxStatements = 12
	maxPrompt     = 4000 // a longer prompt was pasted: only its beginning is the user's own
)

// A statement is a correction, a rule or a decision in the user's own words.
type statement struct {
	text string
	to   string // the question that it answers, "" for none
}

// statements returns what the user corrected, laid down or decided, in order.
func statements(all []exchange) (out []statement) {
	seen := make(map[string]bool)
	for i, e := range all {
		if e.prompt == "" || e.command || smalltalk.Of(e.prompt) != smalltalk.None {
			continue
		}
		question := ""
		if i > 0 {
			question = lastQuestion(all[i-1].final())
		}
		for _, text := range stated(e.prompt, question != "") {
			s := statement{text: text, to: question}
			if key := strings.Join(smalltalk.Words(text), " "); !seen[key] {
				seen[key] = true
				out = append(out, s)
			}
			question = "" // the first sentence answers
		}
	}
	if len(out) > maxStatements { // the latest hold
		out = out[len(out)-maxStatements:]
	}
	return out
}

// stated returns the sentences of a prompt that correct, rule or decide. A short
// reply to a question is a decision whatever its words are.
func stated(prompt string, asked bool) (out []string) {
	own := ownWords(prompt)
	if asked && utf8.RuneCountInString(own) <= maxStatement && !question(own) {
		if one := strings.Join(strings.Fields(own), " "); one != "" {
			return []string{one}
		}
	}
	sentences := split(own)
	for i := 0; i < len(sentences); i++ {
		s := sentences[i]
		if utf8.RuneCountInString(s) > 2*maxStatement || question(s) || !load().in(s) {
			continue
		}
		// A prompt that begins with a correction is one to its end: "No." says what
		// not, the next sentence says what. Elsewhere it lasts as long as the cues do.
		for first := i == 0; i+1 < len(sentences); i++ {
			next := sentences[i+1]
			if question(next) || !first && !load().in(next) || utf8.RuneCountInString(s)+utf8.RuneCountInString(next) >= maxStatement {
				break
			}
			s += " " + next
		}
		if smalltalk.Of(s) == smalltalk.None {
			out = append(out, cutAt(s, maxStatement))
		}
	}
	return out
}

// lastQuestion returns the question with which a reply ends, "" if with none.
func lastQuestion(reply string) string {
	sentences := split(ownWords(reply))
	if len(sentences) == 0 || !question(sentences[len(sentences)-1]) {
		return ""
	}
	return cutAt(sentences[len(sentences)-1], maxStatement/2)
}

func question(s string) bool {
	s = strings.TrimRightFunc(s, func(r rune) bool {
		return r != '?' && r != '？' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.'
	})
	return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？")
}

// ownWords leaves out of a prompt what was pasted: code in fences, quotes, lines of
// a shell, a table or a log, and everything behind the first maxPrompt characters.
func ownWords(prompt string) string {
	prompt = head(prompt, maxPrompt)
	var out strings.Builder
	fence := false
	for line := range strings.Lines(prompt) {
		text := strings.TrimSpace(line)
		if strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~") {
			fence = !fence
			continue
		}
		indented := strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
		if fence || indented || text == "" || strings.ContainsRune(">|$#%+@<{}[]", rune(text[0])) || logged(text) {
			out.WriteByte('\n')
			continue
		}
		out.WriteString(text)
		out.WriteByte('\n')
	}
	return strings.TrimSpace(out.String())
}

// logged reports whether a line begins as that of a log or a stack does: a word or
// two and a colon, the first of them a level or an error ("npm error: …").
func logged(line string) bool {
	before, _, ok := strings.Cut(line, ":")
	if !ok || len(before) > 40 {
		return false
	}
	before = strings.ToLower(before)
	for _, word := range []string{"error", "exception", "warning", "warn", "fatal", "panic", "traceback", "debug", "info"} {
		if strings.HasSuffix(before, word) {
			return true
		}
	}
	return false
}

// split cuts a text into sentences: at line ends, and behind . ! ? before white
// space, so that a file name stays whole.
func split(text string) (out []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(strings.TrimSpace(line), "-*• ")
		begin := 0
		runes := []rune(line)
		for i, r := range runes {
			switch {
			case strings.ContainsRune("。！？", r):
			case strings.ContainsRune(".!?", r) && i+1 < len(runes) && unicode.IsSpace(runes[i+1]) && !abbreviation(runes[begin:i]):
			default:
				continue
			}
			out = append(out, strings.TrimSpace(string(runes[begin:i+1])))
			begin = i + 1
		}
		out = append(out, strings.TrimSpace(string(runes[begin:])))
	}
	return slices.DeleteFunc(out, func(s string) bool { return len(smalltalk.Words(s)) == 0 })
}

// abbreviation reports whether the last word is one that ends in a full stop
// without ending a sentence.
func abbreviation(before []rune) bool {
	words := strings.Fields(strings.ToLower(string(before)))
	if len(words) == 0 {
		return true // the number of a list
	}
	switch words[len(words)-1] {
	case "e.g", "i.e", "z.b", "d.h", "vs", "etc", "bzw", "ca", "no", "nr":
		return words[len(words)-1] != "no" || len(words) > 1
	}
	return false
}

// The cues are read when somebody asks for the first time.
type cues struct{ begins, anywhere map[string]bool }

//go:embed cues.txt
var cueSource string

var load = sync.OnceValue(func() *cues {
	phrases := func(lines []string) map[string]bool {
		set := make(map[string]bool, len(lines))
		for _, line := range lines {
			set[strings.Join(smalltalk.Words(line), " ")] = true
		}
		return set
	}
	lists := smalltalk.Sections(cueSource, "begins", "anywhere")
	return &cues{begins: phrases(lists[0]), anywhere: phrases(lists[1])}
})

// maxCue is how many words a cue has at most.
const maxCue = 8

// in reports whether a sentence has a cue.
func (c *cues) in(sentence string) bool {
	words := smalltalk.Words(sentence)
	for at := range words {
		for n := 1; n <= maxCue && at+n <= len(words); n++ {
			phrase := strings.Join(words[at:at+n], " ")
			if at == 0 && c.begins[phrase] || c.anywhere[phrase] {
				return true
			}
		}
	}
	return false
}

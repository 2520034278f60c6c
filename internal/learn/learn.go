// Package learn finds what a session may teach, and takes in what a reader makes of it.
//
// No list of words tells whether a sentence lays down something lasting, so a reader decides: the agent in whose session
// the sentence is typed, the agent of the next session, a model in the background, or the user. The program knows whose words they
// are (Said), what the agent had just done, how the user stopped it (Stopping), what a reader needs to see of a session (Slice),
// and whether a rule quotes words that a person typed (Find).
//
// Only two things become notes without a reader: a sentence by which the user orders to
// remember (Order), word for word, and a reply by which the user decides for good what a tool
// may do (Permissions).
//
// Everything but Reader is a pure function of an agent.Session.
package learn

import (
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"anamnesis/internal/agent"
	"anamnesis/internal/session"
	"anamnesis/internal/text"
	"anamnesis/internal/text/smalltalk"
)

// Clean masks secrets and shortens paths in a text that may be written down. It comes before
// anything is cut: half a key matches no rule.
type Clean func(string) string

// Observed is an event of a session that its records do not keep.
type Observed struct {
	At   time.Time
	Kind ObservedKind
	Tool string // its name, "" when the event names none
}

// A ObservedKind says what happened.
type ObservedKind string

// The kinds of events.
const (
	AskedPermission ObservedKind = "permission"   // the user was asked whether a tool may run
	ToolFailed      ObservedKind = "tool-failure" // a tool failed
)

// Said is what a person typed in one turn.
type Said struct {
	Turn int       `json:"turn"`
	At   time.Time `json:"at"`
	Text string    `json:"text"`          // cleaned; stretches that were typed apart stand in paragraphs
	Did  string    `json:"did,omitempty"` // what the agent had just done, one line
	// Asked is the last question of the agent before it, if all that was typed agrees: "yes", "go ahead".
	Asked string `json:"asked,omitempty"`
	// Options is the last question of the agent before it with the answers that it offered, if what was typed is short: "2".
	Options string `json:"options,omitempty"`
	// Stops says that it followed a refused call, an interruption, or a circle in which the agent went.
	Stops bool   `json:"stops,omitempty"`
	Hash  string `json:"hash"` // of the record: the same in a resumed or forked session
}

// Bounds of what is read of a turn, in characters.
const (
	maxTyped = 4000
	maxDid   = 200
	maxQuote = 200 // as note.MaxQuote
)

// SaidIn returns what a person typed in a session, in order, without what the client attached
// and what was pasted. clean may be nil.
func SaidIn(s *agent.Session, clean Clean) (all []Said) {
	if clean == nil {
		clean = func(text string) string { return text }
	}
	circles := circlesOf(s.Turns)
	for i := range s.Turns {
		t := &s.Turns[i]
		for j := range t.Tools { // what a person says with a refusal, or answers to a question, stands in no record of theirs
			if u := &t.Tools[j]; u.Reply != "" && !s.Headless {
				all = append(all, Said{
					Turn: i, At: t.At, Text: text.Head(clean(text.Head(u.Reply, 2*maxTyped)), maxTyped), Stops: u.Denied,
					Did: text.Cut(actOf(u, clean), maxDid), Hash: hash(t.At, u.Name+"\x00"+string(u.Input)+"\x00"+u.Reply),
				})
			}
		}
		if t.Role != agent.User || t.Text == "" {
			continue
		}
		typed := strings.Join(t.Typed(), "\n\n")
		if typed == "" {
			continue
		}
		all = append(all, Said{
			Turn: i, At: t.At, Text: text.Head(clean(text.Head(typed, 2*maxTyped)), maxTyped), Hash: hash(t.At, t.Text),
			Did: didBefore(s.Turns, i, clean), Asked: askedIn(s.Turns, i, typed, clean), Options: optionsBefore(s.Turns, i, typed, clean),
			Stops: stops(s.Turns, i, circles),
		})
	}
	return all
}

// askedIn returns the question that a turn agrees to, "" when it does more than agree or nothing was asked.
func askedIn(turns []agent.Turn, at int, typed string, clean Clean) string {
	if smalltalk.Of(typed) != smalltalk.GoAhead {
		return ""
	}
	for i := at - 1; i >= 0 && !turns[i].Human(); i-- {
		if turns[i].Role != agent.Assistant || turns[i].Text == "" {
			continue
		}
		sentences := text.Sentences(clean(text.Head(turns[i].Text, 4*maxTyped)))
		for _, sentence := range slices.Backward(sentences) {
			if text.IsQuestion(sentence) {
				return sentence
			}
		}
		break
	}
	return ""
}

// shortAnswer is up to how many characters an answer may need its question to be understood.
const shortAnswer = 40

// optionsBefore returns what a short answer answers: the agent's last question, with the numbered lines at the end of its text.
func optionsBefore(turns []agent.Turn, at int, typed string, clean Clean) string {
	if utf8.RuneCountInString(typed) > shortAnswer {
		return ""
	}
	said := clean(text.Head(saidBefore(turns, at), 4*maxTyped))
	var options []string
	for line := range strings.Lines(said) {
		line = strings.TrimLeft(strings.TrimSpace(line), "-*• ")
		n := len(line) - len(strings.TrimLeft(line, "0123456789"))
		if n > 0 && n < 3 && n < len(line) && strings.ContainsRune(".):", rune(line[n])) {
			options = append(options, line)
		}
	}
	question := ""
	for sentence := range prose(said) {
		if text.IsQuestion(sentence) {
			question = sentence
		}
	}
	if question == "" {
		return ""
	}
	return text.Cut(strings.Join(append([]string{question}, options...), " "), 2*maxDid)
}

// saidBefore returns what the agent said last before a turn.
func saidBefore(turns []agent.Turn, at int) string {
	for i := at - 1; i >= 0 && !turns[i].Human(); i-- {
		if turns[i].Role == agent.Assistant && turns[i].Text != "" {
			return turns[i].Text
		}
	}
	return ""
}

// didBefore tells what a turn may react to, in one line: what the agent did last, where that was refused, failed or was
// interrupted, and the result that it reported: the first sentence of prose of what it said last. What it asks at the end
// is no result.
func didBefore(turns []agent.Turn, at int, clean Clean) string {
	var parts []string
	last := ""
	for i := at - 1; i >= 0 && !(turns[i].Role == agent.User && turns[i].Text != ""); i-- {
		t := &turns[i]
		if t.Interrupted {
			parts = append(parts, "was interrupted")
		}
		for j := len(t.Tools) - 1; j >= 0 && len(parts) < 2; j-- {
			switch u := &t.Tools[j]; {
			case u.Denied, u.Error:
				parts = append(parts, actOf(u, clean))
			case last == "" && (u.Path != "" || session.CommandOf(*u) != ""):
				last = actOf(u, clean)
			}
		}
	}
	if report := reportIn(clean(text.Head(saidBefore(turns, at), 4*maxTyped))); report != "" {
		parts = append(parts, "said: "+report)
	}
	if last != "" && len(parts) < 2 {
		parts = append([]string{last}, parts...)
	}
	return text.Cut(strings.Join(parts, "; "), maxDid)
}

// leastReport is how many characters a sentence has at least that reports a result: "Done." reports none.
const leastReport = 30

// reportIn returns the first sentence of prose that an agent wrote and that reports something; "" for none.
func reportIn(said string) string {
	for sentence := range prose(said) {
		end, _ := utf8.DecodeLastRuneInString(sentence)
		if utf8.RuneCountInString(sentence) >= leastReport && unicode.IsPunct(end) && end != ':' && !text.IsQuestion(sentence) {
			return sentence
		}
	}
	return ""
}

// prose returns the sentences of a text that are prose: a line of code, of a list or of a table is none.
func prose(said string) iter.Seq[string] {
	return func(yield func(string) bool) {
		fenced := false
		for line := range strings.Lines(said) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "```") {
				fenced = !fenced
				continue
			}
			if first, _ := utf8.DecodeRuneInString(line); fenced || !unicode.IsLetter(first) {
				continue
			}
			for _, sentence := range text.Sentences(line) {
				if !yield(sentence) {
					return
				}
			}
		}
	}
}

// actOf tells the use of a tool in a few words.
func actOf(u *agent.ToolUse, clean Clean) string {
	what := callOf(u, clean)
	switch {
	case u.Denied:
		return what + " (refused)"
	case u.Error:
		return what + " (failed)"
	}
	return what
}

// callOf tells a call in a few words: its command line, its file, or its name.
func callOf(u *agent.ToolUse, clean Clean) string {
	switch line := session.CommandOf(*u); {
	case line != "":
		return session.Code(clean(line))
	case u.Path != "":
		return u.Name + " " + clean(u.Path)
	}
	return u.Name
}

// before returns the turn from which on the agent worked on what was said last before
// the turn at; 0 when nothing was.
func before(turns []agent.Turn, at int) int {
	for i := at - 1; i >= 0; i-- {
		if turns[i].Human() {
			return i
		}
	}
	return 0
}

// stops reports whether what is said in a turn follows a refused call, an interruption, or a circle.
func stops(turns []agent.Turn, at int, circles []Circle) bool {
	from := before(turns, at)
	for i := from; i < at; i++ {
		if turns[i].Interrupted {
			return true
		}
	}
	return refusedBefore(turns, at) != nil || slices.ContainsFunc(circles, func(c Circle) bool { return c.Turn > from && c.Turn < at })
}

// hash is the fingerprint of a stretch of a session. The time of the record is part of it and
// the id of the session is not: a session that is resumed or forked repeats its records under
// another id, and two sessions that say the same prove more than one.
func hash(at time.Time, what string) string {
	sum := sha256.Sum256([]byte(at.UTC().Format(time.RFC3339Nano) + "\x00" + text.Folded(what)))
	return hex.EncodeToString(sum[:10])
}

// A Quote is what a person typed, found in a session: the whole sentences that hold what was quoted.
type Quote struct {
	Said     Said
	Words    string // Sentence, at most 200 characters
	Sentence string
}

// QuoteOf is the quote of a sentence.
func QuoteOf(said Said, sentence string) Quote {
	return Quote{said, text.Cut(sentence, maxQuote), sentence}
}

// Chunk identifies the quote: the same words of the same record, whoever found them.
func (q Quote) Chunk() string { return hash(q.Said.At, q.Said.Hash+"\x00"+text.Folded(q.Words)) }

// leastQuote is how many characters a quote has at least that vouches for anything.
const leastQuote = 8

// Find looks a quote up in what a person typed, the latest first, and returns the whole sentences that hold it: "use
// npm" is found as "never use npm". Letters, digits and their order count; signs, case and line ends
// do not. What agrees to a question is found whatever its length.
func Find(said []Said, quote string) (Quote, bool) {
	wanted := letters(quote)
	for i := len(said) - 1; i >= 0; i-- {
		if len(wanted) < leastQuote && (said[i].Asked == "" || wanted != letters(said[i].Text)) {
			continue
		}
		if found := holding(said[i].Text, wanted); found != "" {
			return Quote{said[i], text.Cut(quote, maxQuote), found}, true
		}
	}
	return Quote{}, false
}

// holding returns the sentences of a text that hold letters; "" when none do.
func holding(typed, wanted string) string {
	sentences := text.Sentences(typed)
	all, ends := "", make([]int, len(sentences))
	for i, s := range sentences {
		all += strings.TrimRight(letters(s), " ")
		ends[i] = len(all)
	}
	at := strings.Index(all+" ", wanted)
	if at < 0 || strings.TrimSpace(wanted) == "" {
		return ""
	}
	first, _ := slices.BinarySearch(ends, at+1)
	last, _ := slices.BinarySearch(ends, at+len(wanted)-1)
	return strings.Join(sentences[first:last+1], " ")
}

// letters are the letters and digits of a text in small letters, with a blank between words. In scripts
// without blanks each character is a word, so that a quote may begin anywhere.
func letters(s string) string {
	var b strings.Builder
	inside := false
	for _, r := range strings.ToLower(s) {
		dense := isDense(r)
		if word := isWord(r) || unicode.IsMark(r); !word || !inside || dense {
			if inside = word && !dense; word {
				b.WriteByte(' ')
			} else {
				continue
			}
		}
		b.WriteRune(r)
	}
	b.WriteByte(' ')
	return b.String()
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// isDense reports whether r is of a script without blanks between words.
func isDense(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

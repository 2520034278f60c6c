package claim

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// States reports whether a title may be printed in place of a sentence that a person typed: it says
// what the sentence says and no more. Both have the same words in the same order, clause by clause,
// with the same denials. Words that carry no content may differ ("we use pnpm here" and "Use pnpm"),
// the sentence may add that something holds always, and the title may leave out a reason that
// "because" begins. Every other word counts, whether this program knows it or not, so a
// condition, a doubt ("maybe") and a speaker ("Bob says") are never lost. A question states nothing.
//
// It refuses in doubt: then the sentence itself is printed.
func States(sentence, title string) bool {
	if strings.ContainsAny(sentence, "?？") || asks(sentence) || !strings.ContainsFunc(title, isWord) {
		return false
	}
	said, titled := clausesOf(sentence), clausesOf(title)
	if !slices.ContainsFunc(titled, clause.reason) {
		said = slices.DeleteFunc(said, clause.reason)
	}
	if slices.ContainsFunc(titled, clause.insists) && !slices.ContainsFunc(said, clause.insists) || len(titled) == 0 {
		return false
	}
	if len(said) == 2 && len(titled) == 2 && said[0].denied != said[1].denied && said[0].denied == titled[1].denied {
		slices.Reverse(titled) // "pnpm, never npm" is "never npm, pnpm"
	}
	return slices.EqualFunc(said, titled, func(a, b clause) bool {
		return a.denied == b.denied && slices.EqualFunc(a.words, b.words, inflected)
	})
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// A clause is a stretch of a sentence between marks, "and" and denials, without the words that carry no content.
type clause struct {
	denied bool
	always bool
	words  []string
}

func (c clause) insists() bool { return c.always }

// reason reports whether a clause gives a reason, which goes on to the next mark.
func (c clause) reason() bool {
	g := loadGrammar()
	return !c.denied && len(c.words) > 0 && g.reasons[c.words[0]] || len(c.words) > 1 && g.reasons[c.words[0]+c.words[1]]
}

// A grammar is the closed classes of words in which a title and its sentence may differ, and the forms of their
// clauses. A language that is missing here loses nothing but its short titles.
type grammar struct {
	light, soft, obliged, replies, insistent, reasons, joins, denials, auxiliaries, subjects map[string]bool

	request, requests, framing, marks, elidedNe, elided, hyphen, innerMark *regexp.Regexp
}

// loadGrammar makes it when it is first asked for: most commands compare no titles.
var loadGrammar = sync.OnceValue(func() *grammar {
	return &grammar{
		// These are left out everywhere: articles, "we", and prepositions of place and purpose. "I" and "my"
		// are not: what the user does is nothing that an agent may do.
		light: set(`a an the to of in on at for is are be being we we're we've we'll you you're our us use uses using here
		der die das den dem ein eine einen einem wir uns du ist sind hier le la les un une des nous vous tu est sont ici il
		el los las una nosotros es son aquí o os as um uma são nós gli lo uno è sono noi de het een wij je jij zijn
		en ei et den det vi du er är ett ni мы вы ты`),
		// These are left out where nothing is denied: "you need not" does not say "never".
		soft: set(`should must shall need needs have has want wants will please pls plz thanks thx also do does let's lets remember supposed
		soll sollst sollen solltest muss musst müssen bitte auch doch benutzen nutzen verwenden faut dois doit devons devez stp svp
		por favor debe debes hay têm tem que ser deve devi dovete moet moeten alstublieft må skal skall måste пожалуйста нужно надо`),
		// These are left out where something is denied, too.
		obliged: set(`ever supposed must should shall have to do does please pls plz sollst soll sollen darfst dürfen faut dois doit devi
		deve debes debe moet mag må skal skall måste пожалуйста`),
		// These are left out where they begin a text, or are a clause.
		replies: set(`no nope yes yeah ok okay so well hey hi hello right then listen and but cool great alright
		thanks thank there pls plz please lol
		ugh hmm hm nein ja hallo danke also gut oui non merci bonjour sí hola gracias vale oi olá sim obrigado ciao allora hoi hei hej takk tak
		tack привет да нет спасибо`),
		insistent: set(`always ever immer stets toujours siempre sempre alltid altid altijd всегда 始终 总是`),
		reasons:   set(`because weil parce porque perché omdat fordi потому`),
		joins:     set(`and but und aber sondern et mais y pero e mas ma maar men и но`),
		// denials are those that claims do not know.
		denials: set(`dont doesnt não nunca jamais sem non mai senza niet geen nooit zonder ikke aldri aldrig ingen uten uden inte utan
		не никогда без нельзя`),
		auxiliaries: set(`am is are was were do does did have has had will would shall should must may might can could
		ist sind soll sollen sollte sollten muss müssen kann können darf dürfen est sont dois devons debo debemos`),
		subjects: set(`i we you he she it they this that these those there the a an my our your ich wir du sie es man der die das je on nous tu
		vous yo nosotros`),
		// Orders in the form of a question begin with a request.
		request:  regexp.MustCompile(`(?i)\b(?:can|could|will|would) you\b`),
		requests: regexp.MustCompile(`(?i)\b(?:can|could|will|would) you\b.*\b(?:please|pls|plz)\b`),
		// These are words for the project itself, where its notes hold anyway, and for the wish of the one who speaks.
		framing: regexp.MustCompile(`(?i)\b(?:in|for|on)\s+(?:this|our|the)\s+(?:repo|repository|project|code\s?base)\b|` +
			`\bI\s+(?:want|need|prefer|would like)\b|\bI'd\s+(?:like|prefer)\b|\bfrom now on\b|` +
			`\b(?:as a (?:general )?note|just so you know|one more thing|for the record|heads up)\b|` +
			`\bin (?:diesem|unserem|questo|dit) (?:repo|projekt|progetto|project)\b|` +
			`\b(?:dans ce|en este|neste) (?:repo|projet|proyecto|projeto)\b|` +
			`我们|这里|请|吧|你好|ください|すみません`),
		// Marks end a clause. Inside a name, a number or a path they end nothing.
		marks:     regexp.MustCompile("[，。；：！、]|[,;:!.)]+[\"'”»`]*(?:\\s|$)|(?:^|\\s)\\(|\\s[—–-]\\s"),
		elidedNe:  regexp.MustCompile(`(?i)\bn'`),
		elided:    regexp.MustCompile(`(?i)\b(?:[ldsjcmt]|qu)'`),
		hyphen:    regexp.MustCompile(`(\pL\pL)-(\pL\pL)`),
		innerMark: regexp.MustCompile(`(\pL),(\pL)`),
	}
})

// maxEnding is the length of the longest ending, in bytes, by which two forms of one word differ.
const maxEnding = 3

// inflected reports whether two words are the same, or one is the other with an ending. Names have none.
func inflected(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == b || len(a) >= maxEnding && len(b)-len(a) <= maxEnding && strings.HasPrefix(b, a) && !isName(b) && !number(b)
}

// asks reports whether a sentence begins with its verb, as a question without its mark does.
func asks(sentence string) bool {
	g := loadGrammar()
	words := strings.FieldsFunc(strings.ToLower(sentence), func(r rune) bool { return !isWord(r) && r != '\'' })
	for len(words) > 0 && g.replies[words[0]] {
		words = words[1:]
	}
	if g.requests.MatchString(sentence) {
		return false
	}
	return len(words) > 1 && g.auxiliaries[words[0]] && g.subjects[words[1]]
}

// clausesOf reads the clauses of a text.
func clausesOf(text string) (all []clause) {
	g := loadGrammar()
	text = plain.Replace(text)
	if g.requests.MatchString(text) {
		text = g.request.ReplaceAllString(text, " ")
	}
	text = g.framing.ReplaceAllString(text, " ")
	text = g.elided.ReplaceAllString(g.elidedNe.ReplaceAllString(text, "ne "), " ")
	text = g.hyphen.ReplaceAllString(text, "$1 $2")
	text = g.innerMark.ReplaceAllString(g.marks.ReplaceAllString(text, " , "), "$1 , $2")
	var c clause
	begun := false // a word that is no reply was read
	end := func() {
		reply := len(c.words) > 0 && !slices.ContainsFunc(c.words, func(w string) bool { return !g.replies[w] })
		if (len(c.words) > 0 || c.denied && len(all) > 0) && !reply { // "No, …" replies
			all = append(all, c)
		}
		c = clause{}
	}
	fields := strings.Fields(text)
	for i, field := range fields {
		if field == "," {
			end()
			continue
		}
		if first, _ := utf8.DecodeRuneInString(field); strings.ContainsRune("\"“„«", first) {
			c.words = append(c.words, `"`) // what follows are the words of somebody else
		}
		for _, w := range signs(strings.Trim(field, "`\"'“”„‘«»*_[]{}()….¡¿!")) {
			low := strings.ToLower(w)
			if !begun && g.replies[low] && (low != "no" || i+1 < len(fields) && fields[i+1] == ",") {
				continue
			}
			begun = true
			c.read(w, low, end)
		}
	}
	end()
	return all
}

// read adds a word to a clause, or ends it first.
func (c *clause) read(word, low string, end func()) {
	g := loadGrammar()
	switch {
	case c.reason():
		c.words = append(c.words, low)
	case loadWords().negators[low] || g.denials[low]:
		if !c.denied || len(c.words) > 0 {
			end()
		}
		c.denied = true
	case g.joins[low]:
		end()
	case g.reasons[low]:
		end()
		c.words = append(c.words, low)
	case g.light[low], !c.denied && g.soft[low], c.denied && len(c.words) == 0 && g.obliged[low], low == "that" && len(c.words) == 0:
	case !c.denied && g.insistent[low]:
		c.always = true
	case isName(word), number(word):
		c.words = append(c.words, low)
	default:
		c.words = append(c.words, stem(low))
	}
}

// signs cuts a token of a script without spaces between words into its characters.
func signs(token string) (all []string) {
	if token == "" {
		return nil
	}
	if !strings.ContainsFunc(token, func(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) }) {
		return []string{token}
	}
	word := ""
	for _, r := range token {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) {
			if word != "" {
				all = append(all, word)
			}
			all, word = append(all, string(r)), ""
			continue
		}
		word += string(r)
	}
	if word != "" {
		all = append(all, word)
	}
	return all
}

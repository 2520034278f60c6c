package ingest

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"anamnesis/internal/note"
)

// A claim is what a note says, in the words by which two are compared.
type claim struct {
	words   map[string]float64 // words of content, and what sharing one says
	denied  map[string]bool    // those that it speaks against
	numbers map[string]bool
	of      map[string]string // by a word, the number behind it: the version of a thing, its port
}

// weights of words: a name of a program says more than one of prose.
const (
	plainWeight = 1.0
	nameWeight  = 2.0
)

// empty are words that say nothing of what a rule is about.
var empty = sync.OnceValue(func() map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(`a an and are as at be been but by can do does done for from get gets give go goes had has have here how i
		if in instead into is it its just keep let like longer make may more must never new no not now of off on
		one only or other our out over please rather run runs say says set should so some stay than that the
		their them then there these they thing this those to too use used uses using was we were what when where
		which while will with without work would you your always any anymore every all everything each again also
		already because before after don doesn t s d ll re ve isn won m else otherwise first last still way der
		die das den dem ein eine einen und oder nicht kein keine ist sind wird werden immer nie niemals wir du
		ich es mit von zu im in auf für statt nur mehr jetzt ab bitte man le la les un une des et ou pas ne est
		sont toujours jamais on nous vous il elle de du en dans pour avec sur que qui plus el los las una unos y
		o no es son siempre nunca con por para que se lo al del ya ahora solo sólo 的 了 是 在 不 用 要
		和 请 都 一 律 必 须 别 再 现 改 为`) {
		m[w] = true
	}
	return m
})

// denials stand before what a sentence speaks against.
var denials = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:\b(?:instead of|rather than|no longer|no more|away from|in place of|and not|not|no|never|don'?t|` +
		`do not|drop(?:ped)?|forget(?: about)?|stop(?:ped)?|(?:have |has |'ve )?left|mov(?:ed|ing) (?:off|away from|from)|` +
		`switch(?:ed|ing)? (?:away )?from|migrat(?:ed|ing) (?:off|away from|from)|` +
		`(?:we|i|i'm|we're)(?: am| are|['’]re|['’]m)?(?: all)? (?:done|finished) with|chang(?:ed|e) my mind about|` +
		`(?:scrap|ditch(?:ed)?|retire[d]?)(?: what i said about)?|(?:get|got) rid of|replace[d]?|weg von|vergiss|abandonn\w+|deja(?:mos)?|` +
		`nicht mehr|nicht|keine?n?|anstatt|statt|au lieu de?|plus|pas|en vez de|en lugar de|ya no)\b|` +
		`不再|不要|不用|而不是)` +
		`\s*((?:[^,;.:!?。，()\n]|\.\w){1,60})`)
})

// gone stand behind what is not any more.
var gone = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)((?:[^,;.:!?()\n]|\.\w){1,60})\s+` +
		`(?:any ?more\b|nicht mehr\b|(?:is|are|goes|go|was|were|has been|have been|is being|are being|got|gets) (?:all )?` +
		`(?:out|dropped|gone|retired|removed|thrown out|history|dead|deprecated|abandoned|over)\b|no longer exists?\b|` +
		`(?:fliegt|fliegen|ist|sind) (?:raus|weg)\b|didn.?t (?:work out|hold up)\b)`)
})

// claimOf reads what a note says.
func claimOf(n *note.Note) claim {
	text := n.Title
	if n.Rule != "" {
		text += ". " + n.Rule
	} else {
		text += ". " + firstRunes(n.Body, 400)
	}
	c := claim{words: make(map[string]float64), denied: make(map[string]bool), numbers: make(map[string]bool), of: make(map[string]string)}
	before := ""
	for _, w := range contentWords(text) {
		c.words[w.stem] = max(c.words[w.stem], w.weight)
		if w.number {
			c.numbers[w.stem] = true
			if before != "" {
				c.of[before] = w.stem
			}
		}
		if before = w.stem; w.number {
			before = ""
		}
	}
	for _, m := range slices.Concat(denials().FindAllStringSubmatch(text, 40), gone().FindAllStringSubmatch(text, 40),
		blamed().FindAllStringSubmatch(text, 40)) {
		for i, w := range contentWords(untilConjunction(m[1])) {
			if i < 3 {
				c.denied[w.stem] = true
			}
		}
	}
	return c
}

// conjunctions end what is spoken against, and so does who begins another clause: "instead of
// uuids we take ulids".
var conjunctions = strings.Fields("but and so because sondern aber weil mais pero sino porque " +
	"we you i they it wir ihr nous vous nosotros")

func untilConjunction(text string) string {
	words := strings.Fields(text)
	if i := slices.IndexFunc(words, func(w string) bool { return slices.Contains(conjunctions, strings.ToLower(w)) }); i > 0 {
		words = words[:i]
	}
	return strings.Join(words, " ")
}

// numerals are numbers that are written as words. "one" and its like are also articles and
// pronouns, so a noun has to follow.
var numerals = map[string]string{
	"one": "1", "single": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9",
	"ten": "10", "twelve": "12", "twenty": "20", "thirty": "30", "sixty": "60", "hundred": "100",
	"zwei": "2", "drei": "3", "vier": "4", "fünf": "5", "zehn": "10", "deux": "2", "trois": "3", "quatre": "4", "cinq": "5", "dix": "10",
	"dos": "2", "tres": "3", "cuatro": "4", "cinco": "5", "diez": "10",
}

// notCounted are words behind a numeral that counts nothing.
var notCounted = strings.Fields("of more thing place way day time more another and or by at is that which who line step go")

// counted is the number that a word stands for, when the word behind it can be counted.
func counted(low, next string) (string, bool) {
	n, ok := numerals[low]
	if next = strings.ToLower(strings.Trim(next, ".-'’*#/")); !ok || next == "" || empty()[next] || slices.Contains(notCounted, next) {
		return "", false
	}
	return n, true
}

type contentWord struct {
	stem   string
	weight float64
	number bool
}

// contentWords are the words of a text that say what it is about.
func contentWords(text string) (all []contentWord) {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(",;:!?()[]{}\"“”‘«»`<>=，。：；！？（）", r)
	})
	for i, raw := range words {
		raw = strings.Trim(raw, ".-'’*#/")
		if raw == "" {
			continue
		}
		han := strings.ContainsFunc(raw, func(r rune) bool { return unicode.Is(unicode.Han, r) })
		if han {
			for _, r := range raw {
				if s := string(r); !empty()[s] && unicode.IsLetter(r) {
					all = append(all, contentWord{stem: s, weight: plainWeight})
				}
			}
			continue
		}
		low := strings.ToLower(raw)
		if before, _, ok := strings.Cut(low, "'"); ok {
			low = before
		}
		if n, ok := counted(low, words[min(i+1, len(words)-1)]); ok && i+1 < len(words) {
			low = n
		}
		if empty()[low] || low == "" {
			continue
		}
		w := contentWord{stem: stem(low), weight: plainWeight}
		switch {
		case strings.Trim(low, "0123456789.%") == "":
			w.number = true
		case strings.ContainsAny(low, "_./@$") || mixed(raw):
			w.weight = nameWeight
		case utf8.RuneCountInString(low) < 2:
			continue
		}
		all = append(all, w)
	}
	return all
}

// mixed reports whether a word has capitals inside or digits beside letters, as names
// of programs do.
func mixed(w string) bool {
	inner, digit, letter := false, false, false
	for i, r := range w {
		inner = inner || i > 0 && unicode.IsUpper(r)
		digit = digit || unicode.IsDigit(r)
		letter = letter || unicode.IsLetter(r)
	}
	return inner || digit && letter
}

// stem cuts the endings that differ between two sentences about the same.
func stem(w string) string {
	for _, end := range []string{"ing", "ed", "es", "s", "en", "e"} {
		if short, ok := strings.CutSuffix(w, end); ok && len(short) >= 3 && !strings.HasSuffix(w, "ss") {
			return short
		}
	}
	return w
}

// rivals are things of which a project has one.
var rivals = [][]string{
	{"tab", "spac"},
	{"npm", "pnpm", "yarn", "bun"},
	{"singl", "doubl"},
	{"merg", "rebas", "squash"},
	{"snake_cas", "camelcas", "kebab-cas"},
	{"jest", "vitest", "mocha"},
	{"mysql", "postgr", "sqlit", "mariadb"},
	{"poetry", "uv", "pip", "conda"},
}

// The bounds of a comparison.
const (
	saidAgain  = 0.6 // share of the shorter claim from which it is said again
	againShare = 0.3 // of one that says itself that it was said before
	turnShare  = 0.5 // of one that says that something is not as it was, and not what
	deniedPart = 0.6 // share of what is spoken against that the other claim holds
	leastTurn  = 2.0 // weight of what a claim and the one it replaces share
)

// bearing says what a learning does to a note, and how surely; 0 says nothing.
func bearing(l Learning, n, old *note.Note) (Bearing, float64) {
	return bears(l, n, claimOf(n), old)
}

// bears is bearing, for a note whose claim is known.
func bears(l Learning, n *note.Note, a claim, old *note.Note) (Bearing, float64) {
	b := claimOf(old)
	weight, shared := 0.0, 0
	for w, x := range a.words {
		if y, ok := b.words[w]; ok {
			weight += min(x, y)
			shared++
		}
	}
	least := min(len(a.words), len(b.words))
	if least == 0 || shared == 0 && !((least <= 2 || l.Turned) && rival(a, b)) {
		return "", 0
	}
	share := float64(shared) / float64(least)
	same := n.Fingerprint()
	if said := old.Fingerprint(); same.Same(&said) {
		return Confirms, 100
	}
	if l.Except || old.HasTag(ExceptionTag) && !l.Turned {
		if share >= 0.8 && !differ(a.numbers, b.numbers) && !opposed(a, b) {
			return Confirms, weight
		}
		return "", 0
	}
	denies := part(a.denied, b)
	if !l.Turned && denies >= deniedPart && narrows(n, b) {
		return "", 0
	}
	switch {
	case l.Turned && denies >= deniedPart && weight >= leastTurn,
		!l.Again && denies >= deniedPart && (weight >= leastTurn+1 || share >= turnShare) && !agree(a, b) && contrasts(a, b):
		return Contradicts, 10 + weight
	case l.Turned && denies > 0.99 && len(a.denied) <= 2 && !agree(a, b):
		return Contradicts, 8 + weight
	case l.Turned && renumbered(a, b):
		return Contradicts, 6 + weight
	case l.Turned && fresh(a.numbers, b.numbers) && (share >= turnShare || shared >= 2 && share >= againShare):
		return Contradicts, 6 + weight
	case l.Turned && share >= turnShare && shared >= 3 && (differ(a.numbers, b.numbers) || opposed(a, b)):
		return Contradicts, 5 + weight
	case l.Turned && share >= turnShare && weight >= leastTurn && shared >= 2 && !agree(a, b) && contrasts(a, b) && contrasts(b, a):
		return Contradicts, 4 + weight
	case rival(a, b) && (share >= 0.5 || l.Turned) && !agree(a, b), rival(a, b) && least <= 2 && !agree(a, b):
		return Contradicts, 4 + weight
	case share >= saidAgain && shared >= 3 && differ(a.numbers, b.numbers) && !l.Again:
		return Contradicts, 3 + weight
	case opposed(a, b) && share >= saidAgain && shared >= 3 && len(a.words) <= len(b.words)+1:
		return Undecided, 2 + weight
	case differ(a.numbers, b.numbers) || opposed(a, b):
		return "", 0
	case l.Again && share >= againShare && weight >= leastTurn, share >= saidAgain && shared >= 3:
		if len(a.words) > 2*len(b.words) && share > 0.9 && old.Provenance.Source == note.Learning && !owned(old) {
			return Refines, weight
		}
		return Confirms, weight
	}
	return "", 0
}

// part is the share of the words that are spoken against which the other claim is for.
func part(denied map[string]bool, c claim) float64 {
	if len(denied) == 0 {
		return 0
	}
	n := 0
	for w := range denied {
		if _, ok := c.words[w]; ok && !c.denied[w] {
			n++
		}
	}
	return float64(n) / float64(len(denied))
}

// agree reports whether two claims speak against the same.
func agree(a, b claim) bool {
	for w := range a.denied {
		if b.denied[w] {
			return true
		}
	}
	return false
}

// contrasts reports whether a claim is for something that the other does not name.
func contrasts(a, b claim) bool {
	for w := range a.words {
		if _, ok := b.words[w]; !ok && !a.denied[w] {
			return true
		}
	}
	return false
}

// opposed reports whether one claim is for what the other is against.
func opposed(a, b claim) bool { return part(a.denied, b) > 0.99 || part(b.denied, a) > 0.99 }

// differ reports whether both have numbers, and none of them in common.
func differ(a, b map[string]bool) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	for w := range a {
		if b[w] {
			return false
		}
	}
	return true
}

// fresh reports whether a has a number that b has not, where both have some.
func fresh(a, b map[string]bool) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	for w := range a {
		if !b[w] {
			return true
		}
	}
	return false
}

// rival reports whether two claims are for two things of which there is one.
func rival(a, b claim) bool {
	return slices.ContainsFunc(rivals, func(group []string) bool {
		var inA, inB string
		for _, w := range group {
			if _, ok := a.words[w]; ok && !a.denied[w] {
				inA = w
			}
			if _, ok := b.words[w]; ok && !b.denied[w] {
				inB = w
			}
		}
		return inA != "" && inB != "" && inA != inB
	})
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

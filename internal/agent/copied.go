package agent

import (
	"strings"
	"unicode"
	"unicode/utf8"

	textform "anamnesis/internal/text"
)

// Most clients leave no mark around what a user pastes. But much of it was in the session before: in the
// result of a tool, in a file that was read or written, in what the agent said. A user's words that
// are in such earlier text are copied, not typed.
//
// A copy is a run of words, unbroken in both texts, whatever white space, punctuation and markdown is between them. It
// covers whole lines, sentences or quotations of the user's text: a sentence of the user's that uses a few
// words of the agent's stays typed. A line, sentence or quotation that is one in the earlier text, too, needs
// wholeWords words: people repeat "use pnpm" or "run the tests", and not by chance a whole sentence with the same capitals.
// A run that is only a part of the earlier text needs partWords, since any fragment of a long text can match.
// What the user typed before the session had it elsewhere is the user's, however often the agent repeats it.
const (
	wholeWords = 4
	partWords  = 8
)

// maxOwnWords bounds how many words of a user's turns are looked for in one session.
const maxOwnWords = 1 << 20

// A word is a run of letters and digits. In a script without spaces it is one character, which counts half.
type word struct {
	from, to int
	hash     uint64
	weight   int // 2, or 1 for half a word
	gap      gap // before it
}

// A gap says how a word is parted from the one before it.
type gap uint8

const (
	noGap       gap = iota
	pieceGap        // a quotation begins or ends, or a colon introduces what follows
	sentenceGap     // a sentence ends
	lineGap
)

// eachWord calls f with every word of a text. Numbers at the beginning of a line are none: they number it.
func eachWord(s string, f func(word)) {
	w := word{gap: lineGap}
	leads := true    // at the beginning of a line
	pending := noGap // of a mark that parts only before white space: "a.b" is no end of a sentence
	for i := 0; i < len(s); {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			now, later := gapAt(r)
			if unicode.IsSpace(r) {
				now, pending = max(now, pending), noGap
			}
			w.gap, pending, leads = max(w.gap, now), max(pending, later), leads || r == '\n'
			if i += n; r == ']' {
				i += linkTarget(s[i:])
			}
			continue
		}
		w.from, pending = i, noGap
		var number bool
		w.to, w.weight, number = wordEnd(s, i, r, n)
		if i = w.to; number && leads {
			continue
		}
		w.hash = hashWord(s[w.from:w.to])
		f(w)
		w.gap, leads = noGap, false
	}
}

// linkTarget returns how long the target of a link of markdown is that begins s. A page does not show it.
func linkTarget(s string) int {
	if !strings.HasPrefix(s, "(") {
		return 0
	}
	end := strings.IndexAny(s[:min(len(s), 2000)], ")\n")
	if end < 0 || s[end] == '\n' {
		return 0
	}
	return end + 1
}

// gapAt returns the gap that a character makes between two words, at once or before white space.
func gapAt(r rune) (now, later gap) {
	switch r {
	case '\n':
		return lineGap, noGap
	case '。', '！', '？':
		return sentenceGap, noGap
	case '.', '!', '?', '…':
		return noGap, sentenceGap
	case ':':
		return noGap, pieceGap
	case '"', '`', '|', '“', '”', '„', '«', '»', '：':
		return pieceGap, noGap
	}
	return noGap, noGap
}

// wordEnd returns where the word ends that begins at i with r, of n bytes, what it counts, and whether it is a number.
func wordEnd(s string, i int, r rune, n int) (to, weight int, number bool) {
	if r >= utf8.RuneSelf && wide(r) {
		return i + n, 1, false
	}
	number = true
	for to = i; to < len(s); {
		c := s[to]
		lower := c | 0x20
		switch {
		case '0' <= c && c <= '9':
			to++
			continue
		case 'a' <= lower && lower <= 'z':
			to++
		default:
			n := inWord(s[to:])
			if n == 0 {
				return to, 2, number
			}
			to += n
		}
		number = false
	}
	return to, 2, number
}

// inWord returns the length of the character at the beginning of s, 0 for one that ends a word.
func inWord(s string) int {
	if s[0] < utf8.RuneSelf && s[0] != '\'' {
		return 0
	}
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case (r == '\'' || r == '’') && letterAt(s[n:]), unicode.In(r, unicode.Letter, unicode.Digit, unicode.Mark) && !wide(r):
		return n
	}
	return 0
}

func letterAt(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r)
}

// wide reports whether a letter is of a script that puts no spaces between words.
func wide(r rune) bool {
	return r >= 0x0e00 &&
		unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// hashWord is FNV-1a.
func hashWord(s string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 0x100000001b3
	}
	return h
}

// hashStep is the base of the polynomial hash of a run of words.
const hashStep = 0x9e3779b97f4a7c15

// partOut is hashStep to the power of partWords. It takes the word out of the hash of a run that came partWords before.
const (
	step2   = hashStep * hashStep & (1<<64 - 1)
	step4   = step2 * step2 & (1<<64 - 1)
	partOut = step4 * step4 & (1<<64 - 1)
)

// eachRun calls part with the hash of every run of partWords words, and whole with that of every line, sentence
// and piece that is long enough, each with the number of its last word.
func eachRun(s string, part, whole func(hash uint64, words, last int)) {
	var window [partWords]uint64
	var run uint64
	var units [lineGap + 1]struct {
		hash          uint64
		words, weight int
	}
	n := 0
	end := func(g gap) {
		done := 0 // a sentence that is a whole line counts once
		for level := pieceGap; level <= g; level++ {
			u := &units[level]
			if u.weight >= 2*wholeWords && u.words > done {
				whole(u.hash, u.words, n-1)
				done = u.words
			}
			u.hash, u.words, u.weight = 0, 0, 0
		}
	}
	eachWord(s, func(w word) {
		end(w.gap)
		run = run*hashStep + w.hash - window[n%partWords]*partOut
		window[n%partWords] = w.hash
		for level := pieceGap; level <= lineGap; level++ {
			u := &units[level]
			u.hash, u.words, u.weight = u.hash*hashStep+w.hash, u.words+1, u.weight+w.weight
		}
		if n++; n >= partWords {
			part(run, partWords, n-1)
		}
	})
	end(lineGap)
}

// origins knows which runs of words of the user's turns a session had elsewhere, and which the user typed. A turn is its
// number plus one; 0 is none.
type origins struct {
	part, whole map[uint64]int // where each was first heard
	typed       map[uint64]int // runs of wholeWords words, in lower case: where each was first typed
	seldom      [1 << 12]uint64
	heard       bool
}

// markCopied divides the turns of a session further: what was copied from earlier text is not typed. It looks at
// turns that were taken back as well, since the user saw them.
func (s *Session) markCopied() {
	o := origins{part: make(map[uint64]int), whole: make(map[uint64]int), typed: make(map[uint64]int)}
	all := s.All()
	left := maxOwnWords
	for i := range all {
		if t := &all[i]; i > 0 && t.Role == User && t.Asker != Program && left > 0 {
			left -= o.expect(t.Text)
		}
	}
	if len(o.part)+len(o.whole) == 0 {
		return
	}
	kept := 0
	for i := range all {
		o.take(&all[i], i+1)
		if !all[i].TakenBack && s.all != nil {
			s.Turns[kept].Spans = all[i].Spans
			kept++
		}
	}
}

// expect notes the runs of words of a user's turn, and returns how many words it has.
func (o *origins) expect(text string) (words int) {
	into := func(m map[uint64]int) func(uint64, int, int) {
		return func(hash uint64, _, last int) {
			m[hash] = 0
			o.seldom[hash>>6%uint64(len(o.seldom))] |= 1 << (hash & 63)
			words = max(words, last+1)
		}
	}
	eachRun(text, into(o.part), into(o.whole))
	return words
}

// hear notes which of the expected runs of words a text has that the user did not type.
func (o *origins) hear(text string, turn int) {
	in := func(m map[uint64]int) func(uint64, int, int) {
		return func(hash uint64, _, _ int) {
			if o.seldom[hash>>6%uint64(len(o.seldom))]&(1<<(hash&63)) == 0 {
				return
			}
			if first, ok := m[hash]; ok && first == 0 {
				m[hash], o.heard = turn, true
			}
		}
	}
	eachRun(text, in(o.part), in(o.whole))
}

// take takes a turn, and divides the text of a user's.
func (o *origins) take(t *Turn, turn int) {
	if t.Role == Assistant || t.Asker == Program {
		o.hear(t.Text, turn)
	} else if t.Text != "" {
		o.divide(t, turn)
	}
	for i := range t.Tools {
		u := &t.Tools[i]
		eachString(u.Input, func(text string) { o.hear(text, turn) })
		if u.Reply == "" {
			o.hear(u.Result, turn)
			continue
		}
		o.keep(u.Reply, func(int) bool { return true }, turn) // the result repeats it
	}
}

// divide sets the spans of a user's turn.
func (o *origins) divide(t *Turn, turn int) {
	done := 0
	for _, part := range t.parts() {
		if part.By != Typed {
			o.hear(t.Text[part.From:part.To], turn)
		}
		o.hear(t.Text[done:part.From], turn)
		done = part.To
	}
	authors := t.Authors()
	if o.heard {
		if copied := o.copiedIn(t.Text); len(copied) > 0 {
			authors = without(authors, copied)
			t.Spans = authors
		}
	}
	at := 0
	o.keep(t.Text, func(from int) bool {
		for at < len(authors) && authors[at].To <= from {
			at++
		}
		return at < len(authors) && authors[at].By == Typed
	}, turn)
	for _, a := range authors {
		if a.By != Typed {
			o.hear(t.Text[a.From:a.To], turn)
		}
	}
}

// eachTyped calls f with the hash, in lower case, of every run of wholeWords words. own tells which words count.
func eachTyped(text string, own func(from int) bool, f func(hash uint64, last int)) {
	var window [wholeWords]uint64
	n, last := 0, -1
	eachWord(text, func(w word) {
		last++
		if !own(w.from) {
			n = 0
			return
		}
		window[n%wholeWords] = hashWord(strings.ToLower(text[w.from:w.to]))
		if n++; n < wholeWords {
			return
		}
		var hash uint64
		for i := range wholeWords {
			hash = hash*hashStep + window[(n+i)%wholeWords]
		}
		f(hash, last)
	})
}

// keep notes what the user typed.
func (o *origins) keep(text string, own func(from int) bool, turn int) {
	eachTyped(text, own, func(hash uint64, _ int) {
		if len(o.typed) < maxOwnWords && o.typed[hash] == 0 {
			o.typed[hash] = turn
		}
	})
}

// copiedIn returns the stretches of a user's text that were heard before, ordered and disjoint.
func (o *origins) copiedIn(text string) (out []textform.Range) {
	var words []word
	eachWord(text, func(w word) { words = append(words, w) })
	since := make([]int, len(words)) // where the run of wholeWords words that ends here was first typed
	eachTyped(text, func(int) bool { return true }, func(hash uint64, last int) { since[last] = o.typed[hash] })
	own := func(first, last, heard int) bool { // typed before it was heard
		for i := first + wholeWords - 1; i <= last; i++ {
			if since[i] == 0 || since[i] >= heard {
				return false
			}
		}
		return true
	}
	part, whole := make([]bool, len(words)), make([]bool, len(words))
	into := func(m map[uint64]int, copied []bool) func(uint64, int, int) {
		return func(hash uint64, n, last int) {
			if heard := m[hash]; heard != 0 && !own(last-n+1, last, heard) {
				for i := last - n + 1; i <= last; i++ {
					copied[i] = true
				}
			}
		}
	}
	eachRun(text, into(o.part, part), into(o.whole, whole))
	dropShort(words, part)
	for i := 0; i < len(words); {
		end, in := i, true // of the piece
		for ok := true; ok; ok = end < len(words) && words[end].gap == noGap {
			in = in && part[end]
			end++
		}
		for ; i < end; i++ {
			whole[i] = whole[i] || in
		}
	}
	return stretches(text, words, whole)
}

// dropShort takes out runs of fewer than partWords words: characters that count half are as many as words in them.
func dropShort(words []word, copied []bool) {
	for i := 0; i < len(words); i++ {
		end, weight := i, 0
		for end < len(words) && copied[end] {
			weight += words[end].weight
			end++
		}
		if weight < 2*partWords {
			clear(copied[i:end])
		}
		i = max(i, end-1)
	}
}

// stretches returns where the words that were copied are, with the marks around them: of what is between a word
// that was copied and one that was not, the marks up to white space.
func stretches(text string, words []word, copied []bool) (out []textform.Range) {
	for i := 0; i < len(words); i++ {
		if !copied[i] {
			continue
		}
		r := textform.Range{From: 0, To: len(text)}
		if i > 0 {
			r.From = words[i-1].to
			before := text[r.From:words[i].from]
			cut := strings.LastIndexByte(before, '\n')
			if cut < 0 {
				cut = strings.LastIndexAny(before, " \t")
			}
			r.From += cut + 1
		}
		for i+1 < len(words) && copied[i+1] {
			i++
		}
		if i+1 < len(words) {
			r.To = words[i+1].from
			behind := text[words[i].to:r.To]
			if cut := strings.IndexAny(behind, " \t\n"); cut >= 0 {
				r.To = words[i].to + cut
			}
		}
		out = append(out, r)
	}
	return out
}

// without returns spans in which what was copied is not typed.
func without(spans []Span, copied []textform.Range) (out []Span) {
	add := func(from, to int, by Author) {
		switch n := len(out); {
		case from >= to:
		case n > 0 && out[n-1].By == by && out[n-1].To == from:
			out[n-1].To = to
		default:
			out = append(out, Span{from, to, by})
		}
	}
	for _, s := range spans {
		if s.By != Typed {
			add(s.From, s.To, s.By)
			continue
		}
		at := s.From
		for _, c := range copied {
			from, to := max(c.From, s.From), min(c.To, s.To)
			if from < to {
				add(at, from, Typed)
				add(from, to, Pasted)
				at = to
			}
		}
		add(at, s.To, Typed)
	}
	return out
}

// eachString calls f with every string in a value of JSON.
func eachString(value []byte, f func(string)) {
	s := scanner{data: value}
	s.space()
	_ = s.texts(f) // it was checked as a whole
}

func (s *scanner) texts(f func(string)) error {
	c := s.peek()
	if c == '{' || c == '[' {
		return s.items(c, func([]byte) error { return s.texts(f) })
	}
	start := s.pos
	err := s.value()
	if text := unquote(s.data[start:s.pos]); err == nil && text != "" {
		f(text)
	}
	return err
}

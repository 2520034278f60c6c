package transformer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// wordPiece cuts a text into the pieces of a vocabulary, as BERT does: the text is
// normalised, cut at blanks and around punctuation, and each word is cut into the
// longest pieces that the vocabulary has, from left to right. A word that cannot be
// cut so is unknown as a whole.
type wordPiece struct {
	vocabulary        map[string]int32
	unknown, cls, sep int32
	inner             string // begins a piece that does not begin a word
	longest           int    // characters of a word; a longer one is unknown
	pieces            int    // bytes of the longest piece
	clean, spaced     bool   // without control characters; with blanks around Chinese characters
	lower, plain      bool   // lower case; without accents
}

// A sequence is what a model reads: numbers of tokens, and 0 for those of the first
// text, 1 for those of the second.
type sequence struct {
	ids, kinds []int32
}

// maxText bounds what is looked at of a text, in bytes: sequences are much shorter.
const maxText = 32 << 10

// readWords reads tokenizer.json, or vocab.txt beside tokenizer_config.json. Every
// token must have a row among the embeddings.
func readWords(root *os.Root, rows int) (*wordPiece, error) {
	data, err := small(root, TokenizerFile)
	var w *wordPiece
	switch {
	case err == nil:
		w, err = readTokenizer(data)
	case errors.Is(err, fs.ErrNotExist):
		w, err = readVocabulary(root)
	}
	if err != nil {
		return nil, err
	}
	for piece, id := range w.vocabulary {
		if id < 0 || int(id) >= rows {
			return nil, unfit("the token %q has the number %d, and there are %d", cut(piece), id, rows)
		}
		w.pieces = max(w.pieces, len(piece))
	}
	return w, nil
}

// readTokenizer reads tokenizer.json, if it says what BERT does.
func readTokenizer(data []byte) (*wordPiece, error) {
	var t struct {
		Normalizer *struct {
			Type   string `json:"type"`
			Clean  bool   `json:"clean_text"`
			Spaced bool   `json:"handle_chinese_chars"`
			Plain  *bool  `json:"strip_accents"`
			Lower  bool   `json:"lowercase"`
		} `json:"normalizer"`
		Cutter *struct {
			Type string `json:"type"`
		} `json:"pre_tokenizer"`
		Model struct {
			Type       string           `json:"type"`
			Unknown    string           `json:"unk_token"`
			Inner      *string          `json:"continuing_subword_prefix"`
			Longest    *int             `json:"max_input_chars_per_word"`
			Vocabulary map[string]int32 `json:"vocab"`
		} `json:"model"`
	}
	if err := json.Unmarshal(data, &t); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrUnfit, TokenizerFile, err)
	}
	switch {
	case t.Model.Type != "WordPiece" && (t.Model.Type != "" || t.Model.Inner == nil): // old files leave the type out
		return nil, unfit("%s: its model is of type %q, and only WordPiece is known", TokenizerFile, cut(t.Model.Type))
	case t.Normalizer == nil || t.Normalizer.Type != "BertNormalizer":
		return nil, unfit("%s: its normalizer is not BertNormalizer", TokenizerFile)
	case t.Cutter == nil || t.Cutter.Type != "BertPreTokenizer":
		return nil, unfit("%s: its pre_tokenizer is not BertPreTokenizer", TokenizerFile)
	}
	n := t.Normalizer
	w := &wordPiece{
		vocabulary: t.Model.Vocabulary, inner: "##", longest: 100,
		clean: n.Clean, spaced: n.Spaced, lower: n.Lower, plain: n.Lower,
	}
	if n.Plain != nil {
		w.plain = *n.Plain
	}
	if t.Model.Inner != nil {
		w.inner = *t.Model.Inner
	}
	if t.Model.Longest != nil {
		w.longest = *t.Model.Longest
	}
	return w, w.special(t.Model.Unknown)
}

// readVocabulary reads vocab.txt: one token a line, its number is that of the line.
func readVocabulary(root *os.Root) (*wordPiece, error) {
	data, err := small(root, vocabFile)
	if err != nil {
		return nil, err
	}
	lower := true
	c := struct {
		Lower  *bool `json:"do_lower_case"`
		Spaced *bool `json:"tokenize_chinese_chars"`
		Plain  *bool `json:"strip_accents"`
	}{}
	if err := optional(root, wordsFile, &c); err != nil {
		return nil, err
	}
	if c.Lower != nil {
		lower = *c.Lower
	}
	w := &wordPiece{vocabulary: make(map[string]int32), inner: "##", longest: 100, clean: true, spaced: true, lower: lower, plain: lower}
	if c.Spaced != nil {
		w.spaced = *c.Spaced
	}
	if c.Plain != nil {
		w.plain = *c.Plain
	}
	data = bytes.TrimSuffix(data, []byte("\n"))
	for i, line := range bytes.Split(data, []byte("\n")) {
		if i >= maxVocabulary {
			return nil, unfit("%s has more than %d lines", vocabFile, maxVocabulary)
		}
		w.vocabulary[string(bytes.TrimSuffix(line, []byte("\r")))] = int32(i) // of two lines that are alike the last one counts
	}
	return w, w.special("")
}

// special finds the tokens that are no words.
func (w *wordPiece) special(unknown string) error {
	if unknown == "" {
		unknown = "[UNK]"
	}
	for _, s := range []struct {
		name string
		id   *int32
	}{{unknown, &w.unknown}, {"[CLS]", &w.cls}, {"[SEP]", &w.sep}} {
		id, ok := w.vocabulary[s.name]
		if !ok {
			return unfit("its vocabulary has no token %q", cut(s.name))
		}
		*s.id = id
	}
	return nil
}

// encode makes the sequence of a text, of at most so many tokens.
func (w *wordPiece) encode(text string, most int) sequence {
	ids := append([]int32{w.cls}, w.cut(text, most-2)...)
	ids = append(ids, w.sep)
	return sequence{ids, make([]int32, len(ids))}
}

// pair makes the sequence of a question and a text. What is too much is taken from
// the longer of the two, token by token.
func (w *wordPiece) pair(question, text string, most int) sequence {
	a, b := w.cut(question, most), w.cut(text, most)
	for len(a)+len(b) > most-3 {
		if len(a) > len(b) {
			a = a[:len(a)-1]
		} else {
			b = b[:len(b)-1]
		}
	}
	s := sequence{ids: append(append([]int32{w.cls}, a...), w.sep)}
	s.kinds = make([]int32, len(s.ids), len(s.ids)+len(b)+1)
	for _, id := range append(b, w.sep) {
		s.ids, s.kinds = append(s.ids, id), append(s.kinds, 1)
	}
	return s
}

// cut returns the first pieces of a text, at most so many. Text never makes a special
// token: "[SEP]" in a note is three pieces of text.
func (w *wordPiece) cut(text string, most int) []int32 {
	var ids []int32
	for word := range strings.FieldsSeq(w.normalize(text)) {
		for word != "" {
			n := strings.IndexFunc(word, punctuation)
			switch {
			case n < 0:
				n = len(word)
			case n == 0:
				_, n = utf8.DecodeRuneInString(word)
			}
			ids = w.word(ids, word[:n])
			if word = word[n:]; len(ids) >= most {
				return ids[:max(0, most)]
			}
		}
	}
	return ids
}

// word adds the pieces of a word.
func (w *wordPiece) word(ids []int32, word string) []int32 {
	if utf8.RuneCountInString(word) > w.longest {
		return append(ids, w.unknown)
	}
	before := len(ids)
	var buf []byte
	for rest := word; rest != ""; {
		end := min(len(rest), w.pieces)
		for ; end > 0; end-- {
			if end < len(rest) && !utf8.RuneStart(rest[end]) {
				continue
			}
			buf = buf[:0]
			if len(rest) < len(word) {
				buf = append(buf, w.inner...)
			}
			if id, ok := w.vocabulary[string(append(buf, rest[:end]...))]; ok {
				ids = append(ids, id)
				break
			}
		}
		if end <= 0 {
			return append(ids[:before], w.unknown)
		}
		rest = rest[end:]
	}
	return ids
}

// normalize does what the settings say, in BERT's order.
func (w *wordPiece) normalize(text string) string {
	if len(text) > maxText {
		text = text[:maxText]
	}
	text = strings.ToValidUTF8(text, "")
	var b strings.Builder
	b.Grow(len(text) + len(text)/8)
	for _, r := range text {
		switch {
		case w.clean && (r == 0 || r == utf8.RuneError):
		case w.clean && blank(r):
			b.WriteByte(' ')
		case w.clean && unicode.Is(unicode.C, r):
		case w.spaced && chinese(r):
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	text = b.String()
	if w.plain {
		text = strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Mn, r) {
				return -1
			}
			return r
		}, norm.NFD.String(text))
	}
	if w.lower {
		// One letter has two in lower case, which unicode.ToLower does not tell.
		text = strings.Map(unicode.ToLower, strings.ReplaceAll(text, "İ", "i\u0307"))
	}
	return text
}

// blank reports whether a character separates words.
func blank(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || unicode.Is(unicode.White_Space, r)
}

// punctuation reports whether a character is a word alone: all of ASCII that is
// neither letter nor digit, and what Unicode calls punctuation.
func punctuation(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= '!' && r <= '/' || r >= ':' && r <= '@' || r >= '[' && r <= '`' || r >= '{' && r <= '~'
	}
	return unicode.Is(unicode.P, r)
}

// chinese reports whether a character is one of the blocks of CJK ideographs, each of
// which BERT takes for a word. Kana and Hangul are none.
func chinese(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF || r >= 0xF900 && r <= 0xFAFF ||
		r >= 0x20000 && r <= 0x2A6DF || r >= 0x2A700 && r <= 0x2CEAF || r >= 0x2F800 && r <= 0x2FA1F
}

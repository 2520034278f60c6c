package transformer_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"anamnesis/internal/embed/transformer/transformertest"

	"github.com/google/go-cmp/cmp"
)

// What the format says of single letters and words; the first rows are the examples of
// BERT's own documentation.
func TestWordPiece(t *testing.T) {
	o := transformertest.Small()
	o.Words = []string{"un", "##aff", "##able", "john", "johan", "##son", "uber", "数", "据", "the", "##s", "timeout", "naive", "한", "²"}
	m := opened(t, o)
	o.VocabTxt = true
	text := opened(t, o)
	for in, want := range map[string]string{
		"unaffable":                       "un ##aff ##able",
		"John Johanson's":                 "john johan ##son ' s",
		"UNAFFABLE":                       "un ##aff ##able",
		"Über naïve":                      "uber naive",
		"U\u0308ber":                      "uber",
		"数据":                              "数 据",
		"the数the":                         "the 数 the",
		"the.timeouts":                    "the . timeout ##s",
		"the\u200btimeout":                "the ##t ##i ##m ##e ##o ##u ##t",
		"the\u00a0timeout\u3000the\tthe":  "the timeout the the",
		"the\x00\ufffd the":               "the the",
		"the☃":                            "[UNK]",
		"the☃ the":                        "[UNK] the",
		strings.Repeat("a", 101) + " the": "[UNK] the",
		"a²":                              "[UNK]",
		"²":                               "²",
		"$the`the|":                       "$ the ` the |",
		"[SEP] [CLS]":                     "[ s ##e ##p ] [ c ##l ##s ]",
		"한":                               "[UNK]", // three letters, once it is taken apart
		"\xff\xfethe":                     "the",
		"":                                "",
		" \n ":                            "",
	} {
		if d := cmp.Diff(strings.Fields(want), m.Cut(in)); d != "" && (want != "" || len(m.Cut(in)) > 0) {
			t.Errorf("%q (-want +got):\n%s", in, d)
		}
		if d := cmp.Diff(m.Cut(in), text.Cut(in)); d != "" {
			t.Errorf("%q by tokenizer.json and by vocab.txt:\n%s", in, d)
		}
	}
}

// A pair is cut from its longer end, and knows which side is which.
func TestPairs(t *testing.T) {
	o := transformertest.Small()
	o.Positions, o.Labels = 16, 1
	m := opened(t, o)
	ids, kinds, _, err := m.Hidden(t.Context(), [][2]string{{"a b", strings.Repeat("c ", 40)}, {strings.Repeat("c ", 40), strings.Repeat("d ", 40)}, {"", ""}})
	if err != nil {
		t.Fatal(err)
	}
	count := func(i int) (n [2]int) {
		for _, k := range kinds[i] {
			n[k]++
		}
		return n
	}
	for i, want := range [][2]int{{4, 12}, {9, 7}, {2, 1}} {
		if got := count(i); got != want || len(ids[i]) != want[0]+want[1] {
			t.Errorf("pair %d has %v tokens, want %v", i, got, want)
		}
	}
}

func FuzzWordPiece(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	o := transformertest.Small()
	o.Words = []string{"the", "##é", "数", "ß"}
	m := opened(f, o)
	known := make(map[string]bool)
	for _, w := range o.Vocabulary() {
		known[w] = true
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := m.Cut(text)
		if len(got) > m.MaxTokens() {
			t.Errorf("%d tokens", len(got))
		}
		for _, piece := range got {
			if !known[piece] || piece == "[CLS]" || piece == "[SEP]" || !utf8.ValidString(piece) {
				t.Errorf("%q has the piece %q", text, piece)
			}
		}
	})
}

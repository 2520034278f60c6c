package note_test

import (
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/note"
	"anamnesis/internal/note/notetest"

	"pgregory.net/rapid"
)

// Statements are equal when nothing but layout, the case of prose and closing
// punctuation differs: as bodies, and as titles.
func TestSameStatements(t *testing.T) {
	pairs := notetest.Pairs(t)
	if len(pairs) < 200 {
		t.Errorf("%d pairs", len(pairs))
	}
	for _, p := range pairs {
		for _, form := range []string{"A rule\n%", "%\nnothing more"} {
			if strings.HasPrefix(form, "%") && strings.Contains(p.A+p.B, "\n") {
				continue
			}
			a := note.FingerprintOf(strings.Replace(form, "%", p.A, 1))
			b := note.FingerprintOf(strings.Replace(form, "%", p.B, 1))
			if a.Same(&b) != p.Same || b.Same(&a) != p.Same {
				t.Errorf("%q and %q: not %v\n%q\n%q", p.A, p.B, p.Same, a.Statement, b.Statement)
			}
			if p.Same && a.Folded != b.Folded {
				t.Errorf("%q and %q: the index does not find one by the other", p.A, p.B)
			}
			if p.Same && !a.Near(&b) {
				t.Errorf("%q and %q: other marks: %q, %q", p.A, p.B, a.Marks, b.Marks)
			}
		}
	}
}

// A self-contained body says the same under another title, but not under one that
// differs in a symbol, a number, a negation or the order of the words.
func TestSameBody(t *testing.T) {
	const body = "The platform team supports it, and all of the tooling is ready for it."
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"Use C++ here", "Use C# here", false},
		{"Port 80", "Port 8080", false},
		{"Use it", "Never use it", false},
		{"From staging to production", "From production to staging", false},
		{"Enable it", "Disable it", false},
		{"Use C++ here", "The language of the platform", true},
		{"Rule", "rule!", true},
		{"!!", "Rule", true},
	} {
		a, b := note.FingerprintOf(c.a+"\n"+body), note.FingerprintOf(c.b+"\n"+body)
		if a.Same(&b) != c.want || b.Same(&a) != c.want {
			t.Errorf("%q, %q: not %v", c.a, c.b, c.want)
		}
	}
}

// A canonical text is its own canonical form in what it says: blanks, wrapping and
// a full stop at the end change nothing, and a symbol always does.
func TestCanonicalProperties(t *testing.T) {
	word := rapid.SampledFrom([]string{
		"use", "Tabs", "C++", "x", ">=", "<", "5", "-5", "never", "`a  b`", "`", "foo.bar", "e.g.", "what?", "it.", "(so)", "-", "PATH", "é", "漢字",
	})
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(word, 1, 12).Draw(t, "words")
		text := strings.Join(words, " ")
		was := note.Canonical(text)
		if got := note.Canonical("  " + text + "\r\n\n"); got != was {
			t.Fatalf("blanks: %q, %q", was, got)
		}
		other := slices.Clone(words)
		for i := range other {
			switch rapid.IntRange(0, 6).Draw(t, "change") {
			case 0:
				other[i] = strings.ToUpper(other[i])
			case 1:
				other[i] = strings.ToUpper(other[i][:1]) + other[i][1:]
			case 2:
				other[i] += rapid.SampledFrom([]string{".", "!", "…", ";", "\n\n-"}).Draw(t, "end")
			}
		}
		if text := strings.Join(other, " "); note.Canonical(text) == was && note.Letters(text) != note.Letters(strings.Join(words, " ")) {
			t.Fatalf("%q and %q have other letters", text, words)
		}
		at := rapid.IntRange(0, len(words)).Draw(t, "at")
		mark := rapid.SampledFrom([]string{"!=", "<", "+", "=", "*", "/", "%", "&", "^", "~", "#", "@", "$", "7", "not"}).Draw(t, "mark")
		more := strings.Join(append(append(append([]string{}, words[:at]...), mark), words[at:]...), " ")
		if note.Canonical(more) == was {
			t.Fatalf("%q and %q: %q", text, more, was)
		}
	})
}

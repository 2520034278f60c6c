package text_test

import (
	"slices"
	"testing"

	"anamnesis/internal/text"
)

func TestSentences(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"Use pnpm. Not npm!", []string{"Use pnpm.", "Not npm!"}},
		{"- no barrel files\n- see a.go, e.g. this one", []string{"no barrel files", "see a.go, e.g. this one"}},
		{"用 pnpm。不要 npm！", []string{"用 pnpm。", "不要 npm！"}},
		{"---\n\n...", nil},
		{"It takes 8 s, i.e. too long... mend it", []string{"It takes 8 s, i.e. too long...", "mend it"}},
		{`Remove "is it A? Is it B?" Instead, compare (as in C.) Do it`, []string{`Remove "is it A?`, `Is it B?"`, `Instead, compare (as in C.)`, "Do it"}},
		{`Say "why?" never, use (etc.) here`, []string{`Say "why?" never, use (etc.) here`}},
	} {
		if got := text.Sentences(c.in); !slices.Equal(got, c.want) {
			t.Errorf("Sentences(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestIsQuestion(t *testing.T) {
	for s, want := range map[string]bool{"why?": true, "why?\")": true, "なぜ？": true, "no.": false, "who? me": false, "": false, "?x": false} {
		if text.IsQuestion(s) != want {
			t.Errorf("IsQuestion(%q) is not %v", s, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"one  two\nthree", 20, "one two three"},
		{"one two three four", 15, "one two three…"},
		{"äöüäöüäöü", 4, "äöü…"},
	} {
		if got := text.Cut(c.in, c.n); got != c.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
	if got := text.Head("äöü", 2); got != "äö" {
		t.Errorf("Head: %q", got)
	}
}

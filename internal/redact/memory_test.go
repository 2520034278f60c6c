package redact

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// plainEchoes is what memory.echoes finds, by one search for each secret.
func plainEchoes(s string, words []string) (found []Finding) {
	for _, word := range words {
		for at := 0; ; {
			k := strings.Index(s[at:], word)
			if k < 0 {
				break
			}
			i, j := at+k, at+k+len(word)
			at = j
			if isAlnum(word[0]) && !boundary(s, i) || j < len(s) && isAlnum(word[len(word)-1]) && isAlnum(s[j]) {
				continue
			}
			found = append(found, Finding{"same-secret", i, j})
		}
	}
	return found
}

// sortedFindings puts findings in an order that does not depend on how they were found.
func sortedFindings(all []Finding) []Finding {
	slices.SortFunc(all, func(a, b Finding) int {
		if a.Start != b.Start {
			return a.Start - b.Start
		}
		return a.End - b.End
	})
	return all
}

// TestMemory compares one pass over a text with one search for each secret. The alphabets
// are small, so that secrets overlap, hold one another and stand at both ends.
func TestMemory(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 1))
	draw := func(alphabet string, n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = alphabet[rnd.IntN(len(alphabet))]
		}
		return string(b)
	}
	some := 0
	for range 20_000 {
		alphabet := []string{"ab", "a-", "aB1-", "a\x00", "ab1\\n%3 -"}[rnd.IntN(5)]
		text := draw(alphabet, rnd.IntN(120))
		m := &memory{}
		for range rnd.IntN(12) {
			word := draw(alphabet, shortestEcho+rnd.IntN(6))
			if rnd.IntN(2) == 0 && len(text) > 20 {
				i := rnd.IntN(len(text) - 16)
				word = text[i : i+shortestEcho+rnd.IntN(12)]
			}
			if m.has(word) != slices.Contains(m.words, word) {
				t.Fatalf("has(%q) is %v among %q", word, m.has(word), m.words)
			}
			m.add(word)
		}
		got, want := sortedFindings(m.echoes(text, nil)), sortedFindings(plainEchoes(text, m.words))
		if !slices.Equal(got, want) {
			t.Fatalf("%q in %q: %v, want %v", m.words, text, got, want)
		}
		some += len(got)
	}
	if some < 10_000 {
		t.Errorf("%d findings in all, the texts are no good", some)
	}
}

// TestLayers: it makes no difference whether secrets were learnt from other texts or from
// the one at hand.
func TestLayers(t *testing.T) {
	r, err := New()
	if err != nil {
		t.Fatal(err)
	}
	a, b := "password = \"first-1-value\"", "api_key: second2value and first-1-value"
	for _, knowing := range []*Redactor{r.Knowing(a, b), r.Knowing(a).Knowing(b), r.Knowing(b).Knowing().Knowing(a)} {
		got := knowing.Redact("of first-1-value, second2value; secret=third3value third3value first-1-value").String()
		if want := "of [REDACTED], [REDACTED]; secret=[REDACTED] [REDACTED] [REDACTED]"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := r.Redact("first-1-value").String(); got != "first-1-value" {
		t.Errorf("a Redactor learnt from one that was made of it: %q", got)
	}
}

// TestGrows gives eight times the text and wants it done in far less than 64 times the time.
func TestGrows(t *testing.T) {
	r, err := New()
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(4, 2))
	lines := func(n int, line func() string) string {
		var b strings.Builder
		for b.Len() < n {
			b.WriteString(line())
		}
		return b.String()
	}
	value := func(n int) string {
		const letters = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
		b := make([]byte, n)
		for i := range b {
			b[i] = letters[rnd.IntN(len(letters))]
		}
		return string(b)
	}
	for name, text := range map[string]func(n int) string{
		"another secret on each line": func(n int) string { return lines(n, func() string { return "export DB_PASSWORD=" + value(16) + "\n" }) },
		"secrets that end alike":      func(n int) string { return lines(n, func() string { return "password=" + value(9) + "9f3K1234\n" }) },
		"secrets that begin alike":    func(n int) string { return lines(n, func() string { return "token: AKIA" + value(16) + " " }) },
		"one secret again and again": func(n int) string {
			return "password=Zx9" + strings.Repeat("a", 5) + lines(n, func() string { return " Zx9aaaaa" })
		},
		"secrets within secrets": func(n int) string {
			i := 0
			return lines(n, func() string { i++; return "password=q7" + strings.Repeat("q7", i%200+2) + "\n" })
		},
		"names without values":  func(n int) string { return lines(n, func() string { return "password token secret key " }) },
		"a run of names":        func(n int) string { return strings.Repeat("://password=", n/12) },
		"a run that falls back": func(n int) string { return strings.Repeat("password=${a", n/12) + ` || "x1"` },
		"addresses":             func(n int) string { return lines(n, func() string { return "postgres://u:" + value(8) + "@h/" }) },
	} {
		best := func(s string) time.Duration {
			least := time.Duration(1 << 62)
			for range 3 {
				least = min(least, worked(t, func() { r.Redact(s) }))
			}
			return least
		}
		small, large := best(text(32<<10)), best(text(256<<10))
		if large > 32*small+20*time.Millisecond {
			t.Errorf("%s: 32 KB take %v, 256 KB %v", name, small, large)
		}
	}
}

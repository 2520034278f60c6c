package text

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// A Pattern answers as its expression does, whatever words it looks for first.
func TestPatternIsItsExpression(t *testing.T) {
	for expression, screened := range map[string]bool{
		`(?i)\b(?:never|don'?t|do not|stop|must ?n[o']t)\b|\b(?:nie|künftig)\b|不要|别`: true,
		`(?i)\b(?:never|don'?t|stop|all|k)\b|\boption \w\b`:                          true,
		`--- FAIL|(?-i:\b[A-Z]\w+(?:Error|Exception)\b[:(])|(?i)err! `:               true,
		`^\W{0,4}[\w./@\\-]+\.\w{1,5}(?::|\()\d+|undefined:|^\s*(?:✗|×)`:             true,
		`\bv?\d+(?:\.\d+)+(?:[-+][\w.]+)?\b`:                                         true,
		`(?m)^(--- FAIL|FAIL\b|panic: )`:                                             true,
		`\b0x[0-9a-f]+\b|\b[0-9a-f]{7,64}\b`:                                         true,
		`(ab)+c|x(y|z){2,3}w?|q$`:                                                    true,
		`(?i)ü|nie`:                                                                  false, // Ü has other bytes
		`\d*`:                                                                        false,
		`a\b.\bz|\B-fold`:                                                            true,
	} {
		p, plain := newPattern(expression), regexp.MustCompile(expression)
		if p.unknown == screened {
			t.Errorf("%s: words are known: %v", expression, !p.unknown)
		}
		pieces := []string{
			"never", "NEVER", "don't", "dont", "ſtop", "stop", "all", "\u212a", "k", "option ", "err! ", "--- FAIL", "FAIL", "TypeError", ":", "(",
			"a.go", "12", ".", "v1", "0x1f", "abcdef0", " ", "\n", "✗", "×", "ab", "c", "xyzw", "q", "künftig", "KÜNFTIG", "不要", "_", "-fold", "a z", "panic: ",
			"undefined:", "must nt", "\xff", "Z",
		}
		random := rand.New(rand.NewPCG(1, 2))
		for range 20000 {
			var b strings.Builder
			for range random.IntN(6) {
				b.WriteString(pieces[random.IntN(len(pieces))])
			}
			s := b.String()
			if got, want := p.MatchString(s), plain.MatchString(s); got != want {
				t.Fatalf("%s matches %q: %v, want %v", expression, s, got, want)
			}
			if got, want := p.ReplaceAllString(s, "<$0>"), plain.ReplaceAllString(s, "<$0>"); got != want {
				t.Fatalf("%s replaced in %q: %q, want %q", expression, s, got, want)
			}
		}
	}
}

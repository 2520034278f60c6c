package redact

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestEnds redacts short texts that end anywhere: behind a key, an operator, half of
// an escape. It wants no crash, and nothing left to find.
func TestEnds(t *testing.T) {
	r, err := New()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"password=\n\\", "token=\\\n\\", "X-Amz-Signature=\t\n\\"} {
		if got := r.Redact(s).String(); got != s {
			t.Errorf("%q becomes %q", s, got)
		}
	}
	var keys []string
	for _, k := range newFilter(nil).words {
		keys = append(keys, k.text)
	}
	glue := strings.Fields("= : \\ \\\\ \" ' ` \"\"\" ( ) [ ] < > { } , ; & % %2 %22 &quot; \\u \\u0022 \\n $ @ / :// x 1 - -- " +
		"A1b2C3d4E5f6G7h8 -p value is => | . # ! + * ~ ? _ é \xff \x00 eyJ login machine [REDACTED]")
	glue = append(glue, "\n", "\n", " ", "\t", "is ")
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		var b strings.Builder
		for range 1 + rnd.IntN(2) {
			for range rnd.IntN(2) {
				b.WriteString(glue[rnd.IntN(len(glue))])
			}
			b.WriteString(keys[rnd.IntN(len(keys))])
			for range rnd.IntN(5) {
				b.WriteString(glue[rnd.IntN(len(glue))])
			}
		}
		got := r.Redact(b.String()).String()
		if again := r.Redact(got).String(); again != got {
			t.Errorf("%q becomes %q, then %q", b.String(), got, again)
		}
	}
}

// TestLimits puts every mark and every sign where a matcher stops to look: it wants no
// crash, and nothing left to find.
func TestLimits(t *testing.T) {
	r, err := New()
	if err != nil {
		t.Fatal(err)
	}
	heads := []string{
		"tool -u me ", "mysql -u me ", "net use ", "login ", "oc login ", "insert into t (password) values (", "password = ", "codes: ",
		"--from-literal ", "networkcredential(", "machine a login ", "tokens: [", "password for the box ",
	}
	marks := []string{`"""`, `\"`, `\\\"`, "&quot;", "%22", `\u0022`, "'''", "\n", `\n`, "\\", "[REDACTED]", "é", " -p "}
	for _, head := range heads {
		for _, limit := range []int{120, 160, 200, 300, 400, 600} {
			for short := -8; short <= 12; short++ {
				fill := strings.Repeat("ab1 ", limit/4+4)[:max(0, limit-len(head)-short)]
				for _, mark := range marks {
					s := head + fill + mark + "x y1z2w3v4 " + mark
					if got := r.Redact(s).String(); r.Redact(got).String() != got {
						t.Errorf("%q becomes %q, then %q", s, got, r.Redact(got))
					}
				}
			}
		}
	}
}

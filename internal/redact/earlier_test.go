package redact_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// earlier is the rule for assignments of the program that this one follows. What it
// masked is the least that we mask: TestEarlier.
var earlier = regexp.MustCompile(`(?i)(?:[a-z0-9]*_)?(?:password|passwd|secret|token|api[_-]?key|authorization|access[_-]?key|client[_-]?secret)` +
	`[ \t]*[:=][ \t]*(?:"([^"]*)"|'([^']*)'|([^\s,})"']+))`)

// earlierValues returns what the earlier rule masks in s.
func earlierValues(s string) []string {
	var all []string
	for _, m := range earlier.FindAllStringSubmatch(s, -1) {
		all = append(all, m[1]+m[2]+m[3])
	}
	return all
}

// TestEarlier draws assignments of every kind of value to the names that the earlier
// rule knew, in every form it knew, and wants each value masked that it masked. Left
// alone are, on purpose, what says itself that it is no secret: those of plain.txt.
func TestEarlier(t *testing.T) {
	r := newRedactor(t)
	rnd := rand.New(rand.NewPCG(11, 13))
	names := strings.Fields("password passwd secret token apikey api_key api-key authorization access_key access-key accesskey client_secret client-secret clientsecret")
	kinds := [...][2]string{
		{"weak", ""},
		{"word", ""},
		{"pw", ""},
		{"sym", ""},
		{"sym", "20"},
		{"hex", "32"},
		{"hex", "12"},
		{"alnum", "8"},
		{"alnum", "20"},
		{"b64", "24"},
		{"num6", ""},
		{"num8", ""},
		{"uuid", ""},
		{"upper", "16"},
		{"phrase", ""},
	}
	forms := [...]string{
		"%s=%s", "%s: %s", "%s = %s", "%s : %s", "%s:%s", "export %s=%s", "  %s: %s", "# %s: %s", "%s=%s\nPORT=80", "user=bob\n%s=%s", "- %s: %s", "-e %s=%s -p 80:80",
		"{\"%s\": %s}", "{\"a\": 1, \"%s\":%s}", "config: {%s: %s}", "const %s = %s;", "x(%s=%s)", "'%s': %s,",
	}
	checked := 0
	for range 20_000 {
		name := names[rnd.IntN(len(names))]
		switch rnd.IntN(4) {
		case 0:
			name = []string{"db_", "MY_", "app2_", "_"}[rnd.IntN(4)] + name
		case 1:
			name = strings.ToUpper(name)
		case 2:
			name = strings.ToUpper(name[:1]) + name[1:]
		}
		n := rnd.IntN(len(forms))
		kind := kinds[rnd.IntN(len(kinds))]
		value := drawValue(rnd, kind[0], kind[1])
		written := value
		// The last forms are programs: a word without quotes is a variable there.
		if q := rnd.IntN(3); q > 0 || n >= 12 || kind[0] == "phrase" {
			written = `"` + value + `"`
			if q == 1 && n != 12 && n != 13 {
				written = `'` + value + `'`
			}
		}
		if n == 12 || n == 13 || n == 17 {
			name = strings.ToLower(name)
		}
		text := fmt.Sprintf(forms[n], name, written)
		if written[0] != '"' && written[0] != '\'' && wordy(value) && strings.EqualFold(name, "authorization") {
			continue // a scheme alone
		}
		for _, masked := range earlierValues(text) {
			if masked != value || len(masked) < 4 {
				continue
			}
			checked++
			if got := r.Redact(text).String(); strings.Contains(got, masked) {
				t.Errorf("the earlier rule masked %q in %q; we give %q", masked, text, got)
			}
		}
	}
	if checked < 15_000 {
		t.Errorf("only %d assignments were looked at", checked)
	}
	for seed := range uint64(3) {
		for _, c := range readCases(t, "secrets.txt", seed) {
			out := r.Redact(c.text).String()
			for _, masked := range earlierValues(c.text) {
				for _, v := range c.values {
					if masked == v && strings.Contains(out, v) {
						t.Errorf("%s: the earlier rule masked %q; we give %q", c.name, v, out)
					}
				}
			}
		}
	}
}

// wordy reports whether s is made of small letters.
func wordy(s string) bool { return strings.Trim(s, smallLetters) == "" }

package redact_test

import (
	"flag"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The cases of testdata were written from the public documentation of services
// and tools before the rules that they measure. A case belongs to one of two
// halves by the hash of its name. Rules are developed with the first half only,
// so the test names the failures of that half alone: whoever reads those of the
// other half has used it up.
var unread = flag.Bool("unread", false, "name the failures of the half of testdata that rules are not developed with")

// A secretCase is one text of testdata with the values that were drawn for it.
type secretCase struct {
	name, text string
	values     []string
	half       int // 0: rules are developed with it, 1: they are not
}

var caseBlank = regexp.MustCompile(`‹([a-z0-9]+)((?::[0-9a-z]+)*)(?:=([a-z]))?›`)

// readCases reads a file of testdata and draws its values from seed.
func readCases(t *testing.T, name string, seed uint64) []secretCase {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var cases []secretCase
	for _, part := range strings.Split(string(data), "\n%% ")[1:] {
		title, text, _ := strings.Cut(part, "\n")
		c := secretCase{name: title}
		h := fnv.New64a()
		h.Write([]byte("half of " + title))
		if !strings.Contains(name, "-more") {
			c.half = int(h.Sum64()>>20) & 1
		}
		rnd := rand.New(rand.NewPCG(seed, h.Sum64()))
		named := map[string]string{}
		c.text = caseBlank.ReplaceAllStringFunc(strings.TrimSuffix(text, "\n"), func(m string) string {
			g := caseBlank.FindStringSubmatch(m)
			if g[1] == "1b" {
				return "\x1b"
			}
			if v, ok := named[g[3]]; ok && g[3] != "" {
				return v
			}
			v := drawValue(rnd, g[1], strings.TrimPrefix(g[2], ":"))
			c.values = append(c.values, v)
			named[g[3]] = v
			return v
		})
		cases = append(cases, c)
	}
	return cases
}

// Passwords that people choose: the first words of every list of leaked ones,
// and syllables.
var (
	chosen    = strings.Fields("dragon sunshine princess football monkey shadow master superman letmein trustno welcome iloveyou batman freedom whatever starwars hunter cheese summer banana orange pepper ginger tigger")
	syllables = strings.Fields("ba ko ri tu me lan dor vix pol gra shu ten zim fa qui nor bel tos")
)

// drawValue makes a value of one kind; size is a length, or a length and "url".
func drawValue(rnd *rand.Rand, kind, size string) string {
	size, inURL, _ := strings.Cut(size, ":")
	n, _ := strconv.Atoi(size)
	or := func(d int) int {
		if n == 0 {
			return d
		}
		return n
	}
	pick := func(from string, n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte(from[rnd.IntN(len(from))])
		}
		return b.String()
	}
	word := func() string {
		if rnd.IntN(2) == 0 {
			return chosen[rnd.IntN(len(chosen))]
		}
		var b strings.Builder
		for range 3 {
			b.WriteString(syllables[rnd.IntN(len(syllables))])
		}
		return b.String()
	}
	all := smallLetters + capitals + digits
	switch kind {
	case "word":
		return word()
	case "weak":
		return word() + strconv.Itoa(1+rnd.IntN(2030))
	case "pw":
		w := word()
		return strings.ToUpper(w[:1]) + w[1:] + pick(digits, 2) + pick("!#%*", 1)
	case "phrase":
		words := make([]string, or(4))
		for i := range words {
			words[i] = word()
		}
		return strings.Join(words, " ")
	case "sym":
		signs := "!#%*^+_-.~"
		if inURL != "" {
			signs = "!*_-.~"
		}
		return pick(smallLetters, 2) + pick(all+signs, or(12)-5) + pick(digits, 1) + pick(signs, 1) + pick(capitals, 1)
	case "hex":
		return pick("abcdef"+digits, or(32))
	case "b64":
		return pick(all, 1) + pick(all+"+/", or(32)-4) + pick(digits, 1) + pick(capitals, 1) + pick(smallLetters, 1)
	case "b64url":
		return pick(all, 1) + pick(all+"-_", or(32)-4) + pick(digits, 1) + pick(capitals, 1) + pick(smallLetters, 1)
	case "alnum":
		return pick(all, or(16)-2) + pick(digits, 1) + pick(smallLetters, 1)
	case "upper":
		return pick(capitals+digits, or(16)-1) + pick(capitals, 1)
	case "uuid":
		h := "abcdef" + digits
		return pick(h, 8) + "-" + pick(h, 4) + "-4" + pick(h, 3) + "-a" + pick(h, 3) + "-" + pick(h, 12)
	}
	if d, ok := strings.CutPrefix(kind, "num"); ok {
		n, _ := strconv.Atoi(d)
		return pick("123456789", 1) + pick(digits, n-1)
	}
	panic("no kind of value is called " + kind)
}

// TestCases measures the share of the cases that hold a secret and lose it, and
// of those that hold none and stay as they are, in each half.
func TestCases(t *testing.T) {
	r := newRedactor(t)
	const seeds = 5
	var cases, masked, plain, kept [2]int
	failed := map[string]bool{}
	report := func(c secretCase, out string) {
		if (c.half == 0 || *unread) && !failed[c.name] {
			t.Logf("%s: %q gives %q", c.name, c.text, out)
		}
		failed[c.name] = true
	}
	for seed := range uint64(seeds) {
		for _, c := range append(readCases(t, "secrets.txt", seed), readCases(t, "secrets-more.txt", seed)...) {
			out := r.Redact(c.text).String()
			cases[c.half]++
			if survivor(c, out) == "" {
				masked[c.half]++
			} else {
				report(c, out)
			}
		}
		for _, c := range append(readCases(t, "plain.txt", seed), readCases(t, "plain-more.txt", seed)...) {
			out := r.Redact(c.text).String()
			plain[c.half]++
			if out == c.text {
				kept[c.half]++
			} else {
				report(c, out)
			}
		}
	}
	for half, name := range [...]string{"developed with", "unread"} {
		t.Logf("%s: %d of %d secrets masked (%.1f %%), %d of %d plain texts kept (%.1f %%)", name,
			masked[half], cases[half], 100*float64(masked[half])/float64(cases[half]), kept[half], plain[half], 100*float64(kept[half])/float64(plain[half]))
	}
	for half, want := range [...]struct{ masked, kept float64 }{{0.99, 0.99}, {0.9, 0.97}} {
		if got := float64(masked[half]) / float64(cases[half]); got < want.masked {
			t.Errorf("half %d: %.3f of the secrets are masked, want at least %.3f", half, got, want.masked)
		}
		if got := float64(kept[half]) / float64(plain[half]); got < want.kept {
			t.Errorf("half %d: %.3f of the plain texts are kept, want at least %.3f", half, got, want.kept)
		}
	}
}

// survivor returns a value of the case that is left in out, or nothing.
func survivor(c secretCase, out string) string {
	for _, v := range c.values {
		if strings.Contains(out, v) {
			return v
		}
	}
	return ""
}

// TestSplices puts the beginnings and the ends of cases together, with a byte changed
// here and there, and wants that redacting twice is redacting once.
func TestSplices(t *testing.T) {
	r := newRedactor(t)
	var texts []string
	for _, file := range []string{"secrets.txt", "plain.txt", "secrets-more.txt", "plain-more.txt"} {
		for _, c := range readCases(t, file, 9) {
			texts = append(texts, c.text)
		}
	}
	odd := []string{" ", "\n", "\"", "=", ":", `\`, "\xff", "\xe5", "é", "'", `\n`, "[", "{", "|", ",", "\x1b[0m", "[REDACTED]"}
	rnd := rand.New(rand.NewPCG(21, 34))
	for range 60_000 {
		a, b := texts[rnd.IntN(len(texts))], texts[rnd.IntN(len(texts))]
		in := a[:rnd.IntN(len(a)+1)] + b[rnd.IntN(len(b)+1):]
		if in != "" && rnd.IntN(2) == 0 {
			k := rnd.IntN(len(in))
			in = in[:k] + odd[rnd.IntN(len(odd))] + in[k+rnd.IntN(2):]
		}
		out := r.Redact(in).String()
		if again := r.Redact(out).String(); again != out {
			t.Errorf("%q becomes %q, then %q", in, out, again)
		}
		if found := r.Find(out); found != nil {
			t.Errorf("Find(%q) = %v after Redact", out, found)
		}
	}
}

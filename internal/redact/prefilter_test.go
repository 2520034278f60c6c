package redact

import (
	"cmp"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
)

// pieces draws texts of keywords, of halves of them, and of what stands between.
func pieces(rnd *rand.Rand, keys []string) string {
	glue := strings.Split("= : \\ \\n \" ' ( ) / . - _ A1b2C3d4 é \xff \x00 is 12345 \n \t x ", " ")
	var b strings.Builder
	for range 1 + rnd.IntN(8) {
		key := keys[rnd.IntN(len(keys))]
		switch rnd.IntN(5) {
		case 0:
			key = strings.ToUpper(key)
		case 1:
			key = key[:rnd.IntN(len(key)+1)]
		case 2:
			key = key[rnd.IntN(len(key)):]
		}
		b.WriteString(key)
		for range rnd.IntN(3) {
			b.WriteString(glue[rnd.IntN(len(glue))])
		}
	}
	return b.String()
}

// TestFilter compares what the filter finds with a search for each keyword at each place.
func TestFilter(t *testing.T) {
	type hit struct{ word, at int }
	f := newFilter([]*userRule{{Rule: Rule{Keywords: []string{"Corp-", "éa.", "x9z"}}}})
	f.words = slices.Clone(f.words)
	var got []hit
	var keys []string
	for i, w := range f.words {
		f.words[i].row = &detector{match: func(_ *scan, at, _ int) { got = append(got, hit{i, at}) }}
		keys = append(keys, w.text)
	}
	order := func(a, b hit) int { return cmp.Or(a.at-b.at, a.word-b.word) }
	rnd := rand.New(rand.NewPCG(6, 1))
	some := 0
	for range 3000 {
		text := pieces(rnd, keys)
		got = nil
		f.run(&scan{s: text})
		var want []hit
		for i, w := range f.words {
			for at := range len(text) {
				if w.exact && strings.HasPrefix(text[at:], w.text) || !w.exact && hasFold(text, at, w.text) {
					want = append(want, hit{i, at})
				}
			}
		}
		slices.SortFunc(got, order)
		slices.SortFunc(want, order)
		if !slices.Equal(got, want) {
			t.Fatalf("%q: %v, want %v", text, got, want)
		}
		some += len(got)
	}
	if some < 5000 {
		t.Errorf("%d keywords in all, the texts are no good", some)
	}
}

// TestNear gives each built-in pattern all of a text, and what near leaves of it.
func TestNear(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 1))
	alphabets := []string{"abcdef0123456789", "ABCDEFGHIJ0123456789", "aZ09_-", "aZ09+/=.", " \t\n\"':=,;()", "é\xff漢\x00"}
	run := func(n int) string {
		var b strings.Builder
		alphabet := alphabets[rnd.IntN(len(alphabets))]
		for range n {
			b.WriteByte(alphabet[rnd.IntN(len(alphabet))])
		}
		return b.String()
	}
	matched := 0
	for _, r := range patterns(rulesText) {
		if r.pattern.kind == "inside" {
			continue // it looks at a separate window
		}
		p, keys := r.pattern.compiled(), strings.Split(r.keys, "|")
		for range 400 {
			text := keys[rnd.IntN(len(keys))]
			if r.pattern.kind == "context" {
				text = []string{"=", `": "`, "_KEY=", ":\t"}[rnd.IntN(4)]
			}
			if rnd.IntN(2) == 0 {
				text = sample(rnd, p.expr)
			}
			for range rnd.IntN(4) {
				text += run(rnd.IntN(48))
			}
			if rnd.IntN(10) == 0 {
				text += strings.Repeat(run(3), 2000)
			}
			want := p.get().FindStringSubmatchIndex(text[:min(len(text), reach)])
			if got := p.get().FindStringSubmatchIndex(p.near(text)); !slices.Equal(got, want) {
				t.Fatalf("%s: %q matches at %v, in what is near at %v", r.rule, text, want, got)
			}
			if want != nil {
				matched++
			}
		}
	}
	if matched < 10_000 {
		t.Errorf("%d matches in all, the texts are no good", matched)
	}
}

// sample draws a text that an expression matches, but for what it asserts.
func sample(rnd *rand.Rand, expr string) string {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return ""
	}
	var b strings.Builder
	var draw func(re *syntax.Regexp)
	draw = func(re *syntax.Regexp) {
		times := 1
		switch re.Op {
		case syntax.OpLiteral:
			b.WriteString(string(re.Rune))
		case syntax.OpCharClass:
			k := rnd.IntN(len(re.Rune)/2) * 2
			b.WriteRune(re.Rune[k] + rune(rnd.IntN(int(min(re.Rune[k+1]-re.Rune[k], 200))+1)))
		case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
			b.WriteString([]string{"a", "é", " ", "0"}[rnd.IntN(4)])
		case syntax.OpAlternate:
			draw(re.Sub[rnd.IntN(len(re.Sub))])
			return
		case syntax.OpQuest:
			times = rnd.IntN(2)
		case syntax.OpStar:
			times = rnd.IntN(4)
		case syntax.OpPlus:
			times = 1 + rnd.IntN(4)
		case syntax.OpRepeat:
			times = re.Min + rnd.IntN(4)
			if re.Max >= 0 {
				times = re.Min + rnd.IntN(re.Max-re.Min+1)
			}
		}
		for range times {
			for _, sub := range re.Sub {
				draw(sub)
			}
		}
	}
	draw(tree)
	return b.String()
}

// TestNeedles compares one pass for all words with a search for each.
func TestNeedles(t *testing.T) {
	words := wordList("placeholders")()
	for _, w := range words {
		if len(w) < 2 {
			t.Fatalf("%q is shorter than two bytes", w)
		}
	}
	n := newNeedles(words)
	rnd := rand.New(rand.NewPCG(8, 1))
	for range 20_000 {
		text := strings.ToLower(pieces(rnd, words))
		if got, want := n.in(text), containsAny(text, words...); got != want {
			t.Fatalf("%q: %v, want %v", text, got, want)
		}
	}
	for range 20_000 {
		text := pieces(rnd, references())
		got := text != "" && slices.ContainsFunc(referencesBy()[text[0]], func(p string) bool { return strings.HasPrefix(text, p) })
		if want := hasPrefix(text, references()...); got != want {
			t.Fatalf("%q: %v, want %v", text, got, want)
		}
	}
	if !n.in("…") || n.in("") || n.in("x") {
		t.Error("the ends of a text are misread")
	}
}

// TestFirstJoint compares with a search for each joint.
func TestFirstJoint(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 1))
	for range 20_000 {
		text := pieces(rnd, joints[:])
		best, size := -1, 0
		for _, j := range joints {
			if k := strings.Index(text, j); k >= 0 && (best < 0 || k < best) {
				best, size = k, len(j)
			}
		}
		if at, n := firstJoint(text); at != best || n != size {
			t.Fatalf("%q: %d of %d bytes, want %d of %d", text, at, n, best, size)
		}
		if got, want := hasMark(text), regexp.MustCompile("[0-9\"'`]").MatchString(text); got != want {
			t.Fatalf("hasMark(%q) is %v", text, got)
		}
	}
}

// TestInjectionNeeds draws texts of each form of orders, and wants one of its needs in each.
func TestInjectionNeeds(t *testing.T) {
	rnd := rand.New(rand.NewPCG(10, 1))
	for _, i := range injections() {
		matched := 0
		for range 3000 {
			text := sample(rnd, i.expr)
			if !i.get().MatchString(text) {
				continue
			}
			matched++
			if !containsAny(text, i.needs...) {
				t.Fatalf("%q is of the form %s and holds none of %q", text, i.expr, i.needs)
			}
		}
		if matched < 100 {
			t.Errorf("%d texts of the form %s, which is too few", matched, i.expr)
		}
	}
}

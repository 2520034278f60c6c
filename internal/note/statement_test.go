package note_test

import (
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/note"

	"pgregory.net/rapid"
)

func TestSpeaksAlone(t *testing.T) {
	for _, c := range []struct {
		body string
		want bool
	}{
		{"", false},
		{"one two three four five six seven", false},
		{"one two three four five six seven 8", true},
		{"  one\ntwo\tthree four five six seven eight\n", true},
		{"- one - two - three - four", false},
		{"https://api.internal/v2/one/two/three/four/five", false},
		{"* * * * * * * * *", false},
	} {
		if got := note.SelfContained(c.body); got != c.want {
			t.Errorf("%q: %v", c.body, got)
		}
	}
}

// A saying is a statement in parts, whatever stands in the title.
func TestSaying(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := note.Note{
			Title: strings.ReplaceAll(rapid.OneOf(rapid.String(), textGen()).Draw(t, "title"), "\n", " "),
			Body:  rapid.OneOf(rapid.String(), textGen()).Draw(t, "body") + strings.Repeat(" word-\u0301é", rapid.IntRange(0, 12).Draw(t, "words")),
		}
		s := n.Fingerprint()
		want := note.Fingerprint{Folded: note.Normalize(n.Statement())}
		if note.SelfContained(n.Body) {
			want.Body, want.BodyFold = note.Canonical(n.Body), note.Normalize(n.Body)
		}
		if s.Folded != want.Folded || s.Body != want.Body || s.BodyFold != want.BodyFold || !slices.Equal(s.Words, strings.Fields(want.Folded)) ||
			!slices.Equal(s.BodyWords, strings.Fields(want.BodyFold)) || (s.Body != "") != note.SelfContained(n.Body) {
			t.Fatalf("%q: %+v", n.Statement(), s)
		}
	})
}

func TestSame(t *testing.T) {
	const long = "the queue broker restarts nightly at three because of a leak"
	for _, c := range []struct {
		name, a, b string
		want       bool
	}{
		{"itself", "t\nshort", "t\nshort", true},
		{"another title", "t\nshort", "u\nshort", false},
		{"another title of a long body", "t\n" + long, "u\n" + long, true},
		{"and in other spelling", "t\n" + long, "u\n" + strings.ToUpper(long) + "!", true},
		{"another body", "t\n" + long, "t\n" + long + " in it", false},
		{"nothing", "t\n", "u\n", false},
	} {
		a, b := note.FingerprintOf(c.a), note.FingerprintOf(c.b)
		if a.Same(&b) != c.want || b.Same(&a) != c.want {
			t.Errorf("%s: not %v", c.name, c.want)
		}
	}
}

// The votes are counted as if one by one.
func TestSimhashes(t *testing.T) {
	slow := func(hashes []uint64) (sim uint64) {
		var all []uint64
		for i, h := range hashes {
			all = append(all, h)
			if i > 0 {
				all = append(all, hashes[i-1]*0x9e3779b97f4a7c15^h)
			}
		}
		for bit := range 64 {
			sum := 0
			for _, h := range all {
				sum += int(h>>bit&1)*2 - 1
			}
			if sum > 0 {
				sim |= 1 << bit
			}
		}
		return sim
	}
	rapid.Check(t, func(t *rapid.T) {
		hashes := rapid.SliceOfN(rapid.Uint64(), 0, 40).Draw(t, "hashes")
		words := make([]string, len(hashes))
		for i := range words {
			words[i] = string(rune('a' + i))
		}
		tail := rapid.IntRange(0, len(words)).Draw(t, "tail")
		hash := func(w string) uint64 { return hashes[[]rune(w)[0]-'a'] }
		ofTail, ofAll := note.Simhashes(words, tail, hash)
		if ofTail != slow(hashes[tail:]) || ofAll != slow(hashes) || note.Simhash(words, hash) != ofAll {
			t.Fatalf("%x %x", ofTail, ofAll)
		}
	})
}

package agent_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"anamnesis/internal/agent"
)

func TestStripInjected(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", ""},
		{"nothing here", "nothing here"},
		{"[x]", ""},
		{"a [x] b", "a \n b"},
		{"a\n[x]\nb", "a\n\nb"},
		{"[x]a[y]", "a"},
		{"a [x", "a "},
		{"a ] b", "a \n b"},
		{"[x [y] z] a", " a"},
		{"[ [ ] a", ""},
		{"<!-- anam[x]nesis:begin --> a", "<!-- anam\nnesis:begin --> a"},
		{"<!-- anamnesis:other --> a", "<!-- anamnesis:other --> a"},
	} {
		marks := strings.NewReplacer("[", agent.InjectStart, "]", agent.InjectEnd)
		if got := agent.StripInjected(marks.Replace(tt.in)); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestStripInjectedLeavesNoMark(t *testing.T) {
	piece := rapid.SampledFrom([]string{agent.InjectStart, agent.InjectEnd, "<!-- anam", "nesis:begin -->", "<!-- anamnesis:", "begin -->", "end -->", "\n", "text"})
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), "")
		out := agent.StripInjected(in)
		if strings.Contains(out, agent.InjectStart) || strings.Contains(out, agent.InjectEnd) {
			t.Errorf("%q leaves %q", in, out)
		}
		if again := agent.StripInjected(out); again != out {
			t.Errorf("%q: once %q, twice %q", in, out, again)
		}
	})
}

// TestStripInjectedIsLinear: four times the text takes some four times as long; it
// were sixteen if each mark looked through what follows it.
func TestStripInjectedIsLinear(t *testing.T) {
	for _, mark := range []string{agent.InjectStart, agent.InjectEnd, "<!-- anamnesis:x"} {
		once := func(text string) time.Duration {
			began := time.Now()
			agent.StripInjected(text)
			return time.Since(began)
		}
		short, long := strings.Repeat(mark+"x", 10_000), strings.Repeat(mark+"x", 40_000)
		small, large := time.Hour, time.Hour
		// The least of many tries counts: a busy machine stops us for longer than we work.
		for i := 0; i < 5 || i < 200 && large > 9*small+time.Millisecond; i++ {
			large = min(large, once(long))
			if i < 5 {
				small = min(small, once(short))
			}
		}
		if large > 9*small+time.Millisecond {
			t.Errorf("%q: %v for 10,000 of them, %v for 40,000", mark, small, large)
		}
	}
}

func TestValidID(t *testing.T) {
	for _, tt := range []struct {
		id   string
		want bool
	}{
		{"b4f8e2d6-5c71-4a0e-8f39-2d6a7c1e9b05", true},
		{"a_B-9", true},
		{strings.Repeat("x", 128), true},
		{strings.Repeat("x", 129), false},
		{"", false},
		{"a/b", false},
		{"a.b", false},
		{"é", false},
		{"a\n", false},
	} {
		if got := agent.ValidID(tt.id); got != tt.want {
			t.Errorf("ValidID(%q) = %v", tt.id, got)
		}
	}
}

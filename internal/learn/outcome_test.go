package learn_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"anamnesis/internal/learn"
)

func TestCircles(t *testing.T) {
	for name, tt := range map[string]struct {
		lines []string
		want  []string
	}{
		"varied":            {[]string{"$ a => x", "$ b => x", "$ c => x", "$ a => x"}, nil},
		"twice":             {[]string{"$ a => x", "$ a => x"}, nil},
		"three times":       {[]string{"$ a => x", "$ a => x", "$ a => x"}, []string{"`a` 3 times in a row"}},
		"and on":            {[]string{"$ a => x", "$ a => x", "$ a => x", "$ a => x", "$ a => x"}, []string{"`a` 5 times in a row"}},
		"other arguments":   {[]string{"$ a 1 => x", "$ a 2 => x", "$ a 3 => x"}, nil},
		"by turns":          {[]string{"$ a => x", "$ b => x", "$ a => x", "$ b => x"}, []string{"`b` by turns with another call, 2 times each"}},
		"not yet by turns":  {[]string{"$ a => x", "$ b => x", "$ a => x"}, nil},
		"once a swing":      {[]string{"$ a => x", "$ b => x", "$ a => x", "$ b => x", "$ a => x", "$ b => x"}, []string{"`b` by turns with another call, 2 times each"}},
		"the user spoke":    {[]string{"$ a => x", "$ a => x", "> once more please", "$ a => x"}, nil},
		"others in between": {[]string{"$ a => x", "$ a => x", "$ b => x", "$ a => x"}, nil},
	} {
		var got []string
		for _, c := range learn.Circles(talk(tt.lines...)) {
			got = append(got, c.String())
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The members of an input in another order are the same call.
func TestCirclesOrder(t *testing.T) {
	s := talk("$ a => x", "$ a => x", "$ a => x")
	for i, input := range []string{`{"command":"a","timeout":1}`, `{"timeout":1,"command":"a"}`, `{"command":"a", "timeout":1}`} {
		s.Turns[i].Tools[0].Input = []byte(input)
	}
	if got := learn.Circles(s); len(got) != 1 {
		t.Errorf("%d circles, want 1", len(got))
	}
}

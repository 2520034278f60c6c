package imports_test

import (
	"fmt"
	"strings"
	"testing"

	"anamnesis/internal/note/notetest"
	"anamnesis/internal/risk"
)

// What an import brings is here already when a note says the same, and only then.
func TestNativePairs(t *testing.T) {
	r := newRoom(t)
	pairs := notetest.Pairs(t)
	for i, p := range pairs {
		r.memory(fmt.Sprintf("a%d", i), "project", fmt.Sprintf("Rule %d", i), strings.TrimSpace(p.A))
	}
	// Some name a risky act, an address or a program that nothing is known of, and wait for a person.
	if rep := r.apply(r.native()); len(rep.Created)+rep.Totals["held"] != len(pairs) || rep.Totals["held"] != 9 {
		t.Fatalf("%v", rep.Totals)
	}
	for i, p := range pairs {
		r.memory(fmt.Sprintf("b%d", i), "project", fmt.Sprintf("Rule %d", i), strings.TrimSpace(p.B))
	}
	plan := r.native()
	for i, p := range pairs {
		it := item(t, plan, fmt.Sprintf("b%d.md", i))
		_, waits := risk.Find(p.A, risk.Known{}) // it is no note yet
		if known := strings.Contains(it.Why, "has the same text"); known != p.Same && !waits {
			t.Errorf("%q and %q: %s (%s)", p.A, p.B, it.Action, it.Why)
		}
	}
}

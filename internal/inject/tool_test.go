package inject_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"anamnesis/internal/inject"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
)

var beforeTools = inject.Options{K: 8, ToolTokens: 200}

func tool(t *testing.T, in *inject.Injector, p inject.Place, a recall.Action) inject.Reminder {
	t.Helper()
	r, err := in.Tool(t.Context(), p, recall.Query{Projects: p.Projects}, a)
	if err != nil {
		t.Fatal(err)
	}
	if tokens := recall.Tokens(r.Text); tokens > beforeTools.ToolTokens || tokens != r.Tokens || (r.Text == "") != (r.Silent != "") {
		t.Errorf("%d tokens, silent %q:\n%s", tokens, r.Silent, r.Text)
	}
	return r
}

// A tool is told the rules that name what it touches: each once in a session, the one
// that is most about it first, under the budget; and nothing else.
func TestToolTellsRulesOnce(t *testing.T) {
	long := "Never edit gen/api.go by hand" + strings.Repeat(", whatever the tests of it say", 60) + "."
	in, _ := open(t, beforeTools,
		note.Note{Title: "gen is generated", Body: long},
		note.Note{Title: "cart.go", Body: "The cart must stay below 400 lines, see cart.go.", Rule: "Keep the cart short."},
		note.Note{Title: "api/cart.go", Body: "Always sort the handlers."},
		note.Note{Title: "cart.go is old", Body: "It was written in 2020."},
		note.Note{Title: "we talked about cart.go", Body: "Never again.", Type: note.Episodic},
		note.Note{Title: "Vats", Body: strings.Repeat("We talked about it. ", 60) + "Never round vat.go by hand. " + strings.Repeat("And on. ", 60)},
		note.Note{Title: "cart.go in s", Body: "Never split it.", Provenance: note.Provenance{Source: note.Human, Session: "s", Confidence: 1}})
	p := place
	p.Session = "s"
	edit := recall.Action{Root: "/src", Files: []string{"/src/api/cart.go"}}
	first := tool(t, in, p, edit)
	if !slices.Equal(first.Shown, []note.ID{"n002", "n001"}) || !strings.Contains(first.Text, "Keep the cart short.") {
		t.Errorf("told %v:\n%s", first.Shown, first.Text)
	}
	if second := tool(t, in, p, edit); second.Silent != "what there is was told before" || len(second.Near) != 2 {
		t.Errorf("the second call: %q, %v", second.Silent, second.Near)
	}
	p.Agent = "a" // what the session wrote, its sub-agent does not know
	if r := tool(t, in, p, edit); len(r.Shown) != 2 || len(r.Near) != 1 {
		t.Errorf("a sub-agent is told %v, near %v", r.Shown, r.Near)
	}
	p.Agent = ""
	if r := tool(t, in, p, recall.Action{Root: "/src", Files: []string{"/src/gen/api.go"}}); len(r.Cut) != 1 || !strings.HasSuffix(r.Text, " …\n"+end+"\n") {
		t.Errorf("a long rule is told as\n%s", r.Text)
	}
	if r := tool(t, in, p, recall.Action{Root: "/src", Files: []string{"/src/vat.go"}}); len(r.Cut) != 0 || !strings.Contains(r.Text, "Vats\n  Never round vat.go by hand.\n"+end) {
		t.Errorf("of a long note the sentence is told:\n%s", r.Text)
	}
	for silent, a := range map[string]recall.Action{
		"no rule names it":                          {Root: "/src", Files: []string{"/src/other.go"}},
		"it touches nothing that a rule could name": {Command: "ls"},
	} {
		if r := tool(t, in, p, a); r.Silent != silent {
			t.Errorf("%+v: %q", a, r.Silent)
		}
	}
}

// Hooks run side by side: one of them tells.
func TestToolInParallel(t *testing.T) {
	in, _ := open(t, beforeTools, note.Note{Title: "never `git push` on Fridays", Body: "The freeze."})
	p := place
	p.Session = "s"
	var wg sync.WaitGroup
	told := make([]int, 16)
	for i := range told {
		wg.Go(func() { told[i] = len(tool(t, in, p, recall.Action{Command: "git push"}).Shown) })
	}
	wg.Wait()
	sum := 0
	for _, n := range told {
		sum += n
	}
	if sum != 1 {
		t.Errorf("told %d times", sum)
	}
}

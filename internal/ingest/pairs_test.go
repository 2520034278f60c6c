package ingest_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
)

// A saidTwice is what a user typed in two sessions, with what readers made of it: the subjects that they named, and the verdict of the second
// reader, who was shown the first sentence among other notes in force. The sentences and the readers' answers are of models that knew
// nothing of this code (docs/eval.md).
type saidTwice struct {
	Kind   string // reword, narrower, parallel, opposite, alternative
	First  string
	Second string
	About  [2]string
	Reader string // repeats, replaces, or nothing
}

func pairs(t *testing.T) (all []saidTwice) {
	data, err := os.ReadFile("testdata/pairs.json")
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil || len(all) < 60 {
		t.Fatalf("%d pairs, %v", len(all), err)
	}
	return all
}

// saidAgain is a draft as a reader says that it repeats a note.
func saidAgain(id note.ID, l ingest.Draft) ingest.Repetition {
	return ingest.Repetition{Note: id, Typed: *l.Typed, Evidence: l.Note.Evidence[0], About: l.Note.About}
}

// lines returns what the user's section would say: the titles of the notes in force for which the user vouches, and the quotes behind them.
func (d *door) lines() (titles, quotes []string) {
	d.Helper()
	for ref := range d.store.Walk() {
		n, _, _, err := d.store.Read(ref.Path)
		if err != nil {
			d.Fatal(err)
		}
		row, ok, err := d.index.Lookup(d.Context(), n.ID)
		if err != nil || !ok {
			d.Fatal(n.ID, ok, err)
		}
		if row.SupersededBy == "" && n.Live(time.Now()) && n.UserSaid() {
			titles = append(titles, n.Title)
			for _, e := range n.Evidence {
				quotes = append(quotes, e.Quote)
			}
		}
	}
	return titles, quotes
}

// after returns how the two sentences of a pair end up: "one line of both", "two lines", "the second line", "the first line", and whether
// the second waits for the user.
func (p *saidTwice) after(t *testing.T, withReader bool) string {
	d := newDoor(t)
	first := learning(1, p.First)
	second := learning(3, p.Second)
	if withReader {
		first.Note.About, second.Note.About = p.About[0], p.About[1]
	}
	was := d.learn(first)
	switch {
	case withReader && p.Reader == "repeats":
		if _, err := ingest.Repeat(t.Context(), d.Ingester, "p", "", saidAgain(was.Note.ID, second)); err != nil {
			t.Fatal(err)
		}
	case withReader && p.Reader == "replaces":
		second.Replaces = was.Note.ID
		fallthrough
	default:
		d.learn(second)
	}
	titles, quotes := d.lines()
	held := len(d.store.Spool().Held())
	switch {
	case len(titles) == 2 && held == 0:
		return "two lines"
	case len(titles) == 1 && held == 0 && slices.Contains(quotes, p.First) && slices.Contains(quotes, p.Second):
		return "one line of both"
	case len(titles) == 1 && held == 0 && titles[0] == p.Second:
		return "the second line"
	case len(titles) == 1 && held == 1 && titles[0] == p.First:
		return "the second waits"
	}
	return "lost"
}

// TestPairs: of two sentences that a user typed, nothing is lost, of two that exclude each other one is in force once a reader has
// decided, and what is said again counts for the rule that says it. Words alone find no contradiction where there is none.
func TestPairs(t *testing.T) {
	ended := make(map[string]int)
	defer func() { // the table of docs/eval.md
		for _, key := range slices.Sorted(maps.Keys(ended)) {
			t.Logf("%s: %d", key, ended[key])
		}
	}()
	for _, p := range pairs(t) {
		words, read := p.after(t, false), p.after(t, true)
		ended[p.Kind+", words alone: "+words]++
		ended[p.Kind+", with a reader: "+read]++
		may := map[string][2][]string{ // by words alone, and with a reader
			"reword":      {{"one line of both", "two lines"}, {"one line of both"}},
			"narrower":    {{"one line of both", "two lines"}, {"one line of both", "two lines", "the second line"}},
			"parallel":    {{"two lines"}, {"two lines"}},
			"opposite":    {{"the second line", "the second waits", "two lines"}, {"the second line", "the second waits"}},
			"alternative": {{"the second line", "the second waits", "two lines"}, {"the second line", "the second waits"}},
		}[p.Kind]
		if !slices.Contains(may[0], words) {
			t.Errorf("%s, by words alone: %s\n  %s\n  %s", p.Kind, words, p.First, p.Second)
		}
		if !slices.Contains(may[1], read) {
			t.Errorf("%s, with a reader (about %q, %s): %s\n  %s\n  %s", p.Kind, p.About, p.Reader, read, p.First, p.Second)
		}
	}
}

// TestRepeat: a quote counts for a note in force of the project or of all, unless it says the opposite.
func TestRepeat(t *testing.T) {
	d := newDoor(t)
	was := d.learn(learning(1, "Never commit without the linter")).Note
	machine := d.learn(byAgent(1, "Staging runs on arm64 hosts")).Note
	other := d.learn(byAgent(2, "Releases are signed by the build hosts")).Note
	again := func(id note.ID, here, words string) error {
		l := learning(5, words)
		_, err := ingest.Repeat(t.Context(), d.Ingester, here, "", saidAgain(id, l))
		return err
	}
	for _, words := range []string{"you commit without the linter again", "you commit without the linter again"} {
		if err := again(was.ID, "p", words); err != nil {
			t.Error(err)
		}
	}
	if n := d.read(was.ID); n.Title != was.Title || n.ProofCount != 2 || len(n.Evidence) != 2 || !n.UserSaid() {
		t.Errorf("%q, proof %d, %v", n.Title, n.ProofCount, n.Evidence)
	}
	if err := again(machine.ID, "p", "as usual"); err != nil || d.read(machine.ID).UserSaid() {
		t.Errorf("words about nothing make a note of an agent the user's (%v)", err)
	}
	if err := again(machine.ID, "p", "staging runs on arm64"); err != nil || !d.read(machine.ID).UserSaid() {
		t.Errorf("the user said what the agent noted, and it stays the agent's (%v)", err)
	}
	for name, err := range map[string]error{
		"the opposite":    again(other.ID, "p", "releases are never signed by the build hosts"),
		"another project": again(was.ID, "q", "lint first"),
		"no note":         again("01KX0000000000000000000000", "p", "lint first"),
	} {
		if err == nil {
			t.Errorf("%s counts", name)
		}
	}
	if n := d.read(was.ID); n.ProofCount != 2 {
		t.Errorf("proof %d", n.ProofCount)
	}
}

// TestDetail: what the user says again with a condition or a detail more is evidence of the rule, which keeps its words; what an agent
// says, or for other paths, is another note.
func TestDetail(t *testing.T) {
	for name, c := range map[string]struct {
		second ingest.Draft
		one    bool
	}{
		"a condition": {learning(4, "never force-push to a branch that somebody has reviewed"), true},
		"by an agent": {byAgent(4, "never force-push to a branch that somebody has reviewed"), false},
		"for a path":  {about(4, "", "never force-push gen/api.go", "path:gen/api.go"), false},
		"wider":       {learning(4, "never push"), false},
	} {
		d := newDoor(t)
		was := d.learn(learning(1, "never force-push")).Note
		out := d.learn(c.second)
		n := d.read(was.ID)
		if one := out.Effect == ingest.Confirms && out.Of == was.ID; one != c.one || n.Title != was.Title || (len(n.Evidence) == 2) != c.one {
			t.Errorf("%s: %s of %s, %q with %v", name, out.Effect, out.Of, n.Title, n.Evidence)
		}
	}
}

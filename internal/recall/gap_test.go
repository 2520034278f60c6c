package recall_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/redact"
	"anamnesis/internal/store"
	"anamnesis/internal/store/storetest"

	"github.com/google/go-cmp/cmp"
)

// gapLog reads what was written down of gaps.
func gapLog(t *testing.T, s *store.Store) (all []store.Record) {
	t.Helper()
	files, err := s.Events().Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if _, err := s.Events().Records(f, 0, func(r store.Record) { all = append(all, r) }); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func TestGapLog(t *testing.T) {
	redactor, err := redact.New()
	if err != nil {
		t.Fatal(err)
	}
	secret := "ghp_" + strings.Repeat("Ab1", 12)
	on := product
	on.GapLog = true
	mute := on
	mute.GapLog = false
	long := strings.Repeat("walrus ", 40)
	gate := func(open bool, signal float64) *recall.Gate {
		return &recall.Gate{Kind: "overlap", Open: open, Signal: signal, Threshold: 0.2}
	}
	hit := []*recall.Hit{{Row: index.Row{ID: "a"}}}
	for _, c := range []struct {
		name    string
		options recall.Options
		redact  *redact.Redactor
		query   recall.Query
		result  recall.Result
		want    string // query, words, notes
	}{
		{"nothing", on, redactor, recall.Query{Text: "how do walruses\n dive", Session: "s", Project: "p"}, recall.Result{}, "how do walruses dive|dive walrus|[]"},
		{"gated", on, redactor, recall.Query{Text: "walrus"}, recall.Result{Gate: gate(false, 0.1)}, "walrus|walrus|[]"},
		{"a weak answer", on, redactor, recall.Query{Text: "walrus"}, recall.Result{Hits: hit, Gate: gate(true, 0.3)}, "walrus|walrus|[a]"},
		{"a secret", on, redactor, recall.Query{Text: "why is token " + secret + " refused"}, recall.Result{}, "why is token [REDACTED] refused|refus token|[]"},
		{"an answer", on, redactor, recall.Query{Text: "walrus"}, recall.Result{Hits: hit, Gate: gate(true, 0.5)}, ""},
		{"an answer without a gate", on, redactor, recall.Query{Text: "walrus"}, recall.Result{Hits: hit}, ""},
		{"no content", on, redactor, recall.Query{Text: "what is this"}, recall.Result{}, ""},
		{"nothing but a secret", on, redactor, recall.Query{Text: secret}, recall.Result{}, ""},
		{"asked by nobody", on, redactor, recall.Query{Text: "walrus", Synthetic: true}, recall.Result{}, ""},
		{"an arm failed", on, redactor, recall.Query{Text: "walrus"}, recall.Result{Failed: []string{"semantic: no"}}, ""},
		{"a file is gone", on, redactor, recall.Query{Text: "walrus"}, recall.Result{Missing: []string{"a"}}, ""},
		{"no redactor", on, nil, recall.Query{Text: "walrus"}, recall.Result{}, ""},
		{"a long question", on, redactor, recall.Query{Text: long + "penguin"}, recall.Result{}, long[:195] + "|walrus|[]"},
		{"questions are not kept", mute, redactor, recall.Query{Text: "walrus"}, recall.Result{}, ""},
		{"questions are not kept, a weak answer", mute, redactor, recall.Query{Text: "walrus"}, recall.Result{Hits: hit, Gate: gate(true, 0.3)}, ""},
		{"off", product, redactor, recall.Query{Text: "walrus"}, recall.Result{}, ""},
	} {
		_, s := open(t)
		e, _ := engine(t, s, c.options, recall.Models{Redactor: c.redact})
		e.NoteGap(t.Context(), c.query, &c.result)
		got := ""
		for _, r := range gapLog(t, s) {
			notes := "[]"
			if len(r.Notes) > 0 {
				notes = "[" + string(r.Notes[0]) + "]"
			}
			got += r.Query + "|" + r.Text + "|" + notes
			if r.Kind != store.Gap || r.Session != c.query.Session || r.Project != c.query.Project {
				t.Errorf("%s: %+v", c.name, r)
			}
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestGapReport(t *testing.T) {
	at := func(day int) string { return noon.AddDate(0, 0, day).Format("2006-01-02T15:04:05.000Z") }
	records := []store.Record{
		{Kind: store.Gap, At: at(0), Session: "s1", Text: "dive walrus", Query: "walrus dive"},
		{Kind: store.Gap, At: at(1), Session: "s1", Text: "dive walrus", Query: "walruses diving"},
		{Kind: store.Recalled, At: at(1), Session: "s9", Text: "dive walrus"},
		{Kind: store.Gap, At: at(2), Session: "s2", Text: "deep dive walrus", Query: "deep"}, // two of three
		{Kind: store.Gap, At: at(3), Session: "s2", Text: "cook penguin", Query: "penguin"},
		{Kind: store.Gap, At: at(4), Text: "cook penguin", Query: "penguin"},
		{Kind: store.Gap, At: at(4), Text: "cook penguin", Query: "penguin"},
		{Kind: store.Gap, At: at(5), Text: "once", Query: "once", Session: "s1"},
		{Kind: store.Gap, At: at(5), Text: "hardly", Query: "hardly", Session: "s1", Notes: []note.ID{"a"}},
		{Kind: store.Gap, At: at(6), Text: "hardly", Query: "hardly", Session: "s2", Notes: []note.ID{"a"}},
		{Kind: store.Gap, At: at(5), Text: "closed", Query: "closed", Session: "s1"},
		{Kind: store.Gap, At: at(6), Text: "closed", Query: "closed", Session: "s2"},
		{Kind: store.Gap, At: at(7), Text: "closed", Count: -1},
		{Kind: store.Gap, At: at(8), Text: "closed", Query: "closed", Session: "s3"}, // asked again
		{Kind: store.Gap, At: at(9)},
		{Kind: store.Gap, At: "garbage", Text: "elsewhere", Session: "s1", Project: "q"},
		{Kind: store.Gap, At: at(1), Text: "elsewhere", Session: "s2", Project: "q"},
	}
	day := func(n int) time.Time { return noon.AddDate(0, 0, n) }
	walrus := recall.Gap{Terms: "dive walrus", Query: "deep", Sessions: 2, Asks: 3, First: day(0), Last: day(2)}
	penguin := recall.Gap{Terms: "cook penguin", Query: "penguin", Sessions: 2, Asks: 3, First: day(3), Last: day(4)}
	hardly := recall.Gap{Terms: "hardly", Query: "hardly", Sessions: 2, Asks: 2, First: day(5), Last: day(6), Weak: true}
	scope := recall.Query{Projects: []string{"p"}}
	for _, c := range []struct {
		options recall.GapOptions
		want    []recall.Gap
	}{
		{recall.GapOptions{MinSessions: 2, Ask: scope}, []recall.Gap{penguin, walrus}},
		{recall.GapOptions{MinSessions: 2, Weak: true, Ask: scope}, []recall.Gap{hardly, penguin, walrus}},
	} {
		if diff := cmp.Diff(c.want, recall.Gaps(records, c.options)); diff != "" {
			t.Errorf("%+v:\n%s", c.options, diff)
		}
	}
	if got := recall.Gaps(records, recall.GapOptions{}); len(got) != 5 || got[len(got)-1].Terms != "once" && got[2].Sessions != 2 {
		t.Errorf("all: %+v", got)
	}
}

// A gap is closed by the note that answers it, or by hand.
func TestGapCloses(t *testing.T) {
	redactor, err := redact.New()
	if err != nil {
		t.Fatal(err)
	}
	_, s := open(t, note.Note{ID: "other", Title: "rotate the certificate"})
	o := product
	o.GapLog, o.LexicalWeight = true, 1
	e, ix := engine(t, s, o, recall.Models{Redactor: redactor})
	report := func(o recall.GapOptions) string {
		t.Helper()
		o.MinSessions = 2
		gaps, err := e.Gaps(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, g := range gaps {
			got = append(got, g.Terms+"="+string(g.ResolvedBy))
		}
		return strings.Join(got, ", ")
	}
	for _, session := range []string{"s1", "s2", "s2"} {
		ask(t, e, recall.Query{Text: "how does the walrus dive", Session: session})
		ask(t, e, recall.Query{Text: "penguin cooking", Session: session})
		ask(t, e, recall.Query{Text: "rotate the certificate", Session: session})
	}
	ask(t, e, recall.Query{Text: "only one session asks this", Session: "s1"})
	if got, want := report(recall.GapOptions{}), "dive walrus=, cook penguin="; got != want && got != "cook penguin=, dive walrus=" {
		t.Errorf("got %q, want %q", got, want)
	}
	n := note.Note{ID: "new", Type: note.Semantic, Scope: note.Portable, Project: "p", Title: "the walrus", Body: "dives deep", UpdatedAt: note.At(noon), Provenance: note.Provenance{Source: note.Human}}
	if _, _, err := storetest.Put(s, &n, store.Ref{}, store.Update); err != nil {
		t.Fatal(err)
	}
	if _, err := ix.Sync(t.Context(), index.SyncOptions{}); err != nil {
		t.Fatal(err)
	}
	if got, want := report(recall.GapOptions{}), "cook penguin="; got != want {
		t.Errorf("after the note: got %q, want %q", got, want)
	}
	if got := report(recall.GapOptions{Resolved: true}); !strings.Contains(got, "dive walrus=new") {
		t.Errorf("resolved: %q", got)
	}
	if g, err := e.CloseGap(t.Context(), "cook penguin"); err != nil || g.Query != "penguin cooking" || g.Sessions != 2 {
		t.Fatalf("%+v %v", g, err)
	}
	if got := report(recall.GapOptions{}); got != "" {
		t.Errorf("after closing: %q", got)
	}
	if n := len(gapLog(t, s)); n != 8 {
		t.Errorf("%d records, want 8: asking again is no gap", n)
	}
}

// A gap is closed in the words of whoever asked, whatever project it is of, and
// what closes none says so and leaves nothing.
func TestCloseGap(t *testing.T) {
	redactor, err := redact.New()
	if err != nil {
		t.Fatal(err)
	}
	_, s := open(t)
	o := product
	o.GapLog = true
	e, _ := engine(t, s, o, recall.Models{Redactor: redactor})
	for _, c := range []struct {
		asked, text string
		closes      bool
	}{
		{"how does the walrus dive", "how does the walrus dive", true},
		{"how does the walrus dive", "  How does the WALRUS\n dive?", true},
		{"how does the walrus dive", "walruses diving", true},
		{"how does the walrus dive", "dive walrus", true},
		{"how does the walrus dive", "walrus dive", true},
		{"why are policies universally applied", "appli polici univers", true},
		{"how does the walrus dive", "how does the walrus swim and eat", false},
		{"how does the walrus dive", "nothing of that kind", false},
		{"how does the walrus dive", "", false},
		{"how does the walrus dive", "what is this", false},
		{strings.Repeat("walrus ", 40) + "penguin", strings.Repeat("walrus ", 40) + "penguin", true},
	} {
		e.NoteGap(t.Context(), recall.Query{Text: c.asked, Session: "s", Project: "p"}, &recall.Result{})
		before := len(gapLog(t, s))
		g, err := e.CloseGap(t.Context(), c.text)
		if c.closes != (err == nil) || !c.closes && (!errors.Is(err, recall.ErrNoGap) || len(gapLog(t, s)) != before) || c.closes && g.Asks != 1 {
			t.Errorf("%q with %q: %+v %v", c.asked, c.text, g, err)
		}
		left := recall.Gaps(gapLog(t, s), recall.GapOptions{})
		if c.closes != (len(left) == 0) {
			t.Errorf("%q with %q: left %+v", c.asked, c.text, left)
		}
		if !c.closes {
			if _, err := e.CloseGap(t.Context(), c.asked); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := e.CloseGap(t.Context(), "how does the walrus dive"); !errors.Is(err, recall.ErrNoGap) {
		t.Errorf("closed twice: %v", err)
	}
}

// Seen from some projects alone, a gap may be two that are not like each other.
func TestCloseGapOfSomeProjects(t *testing.T) {
	at := noon.Format("2006-01-02T15:04:05.000Z")
	records := []store.Record{
		{Kind: store.Gap, At: at, Project: "p", Session: "s1", Text: "a b c d e"},
		{Kind: store.Gap, At: at, Project: "q", Session: "s1", Text: "a b c d"},
		{Kind: store.Gap, At: at, Project: "q", Session: "s1", Text: "c d e"},
		{Kind: store.Gap, At: at, Text: "a b c d e", Count: -1},
	}
	if got := recall.Gaps(records, recall.GapOptions{Ask: recall.Query{Projects: []string{"q"}}}); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

package recall_test

import (
	"slices"
	"testing"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/store/storetest"
)

// chained are three notes, each of which took the place of the one before, in
// its own words, and others that have nothing to do with them.
func chained() []note.Note {
	return []note.Note{
		{ID: "jwt", Title: "API auth uses JWT", Body: "Tokens are signed by the gateway.", UpdatedAt: note.At(noon)},
		{ID: "sessions", Title: "Server-side sessions", Body: "The cookie names a row in redis.", Supersedes: []note.ID{"jwt"}, UpdatedAt: note.At(noon.Add(-time.Hour))},
		{ID: "mtls", Title: "Certificates of clients", Body: "Each gets its own from vault.", Supersedes: []note.ID{"sessions"}, UpdatedAt: note.At(noon.Add(-2 * time.Hour))},
		{ID: "pool", Title: "Pool sizes", Body: "Ten for the worker."},
		{ID: "gatewayport", Title: "Port of the gateway", Body: "8080, and it signs nothing."},
		{ID: "plants", Title: "Office plants", Body: "They need water on Mondays."},
	}
}

// gate is a gate that asks for words.
const gate = 0.5

// The words of a note that holds no more lead to the one that holds, through
// the gate too, the first time and when the arms are not asked again.
func TestSuccessorOfAll(t *testing.T) {
	_, s := open(t, chained()...)
	e, _ := engine(t, s, remembering(), recall.Models{})
	for _, q := range []recall.Query{
		{Text: "JWT tokens signed by the gateway"},
		{Text: "JWT tokens signed by the gateway", Gate: true, MinOverlap: gate},
		{Text: "gateway signed JWT tokens"},
	} {
		for _, cached := range []string{"", "exact"} {
			switch {
			case q.Gate:
				cached = "exact" // the gate is no part of what is remembered
			case q.Text[0] == 'g':
				cached = "fuzzy"
			}
			res := ask(t, e, q)
			got := ids(res)
			if len(got) == 0 || got[0] != "mtls" || slices.Contains(got, "jwt") || slices.Contains(got, "sessions") || res.Cached != cached {
				t.Fatalf("%+v: %v, cached %q, gate %+v", q, got, res.Cached, res.Gate)
			}
			h := res.Hits[0]
			if f := h.Found["successor"]; f.Rank != 1 || f.Why != "took the place of jwt" || h.Coverage < gate {
				t.Errorf("coverage %v, %+v", h.Coverage, f)
			}
			if h.Start != 0 || h.Note == nil || h.End > len(h.Note.Body) {
				t.Errorf("shows %d to %d", h.Start, h.End)
			}
		}
	}
	for name, q := range map[string]recall.Query{
		"about something else":       {Text: "colour of parsnips"},
		"by its own words":           {Text: "JWT tokens signed", OwnWords: true},
		"arms are named":             {Text: "JWT tokens signed", Arms: []string{"lexical"}},
		"not among what is asked of": {Text: "JWT tokens signed", Projects: []string{"elsewhere"}},
	} {
		if got := ids(ask(t, e, q)); slices.Contains(got, "mtls") {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A note stands behind what took its place, the whole chain of them, however
// well it matches and however new its file is.
func TestSupersededStandBehind(t *testing.T) {
	e, _ := open(t, chained()...)
	for _, q := range []recall.Query{
		{Text: "JWT tokens signed by the gateway"},
		{Text: "sessions cookie redis JWT"},
		{Text: "certificates vault sessions jwt"},
		{Text: "JWT tokens sessions certificates gateway", Arms: []string{"lexical"}},
		{Text: "JWT tokens sessions certificates gateway", Arms: []string{"lexical"}, NoMMR: true},
	} {
		q.Dead = true
		res := ask(t, e, q)
		got := ids(res)
		want := []note.ID{"mtls", "sessions", "jwt"}
		chain := slices.DeleteFunc(slices.Clone(got), func(id note.ID) bool { return !slices.Contains(want, id) })
		if len(chain) < 2 || !slices.Equal(chain, slices.DeleteFunc(slices.Clone(want), func(id note.ID) bool { return !slices.Contains(chain, id) })) {
			t.Errorf("%q: %v", q.Text, got)
		}
		for i, h := range res.Hits {
			if q.NoMMR && i > 0 && h.Score() > res.Hits[i-1].Score() {
				t.Errorf("%q: %s has a higher score than the one before it", q.Text, h.Row.ID)
			}
			sum := 0.0
			for _, r := range h.Reasons {
				sum += r.Delta
			}
			if d := sum - h.Score(); d > 1e-9 || d < -1e-9 {
				t.Errorf("%q: the reasons of %s come to %v, its score is %v", q.Text, h.Row.ID, sum, h.Score())
			}
			if h.Row.ID == "jwt" && h.Row.SupersededBy != "sessions" {
				t.Errorf("not marked: %+v", h.Row)
			}
		}
	}
	// Even when what stands between them is no answer.
	got := ids(ask(t, e, recall.Query{Text: "JWT tokens certificates", Dead: true, Arms: []string{"lexical"}}))
	if !slices.Equal(got, []note.ID{"mtls", "jwt"}) {
		t.Error(got)
	}
}

// Not even for being something else than what was said already.
func TestSupersededStandBehindCopies(t *testing.T) {
	const text = "Each service gets a certificate of its own from the vault and keeps it for ninety days, in memory and nowhere else, or until it is told to ask for another one."
	_, s := open(t,
		note.Note{ID: "copy", Title: "Certificates", Body: "Rotate the certificates of the gateway. " + text},
		note.Note{ID: "new", Title: "Certificates", Body: text, Supersedes: []note.ID{"old"}},
		note.Note{ID: "old", Title: "Spring", Body: "By hand we rotate the certificates of the gateway."},
		note.Note{ID: "plants", Title: "Office plants", Body: "They need water on Mondays."},
	)
	o := product
	o.MMRLambda = 0.2
	e, _ := engine(t, s, o, recall.Models{})
	got := ids(ask(t, e, recall.Query{Text: "rotate the certificates of the gateway from the vault", Dead: true}))
	if !slices.Equal(got, []note.ID{"copy", "new", "old"}) {
		t.Error(got)
	}
}

const ended = "relationships:\n- {source: gateway timeout, target: connection pool, type: caused_by, tvalid: '2026-01-01', tvalid_end: '2026-03-01'}\n"

// A relation that has ended does not bring what it ends at by another way: that
// both notes speak of it (A2).
func TestEndedRelation(t *testing.T) {
	both := "entities:\n- {name: gateway timeout, type: error}\n- {name: connection pool, type: config}\n"
	for _, tt := range []struct {
		name, sidecar, question string
		asOf                    time.Time
		off                     bool
		want                    bool
	}{
		{"its end is declared", both + ended, "gateway timeout", time.Time{}, false, false},
		{"its end is named by it alone", ended, "gateway timeout", time.Time{}, false, false},
		{"the question names neither end", both + ended, "till on Friday evening", time.Time{}, false, false},
		{"replaced", "relationships:\n- {source: gateway timeout, target: connection pool, type: caused_by, superseded_by: x}\n", "gateway timeout", time.Time{}, false, false},
		{"while it held", both + ended, "gateway timeout", noon.AddDate(0, -5, 0), false, true},
		{"without regard to time", both + ended, "gateway timeout", time.Time{}, true, true},
		{"another one holds", both + ended + "- {source: gateway timeout, target: connection pool, type: requires}\n", "gateway timeout", time.Time{}, false, true},
		{"no relation at all", both, "gateway timeout", time.Time{}, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, s := open(t,
				note.Note{ID: "till", Title: "Gateway timeout at the till", Body: "It came back on Friday evening."},
				note.Note{ID: "slots", Title: "Sizes", Body: "Forty workers want fifty slots."},
				note.Note{ID: "plants", Title: "Office plants", Body: "They need water on Mondays."},
			)
			for id, text := range map[string]string{"till": tt.sidecar, "slots": "entities:\n- {name: connection pool, type: config}\n"} {
				if err := storetest.Writer(s).Replace("memory/semantic/"+id+".entities.yaml", []byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			o := product
			o.BitemporalEdges = !tt.off
			e, ix := engine(t, s, o, recall.Models{})
			if _, err := ix.Sync(t.Context(), index.SyncOptions{All: true}); err != nil {
				t.Fatal(err)
			}
			got := ids(ask(t, e, recall.Query{Text: tt.question, AsOf: tt.asOf}))
			if !slices.Contains(got, "till") || slices.Contains(got, "slots") != tt.want {
				t.Error(got)
			}
		})
	}
}

package recall_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/index/sqlite"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/store"
)

// share puts notes of another person beside those of a store.
func share(t *testing.T, s *store.Store, member string, notes ...note.Note) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlite.Options{Path: s.Path("index.db"), Origin: member + "/laptop"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ix := index.New(db, s, index.Embedding{})
	var b index.Batch
	for _, n := range notes {
		n.Type, n.Scope, n.Project, n.UserID = note.Semantic, note.Portable, "p", member
		n.Provenance = note.Provenance{Source: note.Human, Confidence: 1}
		if n.UpdatedAt == "" {
			n.UpdatedAt = note.At(noon.Add(-time.Minute))
		}
		data := n.Format()
		ref := store.Ref{Path: store.NotePath(n.Scope, n.Type, n.ID), Scope: n.Scope, Size: int64(len(data)), ModTime: noon}
		b.Put = append(b.Put, ix.Foreign(&n, ref, data, index.SidecarFacts{}))
	}
	if err := db.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// What somebody else says stands behind what one says oneself on the same subject,
// however well it fits; on another subject it stands where it belongs.
func TestOwnBefore(t *testing.T) {
	e, s := open(t, note.Note{ID: "mine", Title: "Indent Go code of the gateway with spaces", Body: "The formatter is told so, by a setting of the editor."})
	share(
		t, s, "alice",
		note.Note{ID: "theirs", Title: "Indent Go code of the gateway with tabs", Body: "Tabs: indent Go code of the gateway with tabs."},
		note.Note{ID: "queue", Title: "The gateway retries thrice", Body: "Then the order stands in the dead letter queue of the broker."},
	)
	res := ask(t, e, recall.Query{Text: "how do I indent Go code of the gateway with tabs", Projects: []string{"p"}})
	got := ids(res)
	if len(got) < 2 || got[0] != "mine" || got[1] != "theirs" {
		t.Errorf("got %v", got)
	}
	for _, h := range res.Hits {
		if want := map[note.ID]string{"theirs": "alice", "queue": "alice"}[h.Row.ID]; h.Note.Author != want {
			t.Errorf("%s is of %q", h.Row.ID, h.Note.Author)
		}
		if h.Row.ID == "theirs" && !slices.ContainsFunc(h.Reasons, func(r recall.Reason) bool { return strings.Contains(r.What, "behind mine") }) {
			t.Errorf("reasons %v", h.Reasons)
		}
	}
	if got := ids(ask(t, e, recall.Query{Text: "what happens to an order when the gateway retried thrice", Projects: []string{"p"}})); got[0] != "queue" {
		t.Errorf("on another subject: %v", got)
	}
}

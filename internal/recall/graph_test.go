package recall_test

import (
	"testing"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/store/storetest"
)

// How strongly the graph arm finds a note depends on the kind of the relation, and on
// how many of them are between.
func TestStrengthOfRelations(t *testing.T) {
	strength := func(relation note.Relation, far bool) float64 {
		_, s := open(t,
			note.Note{ID: "till", Title: "Gateway timeout at the till", Body: "It came back on Friday evening."},
			note.Note{ID: "slots", Title: "Sizes", Body: "Forty workers want fifty slots."},
			note.Note{ID: "plants", Title: "Office plants", Body: "They need water on Mondays."},
		)
		to := "connection pool"
		told := "relationships:\n"
		if far {
			to = "file handles"
			told += "- {source: file handles, target: connection pool, type: " + string(relation) + ", strength: 9}\n"
		}
		told += "- {source: gateway timeout, target: " + to + ", type: " + string(relation) + ", strength: 9}\n"
		for id, text := range map[string]string{"till": told, "slots": "entities:\n- {name: connection pool, type: config}\n"} {
			if err := storetest.Writer(s).Replace("memory/semantic/"+id+".entities.yaml", []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		e, ix := engine(t, s, recall.Options{GraphArm: true, Tuning: recall.Tuning{GraphWeight: 1}}, recall.Models{})
		if _, err := ix.Sync(t.Context(), index.SyncOptions{All: true}); err != nil {
			t.Fatal(err)
		}
		for _, h := range ask(t, e, recall.Query{Text: "gateway timeout", Arms: []string{"graph"}}).Hits {
			if h.Row.ID == "slots" {
				return h.Found["graph"].Score
			}
		}
		t.Fatalf("nothing is found over %s", relation)
		return 0
	}
	cause, loose, far := strength(note.CausedBy, false), strength(note.RelatesTo, false), strength(note.CausedBy, true)
	if loose >= cause*0.7 {
		t.Errorf("%s counts %.3f, %s %.3f: hardly less", note.RelatesTo, loose, note.CausedBy, cause)
	}
	if far >= cause*0.5 {
		t.Errorf("two relations count %.3f, one %.3f: hardly less", far, cause)
	}
}

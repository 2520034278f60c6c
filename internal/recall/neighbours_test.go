package recall_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/recall"
)

// What a session wrote in the same second as an answer comes with it and says
// so; what merely was written at the same time does not.
func TestCompanyOfAnAnswer(t *testing.T) {
	at := note.At(noon.Add(-time.Hour))
	of := func(session string) note.Provenance {
		return note.Provenance{Source: note.Human, Confidence: 1, Session: session}
	}
	const asked = "where is the terraform state bucket"
	bucket := note.Note{ID: "bucket", Title: "Terraform state", Body: "The bucket of the terraform state is in Frankfurt.", CreatedAt: at}
	plants := note.Note{ID: "plants", Title: "Office plants", Body: "They need water on Mondays.", CreatedAt: at}
	access := note.Note{ID: "access", Title: "Terraform access", Body: "Ask the platform team for a role.", CreatedAt: at}
	var more []note.Note
	for _, id := range []note.ID{"one", "two", "three"} {
		more = append(more, note.Note{ID: id, Title: "Colours " + string(id), Body: "The logo is green."})
	}
	for _, tt := range []struct {
		name        string
		neighbourOf note.Note
		sessions    [2]string
		q           recall.Query
		want        bool
	}{
		{"one session", plants, [2]string{"s", "s"}, recall.Query{}, true},
		{"no session", plants, [2]string{"", ""}, recall.Query{}, false},
		{"two sessions", plants, [2]string{"s", "u"}, recall.Query{}, false},
		{"arms are named", plants, [2]string{"s", "s"}, recall.Query{Arms: []string{"lexical"}}, false},
		{"among them company", plants, [2]string{"s", "s"}, recall.Query{Arms: []string{"lexical", "company"}}, true},
		{"nothing but what is relevant", plants, [2]string{"s", "s"}, recall.Query{Gate: true}, false},
		{"relevant, and with it", access, [2]string{"s", "s"}, recall.Query{Gate: true}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			first, second := bucket, tt.neighbourOf
			first.Provenance, second.Provenance = of(tt.sessions[0]), of(tt.sessions[1])
			e, _ := open(t, append([]note.Note{first, second}, more...)...)
			tt.q.Text = asked
			res := ask(t, e, tt.q)
			got := ids(res)
			if len(got) == 0 || got[0] != "bucket" || slices.Contains(got, tt.neighbourOf.ID) != tt.want {
				t.Fatal(got)
			}
			for _, h := range res.Hits {
				if len(h.Found) == 0 {
					t.Errorf("%s was found by nothing", h.Row.ID)
				}
				if c, ok := h.Found["company"]; ok && (c.Rank != 1 || c.Why != "written beside bucket" ||
					!slices.ContainsFunc(h.Reasons, func(r recall.Reason) bool { return strings.Contains(r.What, c.Why) })) {
					t.Errorf("%s: %+v %+v", h.Row.ID, c, h.Reasons)
				}
			}
			if tt.want && tt.neighbourOf.ID == "plants" && res.Hits[1].Found["company"].Why == "" {
				t.Errorf("no reason: %+v", res.Hits[1].Found)
			}
		})
	}
}

func TestSources(t *testing.T) {
	if got := recall.Sources(); got[len(got)-1] != "company" || slices.Contains(recall.Arms(), "company") {
		t.Error(got, recall.Arms())
	}
}

package recall_test

import (
	"testing"

	"anamnesis/internal/note"
	"anamnesis/internal/recall"
)

func persona(id note.ID, project, field, value string, confidence float64) note.Note {
	return note.Note{
		ID: id, Title: "persona " + string(id), Body: value, Project: project, Kind: note.Observation, Tags: []string{"persona", "field:" + field},
		Provenance: note.Provenance{Source: note.Learning, Confidence: confidence},
	}
}

func TestPersona(t *testing.T) {
	_, s := open(
		t,
		persona("all", note.Global, "commit_style", "short subjects", 0.9),
		persona("own", "app", "commit_style", "package: what changes", 0.85),
		persona("tests", note.Global, "testing_style", "tables", 0.8),
		persona("thin", note.Global, "error_handling", "wrap", 0.79),
		persona("odd", note.Global, "", "no field", 1),
		note.Note{ID: "me", Title: "persona", Body: "A Go developer.", Kind: note.Slot, Project: note.Global},
		note.Note{ID: "likes", Title: "user_preferences", Body: "No frameworks.", Kind: note.Slot, Project: note.Global},
		note.Note{ID: "other", Title: "The commit hook", Body: "It checks the style of commits."},
	)
	on := remembering()
	on.Persona = true
	e, _ := engine(t, s, on, recall.Models{})
	for text, want := range map[string]note.ID{
		"What is our commit style?":                    "own",
		"which commit style do we use in this project": "own",
		"how do we usually test":                       "tests",
		"what is our testing style":                    "tests",
		"who am I?":                                    "me",
		"What do I prefer?":                            "likes",
		"how do we usually handle errors":              "",
		"fix the commit style checker of the linter":   "",
		"what did we commit yesterday":                 "",
		"why does the commit hook fail":                "",
		"thanks":                                       "",
		"":                                             "",
	} {
		res, err := e.Recall(t.Context(), recall.Query{Text: text, Projects: []string{"app", note.Global}})
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case want == "" && res.Persona != nil:
			t.Errorf("%q: %+v", text, res.Persona)
		case want != "" && (res.Persona == nil || res.Persona.Note != want || len(res.Hits) == 0 || res.Hits[0].Row.ID != want):
			t.Errorf("%q: %+v, %v", text, res.Persona, ids(res))
		}
	}
	for name, q := range map[string]recall.Query{
		"nobody asks":        {Synthetic: true},
		"an arm is named":    {Arms: []string{"lexical"}},
		"in another project": {Projects: []string{"elsewhere"}},
	} {
		q.Text = "what is our commit style"
		if res := ask(t, e, q); res.Persona != nil {
			t.Errorf("%s: %+v", name, res.Persona)
		}
	}
	if res := ask(t, e, recall.Query{Text: "why does the commit hook fail", PersonaOnly: true}); len(res.Hits) > 0 {
		t.Errorf("only the persona was asked: %v", ids(res))
	}
}

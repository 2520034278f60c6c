package recall_test

import (
	"slices"
	"testing"

	"anamnesis/internal/note"
	"anamnesis/internal/recall"
)

// advised returns what a prompt is shown some notes while files are in work.
func advised(t *testing.T, e *recall.Engine, prompt string, files ...string) []note.ID {
	t.Helper()
	a, err := e.Advise(t.Context(), recall.Query{K: 12}, recall.PlanPrompt(prompt).InWork(files))
	if err != nil {
		t.Fatal(err)
	}
	var ids []note.ID
	for _, h := range a.Hits {
		ids = append(ids, h.Row.ID)
	}
	return ids
}

func rules() []note.Note {
	return []note.Note{
		{ID: "dialog", Title: "Modal windows use Dialog of src/ui", Body: "It traps the focus. A self-made one failed the audit."},
		{ID: "outbox", Title: "Movements are written to the outbox in the same transaction", Body: "Publishing to NATS after the commit lost them."},
		{ID: "proto", Title: "Fields are never renumbered", Body: "The scanners in the halls run old versions. Files in `api/proto`."},
		{ID: "stripes", Title: "Tariffs come from the backend", Body: "`billing/tariff.go`; the browser rounded them otherwise."},
		{ID: "column", Title: "A column is dropped in two releases", Body: "The table is still read by workers of the old release."},
		{ID: "alarm", Title: "Kitchen", Body: "The alarm of the oven rings at noon."},
	}
}

// What is shown is near by its words, by what they are about, or by the files in work.
func TestAdvise(t *testing.T) {
	o := product
	o.CalibratedGate = true
	e, _ := openWith(t, o, rules()...)
	for _, c := range []struct {
		prompt string
		files  []string
		want   []note.ID
	}{
		{"write the movement of a pallet to the outbox before the transaction ends", nil, []note.ID{"outbox"}},
		{"put a popup in front of it that asks for confirmation with cancel and delete", nil, []note.ID{"dialog"}},
		{"falta la columna en la tabla después del release", nil, []note.ID{"column"}},
		{"give the customers of the north their own one from next month on", []string{"README.md", "billing/tariff.go"}, []note.ID{"stripes"}},
		{"give the customers of the north their own one from next month on", []string{"billing/other.go"}, nil},
		{"old scanner versions", nil, []note.ID{"proto"}}, // the note has all that it says
		{"ok, outbox and transaction", nil, nil},
		{"no, not the outbox transaction", nil, nil},
		{"rename the variable alarm to bell", nil, nil},
		{"the new smell of the coffee makes us laugh today", nil, nil},
	} {
		if got := advised(t, e, c.prompt, c.files...); !slices.Equal(got, c.want) {
			t.Errorf("%q with %v: told %v, wanted %v", c.prompt, c.files, got, c.want)
		}
	}
}

// Paths of any form do no harm, and those that name nothing anchor nothing.
func TestFilesInWorkOfAnyForm(t *testing.T) {
	p := recall.PlanPrompt("how is it built?").InWork([]string{"", ".", "\xff", "./a/../b.go", `c:\x\y.go`, string(make([]byte, 9000))})
	if n := len(p.Parts); p.Parts[n-1].Kind != recall.Work || p.Parts[n-1].Text != "b.go c:/x/y.go" {
		t.Errorf("%+v", p.Parts)
	}
	if p := recall.PlanPrompt("thanks").InWork([]string{"a.go"}); len(p.Parts) > 0 || p.Silent == "" {
		t.Errorf("files in work speak for a prompt that asks nothing: %+v", p)
	}
}

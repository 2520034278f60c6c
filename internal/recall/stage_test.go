package recall_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
)

func TestWorkflow(t *testing.T) {
	for _, want := range []string{"3-LAYER WORKFLOW (ALWAYS FOLLOW)", "\nStep 1:", "\nStep 2:", "\nStep 3:"} {
		if !strings.Contains(recall.Workflow, want) {
			t.Errorf("the workflow does not say %q", want)
		}
	}
}

// A row costs at most 100 tokens, whatever the note is called.
func TestStageRow(t *testing.T) {
	for _, title := range []string{"", "short", strings.Repeat("long title ", 200), strings.Repeat("\x01<&>\"", 100), strings.Repeat("日本", 100)} {
		for _, id := range []string{"a", strings.Repeat("x", 128)} {
			for _, project := range []string{"p", strings.Repeat("<", 200), strings.Repeat("p", 200)} {
				row := recall.MakeStageRow(index.Row{ID: note.ID(id), Title: title, Project: project, Created: noon}, 0.123456)
				data, err := json.Marshal(row)
				if err != nil || recall.Tokens(string(data)) > 100 {
					t.Errorf("%d tokens: %s %v", recall.Tokens(string(data)), data, err)
				}
				if len(row.ID) != min(len(id), 120) || *row.Score != 0.1235 || row.Date != "2026-07-02T12:00:00Z" || title != "" && len(title) < 9 && row.Title != title && len(project) < 99 {
					t.Errorf("%+v", row)
				}
			}
		}
	}
}

func TestIndexTimelineHydrate(t *testing.T) {
	at := func(hour int) note.Stamp { return note.At(noon.Add(time.Duration(hour) * time.Hour)) }
	body := strings.Repeat("the walrus dives ", 60)
	_, s := open(t,
		note.Note{ID: "01AAAA-first", Title: "first", Body: body, CreatedAt: at(-50)},
		note.Note{ID: "01AAAB-second", Title: "second", Body: "of walrus", CreatedAt: at(-40)},
		note.Note{ID: "01BBBB-third", Title: "third walrus", Body: "x", CreatedAt: at(-30)},
		note.Note{ID: "01CCCC-fourth", Title: "fourth", CreatedAt: at(-20)},
		note.Note{ID: "01DDDD-elsewhere", Title: "fifth", Project: "q", CreatedAt: at(-25)},
		note.Note{ID: "01EEEE-dead", Title: "dead", Status: "archived", CreatedAt: at(-35)},
	)
	e, _ := engine(t, s, remembering(), recall.Models{})
	side := s.Path("memory/semantic/01AAAA-first.entities.yaml")
	if err := os.WriteFile(side, []byte("entities:\n  - name: walrus\n    type: concept\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	rows, res, err := e.Index(t.Context(), recall.Query{Text: "walrus"})
	if err != nil || len(rows) != 3 || res.Query.K != recall.DefaultRows {
		t.Fatalf("index: %+v %v", rows, err)
	}
	if data, _ := json.Marshal(rows); strings.Contains(string(data), "WORKFLOW") || recall.Tokens(string(data)) > 300 {
		t.Errorf("index: %s", data)
	}
	if rows, _, err := e.Index(t.Context(), recall.Query{Text: "walrus penguin zebra", Gate: true, MinOverlap: 0.9}); err != nil || len(rows) != 0 {
		t.Errorf("behind the gate: %+v %v", rows, err)
	}

	line := func(anchor note.ID, q recall.Query, before, after int) string {
		t.Helper()
		rows, err := e.Timeline(t.Context(), anchor, q, before, after)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range rows {
			if got = append(got, r.Title); r.Anchor {
				got[len(got)-1] += "!"
			}
		}
		return strings.Join(got, " ")
	}
	for _, c := range []struct {
		anchor        note.ID
		query         recall.Query
		before, after int
		want          string
	}{
		{"01BBBB-third", recall.Query{}, 3, 3, "first second third walrus! fifth fourth"},
		{"01bbbb", recall.Query{Projects: []string{"p"}}, 1, 1, "second third walrus! fourth"},
		{"01AAAA-first", recall.Query{}, 3, 0, "first!"},
		{"01EEEE", recall.Query{}, 1, 1, "second dead! third walrus"},
		{"", recall.Query{Text: "third walrus"}, 0, 1, "third walrus! fifth"},
		{"01CCCC-fourth", recall.Query{}, -1, -1, "fourth!"},
	} {
		if got := line(c.anchor, c.query, c.before, c.after); got != c.want {
			t.Errorf("%s: got %q, want %q", c.anchor, got, c.want)
		}
	}
	for _, anchor := range []note.ID{"01AA", "nobody", ""} {
		if rows, err := e.Timeline(t.Context(), anchor, recall.Query{Text: "penguin"}, 1, 1); !errors.Is(err, recall.ErrNoNote) || rows != nil {
			t.Errorf("%q: %v %v", anchor, rows, err)
		}
	}

	got, err := e.Hydrate(t.Context(), []note.ID{"01aaaa", "nobody", "01AA", "01EEEE-dead", "01b"})
	if err != nil || len(got) != 5 {
		t.Fatalf("%v %v", got, err)
	}
	first := got[0]
	if !first.Found || first.ID != "01AAAA-first" || strings.TrimSpace(first.Body) != strings.TrimSpace(body) || len(first.Entities) != 1 || first.Entities[0].Name != "walrus" || !strings.Contains(first.FrontMatter, "title: ") || strings.Contains(first.FrontMatter, "dives") {
		t.Errorf("%+v", first)
	}
	if data, _ := json.Marshal(first); recall.Tokens(string(data)) <= 100 {
		t.Errorf("a whole note costs %d tokens", recall.Tokens(string(data)))
	}
	for i, want := range []string{"", "no such note", "names 2 notes", "", "no such note"} {
		if got[i].Found != (want == "") || !strings.Contains(got[i].Reason, want) {
			t.Errorf("%d: %+v", i, got[i])
		}
	}
	if got[3].Entities != nil {
		t.Errorf("entities of a note without a sidecar: %v", got[3].Entities)
	}
}

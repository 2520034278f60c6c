package reflection_test

import (
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/note"
	"anamnesis/internal/reflection"
)

func TestParseDistilled(t *testing.T) {
	for _, tt := range []struct {
		text string
		n    int
		err  string
	}{
		{"[]", 0, ""},
		{"```json\n[]\n```", 0, ""},
		{"```\n" + good + "\n```\n", 2, ""},
		{"\ufeff" + good, 2, ""},
		{`[{"type": "semantic", "title": "a\nb", "body": "c", "more": 1}]`, 1, ""},
		{"null", 0, "one whole JSON array"},
		{`"[]"`, 0, "one whole JSON array"},
		{"[] []", 0, "one whole JSON array"},
		{"```json\n[]", 0, "was not JSON"},
		{"[[]]", 0, "cannot unmarshal array"},
		{`[{"kind": "semantic", "title": "a", "body": "c"}]`, 0, "invalid reflection type"},
		{`[{"type": "Semantic", "title": "a", "body": "c"}]`, 0, "invalid reflection type: 'Semantic'"},
		{`[{"type": "semantic", "title": "` + strings.Repeat("a", 1001) + `", "body": "c"}]`, 0, "more than 1000 characters"},
		{`[{"type": "semantic", "title": "a", "body": "` + strings.Repeat("a", 40<<10) + `"}]`, 0, "bytes"},
		{"[" + strings.Repeat(`{"type": "semantic", "title": "a", "body": "c"},`, 100) + `{}]`, 0, "at most 100"},
	} {
		got, err := reflection.ParseDistilled(tt.text)
		if tt.err == "" && err != nil || len(got) != tt.n {
			t.Errorf("%.60q: %d notes, %v", tt.text, len(got), err)
		}
		if tt.err != "" {
			wantErr(t, err, tt.err)
		}
	}
}

// MG-02: every group that is not right makes the whole answer an error.
func TestParseGroups(t *testing.T) {
	known := []note.ID{"a", "b", "c", "d"}
	const synth = `"action": "synthesize", "type": "semantic", "title": "t", "body": "b"`
	for _, tt := range []struct {
		text string
		n    int
		err  string
	}{
		{"[]", 0, ""},
		{`[{"action": "keep", "keeper_id": "a", "superseded_ids": ["b"]}]`, 1, ""},
		{"```json\n" + `[{"action": "keep", "keeper_id": "a", "superseded_ids": ["b"]}, {` + synth + `, "superseded_ids": ["d", "c"]}]` + "\n```", 2, ""},
		{"no", 0, "was not JSON"},
		{"{}", 0, "one whole JSON array"},
		{"[1]", 0, "cannot unmarshal number"},
		{`[{"action": "drop", "superseded_ids": ["b"]}]`, 0, "invalid merge action: 'drop'"},
		{`[{"action": null, "superseded_ids": ["b"]}]`, 0, "invalid merge action"},
		{`[{"action": "keep", "keeper_id": "a", "superseded_ids": []}]`, 0, "without superseded_ids"},
		{`[{"action": "keep", "keeper_id": "a"}]`, 0, "without superseded_ids"},
		{`[{"action": "keep", "keeper_id": "a", "superseded_ids": "b"}]`, 0, "cannot unmarshal string"},
		{`[{"action": "keep", "keeper_id": "a", "superseded_ids": [1]}]`, 0, "cannot unmarshal number"},
		{`[{"action": "keep", "superseded_ids": ["b"]}]`, 0, "without keeper_id"},
		{`[{"action": "keep", "keeper_id": "a", "superseded_ids": ["a", "b"]}]`, 0, "supersede itself"},
		{`[{"action": "keep", "keeper_id": "x", "superseded_ids": ["b"]}]`, 0, "unknown id"},
		{`[{"action": "keep", "keeper_id": "a", "superseded_ids": ["../b"]}]`, 0, "unknown id"},
		{`[{"action": "keep", "keeper_id": "a", "superseded_ids": ["b", "b"]}]`, 0, "twice"},
		{`[{"action": "keep", "keeper_id": "a", "superseded_ids": ["b"]}, {"action": "keep", "keeper_id": "b", "superseded_ids": ["c"]}]`, 0, "twice"},
		{`[{` + synth + `, "superseded_ids": ["a"]}]`, 0, "nothing to synthesize"},
		{`[{"action": "synthesize", "type": "episodic", "title": "t", "body": "b", "superseded_ids": ["a", "b"]}]`, 0, "invalid reflection type"},
		{`[{"action": "synthesize", "type": "semantic", "title": "", "body": "b", "superseded_ids": ["a", "b"]}]`, 0, "missing title or body"},
	} {
		got, err := reflection.ParseGroups(tt.text, known)
		if tt.err == "" && err != nil || tt.err != "" && got != nil || len(got) != tt.n {
			t.Errorf("%s: %d groups, %v", tt.text, len(got), err)
		}
		if tt.err != "" {
			wantErr(t, err, tt.err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		good, "[]", "```json\n[]\n```", `[{"type":null}]`, `[{"action":"keep","keeper_id":"a","superseded_ids":["b"]}]`, "[[[[",
	} {
		f.Add(s)
	}
	known := []note.ID{"a", "b", "c"}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<16 {
			return
		}
		if notes, err := reflection.ParseDistilled(text); err == nil {
			for _, n := range notes {
				if !n.Type.Durable() || strings.TrimSpace(n.Title) == "" || strings.TrimSpace(n.Body) == "" || strings.ContainsAny(n.Title, "\n\r") {
					t.Errorf("accepted %+v", n)
				}
			}
		}
		if groups, err := reflection.ParseGroups(text, known); err == nil {
			for _, g := range groups {
				if len(g.Superseded) == 0 || slices.Contains(g.Superseded, g.Keeper) {
					t.Errorf("accepted %+v", g)
				}
			}
		}
	})
}

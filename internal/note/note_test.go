package note_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"anamnesis/internal/note"

	"github.com/google/go-cmp/cmp"
)

func TestNewID(t *testing.T) {
	now := time.Date(2026, 7, 2, 8, 15, 0, 0, time.UTC)
	last := note.NewID(now)
	for range 10000 {
		id := note.NewID(now)
		if id <= last {
			t.Fatalf("%s follows %s", id, last)
		}
		last = id
	}
	if _, err := note.ParseID(string(last)); err != nil || len(last) != 26 {
		t.Errorf("NewID makes %q: %v", last, err)
	}
	if id := note.NewID(time.Time{}); id[:10] != "0000000000" {
		t.Errorf("NewID of no time is %s", id)
	}

	var mu sync.Mutex
	seen := make(map[note.ID]bool)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 500 {
				id := note.NewID(now)
				mu.Lock()
				if seen[id] {
					t.Errorf("%s twice", id)
				}
				seen[id] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

func TestEpisodicID(t *testing.T) {
	start := time.Date(2026, 7, 2, 8, 15, 0, 0, time.UTC)
	// Worked out apart from the code: base 32 of the milliseconds and of SHA-256("claude\x00s1").
	id := note.EpisodicID(start, "claude", "s1")
	if want := note.ID("01KWGYAFX08ZPYYH9N2P76M4GG"); id != want {
		t.Errorf("got %s, want %s", id, want)
	}
	if again := note.EpisodicID(start.In(time.FixedZone("x", 3600)), "claude", "s1"); again != id {
		t.Errorf("one session has the ids %s and %s", id, again)
	}
	if want := note.NewID(start)[:10]; id[:10] != want || len(id) != 26 {
		t.Errorf("got %s, want the time %s", id, want)
	}
	for _, other := range []note.ID{
		note.EpisodicID(start, "codex", "s1"), note.EpisodicID(start, "claude", "s2"), note.EpisodicID(time.Time{}, "claude", "s1"),
	} {
		if other == id {
			t.Errorf("two sessions have the id %s", id)
		}
	}
	if got := note.EpisodicID(time.Time{}, "claude", "s1"); got[:10] != "0000000000" || got[10:] != id[10:] {
		t.Errorf("without a start: %s", got)
	}
}

func TestParseID(t *testing.T) {
	for _, s := range []string{"a", "x", "01TEST", "A_b-9", "console", "com10", strings.Repeat("a", 128)} {
		if id, err := note.ParseID(s); err != nil || string(id) != s {
			t.Errorf("%q: %v", s, err)
		}
	}
	for _, s := range []string{"", ".", "..", "a/b", `a\b`, "a.b", ".a", "a b", "é", "a\x00", "con", "NUL", "Com1", "lpt9", strings.Repeat("a", 129)} {
		if _, err := note.ParseID(s); err == nil {
			t.Errorf("%q is accepted", s)
		}
	}
}

func valid() *note.Note {
	return &note.Note{
		ID: "n1", Type: note.Semantic, Title: "T", Scope: note.Portable,
		Provenance: note.Provenance{Source: note.Human, Confidence: 1},
	}
}

func TestValidate(t *testing.T) {
	tests := []struct {
		change func(*note.Note)
		old    string // what Validate says, empty for nothing
		fresh  string // what ValidateNew says
	}{
		{func(*note.Note) {}, "", ""},
		{func(n *note.Note) { n.ID = "a/b" }, "id: ", "id: "},
		{func(n *note.Note) { n.Type = "x" }, "type: ", "type: "},
		{func(n *note.Note) { n.Scope = "" }, "scope: ", "scope: "},
		{func(n *note.Note) { n.Title = " \n" }, "title: is empty", "title: is empty"},
		{func(n *note.Note) { n.Title = "a\nb" }, "", "title: must be one line"},
		{func(n *note.Note) { n.Title = strings.Repeat("é", note.MaxTitle+1) }, "title: is longer", "title: is longer"},
		{func(n *note.Note) { n.Body = strings.Repeat("a", note.MaxBody+1) }, "body: is larger", "body: is larger"},
		{func(n *note.Note) { n.Body = "a\x00" }, "body: holds a NUL", "body: holds a NUL"},
		{func(n *note.Note) { n.Tags = []string{"\xff"} }, "tags: is not UTF-8", "tags: is not UTF-8"},
		{func(n *note.Note) { n.Provenance.Confidence = math.NaN() }, "confidence: ", "confidence: "},
		{func(n *note.Note) { n.Provenance.Confidence = 1.01 }, "confidence: ", "confidence: "},
		{func(n *note.Note) { n.Provenance.Source = "" }, "prov_source: is empty", "prov_source: is empty"},
		{func(n *note.Note) { n.Provenance.Source = "robot" }, "", `prov_source: "robot" is not one of human`},
		{func(n *note.Note) { n.Kind = "robot" }, "", "kind: "},
		{func(n *note.Note) { n.Supersedes = []note.ID{"a b"} }, "", "supersedes: "},
		{func(n *note.Note) { n.CreatedAt = "soon" }, "", "created_at: "},
		{func(n *note.Note) { n.Evidence = []note.Evidence{{Quote: strings.Repeat("x", 201)}} }, "", "evidence: "},
		{func(n *note.Note) { n.Extra = []note.Field{{Key: "tags", Raw: "tags:\n"}} }, "tags: is a known key", "tags: is a known key"},
		{func(n *note.Note) { n.Problem = strings.Repeat("x", 256<<10) }, "would be larger than 256 KB", "would be larger than 256 KB"},
	}
	for i, tt := range tests {
		n := valid()
		tt.change(n)
		for what, err := range map[string][2]string{
			"Validate":    {fmt.Sprint(n.Validate()), tt.old},
			"ValidateNew": {fmt.Sprint(n.ValidateNew()), tt.fresh},
		} {
			if want := err[1]; want == "" && err[0] != "<nil>" || !strings.Contains(err[0], want) {
				t.Errorf("case %d: %s says %q, want %q", i, what, err[0], want)
			}
		}
	}
}

func TestLive(t *testing.T) {
	now := time.Date(2026, 7, 2, 0, 0, 0, 0, time.UTC)
	tests := []struct {
		n    note.Note
		want bool
	}{
		{note.Note{}, true},
		{note.Note{Status: "active"}, true},
		{note.Note{Status: "archived"}, false},
		{note.Note{Status: "expired"}, false},
		{note.Note{Quarantine: true}, false},
		{note.Note{ForgetAfter: "2026-07-02"}, false},
		{note.Note{ForgetAfter: "2026-07-02T00:00:01Z"}, true},
		{note.Note{ForgetAfter: "some day"}, true},
	}
	for _, tt := range tests {
		if got := tt.n.Live(now); got != tt.want {
			t.Errorf("status %q, forget_after %q, quarantine %v: got %v", tt.n.Status, tt.n.ForgetAfter, tt.n.Quarantine, got)
		}
	}
}

func TestCloneAndEqual(t *testing.T) {
	n := mustParse(t, "---\n"+head+"tags: [a]\nsupersedes: [b]\nevidence:\n- session: s\n- session: s\n- session: t\nfoo: 1\n---\n")
	c := n.Clone()
	if !note.Equal(n, c) || cmp.Diff(n, c) != "" {
		t.Errorf("the clone differs: %s", cmp.Diff(n, c))
	}
	if n.Sessions() != 2 {
		t.Errorf("got %d sessions, want 2", n.Sessions())
	}
	c.Tags[0], c.Supersedes[0], c.Evidence[0].Session, c.Extra[0].Raw = "x", "x", "x", "x"
	if n.Tags[0] != "a" || n.Supersedes[0] != "b" || n.Evidence[0].Session != "s" || n.Extra[0].Raw != "foo: 1\n" {
		t.Error("the clone shares memory with the note")
	}
	if note.Equal(n, c) {
		t.Error("different notes are equal")
	}
	if c.HasTag("a") || !c.AddTags("a", "", "a") || c.AddTags("a") || !slices.Equal(c.Tags, []string{"x", "a"}) {
		t.Errorf("tags are %q", c.Tags)
	}
}

func TestSidecar(t *testing.T) {
	const page = `document_id: 01K2M3N4P5Q6R7S8T9V0W1X2Y3
extracted_at: '2026-07-02T08:15:00+00:00'
entities:
- name: recalcTax
  type: function
  description: computes the tax of a cart
relationships:
- source: double call
  target: EU VAT rounding
  type: caused_by
  description: the second call hides the rounding error
  strength: 5
  tcommit: '2026-07-02T08:15:00+00:00'
  tvalid: '2026-06-01T00:00:00+00:00'
  tvalid_end: '2026-09-01T00:00:00+00:00'
`
	s, warnings, err := note.ParseSidecar([]byte(page))
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	if d := cmp.Diff(page, string(note.FormatSidecar(s))); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestSidecarIsTolerant(t *testing.T) {
	const data = `extracted_at: 2026-07-02T08:15:00Z
surprise: [1]
entities:
- {name: a, type: gadget}
- name: b
- type: tool
- text
relationships:
  - {source: a, target: b, type: frobnicates}
  - {source: a, target: b, type: CAUSES}
  - {from: a, to: b, type: causes}
  - {target: b, type: causes}
  - {source: a, target: b, type: solves, strength: eleven}
  - {source: a, target: b, type: uses, tvalid: 2026-02-01, tvalid_end: 2026-01-01}
`
	s, warnings, err := note.ParseSidecar([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	want := &note.Sidecar{
		ExtractedAt: "2026-07-02T08:15:00Z",
		Entities:    []note.Entity{{Name: "a", Type: note.Concept}, {Name: "b", Type: note.Concept}},
		Edges: []note.Edge{
			{Source: "a", Target: "b", Relation: note.Solves, Strength: 5},
			{Source: "a", Target: "b", Relation: note.Uses, Strength: 5, Valid: "2026-02-01"},
		},
	}
	if d := cmp.Diff(want, s); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	text := fmt.Sprint(warnings)
	for _, want := range []string{
		"line 4", `unknown type "gadget"`, "without a name", "not a mapping", `"frobnicates"`, `"CAUSES"`, `write "source" and "target"`,
		`without "source"`, `"eleven"`, "precedes",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no warning about %s in %s", want, text)
		}
	}
	for _, empty := range []string{"", "# nothing\n", "entities:\nrelationships: []\n"} {
		if s, warnings, err := note.ParseSidecar([]byte(empty)); err != nil || len(warnings) > 0 || len(s.Entities) > 0 {
			t.Errorf("%q: %v %v %v", empty, s, warnings, err)
		}
	}
	for _, bad := range []string{"- a\n", "a: [\n", "text\n", "\xff"} {
		if _, _, err := note.ParseSidecar([]byte(bad)); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
	if len(note.Relations) != 14 {
		t.Errorf("the closed set has %d relations", len(note.Relations))
	}
}

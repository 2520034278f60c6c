package repo

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/note"

	"pgregory.net/rapid"
)

// A model of a note under change: what each side did to it.
func draw(t *rapid.T, label string, was *note.Note, at string) *note.Note {
	n := was.Clone()
	for _, what := range rapid.SliceOfN(rapid.SampledFrom([]string{"title", "body", "tag", "status", "paragraph"}), 0, 3).Draw(t, label) {
		value := fmt.Sprintf("%s %s %d", label, what, rapid.IntRange(0, 3).Draw(t, label+what))
		switch what {
		case "title":
			n.Title = value
		case "body":
			n.Body = value
		case "tag":
			n.AddTags(strings.ReplaceAll(value, " ", "-"))
		case "status":
			n.Status = "archived"
		case "paragraph":
			n.Body += "\n\n" + value
		}
		n.UpdatedAt = note.Stamp(at)
	}
	return n
}

// Whatever this machine and the team did: the merge is a note that may be shared, an
// offer that is repeated changes nothing, what one side alone changed is there, and
// what both changed is named.
func TestJoinProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := &note.Note{
			ID: "n1", Type: note.Semantic, Title: "Port of the proxy", Body: "It is 8080.\n\nSee the chart.", Project: "p", MachineID: "m",
			Scope: note.Portable, UserID: "self", WorkspaceID: "w", Provenance: note.Provenance{Source: note.Human, Confidence: 1},
			CreatedAt: "2026-01-01T00:00:00+00:00", UpdatedAt: "2026-01-01T00:00:00+00:00", Tags: []string{"a"},
		}
		early, late := "2026-02-01T00:00:00+00:00", "2026-03-01T00:00:00+00:00"
		if rapid.Bool().Draw(t, "swap") {
			early, late = late, early
		}
		mine, team := draw(t, "mine", base, early), draw(t, "team", base, late)
		of := func(n *note.Note) form { return formOf(Document{Data: n.Format()}, n) }
		was, ours, theirs := of(base), of(mine), of(team)

		j := join("n1", was, ours, theirs)
		if j.why != "" || j.declined {
			t.Fatalf("it is held: %q %v", j.why, j.declined)
		}
		got, err := note.Parse(j.note)
		if err != nil || admissible(got, "n1") != "" {
			t.Fatalf("the merge is no note for a team: %v", err)
		}
		// After the push this machine's form is the base, or is not known because of a crash.
		for name, b := range map[string]form{"known": ours, "crashed": was} {
			if again := join("n1", b, ours, j.form); !again.equal(j.form) {
				t.Fatalf("offered again (%s) it becomes\n%s\nand was\n%s", name, again.note, j.note)
			}
		}
		// A later change of the team stays although this machine never took it in.
		later := draw(t, "later", got, "2026-04-01T00:00:00+00:00")
		if kept := join("n1", ours, ours, of(later)); !kept.equal(of(later)) {
			t.Fatalf("a change of the team was taken back:\n%s\nwas\n%s", kept.note, later.Format())
		}
		if !slices.Contains(j.both, "title") {
			want := base.Title
			if mine.Title != base.Title {
				want = mine.Title
			} else if team.Title != base.Title {
				want = team.Title
			}
			if got.Title != want {
				t.Fatalf("the title is %q, want %q", got.Title, want)
			}
		}
		if mine.Title != base.Title && team.Title != base.Title && mine.Title != team.Title && !slices.Contains(j.both, "title") {
			t.Fatal("both changed the title, and it is not named")
		}
		for _, tag := range append(slices.Clone(mine.Tags), team.Tags...) {
			if !got.HasTag(tag) {
				t.Fatalf("the tag %s is lost", tag)
			}
		}
	})
}

func TestJoinAbsent(t *testing.T) {
	ours := form{[]byte("a"), []byte("b")}
	if j := join("n1", form{}, ours, form{}); j.declined || !j.equal(ours) {
		t.Errorf("a new note: %+v", j)
	}
	if j := join("n1", ours, ours, form{}); !j.declined || j.note != nil {
		t.Errorf("what was not taken: %+v", j)
	}
	if j := join("n1", form{[]byte("old"), nil}, ours, form{}); j.declined || !j.equal(ours) {
		t.Errorf("what was not taken and changed: %+v", j)
	}
}

func TestHosted(t *testing.T) {
	for _, c := range []struct{ remote, name, project string }{
		{"https://github.com/a/b.git", "github.com", "a/b"},
		{"https://ada:pw@GitHub.com/a/b/", "github.com", "a/b"},
		{"ssh://git@gitlab.example.org:2222/a/sub/b.git", "gitlab.example.org", "a/sub/b"},
		{"git@github.com:a/b.git", "github.com", "a/b"},
		{"work:a/b", "work", "a/b"},
		{"/srv/team.git", "", ""},
		{"team.git", "", ""},
		{"https://github.com/a", "", ""},
		{"https://github.com/a/b;id", "", ""},
		{"https://github.com/--x/b", "", ""},
		{"git@-o:a/b", "", ""},
		{"file:///srv/a/b", "", ""},
	} {
		if name, project := hosted(c.remote); name != c.name || project != c.project {
			t.Errorf("%s: %q %q, want %q %q", c.remote, name, project, c.name, c.project)
		}
	}
}

func TestSlug(t *testing.T) {
	for in, want := range map[string]string{
		"Use tabs, not spaces!": "use-tabs-not-spaces", "../../etc": "etc", "日本": "note", "": "note", "--x": "x",
		strings.Repeat("ab ", 40): "ab-ab-ab-ab-ab-ab-ab",
	} {
		if got := slug(in, 21); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

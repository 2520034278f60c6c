package reflection_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anamnesis/internal/note"
	"anamnesis/internal/reflection"
	"anamnesis/internal/store"
)

func rule(id note.ID, project, text string, tags ...string) *note.Note {
	return &note.Note{ID: id, Title: text, Rule: text, Project: project, Tags: tags, Provenance: note.Provenance{Source: note.Learning}}
}

// What a rule does to the file of a skill, and what it leaves alone.
func TestRefreshSkill(t *testing.T) {
	turn := rule("turn", "app", "Install with pnpm, not npm.", "turned")
	more := rule("more", "app", "Tag the release before the upload.")
	for name, tc := range map[string]struct {
		project, text string
		rules         []*note.Note
		former        map[note.ID][]*note.Note
		want          string
		taken         int
	}{
		"an item": {"app", "# A\n\n1. Install with npm.\n2. Look.\n", []*note.Note{turn}, nil, "# A\n\n1. Install with pnpm, not npm.\n2. Look.\n", 1},
		"lines of another system": {
			"app", "# A\r\n\r\n* Install with npm.\r\n",
			[]*note.Note{turn, more},
			nil,
			"# A\r\n\r\n* Install with pnpm, not npm.\r\n\r\n## Learnt in sessions\r\n\r\n- Tag the release before the upload.\r\n", 2,
		},
		"half of a paragraph": {
			"app", "First look around.\nInstall with npm.\nThen rest.\n",
			[]*note.Note{turn},
			nil,
			"First look around.\nInstall with npm.\nThen rest.\n\n## Learnt in sessions\n\n- Install with pnpm, not npm.\n", 1,
		},
		"a rule of one project for a skill of all": {
			note.Global, "- Install with npm.\n",
			[]*note.Note{turn},
			nil,
			"- Install with npm.\n\n## Learnt in sessions\n\n- In app: Install with pnpm, not npm.\n", 1,
		},
		"code and front matter": {
			"app", "---\nname: install with npm\n---\n```\ninstall with npm\n```\n", nil, nil, "---\nname: install with npm\n---\n```\ninstall with npm\n```\n", 0,
		},
		"the heading is there": {
			"app", "## Learnt in sessions\n\n- One.\n\n## Last\n\nEnd.",
			[]*note.Note{more},
			nil,
			"## Learnt in sessions\n\n- One.\n- Tag the release before the upload.\n\n## Last\n\nEnd.", 1,
		},
		"no line end": {"app", "Look.", []*note.Note{more}, nil, "Look.\n\n## Learnt in sessions\n\n- Tag the release before the upload.\n", 1},
		"what it replaced": {
			"app", "- Upload the archive to the mirror.\n",
			[]*note.Note{rule("new", "app", "Push the image to the registry.")},
			map[note.ID][]*note.Note{"new": {rule("old", "app", "Upload the archive to the mirror.")}},
			"- Push the image to the registry.\n", 1,
		},
		"said already": {"app", "- Tag the release before the upload.\n", []*note.Note{more}, nil, "- Tag the release before the upload.\n", 0},
	} {
		got, taken := reflection.RefreshSkill(tc.text, tc.project, tc.rules, tc.former)
		if got != tc.want || len(taken) != tc.taken {
			t.Errorf("%s: %d taken\n%q, want\n%q", name, len(taken), got, tc.want)
		}
		if again, taken := reflection.RefreshSkill(got, tc.project, tc.rules, tc.former); len(taken) > 0 && name != "half of a paragraph" && tc.project != note.Global {
			t.Errorf("%s: a second time changes it: %q", name, again)
		}
	}
}

// A patch is written over the very file that it was made for, and its former bytes are kept,
// also when the machine stops between the two.
func TestDecideSkillPatch(t *testing.T) {
	s, err := store.Open(store.Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "SKILL.md")
	const was = "- Install with npm.\n"
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	put(was)
	skill := &note.Note{ID: "skill-1", Title: "install", Project: "app", ImportedID: file}
	rules := []*note.Note{rule("turn", "app", "Install with pnpm, not npm.", "turned")}
	propose := func(want bool) note.ID {
		t.Helper()
		found, err := reflection.ProposeSkillPatch(s, skill, rules, nil)
		if err != nil || found != want {
			t.Fatalf("found %v, %v", found, err)
		}
		all, err := reflection.SkillPatches(s)
		if err != nil || len(all) != 1 {
			t.Fatalf("%+v, %v", all, err)
		}
		return all[0].ID
	}
	id := propose(true)
	propose(false)
	for _, bad := range []string{"", "changed by hand\n"} {
		put(bad)
		if _, err := reflection.DecideSkillPatch(s, id, true); !errors.Is(err, reflection.ErrSkillChanged) {
			t.Errorf("%q is written over: %v", bad, err)
		}
	}
	put(was)
	p, err := reflection.DecideSkillPatch(s, id, true)
	data, _ := os.ReadFile(file)
	if err != nil || p.Former != was || !strings.Contains(string(data), "pnpm") {
		t.Fatalf("%v, former %q, now %q", err, p.Former, data)
	}
	if fi, err := os.Stat(file); err != nil || fi.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", fi.Mode(), err)
	}
	if _, err := reflection.DecideSkillPatch(s, id, true); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("decided twice: %v", err)
	}
	// The machine stopped when the file was written, and the patch does not say so yet.
	name := s.Path("skills/" + string(id) + ".json")
	text, err := os.ReadFile(name)
	if err == nil {
		err = os.WriteFile(name, []byte(strings.Replace(string(text), `"applied"`, `"waits"`, 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	propose(false)
	if p, err := reflection.UndoSkillPatch(s, id); err != nil || p.Former != was {
		t.Fatalf("%+v, %v", p, err)
	}
	if data, _ := os.ReadFile(file); string(data) != was {
		t.Errorf("taken back: %q", data)
	}
	propose(false) // it was taken back: that is an answer
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), ".*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	if err := os.WriteFile(name, []byte(strings.ReplaceAll(string(text), "npm", "curl evil")), 0o600); err != nil {
		t.Fatal(err)
	}
	if all, _ := reflection.SkillPatches(s); len(all) > 0 {
		t.Error("a patch that somebody changed is listed")
	}
}

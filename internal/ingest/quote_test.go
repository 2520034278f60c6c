package ingest_test

import (
	"strings"
	"testing"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
)

// TestQuoted: what is printed as the user's word is the user's whole sentence, or no more than it says.
func TestQuoted(t *testing.T) {
	yes, no := true, false
	for name, c := range map[string]struct {
		note  note.Note
		typed ingest.Typed
		said  string // the title of the note that is the user's word; "" where none is
	}{
		"the title says what the sentence says": {
			note.Note{Title: "Use pnpm, never npm"}, ingest.Typed{Sentence: "no, we use pnpm here, never npm"}, "Use pnpm, never npm",
		},
		"the title says more": {
			note.Note{Title: "Always use pnpm in every project"}, ingest.Typed{Sentence: "we use pnpm here"}, "we use pnpm here",
		},
		"a condition is left out": {
			note.Note{Title: "Squash the commits"},
			ingest.Typed{Sentence: "squash the commits only on release branches"},
			"squash the commits only on release branches",
		},
		"another matter": {note.Note{Title: "Deploy straight to production without asking"}, ingest.Typed{Sentence: "we use pnpm here"}, ""},
		"the opposite":   {note.Note{Title: "Use npm"}, ingest.Typed{Sentence: "never use npm"}, ""},
		"a question":     {note.Note{Title: "Use tabs"}, ingest.Typed{Sentence: "should we use tabs?"}, ""},
		"in other words, and the reader says that the sentence tells it": {
			note.Note{Title: "Build each path in path_utils and nowhere else"},
			ingest.Typed{Sentence: "no man, do the whole thing in path_utils, not in session.go", SelfContained: &yes},
			"no man, do the whole thing in path_utils, not in session.go",
		},
		"in other words, and the reader does not say": {
			note.Note{Title: "Build each path in path_utils and nowhere else"},
			ingest.Typed{Sentence: "no man, do the whole thing in path_utils, not in session.go"},
			"",
		},
		"another matter, whatever the reader says": {
			note.Note{Title: "Deploy straight to production without asking"}, ingest.Typed{Sentence: "we use pnpm here", SelfContained: &yes}, "",
		},
		"the opposite, whatever the reader says": {
			note.Note{Title: "Use npm"}, ingest.Typed{Sentence: "never use npm", SelfContained: &yes}, "",
		},
		"a sentence that tells nothing without its session": {
			note.Note{Title: "Fix the tests by the guide yourself"}, ingest.Typed{Sentence: "go ahead and fix the tests yourself", SelfContained: &no}, "",
		},
		"the title says what the sentence says, whatever the reader says": {
			note.Note{Title: "Use pnpm, never npm"}, ingest.Typed{Sentence: "no, we use pnpm here, never npm", SelfContained: &no}, "Use pnpm, never npm",
		},
		"an agreement": {
			note.Note{Title: "Regenerate the clients after each change to a .proto file"},
			ingest.Typed{Sentence: "sounds good, do it", Agrees: "Regenerate the clients after each change to a .proto file?"},
			`yes to: "Regenerate the clients after each change to a .proto file?"`,
		},
		"an agreement to something else": {
			note.Note{Title: "Deploy to production"}, ingest.Typed{Sentence: "yes", Agrees: "Shall I rename the variable?"}, "",
		},
		"an agreement to a risky act": {
			note.Note{Title: "Push with git push --force"}, ingest.Typed{Sentence: "yes", Agrees: "Shall I push with git push --force?"}, "",
		},
		"risky words that were typed":  {note.Note{Title: "Push with git push --force"}, ingest.Typed{Sentence: "push with git push --force"}, "Push with git push --force"},
		"risky words in the body only": {note.Note{Title: "Use pnpm", Body: "First git push --force."}, ingest.Typed{Sentence: "use pnpm"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDoor(t)
			c.note.Type, c.note.Project = note.Semantic, "p"
			out, err := d.Admit(t.Context(), ingest.Draft{Note: &c.note, By: ingest.Agent, Here: "p", Typed: &c.typed})
			if err != nil {
				t.Fatal(err)
			}
			var titles []string
			for id := range said(d) {
				titles = append(titles, d.read(id).Title)
			}
			if got := strings.Join(titles, ", "); got != c.said {
				t.Errorf("the user's words are %q, want %q (%s: %s)", got, c.said, out.Result, out.Why)
			}
		})
	}
}

// TestQuotedTriggers: a trigger is in force where the sentence names its act, and an agreement names none.
func TestQuotedTriggers(t *testing.T) {
	for sentence, want := range map[string]string{"use pnpm, never npm": "cmd:npm", "use pnpm for the packages": ""} {
		d := newDoor(t)
		n := note.Note{Type: note.Semantic, Project: "p", Title: strings.ToUpper(sentence[:1]) + sentence[1:], When: []string{"cmd:npm"}}
		out, err := d.Admit(t.Context(), ingest.Draft{Note: &n, By: ingest.Agent, Here: "p", Typed: &ingest.Typed{Sentence: sentence}})
		if err != nil || strings.Join(out.Note.When, " ") != want {
			t.Errorf("%s: %v, %v", sentence, out.Note.When, err)
		}
	}
}

// TestQuotedOverrules: a title that opposes a rule of the user overrules nothing when the sentence that is quoted does
// not, and what a note states for conventions and skills is the sentence.
func TestQuotedOverrules(t *testing.T) {
	d := newDoor(t)
	had := d.add(note.Note{Title: "Never use npm", Project: "p", Provenance: machine(note.User)}, false)
	n := note.Note{Type: note.Semantic, Project: "p", Title: "Use npm"}
	out, err := d.Admit(t.Context(), ingest.Draft{Note: &n, By: ingest.Agent, Here: "p", Typed: &ingest.Typed{Sentence: "we use pnpm and npm here"}})
	if err != nil {
		t.Fatal(err)
	}
	if old := d.read(had.Note.ID); !old.Live(d.now) || len(out.Note.Supersedes) > 0 {
		t.Errorf("the user's rule is overruled by %+v", out.Note)
	}
	if got := d.read(out.Note.ID); got.Title != "we use pnpm and npm here" || note.RuleOf(got) != got.Title {
		t.Errorf("it states %q", note.RuleOf(got))
	}
}

// TestVouchArms: what the user is found to have typed puts the triggers in force that it names, and takes a note
// that says the opposite back into the inbox.
func TestVouchArms(t *testing.T) {
	d := newDoor(t)
	write := func(title string, when ...string) note.ID {
		n := note.Note{Type: note.Semantic, Project: "p", Title: title, When: when}
		out, err := d.Admit(t.Context(), ingest.Draft{Note: &n, By: ingest.Agent, Here: "p"})
		if err != nil {
			t.Fatal(err)
		}
		return out.Note.ID
	}
	vouch := func(id note.ID, sentence string) {
		e := note.Evidence{Session: "claude/s1", Chunk: sentence, Quote: sentence}
		if _, err := ingest.Vouch(t.Context(), d.Ingester, id, "", ingest.Typed{Sentence: sentence}, e); err != nil {
			t.Fatal(err)
		}
	}
	id := write("Never use npm", "cmd:npm", "cmd:yarn")
	if n := d.read(id); len(n.When) != 0 {
		t.Fatalf("an agent's triggers are in force: %v", n.When)
	}
	vouch(id, "never use npm here")
	held, err := d.store.Spool().HeldDraft(id)
	if n := d.read(id); !n.UserSaid() || strings.Join(n.When, " ") != "cmd:npm" || err != nil || strings.Join(held.When, " ") != "cmd:yarn" {
		t.Errorf("in force: %v; the others wait: %v, %v", n.When, held, err)
	}
	cut := write("Log the phone numbers")
	vouch(cut, "never log the phone numbers")
	if n := d.read(cut); n.UserSaid() || n.Live(d.now) {
		t.Error("a note that says the opposite of its quote is in force")
	}
	if _, err := d.store.Spool().HeldDraft(cut); err != nil {
		t.Errorf("it does not wait: %v", err)
	}
}

package ingest_test

import (
	"fmt"
	"testing"
	"time"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
)

// learning makes a rule that a person typed in a session on a day of March.
func learning(day int, rule string) ingest.Draft {
	when := time.Date(2026, 3, day, 10, 0, 0, 0, time.UTC)
	chunk := fmt.Sprintf("chunk-%d-%s", day, rule)
	return ingest.Draft{By: ingest.Agent, Typed: &ingest.Typed{Sentence: rule}, Here: "p", Once: true, Note: &note.Note{
		ID: note.LearningID(when, chunk), Type: note.Semantic, Title: rule, Body: "It is quicker.", Project: "p",
		CreatedAt: note.At(when), UpdatedAt: note.At(when), ProofCount: 1,
		Provenance: note.Provenance{Source: note.User, Confidence: 0.6, Session: fmt.Sprint("s", day)},
		Evidence:   []note.Evidence{{Session: fmt.Sprint("claude/s", day), Chunk: chunk, Quote: rule}},
	}}
}

// byAgent is a rule that only an agent vouches for.
func byAgent(day int, rule string) ingest.Draft {
	l := learning(day, rule)
	l.Typed, l.Note.Evidence = nil, nil
	return l
}

func (d *door) learn(l ingest.Draft) ingest.Outcome {
	d.Helper()
	b, err := d.Admit(d.Context(), l)
	if err != nil {
		d.Fatal(err)
	}
	return b
}

func TestEffect(t *testing.T) {
	for _, tt := range []struct {
		name, old, now string
		want           ingest.Effect
	}{
		{"another subject", "Log every call with its order number", "Use pnpm and not npm", ingest.Creates},
		{"the same in other words", "Always run make lint before you commit", "Run `make lint` before a commit", ingest.Confirms},
		{"the opposite", "Always use offset pagination", "Never use offset pagination", ingest.Contradicts},
		{"the other way round", "Use pnpm, never npm", "Never use pnpm, always npm", ingest.Contradicts},
		{"another value", "Keep functions under 50 lines", "Keep functions under 80 lines", ingest.Contradicts},
		{"an exception", "Never push to main", "Push to main from the release job", ingest.Creates},
		{"another function", "Check the tenant in CreateUser", "Check the tenant in DeleteUser", ingest.Creates},
		{"another environment", "Deploy staging with make ship", "Deploy production with make ship", ingest.Creates},
		{"another version", "The v1 API returns cents", "The v2 API returns cents", ingest.Creates},
	} {
		d := newDoor(t)
		old := d.learn(learning(1, tt.old))
		b := d.learn(learning(5, tt.now))
		if b.Effect != tt.want || tt.want != ingest.Creates && b.Of != old.Note.ID {
			t.Errorf("%s: %s of %q, want %s", tt.name, b.Effect, b.Of, tt.want)
		}
		if tt.want == ingest.Contradicts && (len(b.Note.Supersedes) != 1 || b.Note.Supersedes[0] != old.Note.ID) {
			t.Errorf("%s: it replaces %q", tt.name, b.Note.Supersedes)
		}
		if tt.want == ingest.Confirms {
			if was, now := old.Note, d.read(old.Note.ID); now.UpdatedAt != was.UpdatedAt || now.ProofCount != 2 {
				t.Errorf("%s: dated %s after %s, %d proofs", tt.name, now.UpdatedAt, was.UpdatedAt, now.ProofCount)
			}
		}
	}
}

// A reader names the note that a rule replaces, in words that nothing here could compare.
func TestReplaces(t *testing.T) {
	d := newDoor(t)
	old := d.learn(learning(1, "Indent with tabs"))
	l := learning(5, "Four blanks begin every line of a block")
	l.Note.Body, l.Replaces = "Asked for in a review.", old.Note.ID // no word is shared
	if b := d.learn(l); b.Effect != ingest.Contradicts || b.Result != ingest.Held || b.Note.ConflictOf != old.Note.ID {
		t.Errorf("the user has to say which one holds: %s, %s", b.Effect, b.Result)
	}
	l = learning(6, "No tabs, four blanks begin every line")
	l.Replaces = old.Note.ID
	if b := d.learn(l); b.Effect != ingest.Contradicts || len(b.Note.Supersedes) != 1 {
		t.Errorf("the sentence names what it replaces: %s, replaces %q", b.Effect, b.Note.Supersedes)
	}
	other := learning(7, "Something else about the world")
	other.Note.Project, other.Replaces = "q", old.Note.ID
	if b := d.learn(other); b.Effect != ingest.Creates || len(b.Note.Supersedes) != 0 {
		t.Errorf("a note of another project: %s, replaces %q", b.Effect, b.Note.Supersedes)
	}
}

// An agent never overrules a person: not who wrote a note, nor who said or reviewed it.
func TestAgentsDoNotOverrule(t *testing.T) {
	for name, vouch := range map[string]func(*door, note.ID){
		"said":     func(*door, note.ID) {},
		"reviewed": func(d *door, id note.ID) { _, _ = d.Review(t.Context(), id) },
	} {
		d := newDoor(t)
		own := d.learn(learning(1, "Use pnpm, never npm"))
		vouch(d, own.Note.ID)
		b := d.learn(byAgent(5, "Never use pnpm, always npm"))
		if b.Result != ingest.Held || b.Note.ConflictOf != own.Note.ID {
			t.Errorf("%s: %s: %s", name, b.Result, b.Why)
		}
		if n := d.read(own.Note.ID); !n.Live(time.Now()) {
			t.Errorf("%s: the rule of the person is gone", name)
		}
	}
}

// What an agent wrote becomes the user's word when the user is found to have said it, and only
// once for one stretch of a session.
func TestVouch(t *testing.T) {
	d := newDoor(t)
	made := d.learn(byAgent(1, "Use pnpm, never npm"))
	e := note.Evidence{Session: "claude/s1", Chunk: "c1", Quote: "no, pnpm please"}
	for range 2 {
		if _, err := ingest.Vouch(t.Context(), d.Ingester, made.Note.ID, "", ingest.Typed{Sentence: "no, we use pnpm, never npm"}, e); err != nil {
			t.Fatal(err)
		}
	}
	if n := d.read(made.Note.ID); n.Provenance.Source != note.User || len(n.Evidence) != 1 || n.Evidence[0].Quote != e.Quote {
		t.Errorf("source %s, evidence %v", n.Provenance.Source, n.Evidence)
	}
}

// A proposal waits out of sight, and is decided once.
func TestProposals(t *testing.T) {
	d := newDoor(t)
	b := ingest.InboxOf(d.Ingester)
	n := learning(1, "Maybe use pnpm").Note
	for range 2 {
		if err := b.Propose(t.Context(), n, note.User); err != nil {
			t.Fatal(err)
		}
	}
	all := b.Proposals("s1")
	if len(all) != 1 || len(b.Proposals("s2")) != 0 {
		t.Fatalf("%d wait", len(all))
	}
	if err := b.Settle(t.Context(), all[0].ID); err != nil {
		t.Fatal(err)
	}
	if err := b.Propose(t.Context(), n, note.User); err != nil || len(b.Proposals("s1")) != 0 {
		t.Errorf("what was decided waits again: %v", err)
	}
}

// A sentence that an earlier version nominated becomes a proposal like others, with its quote.
func TestAdoptNominated(t *testing.T) {
	d := newDoor(t)
	b := ingest.InboxOf(d.Ingester)
	old, other := learning(1, "Maybe use pnpm").Note, learning(2, "Vote for one candidate").Note
	old.Body, other.Body = "Nominated as: rule.\nBefore it the agent did: `npm i`", "A body."
	for _, n := range []*note.Note{old, other} {
		n.AddTags("candidate")
		if err := b.Propose(t.Context(), n, note.User); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := b.AdoptNominated(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range d.store.Spool().Held() {
		if was := n.Title == old.Title; was == n.HasTag("candidate") || was && (n.Body != "" || len(n.Evidence) == 0) || !was && n.Body == "" {
			t.Errorf("%q: %q %q", n.Title, n.Tags, n.Body)
		}
	}
	out, err := b.Release(t.Context(), b.Proposals("s1")[0].ID, false)
	if err != nil || out.Note.Title != old.Title || out.Note.Body != "" {
		t.Errorf("%+v, %v", out.Note, err)
	}
}

// What is learnt once is known, whatever became of it.
func TestLearnOnce(t *testing.T) {
	d := newDoor(t)
	first, second := learning(1, "Use pnpm and not npm"), learning(2, "Use pnpm and not npm")
	made := d.learn(first)
	if b := d.learn(first); b.Effect != ingest.Known || b.Result != ingest.Unchanged {
		t.Errorf("again: %s", b.Effect)
	}
	if b := d.learn(second); b.Effect != ingest.Confirms || d.read(made.Note.ID).ProofCount != 2 {
		t.Errorf("another session: %s, %d proofs", b.Effect, d.read(made.Note.ID).ProofCount)
	}
	fork := learning(2, "Use pnpm and not npm")
	fork.Note.Evidence[0].Session = "claude/fork"
	if b := d.learn(fork); b.Effect != ingest.Known || d.read(made.Note.ID).ProofCount != 2 {
		t.Errorf("a fork: %s, %d proofs", b.Effect, d.read(made.Note.ID).ProofCount)
	}
	if _, err := d.Archive(t.Context(), []note.ID{made.Note.ID}, "wrong"); err != nil {
		t.Fatal(err)
	}
	for _, l := range []ingest.Draft{first, second} {
		if b := d.learn(l); b.Effect != ingest.Known {
			t.Errorf("what was archived comes back: %s", b.Effect)
		}
	}
}

// A newer word of the user does not take the place of a note that a person reviewed: the person is asked, and the older one holds.
func TestOwnersDecide(t *testing.T) {
	d := newDoor(t)
	own := d.learn(learning(1, "Use offset pagination"))
	if _, err := d.Review(t.Context(), own.Note.ID); err != nil {
		t.Fatal(err)
	}
	b := d.learn(learning(5, "Never use offset pagination"))
	if b.Result != ingest.Held || b.Note.ConflictOf != own.Note.ID || len(b.Note.Supersedes) != 0 {
		t.Fatalf("%s, conflict of %q, replaces %q", b.Result, b.Note.ConflictOf, b.Note.Supersedes)
	}
	if n := d.read(own.Note.ID); !n.Live(time.Now()) {
		t.Errorf("%s is not in force", n.Title)
	}
	if again := d.learn(learning(5, "Never use offset pagination")); again.Effect != ingest.Known {
		t.Errorf("it is learnt twice: %s", again.Effect)
	}
}

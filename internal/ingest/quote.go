package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"anamnesis/internal/claim"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/text"
)

// Typed are words of the user, found in what their client marks as typed, that an agent or a model
// quotes for a note.
type Typed struct {
	Sentence string // whole: "never use npm" where the quote is "use npm"
	Agrees   string // the agent's question, where the sentence agrees to it and says nothing else

	// Whether the sentence tells the note's matter without its session, as its reader decided; nil where the reader did not say.
	SelfContained *bool
}

// Line is the note's line in the user's own words.
func (t *Typed) Line() string {
	if t.Agrees == "" {
		return text.Cut(strings.TrimRight(strings.TrimSpace(t.Sentence), ".。"), note.MaxQuote)
	}
	const answer = `yes to: "`
	return answer + text.Cut(t.Agrees, note.MaxQuote-len(answer)-1) + `"`
}

// A Backing is how far typed words back a note.
type Backing int

// The backings.
const (
	Unbacked Backing = iota // they are about something else, or ask: the note is its writer's
	Opposed                 // they say the opposite of its title
	Backed                  // they are about its matter: they are printed in place of its title
	Stated                  // they say all that its title says
)

// Backs says how far typed words back a note.
func (t *Typed) Backs(n *note.Note) Backing {
	if t.Agrees != "" {
		if claim.Near(claim.Text(t.Agrees), claim.Text(n.Title)) {
			return Backed
		}
		return Unbacked
	}
	said, title := claim.Text(t.Sentence), claim.Text(n.Title)
	switch {
	case claim.States(t.Sentence, n.Title):
		return Stated
	case claim.Compare(said, title) == claim.Opposite:
		return Opposed
	case text.IsQuestion(t.Sentence):
		return Unbacked
	case t.SelfContained == nil && claim.Near(said, title),
		t.SelfContained != nil && *t.SelfContained && claim.Shared(said, title) > 0: // the reader decides, but for words about something else
		return Backed
	}
	return Unbacked
}

// vouches reports whether a note is the user's word on typed words.
func (t *Typed) vouches(n *note.Note) bool { return t.Backs(n) >= Backed }

// speak gives a note for which typed words vouch the user's words as its title. A title that says more
// becomes its rule, which is searched: what the note states is the sentence (note.RuleOf).
func (t *Typed) speak(n *note.Note) {
	if t.Backs(n) == Backed && n.Title != t.Line() {
		n.Rule, n.Title = cmp.Or(n.Rule, n.Title), t.Line()
	}
}

// worded is a quoted note with the title that its writer gave it.
func worded(n *note.Note) *note.Note {
	n = n.Clone()
	n.Title, n.Rule = n.Rule, ""
	return n
}

// Vouch records that a person typed, in a session, what an agent wrote in a note or in its own memory: as far
// as the words back it (Typed.Backs), the note is the user's word from now on, and those of its triggers that
// the words name are in force. Where they say the opposite, the note waits. dir is the folder of the session, in which
// its project's files are looked up. One that a person wrote or read stays as it is. The error is
// fs.ErrNotExist for a note that is gone.
func Vouch(ctx context.Context, g *Ingester, id note.ID, dir string, t Typed, e note.Evidence) (Outcome, error) {
	n, _, err := store.Get(g.store, id)
	if err != nil {
		return Outcome{}, err
	}
	if t.Backs(n) == Opposed && !n.UserSaid() {
		return Outcome{}, InboxOf(g).Return(ctx, id, fmt.Sprintf("its quote says the opposite: %q", shorten(t.Sentence)))
	}
	d := Draft{By: Quoted, Typed: &t, Dir: dir}
	plain := n.Clone()
	plain.When = nil // they are looked at one by one
	if err := d.weigh(ctx, g, plain); err != nil {
		return Outcome{}, fmt.Errorf("vouch for note %s: %w", id, err)
	}
	backed := t.vouches(n) && d.mayAct()
	out, err := g.amend(ctx, id, backed && !n.UserSaid(), "vouch for", func(n *note.Note, _ []byte) (*note.Note, error) {
		if proves(n, []note.Evidence{e}) {
			return n, nil
		}
		// What the agent said of the quote is replaced by what was found.
		n.Evidence = slices.DeleteFunc(n.Evidence, func(had note.Evidence) bool { return had.Chunk == "" })
		n.Evidence = note.UnionEvidence(n.Evidence, []note.Evidence{e})
		n.ProofCount = max(1, n.Sessions())
		if backed && (n.Provenance.Source == note.Agent || n.Provenance.Source == note.Import) {
			t.speak(n)
			n.Provenance.Source = note.User
			n.Provenance.Confidence = max(n.Provenance.Confidence, 0.9)
		}
		return n, nil
	})
	if err != nil || !backed {
		return out, err
	}
	return out, g.arm(ctx, out.Note, &t)
}

// ErrNotRepeated says that a quote does not repeat a note.
var ErrNotRepeated = errors.New("it is not in force here, or the quote says the opposite of what an agent noted")

// A Repetition is what a reader found in a session: words of the user that say what a note says.
type Repetition struct {
	Note     note.ID
	Typed    Typed
	Evidence note.Evidence
	About    string // the subject, for a note that has none, as an order; then it may replace another note (Contradicts)
}

// Repeat records that the user said, in a session on a project, what a note in force says: the sentence becomes evidence of
// the note, which keeps its words. That it says the same is the decision of a reader, because a complaint denies what the rule says ("you
// committed without the linter"); a note of a machine becomes the user's only as far as the words back it (Vouch). The error is
// ErrNotRepeated for a note that is not in force in the project and for words that say the opposite of a machine's, and
// fs.ErrNotExist for one that is gone.
func Repeat(ctx context.Context, g *Ingester, here, dir string, said Repetition) (Outcome, error) {
	id, t, e := said.Note, said.Typed, said.Evidence
	n, _, err := store.Get(g.store, id)
	switch {
	case err != nil:
		return Outcome{}, err
	case !g.holdsIn(n, here) || !n.Live(g.store.Now()) || n.Quarantine || !n.Type.Durable() ||
		t.Backs(n) == Opposed && !n.UserSaid():
		return Outcome{}, fmt.Errorf("count a quote for note %s: %w", id, ErrNotRepeated)
	}
	e.Quote = g.redactor.Redact(e.Quote).String()
	out, err := Vouch(ctx, g, id, dir, t, e)
	out.Effect, out.Of = Confirms, id
	if about := note.Subject(said.About); err == nil && about != "" {
		err = g.nameSubject(ctx, id, about, &out)
	}
	return out, err
}

// arm puts those triggers of a note in force that wait for a person and that typed words name.
func (g *Ingester) arm(ctx context.Context, n *note.Note, t *Typed) error {
	held, err := g.store.Spool().HeldDraft(n.ID)
	if err != nil || held.Decided() {
		return nil //nolint:nilerr // none waits
	}
	d := Draft{Typed: t}
	named := slices.DeleteFunc(slices.Clone(held.When), func(w string) bool { return !d.triggerNamed(w) || slices.Contains(n.When, w) })
	if len(named) == 0 {
		return nil
	}
	_, err = g.amend(ctx, n.ID, true, "put triggers in force of", func(n *note.Note, _ []byte) (*note.Note, error) {
		n.When = slices.Concat(n.When, named)
		return n, nil
	})
	if err != nil {
		return err
	}
	return locked(ctx, g.store, func(w *store.Writer) error {
		if len(named) == len(held.When) {
			return w.Release(held.ID)
		}
		held.When = slices.DeleteFunc(held.When, func(t string) bool { return slices.Contains(named, t) })
		return w.Hold(held)
	})
}

package curate

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"anamnesis/internal/app"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// maxDialog is the longest text, in characters, that a person is asked about in a client's dialog.
const maxDialog = 700

// A DialogItem is one decision as a client's dialog shows it: what it is about in full, in two lines of text.
type DialogItem struct {
	Name     string       `json:"id"`
	Decision app.Decision `json:"decision"` // Keep or Reject
	Title    string       `json:"title"`
	Text     string       `json:"text"` // everything that the title does not say and that a person vouches for
}

// DialogText returns what the dialog has to show of something that waits: its title, and everything else for which a
// person would vouch. What a dialog cannot show so that one can judge it is an error: it is decided elsewhere.
func DialogText(ctx context.Context, r *app.Rooms, name string) (title, text string, err error) {
	all, err := Review(ctx, r)
	if err != nil {
		return "", "", err
	}
	for i := range all.Notes {
		it := &all.Notes[i]
		if string(it.ID) != name {
			continue
		}
		if it.Quarantine || it.Kind != app.WaitingDraft && it.Kind != app.WaitingUnread {
			return "", "", app.Usagef("%s is decided in `anamnesis review` or in the dashboard", name)
		}
		return dialogOf(ctx, r, it)
	}
	return "", "", app.Errorf(app.NotFound, "nothing of the id %s waits; memory_review lists what does, with whole ids", note.Printable(name))
}

func dialogOf(ctx context.Context, r *app.Rooms, it *ReviewItem) (title, text string, err error) {
	id, n, err := reviewed(ctx, r, string(it.ID))
	if err == nil && n == nil {
		n, _, err = store.Get(r.Store, id)
	}
	if err != nil {
		return "", "", err
	}
	title, text = sayings(n)
	if it.Other != nil {
		what := "contradicts: "
		switch {
		case it.Changes():
			what = "changes your note: "
		case it.Repeats():
			what = "nearly the same as: "
		}
		text = strings.TrimSpace(text + " | " + what + flat(it.Other.Title))
	}
	switch {
	case utf8.RuneCountInString(title+text) > maxDialog:
		err = app.Usagef("%s is too long for a dialog; it is decided in `anamnesis review` or in the dashboard", it.ID)
	case strings.ContainsFunc(title+text, func(c rune) bool { return !unicode.IsGraphic(c) }):
		err = app.Usagef("%s has characters that a dialog does not show; it is decided in `anamnesis review` or in the dashboard", it.ID)
	}
	return title, text, err
}

// sayings returns the words of a note on two lines.
func sayings(n *note.Note) (title, text string) {
	parts := []string{flat(n.Body)}
	for _, field := range []struct{ name, value string }{
		{"problem", n.Problem},
		{"symptoms", strings.Join(n.Symptoms, "; ")},
		{"cause", n.RootCause},
		{"fix", n.Fix},
		{"rule", n.Rule},
		{"insight", n.KeyInsight},
		{"how", n.HowToApply},
		{"shown before", strings.Join(n.When, ", ")},
		{"project", n.Project},
	} {
		if field.value != "" {
			parts = append(parts, field.name+": "+flat(field.value))
		}
	}
	return flat(n.Title), strings.TrimPrefix(strings.Join(parts, " | "), " | ")
}

func flat(s string) string { return strings.Join(strings.Fields(s), " ") }

// A DialogDone is the result of one decision.
type DialogDone struct {
	ID       string       `json:"id"`
	Decision app.Decision `json:"decision"`
	Title    string       `json:"title"`
	Text     string       `json:"text"` // of the note, as it is stored
}

// DecideInDialog carries out what a person said in a dialog of their client that showed just this item. The caller
// knows that a person did. Nothing is decided if the item does not say what waits.
func DecideInDialog(ctx context.Context, r *app.Rooms, it DialogItem) (done DialogDone, err error) {
	title, text, err := DialogText(ctx, r, it.Name)
	switch {
	case err != nil:
		return done, err
	case it.Decision != app.Keep && it.Decision != app.Reject:
		return done, app.Usagef("%q is neither keep nor reject", it.Decision)
	case it.Title != title || it.Text != text:
		return done, app.Usagef("nothing was decided: the dialog did not show what %s says; call again with title %q and text %q",
			it.Name, title, text)
	}
	d, err := DecideReview(ctx, r, it.Name, it.Decision, app.Edit{})
	if err != nil {
		return done, err
	}
	done = DialogDone{ID: string(d.ID), Decision: it.Decision, Title: title, Text: text}
	if it.Decision == app.Keep {
		n, _, err := store.Get(r.Store, d.ID)
		if err != nil {
			return done, fmt.Errorf("%s was kept, and cannot be read: %w", d.ID, err)
		}
		done.Title, done.Text = sayings(n)
	}
	return done, nil
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store"

	"github.com/spf13/cobra"
)

func newRestore(p *program) *cobra.Command {
	var apply bool
	var since, until string
	cmd := &cobra.Command{
		Use:   "restore {ID@REV | --since TIME}",
		Short: "Give a note the form it had",
		Long: `Give a note the form it had at a revision, or bring back a note that was deleted.
Without --apply it only shows what would change. The present form is kept, so that
a restore can be undone. A note that was forgotten does not come back this way.

With --since every note that changed on this machine since then gets the form it
had before: that is how a command that changed many notes is taken back.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case since != "" && len(args) == 0:
				return p.rewind(cmd.Context(), since, until, apply)
			case since != "" || until != "" || len(args) == 0:
				return usage("restore: give ID@REV, or --since TIME and perhaps --until TIME")
			}
			name, rev, ok := strings.Cut(args[0], "@")
			if !ok || name == "" || rev == "" {
				return usage("restore %s: say which form: ID@REV; `anamnesis history ID` lists them", args[0])
			}
			m, err := p.openWalked(cmd.Context())
			if err != nil {
				return err
			}
			defer m.close()
			s, err := p.subject(cmd.Context(), m, name)
			if err != nil {
				return err
			}
			return p.restore(cmd.Context(), m, s, rev, apply)
		},
	}
	cmd.Flags().BoolVar(&apply, "apply", false, "do it")
	cmd.Flags().StringVar(&since, "since", "", "take back what changed since `TIME`: 2026-03-31T14:00:00Z, 2026-03-31, 90m, 12h, 3d")
	cmd.Flags().StringVar(&until, "until", "", "and not after `TIME`")
	return cmd
}

func (p *program) restore(ctx context.Context, m *memory, s *subject, rev string, apply bool) error {
	then, err := p.form(ctx, m, s, rev)
	if err != nil {
		return err
	}
	now, err := m.present(s)
	if err != nil {
		return err
	}
	answer := struct {
		header
		ID      note.ID `json:"id"`
		Rev     string  `json:"rev"`
		Applied bool    `json:"applied"`
		Changed bool    `json:"changed"`
		Path    string  `json:"path,omitempty"`
		Undo    string  `json:"undo,omitempty"`
		Diff    string  `json:"diff"`
	}{header: head("restore"), ID: s.id, Rev: rev, Diff: app.Unified(now.name, then.name, string(now.data), string(then.data))}
	if !apply {
		if p.json {
			return p.emit(answer)
		}
		p.printf("%s", answer.Diff)
		p.printf("restore: nothing was changed yet; add --apply to do it\n")
		return nil
	}
	ref, changed, err := m.Ingester.Reinstate(ctx, then.id, then.data)
	stale := new(ingest.StaleError)
	if err != nil && !errors.As(err, &stale) {
		return err
	}
	answer.Applied, answer.Changed, answer.Path = true, changed, m.Store.Path(ref.Path)
	if changed {
		answer.Undo = m.undoRestore(s)
	}
	if err != nil {
		p.note("the note is safe, but not in the index yet: %v; `anamnesis reindex` mends that", stale)
	}
	if p.json {
		return p.emit(answer)
	}
	if !changed {
		p.printf("restore: %s has that form already\n", s.id)
		return nil
	}
	p.printf("restore: %s is as it was at %s\n  %s\n", s.id, rev, answer.Path)
	p.undoLine(answer.Undo)
	return nil
}

// undoRestore returns the command that takes a restore back.
func (m *memory) undoRestore(s *subject) string {
	if revs, err := m.Store.History(s.id); err == nil && len(revs) > 0 && s.ref.Path != "" {
		if _, _, _, err := m.Store.Read(revs[0].Path); err != nil {
			return "" // it was no note; its bytes stand in the history
		}
		return "anamnesis restore " + string(s.id) + "@" + revs[0].Name + " --apply"
	}
	return "anamnesis archive " + string(s.id) // it was gone
}

// rewind gives every note that changed in a stretch of time the form it had before.
func (p *program) rewind(ctx context.Context, since, until string, apply bool) error {
	m, err := p.openWalked(ctx)
	if err != nil {
		return err
	}
	defer m.close()
	from, err := app.Moment("--since", since, m.Store.Now())
	if err != nil {
		return err
	}
	var to time.Time
	if until != "" {
		if to, err = app.Moment("--until", until, m.Store.Now()); err != nil {
			return err
		}
	}
	forms, err := m.Store.FormsBefore(from, to)
	if err != nil {
		return err
	}
	type line struct {
		ID    note.ID `json:"id"`
		Rev   string  `json:"rev"`
		Error string  `json:"error,omitempty"`
	}
	answer := struct {
		header
		Applied bool   `json:"applied"`
		Notes   []line `json:"notes"`
		Changed int    `json:"changed"`
		Undo    string `json:"undo,omitempty"`
	}{header: head("restore"), Applied: apply, Notes: []line{}}
	b := p.batch(m)
	var back []string
	var stale error
	left, failed := 0, 0
	for _, f := range forms {
		l := line{ID: f.ID, Rev: f.Name}
		ref, gone := m.Store.Find(f.ID)
		switch {
		case gone == nil && m.changedAfter(ref, f.ID, to):
			l.Error = "it was changed after " + until + " and stays; by itself: anamnesis restore " + string(f.ID) + "@" + f.Name + " --apply"
			left++
		case apply:
			var changed bool
			changed, l.Error = m.rewindOne(ctx, f, &stale)
			if changed {
				answer.Changed++
			}
			if changed && gone != nil {
				back = append(back, string(f.ID))
			}
			if l.Error != "" {
				failed++
			}
		}
		answer.Notes = append(answer.Notes, l)
		p.say("restore: %s@%s%s\n", f.ID, f.Name, because(l.Error))
	}
	if stale != nil {
		p.note("the notes are safe, but not in the index yet: %v; `anamnesis reindex` mends that", stale)
	}
	if answer.Changed > 0 {
		b.ended = m.Store.Now()
		answer.Undo = b.undo()
	}
	if len(back) > 0 { // they have no former form that an undo could find
		answer.Undo = strings.TrimPrefix(answer.Undo+" && anamnesis archive "+strings.Join(back, " "), " && ")
	}
	var bad error
	if failed > 0 {
		bad = &app.Error{Kind: app.Failed, Err: fmt.Errorf("restore: %s could not be restored; the others are", plural(failed, "note"))}
	}
	if p.json {
		return errors.Join(p.emit(answer), bad)
	}
	if !apply {
		p.printf("restore: %d note(s) would change%s\n", len(forms)-left, dryRun(len(forms)-left))
		return nil
	}
	p.printf("restore: %d note(s) have their former form\n", answer.Changed)
	p.undoLine(answer.Undo)
	return bad
}

// changedAfter reports whether a note was changed since to, by us or by hand.
// Taking back what was done before would take that along.
func (m *memory) changedAfter(ref store.Ref, id note.ID, to time.Time) bool {
	if to.IsZero() {
		return false
	}
	to = to.Add(time.Millisecond) // times on the command line know no less
	revs, err := m.Store.History(id)
	return err == nil && len(revs) > 0 && revs[0].At.After(to) || ref.ModTime.After(to)
}

// rewindOne brings one form back. stale gets what the index says to that.
func (m *memory) rewindOne(ctx context.Context, f store.Former, stale *error) (changed bool, failed string) {
	data, err := m.Store.ReadFile(f.Path, store.MaxNoteSize)
	if err != nil {
		return false, err.Error()
	}
	_, changed, err = m.Ingester.Reinstate(ctx, f.ID, data)
	if behind := new(ingest.StaleError); errors.As(err, &behind) {
		*stale = behind
	} else if err != nil {
		return false, err.Error()
	}
	return changed, ""
}

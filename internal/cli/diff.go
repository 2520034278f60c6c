package cli

import (
	"context"
	"errors"
	"strings"

	"anamnesis/internal/note"
	"anamnesis/internal/store"

	"github.com/spf13/cobra"
)

func newDiff(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "diff ID[@REV] [ID[@REV]|REV]",
		Short: "Compare two forms of a note, or two notes",
		Long: `Compare two forms of a note, or two notes. Lines with - are in the first only, lines
with + in the second only. REV is a name of ` + "`anamnesis history`" + `. A single ID@REV
is compared with the note as it stands; a single ID shows its last change.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := p.openWalked(cmd.Context())
			if err != nil {
				return err
			}
			defer m.close()
			a, b, err := p.twoForms(cmd.Context(), m, args)
			if err != nil {
				return err
			}
			diff := unified(a.name, b.name, string(a.data), string(b.data))
			if p.json {
				return p.emit(struct {
					header
					From string `json:"from"`
					To   string `json:"to"`
					Diff string `json:"diff"`
				}{head("diff"), a.name, b.name, diff})
			}
			if p.printf("%s", diff); diff == "" {
				p.note("%s and %s are equal", a.name, b.name)
			}
			return nil
		},
	}
}

// twoForms reads the arguments of diff.
func (p *program) twoForms(ctx context.Context, m *memory, args []string) (a, b form, err error) {
	name, rev, dated := strings.Cut(args[0], "@")
	s, err := p.subject(ctx, m, name)
	if err != nil {
		return a, b, err
	}
	switch {
	case dated:
		a, err = p.form(ctx, m, s, rev)
	case len(args) == 2:
		a, err = m.present(s)
	default:
		if a, err = p.former(ctx, m, s); err == nil {
			b, err = m.present(s)
		}
		return a, b, err
	}
	if err != nil {
		return a, b, err
	}
	if len(args) == 1 {
		b, err = m.present(s)
		return a, b, err
	}
	name, rev, dated = strings.Cut(args[1], "@")
	if dated {
		if s, err = p.subject(ctx, m, name); err == nil {
			b, err = p.form(ctx, m, s, rev)
		}
		return a, b, err
	}
	// A second argument without @ is a note, or else a revision of the first.
	if other, serr := p.subject(ctx, m, name); serr == nil {
		b, err = m.present(other)
		return a, b, err
	}
	b, err = p.form(ctx, m, s, name)
	return a, b, err
}

// former returns the newest form of a note that differs from the present one.
func (p *program) former(ctx context.Context, m *memory, s *subject) (form, error) {
	now, err := m.present(s)
	if err != nil {
		return form{}, err
	}
	list, err := p.changes(ctx, m, s, 0)
	if err != nil {
		return form{}, err
	}
	for _, c := range list {
		if f, err := p.form(ctx, m, s, c.Rev); err == nil && string(f.data) != string(now.data) {
			return f, nil
		}
	}
	return form{}, &codedError{exitNothing, errors.New("diff " + string(s.id) + ": the note has not changed since it was written")}
}

func newRestore(p *program) *cobra.Command {
	var apply bool
	cmd := &cobra.Command{
		Use:   "restore ID@REV",
		Short: "Give a note the form it had",
		Long: `Give a note the form it had at a revision, or bring back a note that was deleted.
Without --apply it only shows what would change. The present form is kept, so that
a restore can be undone. A note that was forgotten does not come back this way.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
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
	}{header: head("restore"), ID: s.id, Rev: rev, Diff: unified(now.name, then.name, string(now.data), string(then.data))}
	if !apply {
		if p.json {
			return p.emit(answer)
		}
		p.printf("%s", answer.Diff)
		p.printf("restore: nothing was changed yet; add --apply to do it\n")
		return nil
	}
	ref, changed, err := m.reinstate(ctx, then)
	if err != nil {
		return err
	}
	answer.Applied, answer.Changed, answer.Path = true, changed, m.store.Path(ref.Path)
	if changed {
		answer.Undo = m.undoRestore(s)
	}
	if err := m.reread(ctx, []string{s.ref.Path, ref.Path}); err != nil {
		p.note("the note is safe, but not in the index yet: %v; `anamnesis reindex` mends that", err)
	}
	if p.json {
		return p.emit(answer)
	}
	if !changed {
		p.printf("restore: %s has that form already\n", s.id)
		return nil
	}
	p.printf("restore: %s is as it was at %s\n  %s\nundo: %s\n", s.id, rev, answer.Path, answer.Undo)
	return nil
}

// reinstate writes a former form under the store lock.
func (m *memory) reinstate(ctx context.Context, f form) (ref store.Ref, changed bool, err error) {
	unlock, err := m.store.Lock(ctx)
	if err != nil {
		return ref, false, err
	}
	defer unlock()
	return m.store.Reinstate(f.id, f.data)
}

// undoRestore returns the command that takes a restore back.
func (m *memory) undoRestore(s *subject) string {
	if revs, err := m.store.History(s.id); err == nil && len(revs) > 0 && s.ref.Path != "" {
		return "anamnesis restore " + string(s.id) + "@" + revs[0].Name + " --apply"
	}
	return "anamnesis archive " + string(s.id) // it was gone
}

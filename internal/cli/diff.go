package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"anamnesis/internal/app"
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
			diff := app.Unified(a.name, b.name, string(a.data), string(b.data))
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
	return form{}, &app.Error{Kind: app.NotFound, Err: errors.New("diff " + string(s.id) + ": the note has not changed since it was written")}
}

package workspace

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/index"
	"anamnesis/internal/index/postgres"
	"anamnesis/internal/note"
	"anamnesis/internal/team"
)

// A PGRemoved is a note that an owner takes away from everybody.
type PGRemoved struct {
	DryRun   bool     `json:"dry_run"`
	ID       note.ID  `json:"id"`
	Title    string   `json:"title"`
	Returned bool     `json:"returned"` // it may be shared again
	Forms    []PGForm `json:"forms"`    // who held it
}

// PGRemoveOptions say which note, and what is shown to its authors.
type PGRemoveOptions struct {
	Note   string // an id, or the beginning or end of that of a note that is known here
	Reason string
	Undo   bool // it may be shared again
	DryRun bool
}

// PGRemoveNote takes one note, of whoever it is, out of the team's database and the
// mirrors, and keeps it out until an owner returns it. The file stays its author's.
func PGRemoveNote(ctx context.Context, r *app.Rooms, o PGRemoveOptions) (a PGRemoved, err error) {
	if !r.Config.Team.On() {
		return a, app.NoTeamError("pg remove-note")
	}
	if a.DryRun, a.Returned, a.Forms = o.DryRun, o.Undo, []PGForm{}; len(o.Reason) > 500 {
		return a, app.Usagef("pg remove-note: the reason is longer than 500 bytes")
	}
	server, err := app.OpenTeamServer(ctx, r, 0)
	if err != nil {
		return a, err
	}
	defer func() { _ = server.Close() }()
	if a.ID, err = withdrawable(ctx, r, server, o); err != nil {
		return a, err
	}
	if o.Undo && !o.DryRun {
		_, err := server.Return(ctx, a.ID)
		return a, owners(err)
	}
	copies, err := server.Copies(ctx, a.ID)
	if err == nil && len(copies) == 0 && !o.Undo {
		return a, app.Errorf(app.NotFound, "pg remove-note %s: nobody shares a note of that id", a.ID)
	}
	if err == nil && !o.DryRun && !o.Undo {
		var who string
		if who, err = server.Principal(ctx); err == nil {
			copies, err = server.Withdraw(ctx, a.ID, o.Reason, team.Withdrawal(who, o.Reason))
		}
	}
	for _, c := range copies {
		a.Title = c.Title
		a.Forms = append(a.Forms, PGForm{c.Origin, c.Member, string(note.At(c.Updated))})
	}
	return a, owners(err)
}

// withdrawable returns the id of the note that is meant: one that others share, one of this
// machine, or one that was taken away.
func withdrawable(ctx context.Context, r *app.Rooms, server app.TeamServer, o PGRemoveOptions) (note.ID, error) {
	id, err := note.ParseID(strings.TrimSpace(o.Note))
	if err != nil {
		return "", app.Usagef("pg remove-note: %q is no id of a note", note.Printable(o.Note))
	}
	if o.Undo {
		standing, err := server.DB.Standing(ctx)
		if err != nil {
			return "", err
		}
		at := slices.IndexFunc(standing.Withdrawn, func(w postgres.Withdrawal) bool {
			return strings.HasSuffix(strings.ToLower(string(w.ID)), strings.ToLower(string(id)))
		})
		if at < 0 {
			return "", app.Errorf(app.NotFound, "pg remove-note --undo %s: no note of that id was taken away", id)
		}
		return standing.Withdrawn[at].ID, nil
	}
	if _, there, err := r.All.Lookup(ctx, id); err != nil || there || len(id) < app.MinPrefix {
		return id, err
	}
	found, err := r.All.Select(ctx, index.Filter{Dead: true, Part: string(id)}, 2)
	switch {
	case err != nil:
		return "", err
	case len(found) > 1:
		return "", app.Errorf(app.Usage, "pg remove-note %s: more than one note has an id that begins or ends so", id)
	case len(found) == 1:
		return found[0].ID, nil
	}
	return id, nil
}

// owners says to whom a refusal of the database points.
func owners(err error) error {
	if err != nil && postgres.Refused(err) {
		return fmt.Errorf("only an owner of the team takes notes of others away (`anamnesis team pg members` says who is one): %w", err)
	}
	return err
}

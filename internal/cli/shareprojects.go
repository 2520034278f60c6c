package cli

import (
	"context"
	"maps"
	"slices"
	"strings"

	"anamnesis/internal/app"

	"github.com/spf13/cobra"
)

// shareProjects shares projects over the team's database.
func (p *program) shareProjects(cmd *cobra.Command, o app.ShareOptions) error {
	return run(p, cmd, "share", app.OpenWhole, func(ctx context.Context, r *app.Rooms) (app.ShareAnswer, error) {
		return app.Share(ctx, r, o)
	}, p.printShare)
}

func (p *program) printShare(a app.ShareAnswer) {
	for _, s := range a.Projects {
		verb := ""
		switch {
		case s.Added && a.DryRun:
			verb = ", would be shared"
		case s.Added:
			verb = ", shared from now on"
		}
		p.printf("%s: %s%s\n", firstLine(s.Key, 100), plural(s.Notes, "note"), verb)
	}
	if len(a.Projects) == 0 {
		p.note("no project is shared; `anamnesis team share PROJECT` shares one, and . is that of the current folder")
	}
	for _, h := range a.Held {
		p.printf("  %s stays here: %s\n", p.short(h.ID), firstLine(h.Why, 200))
	}
	if x := a.Exchange; x != nil && x.Busy {
		p.note("another process exchanges notes with the team now; what is new goes with the next run")
	} else if x != nil {
		p.printf("sent %s, took back %d; took in %s of others\n", plural(x.Sent.Put, "note"), x.Sent.Dropped, plural(x.Taken.Put, "note"))
		for _, h := range x.Taken.Left {
			p.printf("  a note of others was left out (%s): %s\n", firstLine(string(h.ID), 40), firstLine(h.Why, 200))
		}
	}
	if !a.Database {
		p.note("no database of a team is set, so nothing goes anywhere: `anamnesis config set team.dsn ADDRESS` and team.workspace ID")
		return
	}
	switch {
	case a.Mirror.At == "":
		p.printf("nothing of others is known here yet\n")
	case a.Mirror.Notes == 0:
		p.printf("others share nothing; asked %s\n", a.Mirror.At)
	default:
		var who []string
		for _, name := range slices.Sorted(maps.Keys(a.Mirror.Members)) {
			who = append(who, firstLine(name, 60))
		}
		p.printf("%s of others (%s) as of %s\n", plural(a.Mirror.Notes, "note"), strings.Join(who[:min(len(who), 8)], ", "), a.Mirror.At)
	}
}

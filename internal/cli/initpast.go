package cli

import (
	"context"
	"fmt"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/app/setup"
	"anamnesis/internal/imports"
)

// pastRate is how many bytes of past sessions are read in a second, on a slow machine.
const pastRate = 10 << 20

// offerPast offers to read the sessions that the agents of this machine had before, and reads them after a yes.
// Where nobody can be asked it says that they are there.
func (p *program) offerPast(ctx context.Context, ask *prompter, noSync bool) error {
	files := setup.PastSessions(p.host())
	if files == 0 {
		return nil
	}
	if ask.quiet || ask.in == nil {
		p.say("Found %s from before on this machine; `anamnesis import transcripts` shows what they would become\n", plural(files, "session"))
		return nil
	}
	r, err := app.OpenWalked(ctx, p.host())
	if err != nil {
		return err
	}
	defer r.Close()
	var plan *imports.Plan
	o := importOptions{ImportOptions: setup.ImportOptions{Plan: func(ctx context.Context, im *imports.Importer) (_ *imports.Plan, err error) {
		if plan == nil {
			plan, err = im.Transcripts(ctx, imports.TranscriptOptions{})
		}
		return plan, err
	}}}
	if _, err := setup.Import(ctx, r, o.ImportOptions); err != nil {
		return err
	}
	var found []string
	for _, a := range plan.ByAgent() {
		found = append(found, fmt.Sprintf("%s of %s (%s)", plural(a.Sessions, "session"), a.Title, size(a.Bytes)))
	}
	if len(found) == 0 {
		return nil
	}
	yes := ask.yes("Found on this machine, from before: "+strings.Join(found, ", ")+". They become notes and can be asked; "+
		"no model reads them. That takes about "+about(plan.Totals().Bytes)+", and can be stopped.",
		"read them now, yes or no", "yes")
	if !yes || ask.in == nil {
		p.printf("`anamnesis import transcripts --apply` reads them later\n")
		return nil
	}
	o.Apply, o.NoSync = true, noSync
	a, err := setup.Import(ctx, r, o.ImportOptions)
	if a.Report != nil {
		p.printImportTotals(*a.Report, o)
	}
	return err
}

// about is how long reading so many bytes of sessions takes.
func about(bytes int64) string {
	switch n := int(bytes / pastRate); {
	case n < 5:
		return "5 seconds"
	case n < 90:
		return plural((n+4)/5*5, "second")
	default:
		return plural((n+59)/60, "minute")
	}
}

// offerProject offers the project that this folder probably is, while its own has no notes.
func (p *program) offerProject(ctx context.Context, ask *prompter) error {
	r, err := app.OpenWalked(ctx, p.host())
	if err != nil {
		return err
	}
	defer r.Close()
	o, err := app.LookForOffer(ctx, r, p.dir())
	if err != nil || o == nil {
		return err
	}
	if ask.quiet || ask.in == nil {
		p.say("This folder may be %s\n", o.Line())
		return nil
	}
	if ask.yes(fmt.Sprintf("This folder may be %s (%s): %s.", o.Key, plural(o.Notes, "note"), o.Why), "join it, yes or no", "no") {
		_, err = o.Take(ctx, r, p.dir())
	}
	return err
}

package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/app/history"
	"anamnesis/internal/ingest"

	"github.com/spf13/cobra"
)

func newUndo(p *program) *cobra.Command {
	var o app.MaintainOptions
	var list bool
	cmd := &cobra.Command{
		Use:   "undo [NUMBER | ID | RUN]",
		Short: "Undo the last decision, another one, or what a run wrote",
		Long: `Take back the last decision that is not taken back yet, wherever it was made: here, or
in the dashboard. Decisions are keep, reject, edit, merge, replace,
archive, restore, project alias and team trust. --list shows them with their numbers; NUMBER takes
back that one, ID the last one about a note or a draft. What an agent or a model decided
is taken back by NUMBER or ID alone. It is done at once. The undo has a number, too, and
to undo it is to decide so again. A note or a draft that was changed since the decision
stays as it is and is named.

RUN is the id of a run of reflect, merge or import, and takes back what it wrote, and
nothing else: notes that it changed get their former version, notes that it wrote
are archived. ` + "`anamnesis log history --runs`" + ` lists the runs of this machine; reflect,
merge and import print theirs. Of a run it only says what it would do, until --apply is
given.

Exit codes: 0 everything is undone; 3 there is nothing to undo; 4 some notes stay,
because they were changed.`,
		Example: `  anamnesis undo
  anamnesis undo --list
  anamnesis undo 12
  anamnesis undo 01M8 --apply`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if list && len(args) > 0 {
				return usage("undo: --list takes no argument")
			}
			if list {
				return ask(p, cmd, "undo", func(ctx context.Context, r *app.Rooms) (history.DecisionsAnswer, error) {
					return history.Decisions(ctx, r, listedDecisions)
				}, p.printDecisions)
			}
			name := strings.Join(args, "")
			return run(p, cmd, "undo", app.OpenWalked, func(ctx context.Context, r *app.Rooms) (any, error) {
				return takeBack(ctx, r, name, o)
			}, p.printTakenBack)
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "list the last decisions, with their numbers")
	cmd.Flags().BoolVar(&o.Apply, "apply", false, "of a run: do it")
	cmd.Flags().BoolVar(&o.NoSync, "no-sync", false, "of a run: commit on this machine only")
	return cmd
}

// listedDecisions is how many decisions are listed.
const listedDecisions = 20

// takeBack undoes a decision or a run, whichever a name means. The answer is a
// history.UndoneDecision or a history.UndoAnswer.
func takeBack(ctx context.Context, r *app.Rooms, name string, o app.MaintainOptions) (any, error) {
	d, ok, err := history.FindDecision(ctx, r, name)
	if err != nil {
		return nil, err
	}
	if ok {
		return history.UndoDecision(ctx, r, d)
	}
	return history.Undo(ctx, r, name, o)
}

func (p *program) printTakenBack(v any) {
	switch a := v.(type) {
	case history.UndoAnswer:
		p.printUndone(a)
	case history.UndoneDecision:
		p.printUndoneDecision(a)
	}
}

func (p *program) printUndoneDecision(a history.UndoneDecision) {
	what := p.printItems(a.Items)
	switch {
	case len(what) > 0:
		p.printf("undo: decision %d, %s, is taken back: %s\n", a.Number, p.decided(a.DecisionView), strings.Join(what, ", "))
	case a.Left == 0:
		p.printf("undo: decision %d, %s, is taken back: it had changed nothing\n", a.Number, p.decided(a.DecisionView))
	default:
		p.printf("undo: decision %d, %s, is not taken back\n", a.Number, p.decided(a.DecisionView))
	}
	if a.Next != "" {
		p.printf("a later decision changed it; first: %s\n", a.Next)
	}
	p.undoLine(a.Undo)
}

// printItems names what stays, and returns what came back.
func (p *program) printItems(items []history.UndoneItem) (what []string) {
	done := make(map[string]int)
	for _, it := range items {
		switch it.Result {
		case ingest.UndoRestored, ingest.UndoRemoved, ingest.UndoArchived:
			done[it.Kind+" "+it.Result]++
		case ingest.UndoEdited:
			p.printf("  %s %q was changed since and stays\n", it.ID, firstLine(it.Title, 60))
		case ingest.UndoLost:
			p.printf("  %s %q stays: its former form was forgotten, or is not in the history any more\n", it.ID, firstLine(it.Title, 60))
		case ingest.UndoGone:
			p.printf("  %s is gone\n", it.ID)
		case ingest.UndoUnknown:
			p.printf("  a change of the kind %q stays: a newer anamnesis made it\n", printable(it.Kind))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(done)) {
		kind, result, _ := strings.Cut(key, " ")
		if done[key] > 1 {
			kind = plural(done[key], kind)
		}
		what = append(what, kind+" "+result)
	}
	return what
}

// decided names a decision: what was decided about what.
func (p *program) decided(d history.DecisionView) string {
	text := printable(d.What)
	if d.Undoes > 0 {
		text += fmt.Sprintf(" of %d", d.Undoes)
	}
	switch n := len(d.Of); {
	case n == 1 && d.Of[0].ID != "":
		text += fmt.Sprintf(" %s %q", d.Of[0].ID, firstLine(d.Of[0].Title, 60))
	case n == 1:
		text += " " + firstLine(d.Of[0].Title, 80)
	case n > 1:
		text += fmt.Sprintf(" %s and %s more", d.Of[0].ID, plainInt(n-1))
	}
	return text
}

func (p *program) printDecisions(a history.DecisionsAnswer) {
	for _, d := range a.Decisions {
		state := ""
		if d.UndoneBy > 0 {
			state = fmt.Sprintf("  (taken back by %d)", d.UndoneBy)
		}
		p.printf("%4d  %s  %-9s  %s%s\n", d.Number, printable(d.At), printable(d.By), p.decided(d), state)
	}
	if len(a.Decisions) == 0 {
		p.note("nothing was decided on this machine yet")
	}
}

func (p *program) printUndone(a history.UndoAnswer) {
	n := make(map[string]int)
	for _, u := range a.Notes {
		n[u.Result]++
		title := firstLine(u.Title, 60)
		switch u.Result {
		case ingest.UndoEdited:
			p.printf("  %s %q was changed since and stays", u.ID, title)
			if u.Rev != "" {
				p.printf("; separately: anamnesis restore %s@%s --apply", u.ID, u.Rev)
			}
			p.printf("\n")
		case ingest.UndoLost:
			p.printf("  %s %q stays: its former form is not in the history any more\n", u.ID, title)
		case ingest.UndoGone:
			p.printf("  %s is gone\n", u.ID)
		case ingest.UndoRestored, ingest.UndoArchived:
			if !a.Applied {
				p.printf("  %s %q: %s\n", u.ID, title, u.Result)
			}
		}
	}
	restore, archive := "would restore", "archive"
	if a.Applied {
		restore, archive = "restored", "archived"
	}
	p.printf("undo of %s (%s, %s): %s %s, %s %s; %s stay as they are\n", a.Run, printable(a.What), printable(a.At),
		restore, plural(n[ingest.UndoRestored], "note"), archive, plainInt(n[ingest.UndoArchived]), plainInt(a.Left))
	if !a.Applied {
		p.printf("nothing was changed yet; add --apply to do it\n")
	}
	p.undoLine(a.Undo)
}

package cli

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/app/curate"
	"anamnesis/internal/app/history"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"

	"github.com/spf13/cobra"
)

func newReview(p *program) *cobra.Command {
	var walk bool
	cmd := &cobra.Command{
		Use:   "review",
		Short: "Decide what waits for you: drafts, conflicts, open questions",
		Long: `List what waits for your decision: drafts that contradict one of your notes, notes in
quarantine (they read like orders to an agent, and no session is shown them), what
sessions and models taught and you have not read, and patches of skills that differ from
what was learnt since. Each is listed with its evidence. Below them are the counts of what
other commands decide: conflicts, files that do not travel, notes past their date,
questions that no note answers.

"review stale" looks for notes whose code has changed, "review duplicates" for notes that
say the same word for word; both read every note, so they run only when you ask.

--walk goes through them one by one and asks for a key each: k keeps, e edits, r
rejects, t keeps it and archives the note that it contradicts, m adds its evidence to the note
that it nearly repeats, s skips it.`,
		Example: `  anamnesis review --walk
  anamnesis review keep 9KQT
  anamnesis review retire 01KJYQ1A5R63JT351YCEQMB5GZ`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if walk {
				return run(p, cmd, "review", app.OpenWalked, p.walkReview, func(a curate.ReviewAnswer) {
					p.printf("review: %s\n", plural(len(a.Notes), "note")+" left")
				})
			}
			return ask(p, cmd, "review", curate.ReviewAll, p.printReview)
		},
	}
	cmd.Flags().BoolVar(&walk, "walk", false, "go through them, one key each")
	decide := func(use, short string, d app.Decision) *cobra.Command {
		return &cobra.Command{
			Use: use, Short: short, Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return run(p, cmd, "review", app.OpenWalked, func(ctx context.Context, r *app.Rooms) (curate.ReviewDecided, error) {
					return curate.DecideReview(ctx, r, args[0], d, app.Edit{})
				}, p.printDecided)
			},
		}
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List them", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				return ask(p, cmd, "review", curate.ReviewAll, p.printReview)
			},
		},
		newReviewKeep(p),
		newReviewEdit(p),
		decide("reject ID", "Say that a note or a draft is not right: it is archived", app.Reject),
		decide("merge ID", "Say that a note says what a draft says: it gets the evidence of the draft", app.MergeIt),
		decide("retire ID", "Say that a draft is right, and archive what it contradicts", app.Retire),
		&cobra.Command{
			Use: "drop ID...", Short: "Archive a note", Args: cobra.MinimumNArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return p.archive(cmd, "archive", app.ArchiveOptions{Names: args, Reason: "reviewed, not right"})
			},
		},
	)
	return cmd
}

func newReviewKeep(p *program) *cobra.Command {
	var mine bool
	cmd := &cobra.Command{
		Use: "keep ID... | --mine", Short: "Say that a note or a draft is right, and your word",
		Long: `Say that notes or drafts are right. They are your word from now on.`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case mine == (len(args) > 0):
				return usage("review keep: give the ids of notes, or --mine")
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&mine, "mine", false, "every waiting note whose author is unknown: you confirm that you wrote it")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return run(p, cmd, "review", app.OpenWalked, func(ctx context.Context, r *app.Rooms) (curate.ReviewKept, error) {
			if mine {
				var err error
				if args, err = curate.Mine(ctx, r); err != nil {
					return curate.ReviewKept{}, err
				}
			}
			return curate.KeepReviewed(ctx, r, args)
		}, func(a curate.ReviewKept) {
			for i, id := range a.Kept {
				if strings.HasPrefix(string(id), "patch-") {
					p.printf("review: %s is written; `anamnesis skills undo %s` takes that back\n", firstLine(a.Titles[i], 60), id)
					continue
				}
				p.printf("review: %s %q is right\n", id, firstLine(a.Titles[i], 60))
			}
		})
	}
	return cmd
}

func newReviewEdit(p *program) *cobra.Command {
	var title, body string
	var o addOptions
	cmd := &cobra.Command{
		Use: "edit ID", Short: "Change a note or a draft, and say that it is right", Args: cobra.ExactArgs(1),
	}
	cmd.Flags().StringVar(&title, "title", "", "the new title")
	cmd.Flags().StringVar(&body, "body", "", "the new body, markdown")
	rivalFlags(cmd, &o)
	cmd.MarkFlagsOneRequired("title", "body")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var e app.Edit
		if cmd.Flags().Changed("title") {
			e.Title = &title
		}
		if cmd.Flags().Changed("body") {
			e.Body = &body
		}
		return run(p, cmd, "review", app.OpenWalked, func(ctx context.Context, r *app.Rooms) (curate.ReviewDecided, error) {
			return p.reviewEdit(ctx, r, args[0], e, o.rival(), bufio.NewReader(p.stdin))
		}, p.printDecided)
	}
	return cmd
}

// reviewEdit decides on an edited note or draft. Where it would contradict another note of the user, it asks a person at a terminal first.
func (p *program) reviewEdit(
	ctx context.Context, r *app.Rooms, name string, e app.Edit, rival ingest.Rival, keys *bufio.Reader,
) (d curate.ReviewDecided, err error) {
	_, err = p.askingRival("review", keys, func(rival ingest.Rival) (why string, err error) {
		e.Rival = rival
		d, err = curate.DecideReview(ctx, r, name, app.EditIt, e)
		if d.Rival == "" {
			return "", err
		}
		return d.Why, err
	}, rival)
	return d, err
}

var decisions = map[app.Decision]string{
	app.Keep: "is right", app.EditIt: "was changed and is right", app.Reject: "is archived", app.Retire: "is right",
	app.MergeIt: "has the evidence of the draft",
}

func (p *program) printDecided(d curate.ReviewDecided) {
	if d.File != "" {
		if d.Decision == app.Keep {
			p.printf("review: %s is written; `anamnesis skills undo %s` takes that back\n", firstLine(d.File, 200), d.ID)
		} else {
			p.printf("review: %s stays as it is\n", firstLine(d.File, 200))
		}
		return
	}
	p.printf("review: %s %q %s\n", d.ID, firstLine(d.Title, 60), decisions[d.Decision])
	if d.Retired != "" {
		p.printf("review: %s is shown no more; `anamnesis edit supersede --undo %s %s` takes that back\n", d.Retired, d.Retired, d.ID)
	}
}

// walkReview asks for a key for each that waits.
func (p *program) walkReview(ctx context.Context, r *app.Rooms) (a curate.ReviewAnswer, err error) {
	if a, err = curate.Review(ctx, r); err != nil {
		return a, err
	}
	keys := bufio.NewReader(p.stdin)
	left := a.Notes
	for i, it := range a.Notes {
		p.printReviewItem(it)
		var names []string
		for _, c := range it.Choices {
			names = append(names, reviewKeys[c]+" "+string(c))
		}
		fmt.Fprintf(p.stderr, "[%d of %d] %s, s leave it, q stop: ", i+1, len(a.Notes), strings.Join(names, ", "))
		line, rerr := keys.ReadString('\n')
		key := strings.TrimSpace(line)
		if rerr != nil && key == "" || key == "q" {
			break
		}
		for c, k := range reviewKeys {
			if k != key || !slices.Contains(it.Choices, c) {
				continue
			}
			var change app.Edit
			if c == app.EditIt {
				fmt.Fprint(p.stderr, "new title: ")
				title, _ := keys.ReadString('\n')
				if title = strings.TrimSpace(title); title != "" {
					change.Title = &title
				}
			}
			var d curate.ReviewDecided
			if c == app.EditIt {
				d, err = p.reviewEdit(ctx, r, string(it.ID), change, ingest.AskFirst, keys)
			} else {
				d, err = curate.DecideReview(ctx, r, string(it.ID), c, change)
			}
			if err != nil {
				return a, err
			}
			p.printDecided(d)
			left = slices.DeleteFunc(slices.Clone(left), func(l curate.ReviewItem) bool { return l.ID == it.ID })
		}
	}
	return curate.ReviewAnswer{Notes: left}, nil
}

var reviewKeys = map[app.Decision]string{app.Keep: "k", app.Drop: "r", app.Reject: "r", app.EditIt: "e", app.Retire: "t", app.MergeIt: "m"}

func (p *program) printReviewItem(n curate.ReviewItem) {
	mark := ""
	if n.Quarantine {
		mark = " (in quarantine)"
	}
	id := note.ID(p.short(n.ID))
	if n.Kind == app.WaitingDraft {
		id = n.ID
	}
	if n.Kind == app.WaitingSkill {
		p.printf("%s  %s: %s\n%s", n.ID, firstLine(n.Title, 70), n.Why, n.Diff)
		p.printQuotes(n.Evidence)
		return
	}
	p.printf("%s  [%s] %s  %s%s\n", id, n.Type, firstLine(n.Project, 40), firstLine(n.Title, 70), mark)
	if body := firstLine(n.Body, 110); body != "" {
		p.printf("  %s\n", body)
	}
	p.printQuotes(n.Evidence)
	switch {
	case n.Changes() && n.Other.Title == n.Title && n.Other.Body == n.Body, n.Kind == app.WaitingUnread && n.Why != "" && n.Other == nil:
		p.printf("  %s\n", firstLine(n.Why, 200))
	case n.Changes():
		p.printf("  %s; the note says now: %q\n", firstLine(n.Why, 200), firstLine(n.Other.Title, 70))
		if body := firstLine(n.Other.Body, 110); body != "" {
			p.printf("  %s\n", body)
		}
	case n.Other == nil && n.Kind == app.WaitingDraft:
		p.printf("  %s\n", firstLine(n.Why, 200))
	case n.Repeats():
		p.printf("  it is nearly the same as %s %q\n", p.short(n.Other.ID), firstLine(n.Other.Title, 70))
		if body := firstLine(n.Other.Body, 110); body != "" {
			p.printf("  %s\n", body)
		}
	case n.Other != nil:
		p.printf("  it contradicts %s %q\n  %s\n", p.short(n.Other.ID), firstLine(n.Other.Title, 70), firstLine(n.Other.Body, 110))
	}
}

// printQuotes prints what some of the sessions said.
func (p *program) printQuotes(evidence []history.Quote) {
	for _, e := range evidence[:min(len(evidence), 3)] {
		p.printf("  “%s” (%s)\n", firstLine(e.Quote, 100), e.Session)
	}
}

func (p *program) printReview(a curate.ReviewAnswer) {
	for _, n := range a.Notes {
		p.printReviewItem(n)
	}
	if text := a.Refused.Text(); text != "" {
		p.printf("reads like orders to an agent: %s\n", text)
	}
	for _, o := range a.Others {
		p.printf("%s: `%s`\n", o.What, o.Command)
	}
	if len(a.Notes) == 0 && len(a.Others) == 0 {
		p.note("nothing to review")
	}
	if len(a.Notes) == 0 {
		return
	}
	p.printf("`anamnesis review keep ID` says that one is right, `review reject ID` archives it, `review --walk` asks for a key each\n")
}

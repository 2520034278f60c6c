package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/note"
	"anamnesis/lab/quality"
)

// page measures what sessions are shown: the page at the start, and notes at prompts.
func page(f *flag.FlagSet) action {
	var o quality.PromptsOptions
	f.IntVar(&o.Grow, "grow", 0, "let each store have `N` notes, with those of the other files")
	f.StringVar(&o.Pages, "pages", "", "write the page of each file into a `folder`")
	f.BoolVar(&o.Misses, "misses", false, "list the prompts that were shown something else than they should")
	return func(ctx context.Context, h app.Host, args []string) (any, func(io.Writer), error) {
		a, err := quality.PlayPrompts(ctx, h, strings.Join(args, ""), o)
		return a, func(w io.Writer) { writePrompts(w, a) }, err
	}
}

func writePrompts(w io.Writer, a quality.PromptsAnswer) {
	for i, r := range a.Results {
		if i > 0 {
			fmt.Fprintf(w, "\n")
		}
		fmt.Fprintf(w, "%s: %s in %s\n", r.Name, app.Plural(r.Prompts, "prompt"), app.Plural(r.Sessions, "session"))
		fmt.Fprintf(w, "  wanted in context:   %.3f of %d, in stores of %.0f notes\n", r.InContext, r.Wanted, r.Notes)
		fmt.Fprintf(w, "    a line of the page %.3f\n", r.OnPage)
		fmt.Fprintf(w, "  only by a topic:     %.3f\n", r.ByTopic)
		fmt.Fprintf(w, "  shown at its prompt: %.3f\n", r.Shown)
		fmt.Fprintf(w, "  shown when not:      %.3f\n", r.Spoke)
		fmt.Fprintf(w, "  precision:           %.3f, %d beside wanted ones\n", r.Precision, r.Beside)
		fmt.Fprintf(w, "  shown twice:         %d, and %d lines again after many prompts\n", r.Repeats, r.Again)
		fmt.Fprintf(w, "  tokens:              %.0f a page, %.1f a prompt, %.0f a session\n", r.PageSize, r.TokensPer, r.Session)
		fmt.Fprintf(w, "  %-12s %7s %7s %7s %7s %7s\n", "kind", "prompts", "wanted", "shown", "silent", "spoke")
		for _, k := range r.Kinds {
			fmt.Fprintf(w, "  %-12s %7d %7d %7d %7d %7d\n", k.Kind, k.Prompts, k.Wanted, k.Shown, k.Silent, k.Spoke)
		}
		for _, m := range r.Misses {
			writeMiss(w, m)
		}
	}
}

func writeMiss(w io.Writer, m quality.PromptMiss) {
	line := strings.Join(strings.Fields(m.Prompt), " ")
	if runes := []rune(line); len(runes) > 100 {
		line = string(runes[:100]) + "…"
	}
	fmt.Fprintf(w, "\n  %s %s: %s\n    wanted %s, shown %s\n    %s\n", m.Where, m.Kind, line, orNothing(m.Wanted), orNothing(m.Shown), m.Why)
}

func orNothing(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, " ")
}

// learning measures what sessions teach, with and without a reader.
func learning(f *flag.FlagSet) action {
	o := quality.LearningOptions{Halves: []string{quality.TuningHalf}}
	f.BoolFunc("held-out", "play the half of the built-in scripts that was not in view", func(string) error {
		o.Halves = []string{quality.HeldOutHalf}
		return nil
	})
	f.BoolVar(&o.Misses, "misses", false, "list what went wrong")
	f.BoolVar(&o.Learnt, "learnt", false, "list the notes")
	return func(ctx context.Context, h app.Host, args []string) (any, func(io.Writer), error) {
		o.Folder = strings.Join(args, "")
		a, err := quality.PlayLessons(ctx, h, o)
		return a, func(w io.Writer) { writeLearning(w, a) }, err
	}
}

func writeLearning(w io.Writer, a quality.LearningAnswer) {
	for _, r := range a.Results {
		fmt.Fprintf(w, "%s: %s with %s\n", r.Name, app.Plural(r.Sessions, "session"), app.Plural(r.Lessons, "lesson"))
		fmt.Fprintf(w, "  without a reader:    %s in force, %.2f are lessons\n", app.Plural(r.Notes, "note"), r.Precision)
		fmt.Fprintf(w, "  slice:               %.2f of the lessons, %d tokens (median)\n", r.InSlice, r.SliceTokens)
		fmt.Fprintf(w, "  scripted reader:     %s in force, %.2f are lessons, %.2f of the lessons\n",
			app.Plural(r.ReaderNotes, "note"), r.ReaderPrecision, r.ReaderFound)
		fmt.Fprintf(w, "  second play adds:    %s\n", app.Plural(r.SecondPlay, "note"))
		fmt.Fprintf(w, "  in the next start:   %.2f here, %.2f on another machine\n", r.Injected, r.InjectedThere)
		fmt.Fprintf(w, "  sessions a second:   %.0f\n", r.PerSecond)
		for _, m := range r.Misses {
			fmt.Fprintf(w, "\n  %s %s\n    %s\n", m.Session, m.What, strings.Join(strings.Fields(m.Text), " "))
		}
		for _, t := range r.Learnt {
			fmt.Fprintf(w, "  %s\n", t)
		}
	}
}

// sessions measures what is kept of sessions, and found again.
func sessions(f *flag.FlagSet) action {
	misses := f.Bool("misses", false, "list what went wrong, and the titles")
	return func(ctx context.Context, h app.Host, args []string) (any, func(io.Writer), error) {
		if len(args) != 1 {
			return nil, nil, app.Errorf(app.Usage, "sessions: give one folder, behind the flags")
		}
		a, err := quality.PlaySessions(ctx, h, args[0], *misses)
		return a, func(w io.Writer) { writeSessions(w, a) }, err
	}
}

func writeSessions(w io.Writer, a *quality.SessionsReport) {
	share := func(n, of int) float64 { return float64(n) / float64(max(1, of)) }
	fmt.Fprintf(w, "sessions:           %d, %.1f MB; kept %.1f %%, at %.0f MB a second\n",
		a.Sessions, float64(a.Bytes)/(1<<20), 100*a.Kept, a.PerSecond)
	fmt.Fprintf(w, "notes:              %d; body %d characters (median); %.2f of the titles say nothing\n", a.Notes, a.Body, a.Empty)
	for half := range a.Questions {
		fmt.Fprintf(w, "questions, half %d:  %d; answered by the first three %.2f, as printed %.2f\n", half+1, a.Questions[half],
			share(a.Answered[half], a.Questions[half]), share(a.Printed[half], a.Questions[half]))
	}
	fmt.Fprintf(w, "search:             %.1f ms (median)\n", a.SearchMS)
	fmt.Fprintf(w, "errors:             %d; fix names the exchange that ended them %.2f\n", a.Errors, share(a.Fixed, a.Errors))
	fmt.Fprintf(w, "nonsense:           %d questions, %d found an exchange\n", a.Nonsense, a.Fooled)
	for _, m := range a.Misses {
		fmt.Fprintf(w, "  %s\n", note.Line(m, 160))
	}
	for _, t := range a.Titles {
		fmt.Fprintf(w, "  %s\n", note.Printable(t))
	}
}

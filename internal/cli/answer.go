package cli

import (
	"fmt"
	"strings"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
)

// explainHit shows how the score of a hit came about.
func (p *program) explainHit(h *recall.Hit) {
	for _, r := range h.Reasons {
		p.printf("   %+8.3f  %s\n", r.Delta, printable(r.What))
	}
	var read []string
	for _, s := range h.Shares() {
		read = append(read, fmt.Sprintf("%s %.2f (%+.2f)", s.Feature, s.Value, s.Worth))
	}
	if len(read) > 0 {
		p.printf("   read: %s\n", strings.Join(read, ", "))
	}
	for _, name := range recall.Sources() {
		if f, ok := h.Found[name]; ok {
			p.printf("   %s: rank %d, score %.3f, norm %.3f, %s\n", name, f.Rank, f.Score, f.Norm, printable(f.Why))
		}
	}
	p.printf("   coverage %.0f %% of the question by weight, %d tokens\n", 100*h.Coverage, h.Tokens)
}

// explain shows how an answer came about.
func (p *program) explain(res *recall.Result) {
	var terms []string
	for _, t := range res.Terms {
		terms = append(terms, fmt.Sprintf("%s (in %d)", t.Token, t.Frequency))
	}
	p.printf("\nlooked for: %s\n", strings.Join(terms, ", "))
	for _, a := range res.Arms {
		p.printf("arm %s: %s%s\n", a.Name, plural(a.Candidates, "candidate"), because(a.Error))
	}
	if w := res.Window; w != nil {
		const seconds = "2006-01-02T15:04:05.999999"
		p.printf("time: %q, from %s to %s (confidence %.2f)\n", w.Phrase, w.From.Format(seconds), w.To.Format(seconds), w.Confidence)
	} else if res.Recent {
		p.printf("time: what is so now\n")
	}
	if g := res.Gate; g != nil {
		p.printf("gate: %s, %s: %s\n", map[bool]string{true: "open", false: "closed"}[g.Open], g.Kind, g.Reason)
	}
	if res.Reranker != "" {
		p.printf("order: %s reranker\n", res.Reranker)
	}
	if res.Cached != "" {
		p.printf("cache: %s\n", res.Cached)
	}
	p.printf("%s searched in %s\n", plural(res.Searched, "note"), took(res.Took))
}

// printNothing tells people that there is no answer, and why.
func (p *program) printNothing(res *recall.Result) {
	if len(res.Hits) > 0 {
		return
	}
	if g := res.Gate; g != nil && !g.Open {
		p.note("nothing relevant: %s; without --gate the nearest notes are shown", g.Reason)
		return
	}
	if res.Searched == 0 {
		p.note("nothing found; the store holds no notes yet, `anamnesis add --title TITLE --body TEXT` writes one")
		return
	}
	p.note("nothing found")
}

// hitText is the i-th hit of an answer as it is printed.
func (s *screen) hitText(i int, h *recall.Hit, format string, fields []string) string {
	var b strings.Builder
	title := firstLine(h.Row.Title, note.MaxTitle)
	switch format {
	case "ids":
		return string(h.Row.ID) + "\n"
	case "simple":
		fmt.Fprintf(&b, "%s  %.2f  [%s] %s%s\n", h.Row.ID, h.Score(), h.Row.Type, title, outOfUse(h))
		if len(fields) == 0 {
			return b.String()
		}
	default:
		if h.Note != nil && h.Note.Author != "" {
			title += " (shared by " + firstLine(h.Note.Author, 60) + ")"
		}
		fmt.Fprintf(&b, "%d. [%s] %s\n", i+1, h.Row.Type, title)
		fmt.Fprintf(&b, "   %s  score %.2f  project %s  %s%s\n", s.short(h.Row.ID), h.Score(), h.Row.Project, date(h.Row.Updated),
			onBranch(h.Row.Branch)+outOfUse(h))
	}
	text := passage(h, s.left(len("   | "), 110))
	if len(fields) > 0 {
		text = ""
		for _, name := range fields {
			v := printable(strings.Join(strings.Fields(h.Fields[name]), " "))
			if v == "" { // as of a note that was written before there were fields
				v = "(none)"
			}
			text += name + ": " + v + "\n"
		}
	}
	for line := range strings.Lines(text) {
		fmt.Fprintf(&b, "   | %s\n", strings.TrimRight(line, "\n"))
	}
	return b.String()
}

// outOfUse says why a note is found only because one asked for all of them.
func outOfUse(h *recall.Hit) string {
	if end := app.EndOf(h.Note, &h.Row); end != "" {
		return "  " + firstLine(end, 60)
	}
	return ""
}

func onBranch(branch string) string {
	if branch == "" {
		return ""
	}
	return "  branch " + firstLine(branch, 60)
}

// passage is the stretch of a note that matched, in lines of at most width characters.
func passage(h *recall.Hit, width int) string {
	const lines = 6
	var b strings.Builder
	n := 0
	for line := range strings.Lines(strings.TrimSpace(h.Note.Body[h.Start:h.End])) {
		if n++; n > lines {
			b.WriteString("…\n")
			break
		}
		b.WriteString(firstLine(strings.TrimRight(line, "\n")+" ", width) + "\n")
	}
	return b.String()
}

func date(t time.Time) string {
	if t.IsZero() {
		return "undated"
	}
	return t.Format("2006-01-02")
}

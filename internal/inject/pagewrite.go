package inject

import (
	"cmp"
	"strings"

	"anamnesis/internal/note"
	"anamnesis/internal/risk"
	"anamnesis/internal/text"
)

// Bounds of the sections of a page that are no lines of notes, in characters.
const (
	maxLast = 240  // of what was asked, done, or is open
	maxHand = 2000 // of a handoff
)

// Titles of a page.
const (
	pageTitle  = "# Memory of "
	sinceTitle = "# Memory: new since this session last ran\n\n"
)

// fixed is the size of what stands on a page besides the lines of notes and topics.
func (d *draft) fixed() int {
	none := *d
	none.lines, none.topics, none.b = nil, nil, &Block{}
	text := none.render(func(*note.Note, string, bool) {})
	return d.size.of(text) + d.size.of(laidHeading+laidIntro+teamHeading+teamIntro+knownHeading+topicHeading+topicIntro) + 10
}

// write renders the page into its block, with what the session is shown by it.
func (in *Injector) write(d *draft) {
	d.b.Topics = d.topics
	titles := make(map[note.ID]string, len(d.rest))
	for i := range d.rest {
		titles[d.rest[i].row.ID] = d.rest[i].row.Title
	}
	for _, t := range d.topics {
		name := t.Name
		if name == "" {
			name = "other"
		}
		for _, id := range t.Notes {
			d.b.Left = append(d.b.Left, id)
			d.leave(id, titles[id], "no room; in the topic "+name)
		}
	}
	for i := range d.lines {
		if d.lines[i].laid {
			d.b.Laid++
		} else {
			d.b.Known++
		}
	}
	if len(d.last) > 0 {
		d.b.Last, _ = d.last[0].UpdatedAt.Time()
	}
	if !d.empty() {
		d.b.Text = d.render(d.show)
	}
}

// empty reports whether a page says nothing: then it is no page.
func (d *draft) empty() bool {
	return len(d.lines)+len(d.topics)+len(d.handoffs)+len(d.slots)+len(d.skills)+len(d.last) == 0 && d.p.Notice == ""
}

// render returns the page. show is called for each note on it.
func (d *draft) render(show func(n *note.Note, why string, whole bool)) string {
	var out strings.Builder
	out.WriteString(d.p.Start + "\n")
	switch {
	case d.p.Bare:
	case !d.p.Since.IsZero():
		out.WriteString(sinceTitle)
	default:
		out.WriteString(pageTitle + oneLine(d.p.Project) + "\n\n")
	}
	d.renderLines(&out, laidHeading+"\n"+laidIntro, (*note.Note).UserSaid, show)
	d.renderLines(&out, teamHeading+"\n"+teamIntro, func(n *note.Note) bool { return !n.UserSaid() && n.Author != "" }, show)
	d.renderLines(&out, knownHeading, func(n *note.Note) bool { return !n.UserSaid() && n.Author == "" }, show)
	if len(d.topics) > 0 {
		out.WriteString(topicHeading + "\n" + topicIntro + "\n")
		for i := range d.topics {
			out.WriteString(d.topics[i].String())
		}
		out.WriteString("\n")
	}
	if len(d.skills) > 0 {
		out.WriteString(skillHeading + "\n")
		for _, n := range d.skills {
			out.WriteString("- " + cutLine(oneLine(n.Title)+": "+oneLine(n.KeyInsight), maxLine) + " (" + oneLine(n.ImportedID) + ")\n")
			show(n, "a skill that the branch, the files in work or the open items name", false)
		}
		out.WriteString("\n")
	}
	d.renderLast(&out, show)
	if d.p.Since.IsZero() && !d.p.Bare {
		out.WriteString(useHeading + "\n" + useIntro)
		if !d.p.Instructed {
			out.WriteString(" " + note.Rubric)
		}
		out.WriteString("\n")
	}
	if d.p.Notice != "" {
		out.WriteString("\nFor your user: " + oneLine(d.p.Notice) + "\n")
	}
	return strings.TrimRight(out.String(), "\n") + "\n" + d.p.End + "\n"
}

// renderLines writes a section: the lines and the slots of those who speak in it.
func (d *draft) renderLines(
	out *strings.Builder, heading string, speaks func(*note.Note) bool, show func(*note.Note, string, bool),
) {
	begun := false
	begin := func() {
		if !begun {
			out.WriteString(heading + "\n")
		}
		begun = true
	}
	for i := range d.lines {
		if l := &d.lines[i]; speaks(l.note) {
			begin()
			out.WriteString(l.text + "\n")
			show(l.note, standing(l.note), l.whole)
		}
	}
	for _, n := range d.slots {
		if speaks(n) {
			begin()
			out.WriteString("- " + slotText(n) + "\n")
			show(n, "a slot", true)
		}
	}
	if begun {
		out.WriteString("\n")
	}
}

// slotText is a slot as an item of a list: its name, and its text below it where that has lines.
func slotText(n *note.Note) string {
	body := strings.TrimSpace(neutralise(n.Body))
	if !strings.Contains(body, "\n") {
		return oneLine(n.Title) + ": " + body
	}
	return oneLine(n.Title) + ":\n  " + strings.ReplaceAll(body, "\n", "\n  ")
}

// renderLast writes what the last session did, what it handed over, and what is open.
func (d *draft) renderLast(out *strings.Builder, show func(*note.Note, string, bool)) {
	if len(d.handoffs)+len(d.last) == 0 && len(d.open) == 0 {
		return
	}
	out.WriteString(lastHeading + "\n")
	for _, n := range d.handoffs {
		text := note.CutRunes(strings.TrimSpace(neutralise(n.Body)), maxHand)
		out.WriteString("- Handed over: " + oneLine(neutralise(n.Title)) + by(n) + "\n  " + strings.ReplaceAll(closeFence(text), "\n", "\n  ") +
			"\n  Taken over? `anamnesis handoff done " + shortID(n.ID) + "`\n")
		show(n, "a handoff", true)
	}
	for _, n := range d.last {
		ask := cmp.Or(oneLine(labelled(n.Body, "Ask")), oneLine(n.Title))
		out.WriteString("- Asked: " + cutLine(ask, maxLast) + d.p.branchOf(n) + " [" + shortID(n.ID) + "]\n")
		// The agent may repeat what a web page says.
		if done := oneLine(risk.Without(labelled(n.Body, "Outcome"), d.known, text.Sentences)); done != "" {
			out.WriteString("- Done: " + cutLine(done, maxLast) + "\n")
		}
		show(n, "the last session", false)
	}
	if len(d.open) > 0 {
		out.WriteString("- Open: " + cutLine(oneLine(strings.Join(d.open, "; ")), maxLast) + "\n")
	}
	out.WriteString("\n")
}

// by says of a handoff whether the user left it.
func by(n *note.Note) string {
	if n.UserSaid() {
		return ""
	}
	return " (by an agent)"
}

// labelled returns the paragraph of a session's note behind a label, "" when there is none.
func labelled(body, label string) string {
	_, rest, ok := strings.Cut("\n"+body, "\n**"+label+":**")
	if !ok {
		return ""
	}
	if i := strings.Index(rest, "\n\n"); i >= 0 {
		rest = rest[:i]
	}
	return strings.TrimSpace(rest)
}

package tui

import (
	"cmp"
	"fmt"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/app/curate"
	"anamnesis/internal/app/history"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"

	tea "charm.land/bubbletea/v2"
)

const (
	listedNotes = 200
	foundNotes  = 50
	labHits     = 20
)

// plain makes text harmless for a terminal, line by line.
func plain(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\t", "    "), "\n")
	for i, l := range lines {
		lines[i] = note.Printable(l)
	}
	return strings.Join(lines, "\n")
}

func (m *model) load() tea.Cmd {
	m.status = ""
	return m.loadQuietly()
}

// loadQuietly fills the list of the part and leaves the line at the bottom.
func (m *model) loadQuietly() tea.Cmd {
	m.asked++
	asked, query, was := m.asked, strings.TrimSpace(m.query), m.status
	fill := map[part]func(string) ([]row, string, error){partNotes: m.notes, partReview: m.waiting, partLab: m.lab}[m.part]
	return func() tea.Msg {
		if _, err := m.fresh.Refresh(m.ctx); err != nil {
			return failed{err}
		}
		rows, status, err := fill(query)
		if err != nil {
			return failed{err}
		}
		if was != "" {
			status = was
		}
		return listed{asked, rows, status}
	}
}

func (m *model) notes(query string) (rows []row, status string, err error) {
	if query == "" {
		list, err := app.List(m.ctx, m.rooms, app.Selection{}, listedNotes)
		for _, n := range list.Notes {
			rows = append(rows, row{head: note.Line(n.Title, 200), side: note.Line(n.Project, 40), id: n.ID})
		}
		return rows, fmt.Sprintf("the newest %d notes", len(rows)), err
	}
	a, err := m.search(query, foundNotes, false)
	for _, h := range a.Hits {
		rows = append(rows, row{head: note.Line(h.Title, 200), side: note.Line(h.Project, 40), id: h.ID})
	}
	return rows, fmt.Sprintf("%d found in %.1f ms", len(rows), a.TookMS), err
}

// search asks without leaving a trace in the event log.
func (m *model) search(query string, k int, gate bool) (app.SearchAnswer, error) {
	a, err := app.Search(m.ctx, m.rooms, app.SearchOptions{
		Question: app.Question{Global: true, AllBranches: true, Lambda: app.Unset, Mode: app.Modes[0].Name, Gate: gate},
		Text:     query, K: k, Look: true, Explain: true,
	})
	if app.Answers(err) {
		err = nil
	}
	return a, err
}

// lab lists the answers to a question with their scores and arms, and what the gate says.
func (m *model) lab(query string) (rows []row, status string, err error) {
	if query == "" {
		return nil, "ask anything: the answers come with their scores, arms and reasons", nil
	}
	a, err := m.search(query, labHits, false)
	if err != nil {
		return nil, "", err
	}
	for i, h := range a.Hits {
		var arms []string
		for _, arm := range a.Arms {
			if f, ok := h.Arms[arm.Name]; ok {
				arms = append(arms, fmt.Sprintf("%s %d.", arm.Name, f.Rank))
			}
		}
		rows = append(rows, row{
			head: fmt.Sprintf("%2d %6.3f %s", i+1, h.Score, note.Line(h.Title, 200)), side: strings.Join(arms, " "), id: h.ID,
		})
	}
	gated, err := m.search(query, labHits, true)
	if err == nil && gated.Gate != nil {
		word := "closed"
		if gated.Gate.Open {
			word = "open"
		}
		status = fmt.Sprintf("gate %s: %.2f of %.2f: %s", word, gated.Gate.Signal, gated.Gate.Threshold, gated.Gate.Reason)
	}
	return rows, status, err
}

// waiting lists what waits for a person.
func (m *model) waiting(string) (rows []row, status string, err error) {
	items, err := curate.Inbox(m.ctx, m.rooms)
	for i := range items {
		it := &items[i]
		rows = append(rows, row{head: note.Line(it.Title, 200), side: string(it.Kind), id: it.ID, item: it})
	}
	if len(rows) == 0 {
		return nil, "nothing waits for you", err
	}
	return rows, app.Plural(len(rows), "thing") + " to decide", err
}

func (m *model) chosen() *row {
	if m.at < 0 || m.at >= len(m.rows) {
		return nil
	}
	return &m.rows[m.at]
}

// open reads what is chosen.
func (m *model) open() tea.Cmd {
	r := m.chosen()
	if r == nil || m.lines != nil {
		return nil
	}
	one, query, inLab := *r, m.query, m.part == partLab
	return func() tea.Msg {
		if it := one.item; it != nil && it.Conflict != nil {
			c, err := app.ShowConflict(m.rooms.Store, string(it.ID))
			if err != nil {
				return failed{err}
			}
			return opened{one, plain(it.Title), plain(it.Why + "\n\n" + c.Diff)}
		} else if it != nil && it.Note != nil {
			return opened{one, plain(it.Title), plain(string(it.Kind) + ": " + it.Why + "\n\n" + it.Note.Body)}
		} else if it != nil && it.File != nil {
			return m.withheld(one)
		} else if it != nil {
			return opened{one, plain(it.Title), plain(it.Why)}
		}
		n, err := app.Show(m.ctx, m.rooms, string(one.id))
		if err != nil {
			return failed{err}
		}
		head := fmt.Sprintf("%s · %s · %s · shown %d times unasked, %d asked for\n%s", n.Type, n.Project, n.UpdatedAt, n.Injected, n.Recalled,
			strings.Join(n.Tags, ", "))
		if inLab {
			if head, err = m.reasons(query, one.id); err != nil {
				return failed{err}
			}
		}
		return opened{one, plain(n.Title), plain(head + "\n\n" + n.Body)}
	}
}

// withheld says what of a note would go where.
func (m *model) withheld(one row) tea.Msg {
	a, err := app.ReleaseWithheld(m.ctx, m.rooms, one.item.File.Name(), app.ReleasePlan)
	if err != nil {
		return failed{err}
	}
	text := "It does not travel. To " + cmp.Or(a.Remote, "the remote that you set (none is set now)") + " would go:\n"
	for _, f := range a.Files {
		text += "\n" + f.Path + ": " + f.Why + "\n    " + strings.Join(f.Found, "\n    ") + "\n"
	}
	return opened{one, plain(one.item.Title), plain(text)}
}

// reasons says why a note answers a question as it does.
func (m *model) reasons(query string, id note.ID) (string, error) {
	a, err := m.search(query, labHits, false)
	if err != nil {
		return "", err
	}
	text := ""
	for _, h := range a.Hits {
		if h.ID != id {
			continue
		}
		for _, why := range h.Reasons {
			text += fmt.Sprintf("%+9.4f  %s\n", why.Delta, why.What)
		}
		for _, s := range h.Shares {
			text += fmt.Sprintf("  %+7.2f  of it: %s %.2f\n", s.Worth, s.Feature, s.Value)
		}
	}
	return text, nil
}

// A choice is a key that decides about what is read, and what it does. Of conflicts,
// quarantine and files that do not travel no choice has the key that keeps a note.
type choice struct {
	key, name string
	ask       string // asked first, "" when it can be taken back at once
	do        func(m *model, it *app.InboxItem) (said string, err error)
}

var (
	keepNote = choice{"y", "keep", "", func(m *model, it *app.InboxItem) (string, error) {
		_, err := curate.KeepReviewed(m.ctx, m.rooms, []string{string(it.ID)})
		return "it is right, and is recalled", err
	}}
	rejectDraft = choice{"n", "archive", "", func(m *model, it *app.InboxItem) (string, error) {
		_, err := curate.DecideReview(m.ctx, m.rooms, string(it.ID), app.Reject, app.Edit{})
		return "archived: it is not recalled, and does not come back on its own", err
	}}
	archiveNote = choice{"n", "archive", "", func(m *model, it *app.InboxItem) (string, error) {
		_, err := app.Archive(m.ctx, m.rooms, app.ArchiveOptions{Names: []string{string(it.ID)}})
		return "archived; u takes it back", err
	}}
	putInForce      = choice{"f", "put in force", "it reads like orders to an agent: let sessions be shown it?", keepNote.do}
	letGo           = choice{"s", "send", "send it with the next sync, with what was found in it?", release}
	conflictChoices = []choice{
		{"i", "in its place", "let the version in its place stay?", resolveWith(ingest.KeepWinner)},
		{"o", "the other", "let the other version take its place?", resolveWith(ingest.TakeLoser)},
		{"b", "both", "keep both, as two notes?", resolveWith(ingest.KeepBoth)},
	}
)

func release(m *model, it *app.InboxItem) (string, error) {
	a, err := app.ReleaseWithheld(m.ctx, m.rooms, it.File.Name(), app.ReleaseApply)
	return "it goes with the next sync; to undo: anamnesis review held release " + a.Name + " --undo", err
}

func resolveWith(c ingest.Choice) func(*model, *app.InboxItem) (string, error) {
	return func(m *model, it *app.InboxItem) (string, error) {
		_, err := app.ResolveConflict(m.ctx, m.rooms, string(it.ID), c, nil)
		return "the conflict is decided", err
	}
}

// choicesOf returns the choices about a thing that waits.
func choicesOf(it *app.InboxItem) []choice {
	switch it.Kind {
	case app.WaitingConflict:
		return conflictChoices
	case app.WaitingWithheld:
		return []choice{letGo}
	case app.WaitingQuarantine:
		return []choice{putInForce, archiveNote}
	case app.WaitingDraft:
		return []choice{keepNote, rejectDraft}
	}
	return []choice{keepNote, archiveNote}
}

// choices says which keys decide about what is read.
func choices(it *app.InboxItem) string {
	var names []string
	for _, c := range choicesOf(it) {
		names = append(names, c.key+" "+c.name)
	}
	return strings.Join(names, " · ")
}

// decide does what a key decides about what is read. The text is closed at once, so that
// the same key decides about nothing else.
func (m *model) decide(key string) tea.Cmd {
	one := m.read
	if one.item == nil {
		if key != "a" {
			return nil
		}
		m.status = "archive it, so that it is not recalled?"
		m.yes = func() tea.Msg {
			_, err := app.Archive(m.ctx, m.rooms, app.ArchiveOptions{Names: []string{string(one.id)}})
			return result("archived; u takes it back", err)
		}
		return nil
	}
	for _, c := range choicesOf(one.item) {
		if c.key != key {
			continue
		}
		do := func() tea.Msg { return result(c.do(m, one.item)) }
		if c.ask != "" {
			m.status, m.yes = c.ask, do
			return nil
		}
		m.lines = nil
		return do
	}
	return nil
}

// undo asks whether to take the last decision back, wherever it was made.
func (m *model) undo() tea.Cmd {
	d, _, err := history.FindDecision(m.ctx, m.rooms, "")
	if err != nil {
		return func() tea.Msg { return failed{err} }
	}
	title := ""
	if v := history.ViewDecision(m.rooms, d); len(v.Of) > 0 {
		title = " " + note.Line(v.Of[0].Title, 50)
	}
	m.status = "take back the last decision (" + note.Line(d.What, 20) + title + ")?"
	m.yes = func() tea.Msg {
		a, err := history.UndoDecision(m.ctx, m.rooms, d)
		if a.Left > 0 {
			return did{"it was changed since, and stays as it is"}
		}
		return result(fmt.Sprintf("taken back; anamnesis undo %d decides so again", a.Taken), err)
	}
	return nil
}

func result(text string, err error) tea.Msg {
	if err != nil {
		return failed{err}
	}
	return did{text}
}

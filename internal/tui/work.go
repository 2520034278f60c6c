package tui

import (
	"errors"
	"fmt"
	"strings"

	"anamnesis/internal/app"
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
	items, err := app.Inbox(m.ctx, m.rooms)
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
			return opened{plain(it.Title), plain(it.Why + "\n\n" + c.Diff)}
		} else if it != nil && it.Note != nil {
			return opened{plain(it.Title), plain(string(it.Kind) + ": " + it.Why + "\n\n" + it.Note.Body)}
		} else if it != nil {
			return opened{plain(it.Title), plain(it.Why)}
		}
		n, err := app.Show(m.ctx, m.rooms, string(one.id))
		if err != nil {
			return failed{err}
		}
		head := fmt.Sprintf("%s · %s · %s · told %d times unasked, %d asked for\n%s", n.Type, n.Project, n.UpdatedAt, n.Injected, n.Recalled,
			strings.Join(n.Tags, ", "))
		if inLab {
			if head, err = m.reasons(query, one.id); err != nil {
				return failed{err}
			}
		}
		return opened{plain(n.Title), plain(head + "\n\n" + n.Body)}
	}
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

// choices says which keys decide about what is chosen.
func (m *model) choices() string {
	r := m.chosen()
	switch {
	case r == nil || r.item == nil:
		return "nothing to decide"
	case r.item.Kind == app.WaitingConflict:
		return "y in its place · o the other · b both"
	case r.item.Kind == app.WaitingWithheld:
		return "y it may travel"
	}
	return "y keep · n drop"
}

// decide does what a key decides about what is chosen.
func (m *model) decide(key string) tea.Cmd {
	r := m.chosen()
	if r == nil {
		return nil
	}
	one := *r
	if one.item == nil {
		if key != "a" || m.lines == nil {
			return nil
		}
		m.status = "archive it, so that it is not recalled?"
		m.yes = func() tea.Msg {
			a, err := app.Archive(m.ctx, m.rooms, app.ArchiveOptions{Names: []string{string(one.id)}})
			return result("archived; to undo: "+a.Undo, err)
		}
		return nil
	}
	if key == "n" && one.item.Kind == app.WaitingDraft { // it cannot be taken back
		m.status = "drop the draft for good?"
		m.yes = func() tea.Msg {
			_, err := app.DropDraft(m.ctx, m.rooms, string(one.id))
			return result("the draft is gone", err)
		}
		return nil
	}
	return func() tea.Msg { return m.carryOut(one.item, key) }
}

var errNoChoice = errors.New("that is no choice here")

// carryOut does what a person decided about a thing that waits.
func (m *model) carryOut(it *app.InboxItem, key string) tea.Msg {
	id := string(it.ID)
	switch {
	case it.Kind == app.WaitingConflict:
		choice, ok := map[string]ingest.Choice{"y": ingest.KeepWinner, "o": ingest.TakeLoser, "b": ingest.KeepBoth}[key]
		if !ok {
			return failed{errNoChoice}
		}
		_, err := app.ResolveConflict(m.ctx, m.rooms, id, choice, nil)
		return result("the conflict is decided", err)
	case it.Kind == app.WaitingWithheld && key == "y":
		return result("it may travel as it is now", app.AllowSecret(m.ctx, m.rooms, id))
	case it.Kind == app.WaitingDraft && key == "y":
		_, err := app.KeepDraft(m.ctx, m.rooms, id)
		return result("the draft is a note now", err)
	case it.Note != nil && key == "y":
		_, err := app.KeepReviewed(m.ctx, m.rooms, []string{id})
		return result("it is right, and is recalled", err)
	case it.Note != nil && key == "n" && it.Kind != app.WaitingDraft:
		a, err := app.Archive(m.ctx, m.rooms, app.ArchiveOptions{Names: []string{id}})
		return result("archived; to undo: "+a.Undo, err)
	}
	return failed{errNoChoice}
}

func result(text string, err error) tea.Msg {
	if err != nil {
		return failed{err}
	}
	return did{text}
}

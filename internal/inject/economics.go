package inject

import (
	"slices"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// Economics compare what agents were shown with what it would have cost them to read it
// where it was found out: the sessions that the shown notes come from (M8). Everything is
// counted: what was shown when it was shown, a session when it was captured. An injection of
// which no session is known says nothing about what was saved.
type Economics struct {
	Surfaces []Surface `json:"surfaces"` // without those that never shown anything
	All      Surface   `json:"all"`
}

// A Surface is a place at which agents are shown something.
type Surface struct {
	Name        string `json:"name"` // start, prompt, tool, subagent, search
	Times       int    `json:"times"`
	Notes       int    `json:"notes"`
	Tokens      int    `json:"tokens"`        // shown
	Known       int    `json:"times_known"`   // injections with at least one note whose session was counted
	TokensKnown int    `json:"tokens_known"`  // shown in these
	Sources     int    `json:"source_tokens"` // of the sessions behind them, each once an injection
	Saved       int    `json:"tokens_saved"`  // Sources - TokensKnown; may be negative
	Percent     *int   `json:"percent_saved"` // of Sources; null when nothing is known
}

// surfaceNames are the surfaces by the kind of their records, in the order in which they
// are listed.
var surfaceNames = []struct{ kind, name string }{
	{store.Injected, "start"},
	{store.Prompted, "prompt"},
	{store.ToolShown, "tool"},
	{store.SubagentShown, "subagent"},
	{store.Recalled, "search"},
}

// A Ledger gathers records of the event log for Economics.
type Ledger struct {
	shown    []store.Record
	sessions map[string]int // tokens of a session, as last captured
}

// Take takes a record; shown says whether an injection is in the time that is asked about.
func (l *Ledger) Take(rec store.Record, shown bool) {
	switch {
	case rec.Kind == store.Captured && rec.In > 0 && rec.Session != "":
		if l.sessions == nil {
			l.sessions = make(map[string]int)
		}
		l.sessions[rec.Session] = rec.In
	case rec.Kind == store.Recalled && rec.Text == "search": // a person asked, and read it
	case shown && rec.Out > 0 && len(rec.Notes) > 0: // of other kinds Sum takes none
		l.shown = append(l.shown, rec)
	}
}

// Sum adds up what was taken. sessionOf returns the session that a note comes from, ""
// when none is known.
func (l *Ledger) Sum(sessionOf func(note.ID) string) Economics {
	e := Economics{Surfaces: []Surface{}, All: Surface{Name: "all"}}
	for _, of := range surfaceNames {
		s := Surface{Name: of.name}
		for i := range l.shown {
			if rec := &l.shown[i]; rec.Kind == of.kind {
				s.add(rec, l.sources(rec, sessionOf))
			}
		}
		if s.Times == 0 {
			continue
		}
		e.All.Times, e.All.Notes, e.All.Tokens = e.All.Times+s.Times, e.All.Notes+s.Notes, e.All.Tokens+s.Tokens
		e.All.Known, e.All.TokensKnown, e.All.Sources = e.All.Known+s.Known, e.All.TokensKnown+s.TokensKnown, e.All.Sources+s.Sources
		s.save()
		e.Surfaces = append(e.Surfaces, s)
	}
	e.All.save()
	return e
}

// sources is how many tokens the sessions behind an injection have.
func (l *Ledger) sources(rec *store.Record, sessionOf func(note.ID) string) (tokens int) {
	var seen []string
	for _, id := range rec.Notes {
		session := sessionOf(id)
		if session == "" || session == rec.Session || slices.Contains(seen, session) {
			continue
		}
		seen = append(seen, session)
		tokens += l.sessions[session]
	}
	return tokens
}

func (s *Surface) add(rec *store.Record, sources int) {
	s.Times++
	s.Notes += len(rec.Notes)
	s.Tokens += rec.Out
	if sources > 0 {
		s.Known++
		s.TokensKnown += rec.Out
		s.Sources += sources
	}
}

func (s *Surface) save() {
	if s.Sources == 0 {
		return
	}
	s.Saved = s.Sources - s.TokensKnown
	percent := (200*s.Saved + s.Sources) / (2 * s.Sources)
	s.Percent = &percent
}

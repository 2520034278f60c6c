package app

import (
	"context"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// LoggedRecords reads the event log from a time on, oldest first.
func LoggedRecords(r *Rooms, since time.Time, each func(store.Record, time.Time)) error {
	files, err := r.Store.Events().Files()
	if err != nil {
		return err
	}
	for _, file := range files {
		if file < since.UTC().Format("2006-01")+".jsonl" {
			continue // a month that was over by then
		}
		_, err := r.Store.Events().Records(file, 0, func(rec store.Record) {
			if at, err := time.Parse(time.RFC3339, rec.At); err == nil && !at.Before(since) {
				each(rec, at)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// A NamedID is a note by its id and title.
type NamedID struct {
	ID    note.ID `json:"id"`
	Title string  `json:"title"` // empty when the note is gone
}

// An Injection is one answer of memory.
type Injection struct {
	At    string    `json:"at"`
	Kind  string    `json:"kind"` // inject, prompt or recall
	Query string    `json:"query,omitempty"`
	Via   string    `json:"via,omitempty"`
	Count int       `json:"count"`
	MS    float64   `json:"ms"`
	Notes []NamedID `json:"notes"`
}

// A SessionLog is what one session was shown.
type SessionLog struct {
	Session string      `json:"session"` // empty: asked by hand, or the agent did not say in which
	Project string      `json:"project"`
	First   string      `json:"first"`
	Last    string      `json:"last"`
	Answers []Injection `json:"answers"`
}

// LogOptions say which sessions the log shows.
type LogOptions struct {
	Session string // the beginning of its id
	Project string // its key, "." for the one of the current folder
	Since   string
	Limit   int // sessions at most; 0 means all
}

// LogAnswer lists what sessions were shown, the latest first.
type LogAnswer struct {
	Sessions []*SessionLog `json:"sessions"`

	Since time.Time `json:"-"`
}

// Log lists what sessions were shown and asked.
func Log(ctx context.Context, r *Rooms, o LogOptions) (a LogAnswer, err error) {
	if a.Since, err = Moment("--since", o.Since, r.Store.Now()); err != nil {
		return a, err
	}
	project := ""
	if o.Project != "" {
		project = PlaceProject(r.Store, o.Project).Key
	}
	titles := map[note.ID]string{}
	by := map[string]*SessionLog{}
	shown := map[*SessionLog][]store.Record{} // titles are looked up of what is shown alone
	err = LoggedRecords(r, a.Since, func(rec store.Record, _ time.Time) {
		if !shows(rec) || !strings.HasPrefix(rec.Session, o.Session) || project != "" &&
			rec.Project != project {
			return
		}
		key := rec.Session + "\x00" + rec.Project
		if rec.Session == "" {
			key += "\x00" + string(rec.ID) // nothing says that these belong together
		}
		s := by[key]
		if s == nil {
			s = &SessionLog{Session: rec.Session, Project: rec.Project, First: rec.At}
			by[key] = s
			a.Sessions = append(a.Sessions, s)
		}
		s.Last = rec.At
		shown[s] = append(shown[s], rec)
	})
	slices.SortFunc(a.Sessions, func(a, b *SessionLog) int { return strings.Compare(b.Last+b.Session, a.Last+a.Session) })
	if o.Limit > 0 {
		a.Sessions = a.Sessions[:min(len(a.Sessions), o.Limit)]
	}
	for _, s := range a.Sessions {
		for _, rec := range shown[s] {
			s.Answers = append(s.Answers, injectionOf(ctx, r, rec, titles))
		}
	}
	return a, err
}

// InjectionOf views a record as an answer of memory; false when it is none, and no surface
// that stayed silent.
func InjectionOf(ctx context.Context, r *Rooms, rec store.Record) (Injection, bool) {
	switch rec.Kind {
	case store.Injected, store.Recalled, store.Prompted, store.ToolShown, store.SubagentShown:
		return injectionOf(ctx, r, rec, map[note.ID]string{}), true
	}
	return Injection{}, false
}

func injectionOf(ctx context.Context, r *Rooms, rec store.Record, titles map[note.ID]string) Injection {
	t := Injection{At: rec.At, Kind: rec.Kind, Query: rec.Query, Via: rec.Text, Count: max(rec.Count, len(rec.Notes)), MS: rec.MS}
	for _, id := range rec.Notes {
		t.Notes = append(t.Notes, NamedID{id, TitleOf(ctx, r, titles, id)})
	}
	return t
}

// shows reports whether a record is an answer of memory.
func shows(rec store.Record) bool {
	switch rec.Kind {
	case store.Injected, store.Recalled:
		return true
	case store.Prompted, store.ToolShown, store.SubagentShown:
		return len(rec.Notes) > 0
	}
	return false
}

// TitleOf looks a title up, once for each id; a note that is gone has none.
func TitleOf(ctx context.Context, r *Rooms, known map[note.ID]string, id note.ID) string {
	title, ok := known[id]
	if !ok {
		if row, found, err := r.Index.Lookup(ctx, id); err == nil && found {
			title = row.Title
		}
		known[id] = title
	}
	return title
}

// tailEvery is how often a log that is followed is looked at.
const tailEvery = 250 * time.Millisecond

// Tail calls each with the last lines records of the event log, oldest first,
// and with follow goes on with what comes, until ctx ends. It returns how many
// records there were at first.
func Tail(ctx context.Context, s *store.Store, lines int, follow bool, each func(store.Record)) (found int, err error) {
	var last []store.Record
	places := map[string]int64{}
	files, err := s.Events().Files()
	if err != nil {
		return 0, err
	}
	for _, file := range files {
		places[file], err = s.Events().Records(file, 0, func(r store.Record) {
			if last = append(last, r); len(last) > 2*lines+1000 {
				last = slices.Delete(last, 0, len(last)-lines)
			}
		})
		if err != nil {
			return 0, err
		}
	}
	for _, r := range last[max(0, len(last)-lines):] {
		each(r)
	}
	for follow {
		select {
		case <-ctx.Done():
			return len(last), nil
		case <-time.After(tailEvery):
		}
		if files, err = s.Events().Files(); err != nil {
			return len(last), err
		}
		for _, file := range files {
			if places[file], err = s.Events().Records(file, places[file], each); err != nil {
				return len(last), err
			}
		}
	}
	return len(last), nil
}

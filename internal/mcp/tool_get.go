package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/note"
)

const maxGet = 20 // notes of one call

var toolGet = tool{
	name:  "memory_get",
	doc:   `Read whole notes or exchanges by ids or their ends.`,
	hints: readOnly,
	does:  reads,
	input: schemaOf[getIn],
	call:  takes((*Server).get),
}

type getIn struct {
	IDs    []string `json:"ids" jsonschema:"up to 20"`
	Offset int      `json:"offset,omitempty" jsonschema:"next_offset of a cut body"`
}

// A wholeOut is a note with its body.
type wholeOut struct {
	noteOut
	Live         bool    `json:"live"` // false: superseded, expired or archived
	SupersededBy note.ID `json:"superseded_by,omitempty"`
	NextOffset   int     `json:"next_offset,omitempty"` // the body goes on there
	Body         string  `json:"body"`
}

// A missingOut is an id without a note.
type missingOut struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// A sessionOut is an exchange of a past session, with its neighbours.
type sessionOut struct {
	ID      string `json:"id"`
	At      string `json:"at"`
	Agent   string `json:"agent"`
	Project string `json:"project"`
	Title   string `json:"title"` // of its session
	Text    string `json:"text"`  // > typed by the user, | pasted, $ command, ~ file edited
}

type getOut struct {
	Missing []missingOut `json:"missing,omitempty"`
	Result  []wholeOut   `json:"result"`

	Sessions []sessionOut `json:"sessions,omitempty"` // exchanges that were named, each with its neighbours
}

func (getOut) framed() {}

func (s *Server) get(ctx context.Context, _ caller, in getIn) (getOut, error) {
	out := getOut{Result: []wholeOut{}}
	switch {
	case len(in.IDs) == 0 || len(in.IDs) > maxGet:
		return out, fmt.Errorf("%d ids; give 1 to %d", len(in.IDs), maxGet)
	case in.Offset < 0:
		return out, fmt.Errorf("offset is %d; give a next_offset", in.Offset)
	}
	if _, err := s.refresh(ctx); err != nil {
		return out, err
	}
	ids := make([]note.ID, 0, len(in.IDs))
	left := budget(maxAnswer)
	for _, text := range in.IDs {
		if strings.Contains(text, ".") {
			s.exchange(ctx, strings.TrimSpace(text), &left, &out)
			continue
		}
		id, err := s.idOf(ctx, text)
		if err != nil {
			out.Missing = append(out.Missing, missingOut{name(text), name(err.Error())})
			continue
		}
		ids = append(ids, id)
	}
	found, err := s.rooms.Engine.Hydrate(ctx, ids)
	if err != nil {
		return out, err
	}
	for i, h := range found {
		if !h.Found {
			out.Missing = append(out.Missing, missingOut{string(ids[i]), name(h.Reason)})
			continue
		}
		row, _, err := s.rooms.Index.Lookup(ctx, h.ID)
		if err != nil {
			return out, err
		}
		w := wholeOut{noteOut: ofNote(h.Note), Live: !row.Dead, SupersededBy: row.SupersededBy}
		head, err := compact(w)
		if err != nil {
			return out, err
		}
		var full bool
		w.Body, w.NextOffset, full = part(note.Harmless(note.Whole(h.Note)), in.Offset, int(left)/(len(found)-i)-len(head))
		if full || !left.room(w) {
			out.Missing = append(out.Missing, missingOut{string(h.ID), "the answer is full; ask for it alone"})
			continue
		}
		out.Result = append(out.Result, w)
	}
	if len(out.Result)+len(out.Sessions) == 0 {
		return out, noneOf(out.Missing)
	}
	return out, nil
}

// exchange adds an exchange of a past session to an answer.
func (s *Server) exchange(ctx context.Context, id string, left *budget, out *getOut) {
	a, err := app.ShowExchange(ctx, s.rooms, id, app.DefaultShown)
	if err != nil {
		out.Missing = append(out.Missing, missingOut{name(id), name(err.Error())})
		return
	}
	o := sessionOut{id, a.Session.Started, name(a.Session.Agent), name(a.Session.Project), name(a.Session.Title), ""}
	for i := range a.Exchanges {
		e := &a.Exchanges[i]
		o.Text += e.ID + "  " + e.At + "\n" + e.Text + "\n"
		if e.ID == id {
			o.At = e.At
		}
	}
	if !left.room(o) {
		out.Missing = append(out.Missing, missingOut{name(id), "the answer is full; ask for it alone"})
		return
	}
	out.Sessions = append(out.Sessions, o)
}

// noneOf is the error of a call of which no id names a note.
func noneOf(missing []missingOut) error {
	var why []string
	for _, m := range missing {
		why = append(why, m.ID+": "+m.Reason)
	}
	return fmt.Errorf("none of the ids can be read: %s", strings.Join(why, "; "))
}

// part returns a body from a byte on, as much as takes at most so many bytes in
// JSON, and where it goes on; 0 when that is all. full says that there is no room
// for as much as a line.
func part(body string, from, most int) (text string, next int, full bool) {
	const number, line = 40, 200 // next_offset itself; the least that is worth an answer
	from = floor(body, from)
	end, size := from, number
	for i, r := range body[from:] {
		width := len(string(r))
		switch {
		case r == '"' || r == '\\' || r < ' ':
			size += 2
		case r == '\u2028' || r == '\u2029' || r == '\ufffd':
			size += 6
		default:
			size += width
		}
		if size > most {
			return body[from:end], end, end-from < line
		}
		end = from + i + width
	}
	return body[from:], 0, false
}

// floor is the beginning of the character at a byte, within the text.
func floor(text string, at int) int {
	at = min(at, len(text))
	for at > 0 && at < len(text) && text[at]&0xc0 == 0x80 {
		at--
	}
	return at
}

// idOf returns the id that a client gives, or the end of one, as the page shows it. An id without
// a note is returned as it is.
func (s *Server) idOf(ctx context.Context, text string) (note.ID, error) {
	text = strings.Trim(strings.TrimSpace(text), "[]")
	id, err := note.ParseID(text)
	if err != nil {
		return "", err
	}
	row, err := app.Resolve(ctx, s.rooms, text)
	var e *app.Error
	switch {
	case err == nil:
		return row.ID, nil
	case errors.As(err, &e) && e.Kind == app.NotFound:
		return id, nil
	}
	return "", err
}

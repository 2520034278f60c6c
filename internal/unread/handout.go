package unread

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"anamnesis/internal/agent"
	"anamnesis/internal/learn"
	"anamnesis/internal/text"
)

// An Ask says what a reader wants to be given.
type Ask struct {
	Projects []string               // every name of its project
	Client   string                 // the session of the agent that reads, "" when it has no name
	Agent    string                 // the name of its agent, if it is given sessions of that agent alone; "" for all
	Dir      string                 // where it works
	Room     int                    // characters of the record, at most
	Most     int                    // sessions, at most
	Start    bool                   // a session start asks: old sessions and those that wait for the user are left
	Rest     time.Duration          // how long the file of a session that did not end has to be unchanged
	Skip     func(*Session) bool    // sessions that are left, because another reader has them; nil leaves none
	Safe     func(line string) bool // whether what an agent did or said may be shown; nil shows all
}

// A Handout is what a reader is given. Without an ID it is nothing.
type Handout struct {
	ID       string // by which the answer names it
	Record   string // lines: what the agent did before, and what the user typed
	Sessions int    // in it
	Turns    int    // in it
	Busy     bool   // another process changes what is unread: nothing was looked at
	Older    int    // sessions that are left, because they are older than what a start hands out
}

// recent is how old a session may be that is handed out at a start.
const recent = 14 * 24 * time.Hour

// patience is after how long a session that was handed out and not answered for waits for the user.
const patience = 30 * 24 * time.Hour

// maxMissed is how many sessions may be shown a record, work and not answer before it waits for the user.
const maxMissed = 3

// HandOut gives a reader what is unread, the newest session first, and leases it. It waits for no disk, and for no other process
// (Handout.Busy).
func (q Queue) HandOut(a Ask) (h Handout, err error) {
	free, err := q.locked(0, func() error {
		now := q.store.Now()
		all, err := q.Sessions(a.Projects...)
		if err != nil {
			return err
		}
		lease := Lease{ID: newID(), Client: a.Client, Dir: a.Dir, At: now}
		var lines []string
		for _, s := range all {
			if a.Start && now.Sub(s.Ended) > recent && s.Unread() && !s.Waits {
				h.Older++
				continue
			}
			if len(h.ID) > 0 && h.Sessions >= max(1, a.Most) || !s.readable(now, &a) {
				continue
			}
			own := lease
			own.Shown = make(map[string]int)
			record := s.record(a.Room, &own, a.Safe)
			if len(own.Shown) == 0 {
				continue
			}
			a.Room -= utf8.RuneCountInString(record)
			if a.Start && s.Offered.IsZero() {
				s.Offered = now
			}
			s.Lease = &own
			if err := q.put(s, false); err != nil { // a hook waits for no disk; a lease that is lost costs a second reading
				return err
			}
			h.ID, h.Sessions, h.Turns = own.ID, h.Sessions+1, h.Turns+len(own.Shown)
			lines = append(lines, record)
		}
		h.Record = strings.Join(lines, "")
		return nil
	})
	if err != nil {
		return Handout{}, fmt.Errorf("hand out unread turns: %w", err)
	}
	h.Busy = !free
	return h, nil
}

// newID makes the name of a lease. Only who was shown the turns knows it.
func newID() string {
	var b [3]byte
	_, _ = rand.Read(b[:]) // never fails
	return "s-" + hex.EncodeToString(b[:])
}

// readable reports whether a reader may be given a session now.
func (s *Session) readable(now time.Time, a *Ask) bool {
	switch {
	case a.Client != "" && agent.PartOf(s.Origin.Session, a.Client), s.growing(now, a.Rest), a.Skip != nil && a.Skip(s):
		return false
	case a.Agent != "" && s.Origin.Harness != a.Agent:
		return false
	case s.Lease != nil && !s.Lease.Over && now.Sub(s.Lease.At) < leased && (a.Client == "" || s.Lease.Client != a.Client):
		return false
	case !s.Unread():
		return !s.Again && !s.Empty.IsZero() && now.Sub(s.Empty) >= again && now.Sub(s.Empty) < 2*again
	}
	return !a.Start || !s.Waits
}

// Wait leaves sessions to the user that were handed out long ago, or often, and got no answer.
func (q Queue) Wait() error {
	return q.change(func() error {
		now := q.store.Now()
		all, err := q.Sessions()
		for _, s := range all {
			if !s.Waits && s.Unread() && !s.Offered.IsZero() && (s.Missed >= maxMissed || now.Sub(s.Offered) > patience) {
				s.Waits = true
				err = cmp.Or(err, q.write(s))
			}
		}
		return err
	})
}

// Ended records that a session of an agent ended. What it was shown at its start, and has not answered for, is free for others; if
// it worked, that counts as missed. Its answer counts until another reader has been given the same.
func (q Queue) Ended(client string, worked bool, projects ...string) error {
	if client == "" {
		return nil
	}
	all, err := q.Sessions(projects...)
	given := func(s *Session) bool { return s.Lease != nil && s.Lease.Client == client && !s.Lease.Over }
	if err != nil || !slices.ContainsFunc(all, given) {
		return err
	}
	return q.change(func() error {
		all, err := q.Sessions(projects...)
		for _, s := range all {
			if !given(s) {
				continue
			}
			s.Lease.Over = true
			if worked {
				s.Missed++
				s.Waits = s.Waits || s.Missed >= maxMissed
			}
			err = cmp.Or(err, q.write(s))
		}
		if worked {
			err = cmp.Or(err, q.missed())
		}
		return err
	})
}

// Bounds of a record, in characters.
const (
	maxTurn  = 420 // of one turn, while there are others
	leastRun = 60  // that are worth a line
	maxDid   = 110 // of what the agent did before
	maxBare  = 160 // of a turn that may need what the agent did before to be understood
)

// record writes the unread turns of a session as lines, as far as there is room, and notes in the lease what they show. What is
// short and late comes first: a correction is short, and the first prompt of a session is its task. What is long is shown further
// where room is left.
func (s *Session) record(room int, lease *Lease, safe func(string) bool) string {
	parts := make([]string, len(s.Turns))
	order := s.order()
	for _, most := range []int{maxTurn, room} {
		for _, i := range order {
			t := &s.Turns[i]
			had := utf8.RuneCountInString(parts[i])
			if line, upto := s.line(i, room+had, most, safe); upto > lease.Shown[t.Hash] {
				parts[i], lease.Shown[t.Hash] = line, upto
				room -= utf8.RuneCountInString(line) - had
			}
		}
	}
	return strings.Join(parts, "")
}

// line writes a turn in at most room characters, and at most so many of its text. upto is how far the text is shown then, 0 for
// nothing.
func (s *Session) line(at, room, most int, safe func(string) bool) (line string, upto int) {
	t := &s.Turns[at]
	from := t.Read
	if t.By != "" { // read again
		from = 0
	}
	if from == 0 {
		line = t.before(safe)
	}
	rest := string([]rune(t.Text)[min(from, utf8.RuneCountInString(t.Text)):])
	shown := head(rest, min(room-utf8.RuneCountInString(line)-utf8.RuneCountInString("> user:  …\n"), most))
	n := utf8.RuneCountInString(shown)
	if n == 0 || n < utf8.RuneCountInString(rest) && n < leastRun {
		return "", 0
	}
	line += "> user: " + strings.Join(strings.Fields(shown), " ")
	if n < utf8.RuneCountInString(rest) {
		line += " …"
	}
	return line + "\n", from + n
}

// order returns the numbers of the turns that are handed out, what goes first first.
func (s *Session) order() (all []int) {
	unread := s.Unread()
	for i := range s.Turns {
		if t := &s.Turns[i]; t.Text != "" && (t.By == "" || !unread && t.By == Agent) {
			all = append(all, i)
		}
	}
	rank := func(i int) int {
		t := &s.Turns[i]
		switch {
		case t.Asked != "": // it agrees, and says nothing else
			return 2
		case i == 0 && utf8.RuneCountInString(t.Text) > maxTurn:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Or(rank(a)-rank(b), b-a) })
	return all
}

// head returns the first sentences of a text that fit into n characters, and the first words of a longer one.
func head(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	if n < leastRun {
		return ""
	}
	short := string([]rune(s)[:n])
	sentences := text.Sentences(short)
	if len(sentences) > 1 { // the last one is cut
		last := sentences[len(sentences)-1]
		if at := strings.LastIndex(short, last); at > len(short)/2 {
			return short[:at]
		}
	}
	if at := strings.LastIndexAny(short, " \n"); at > 0 {
		return short[:at]
	}
	return short
}

// before returns the line about what the agent did or asked before a turn; "" where nothing may be shown.
func (t *Turn) before(safe func(string) bool) string {
	line := cmp.Or(t.Options, t.Asked)
	if line == "" && utf8.RuneCountInString(t.Text) <= maxBare {
		line = t.Did
	}
	line = text.Cut(strings.Join(strings.Fields(line), " "), maxDid)
	if line == "" || safe != nil && !safe(line) {
		return ""
	}
	return "> agent: " + line + "\n"
}

// Leased returns the sessions of a lease.
func (q Queue) Leased(id string) (all []*Session, err error) {
	every, err := q.Sessions()
	for _, s := range every {
		if s.Lease != nil && s.Lease.ID == id {
			all = append(all, s)
		}
	}
	return all, err
}

// Leases lists the leases of those who work in a folder.
func (q Queue) Leases(dir string) (ids []string, err error) {
	every, err := q.Sessions()
	for _, s := range every {
		if s.Lease != nil && dir != "" && s.Lease.Dir == dir && !slices.Contains(ids, s.Lease.ID) {
			ids = append(ids, s.Lease.ID)
		}
	}
	return ids, err
}

// Answer closes the turns of a lease as far as they were shown. empty says that the reader kept nothing.
func (q Queue) Answer(id string, by Reader, empty bool) error {
	return q.change(func() error {
		all, err := q.Leased(id)
		for _, s := range all {
			s.close(s.Lease.Shown, by)
			s.Lease, s.Missed = nil, 0
			switch {
			case !s.Empty.IsZero():
				s.Again = true
			case empty && by == Agent:
				s.Empty = q.store.Now()
			}
			if s.Unread() {
				s.Waits = false
			}
			err = cmp.Or(err, q.write(s))
		}
		if by == Agent {
			err = cmp.Or(err, q.answered())
		}
		return err
	})
}

// close marks turns as read up to a number of characters each.
func (s *Session) close(shown map[string]int, by Reader) {
	for i := range s.Turns {
		t := &s.Turns[i]
		upto, ok := shown[t.Hash]
		if !ok {
			continue
		}
		if t.Read = max(t.Read, upto); t.Read >= len([]rune(strings.TrimRight(t.Text, " \n"))) && t.By == "" {
			t.By = by
		}
	}
}

// Decide closes turns of a session that a reader saw whole, by their hashes. A session that is not kept is no error.
func (q Queue) Decide(project, harness, session string, by Reader, hashes ...string) error {
	return q.closeAll(by, func(s *Session, t *Turn) bool {
		return s.Origin.Harness == harness && s.Origin.Session == session && slices.Contains(hashes, t.Hash)
	}, project)
}

// Dismiss records that the user has read the sessions for which match reports true.
func (q Queue) Dismiss(match func(*Session) bool) error {
	return q.closeAll(Person, func(s *Session, _ *Turn) bool { return match(s) })
}

// closeAll closes the unread turns for which match reports true.
func (q Queue) closeAll(by Reader, match func(*Session, *Turn) bool, projects ...string) error {
	return q.change(func() error {
		all, err := q.Sessions(projects...)
		for _, s := range all {
			closed := false
			for i := range s.Turns {
				if t := &s.Turns[i]; t.By == "" && match(s, t) {
					t.By, closed = by, true
				}
			}
			if closed {
				err = cmp.Or(err, q.write(s))
			}
		}
		return err
	})
}

// A Count is how much is unread.
type Count struct {
	Sessions int `json:"sessions"` // with unread turns
	Turns    int `json:"turns"`
	Chars    int `json:"chars"`   // of their texts
	Waiting  int `json:"waiting"` // sessions that wait for the user
	Empty    int `json:"empty"`   // sessions that an answer without an item closed, and that may be read again
}

// Count counts what is unread in projects, in all for none.
func (q Queue) Count(projects ...string) (c Count, err error) {
	all, err := q.Sessions(projects...)
	for _, s := range all {
		if !s.Unread() {
			c.Empty++
			continue
		}
		c.Sessions++
		if s.Waits {
			c.Waiting++
		}
		for i := range s.Turns {
			if t := &s.Turns[i]; t.By == "" {
				c.Turns++
				c.Chars += utf8.RuneCountInString(t.Text) - t.Read
			}
		}
	}
	return c, err
}

// Said returns what was typed in a session, as far as its words are kept.
func (s *Session) Said() (all []learn.Said) {
	for i := range s.Turns {
		if t := &s.Turns[i]; t.Text != "" {
			all = append(all, t.Said)
		}
	}
	return all
}

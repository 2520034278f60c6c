package store

import (
	"encoding/json"
	"errors"
	"io/fs"
	"time"
)

// clockFile holds what Age knows.
const clockFile = "clock.json"

// A clock that is ahead makes everything old. These say how far it may move between two looks, and how long it has to stay
// there before it counts.
const (
	clockJump  = 14 * 24 * time.Hour
	clockStays = 3 * 24 * time.Hour
)

type clock struct {
	V      int       `json:"v"`
	Seen   time.Time `json:"seen"`            // the newest time that counts
	Jumped time.Time `json:"jumped,omitzero"` // when the clock was first far ahead of Seen
}

// Age returns the time by which the age of what is deleted by age is judged: that of the clock, unless it is more than two weeks
// ahead of the last look. A machine that slept so long is distinguished from one whose clock is wrong by the clock's staying there for
// three days; until then Age returns the time of the last look, and jumped is true. It writes a file, and so belongs into
// background runs. The first look counts; after a file that cannot be read nothing is old, once. The caller has the lock of what it
// deletes.
func Age(s *Store) (now time.Time, jumped bool, err error) {
	now = s.now()
	var c clock
	data, err := s.ReadFile(clockFile, 4096)
	switch {
	case err == nil:
		err = json.Unmarshal(data, &c)
	case errors.Is(err, fs.ErrNotExist):
		return now, false, s.writeClock(clock{Seen: now})
	}
	if err != nil || c.Seen.IsZero() {
		return time.Time{}, false, s.writeClock(clock{Seen: now})
	}
	was := c
	switch {
	case now.Sub(c.Seen) <= clockJump:
		c.Jumped = time.Time{}
		if now.After(c.Seen) {
			c.Seen = now
		}
	case c.Jumped.IsZero() || now.Before(c.Jumped):
		c.Jumped = now
	case now.Sub(c.Jumped) >= clockStays:
		c.Seen, c.Jumped = now, time.Time{}
	}
	if c != was && (!c.Jumped.Equal(was.Jumped) || c.Seen.Sub(was.Seen) > time.Hour) {
		err = s.writeClock(c)
	}
	if now.Before(c.Seen) {
		return now, false, err
	}
	return c.Seen, !c.Jumped.IsZero(), err
}

func (s *Store) writeClock(c clock) error {
	c.V = 1
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return s.Replace(clockFile, append(data, '\n'))
}

package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"anamnesis/internal/note"

	"github.com/oklog/ulid/v2"
)

// A Verdict says what became of a note that a session was shown (A4).
type Verdict string

// The verdicts. A session that goes on may use later what it had not used before.
const (
	Used      Verdict = "used"       // the agent ran, opened or edited what only it had named, repeated its statement, or named it
	Unused    Verdict = "unused"     // it did not
	UsedLater Verdict = "used-later" // it did, after Unused was the verdict
	Opposed   Verdict = "opposed"    // the user said the opposite, forbade a command of it, or said what takes its place
)

// tally is what one verdict counts.
func (v Verdict) tally() Tally {
	switch v {
	case Used:
		return Tally{Used: 1}
	case Unused:
		return Tally{Unused: 1}
	case UsedLater:
		return Tally{Used: 1, Unused: -1}
	case Opposed:
		return Tally{Opposed: 1}
	}
	return Tally{}
}

// A ShownNote is one that a session was shown at a time.
type ShownNote struct {
	Note note.ID
	At   time.Time // to the millisecond
	Line bool      // its line alone
}

// A ShownHistory is all that a session was shown, also before it lost its context, and what
// was found to have become of it.
type ShownHistory struct {
	Notes    []ShownNote // each once, when it was shown first
	Verdicts map[note.ID]Verdict
}

// History reads what a session was shown. A session without a file was shown nothing.
func (t *ShownLog) History() (h ShownHistory, err error) {
	h.Verdicts = make(map[note.ID]Verdict)
	data, err := t.read()
	if err != nil {
		return h, fmt.Errorf("read what the session was shown: %w", err)
	}
	place := make(map[note.ID]int)
	for line := range bytes.Lines(data) {
		var l shownLine
		switch {
		case json.Unmarshal(line, &l) != nil:
		case l.Verdict != "":
			for _, id := range l.Of {
				h.Verdicts[id] = l.Verdict
			}
		case l.Injection != nil:
			by, err := ulid.ParseStrict(l.By)
			i, seen := place[l.Injection.Note]
			switch {
			case err != nil: // the line of a program before this one
			case !seen:
				place[l.Injection.Note] = len(h.Notes)
				h.Notes = append(h.Notes, ShownNote{l.Injection.Note, ulid.Time(by.Time()).UTC(), l.Line})
			case !l.Line:
				h.Notes[i].Line = false
			}
		}
	}
	return h, nil
}

// Judge notes what became of notes, so that a session that is captured again does not
// count twice. A session that was shown nothing has no verdict.
func (t *ShownLog) Judge(v Verdict, notes ...note.ID) error {
	switch {
	case v.tally() == (Tally{}):
		return errors.New("judge what a session was shown: unknown verdict " + string(v))
	case len(notes) == 0:
		return nil
	}
	return t.append(lineOf(shownLine{Verdict: v, Of: notes}))
}

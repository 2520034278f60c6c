package agent

import (
	"bytes"
	"io"
	"time"
)

// A Beginning is how the records of a session begin; those of one family have the same First.
type Beginning struct {
	First string    // the id of the first record of the talk, "" for none
	At    time.Time // when that was written

	// Opened is the last time before it; a fork was opened after what it copies was said.
	Opened time.Time
}

// forked reports whether the records say that the session was forked from another one.
func (b Beginning) forked() bool { return b.Opened.After(b.At) }

// claudeBeginning is the Beginning of Claude Code.
func claudeBeginning(head []byte) (b Beginning) {
	for len(head) > 0 && b.First == "" {
		line, rest, whole := bytes.Cut(head, []byte("\n"))
		if head = rest; !whole {
			break
		}
		var r claudeRecord
		if object, err := r.read(trimLine(line)); err != nil || !object {
			continue
		}
		at, _ := r.at()
		switch talk := is(r.kind, "user") || is(r.kind, "assistant"); {
		case talk && isString(r.uuid):
			b.First, b.At = clip(unquote(r.uuid), 128), at
		case at.After(b.Opened):
			b.Opened = at
		}
	}
	return b
}

// beginningBytes is how much of the records Beginning is given.
const beginningBytes = 16 << 10

// Copies are what a session has in common with the forks of it: its turns, as a fork copies
// them.
type Copies struct {
	id    string
	turns map[copied]bool
}

// copied is what a copy of a turn has in common with it: a fork keeps the ids and the times
// of the records. An id alone may be used again by another session.
type copied struct {
	uuid   string
	second int64
	nano   int
}

func copyOf(t *Turn) copied { return copied{t.UUID, t.At.Unix(), t.At.Nanosecond()} }

// Copies returns those of s.
func (s *Session) Copies() Copies {
	c := Copies{id: s.ID, turns: make(map[copied]bool, len(s.Turns))}
	for i := range s.Turns {
		if t := &s.Turns[i]; t.UUID != "" {
			c.turns[copyOf(t)] = true
		}
	}
	return c
}

// From reports whether the session of c begins with turns of another one, from which it was
// forked: of two that share turns the one that holds all of the other is the fork, else the
// one that was opened later.
func (c Copies) From(other Copies, own, others Beginning) bool {
	if c.id == other.id { // another copy of the same session
		return false
	}
	few, many := c.turns, other.turns
	if len(few) > len(many) {
		few, many = many, few
	}
	shared := 0
	for id := range few {
		if many[id] {
			shared++
		}
	}
	switch {
	case shared == 0:
		return false
	case shared == len(other.turns) != (shared == len(c.turns)):
		return shared == len(other.turns)
	case own.forked() != others.forked():
		return own.forked()
	case !own.Opened.Equal(others.Opened):
		return own.Opened.After(others.Opened)
	}
	return c.id > other.id
}

// Without takes the turns of another session out.
func (s *Session) Without(other Copies) {
	own := func(all []Turn) (turns []Turn) {
		for _, t := range all {
			if t.UUID == "" || !other.turns[copyOf(&t)] {
				turns = append(turns, t)
			}
		}
		return turns
	}
	turns := own(s.Turns)
	s.Skipped.Duplicate += len(s.Turns) - len(turns)
	s.Turns, s.all, s.files = turns, own(s.all), nil
}

// ReadBeginning reads how records begin; false when the agent copies none.
func (h *Harness) ReadBeginning(records io.ReaderAt) (b Beginning, ok bool) {
	if h.Beginning == nil {
		return b, false
	}
	head := make([]byte, beginningBytes)
	n, _ := records.ReadAt(head, 0)
	b = h.Beginning(head[:n])
	return b, b.First != ""
}

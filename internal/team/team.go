// Package team shares the notes of chosen projects with other people, over an index
// on a server that all of them reach, and keeps a mirror of what they share in the
// index of this machine.
//
// Notes stay files on the machine that wrote them. Push makes the server's rows of
// this machine's origin equal to what is shared here; it reads and changes no other
// rows. Pull takes what changed since the last time into the local index, as rows of
// the origins that wrote them. Both compare and can be stopped at any point: the next
// run does the rest, and running one twice changes nothing. No question to a
// question waits for the server; without it the mirror answers, as old as it is.
//
// What others share is hostile input: a note of theirs is never global, takes no note
// of anybody else out of force, and is left out when its text orders an agent about.
package team

import (
	"context"
	"errors"
	"slices"
	"strings"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// Options say what is shared. The zero value shares nothing and takes nothing.
type Options struct {
	DSN       string // of the database; "" means that there is none
	Workspace string // id of the team's part of it
	Projects  string // keys of the projects whose notes are shared, between commas
	Mirror    bool   // take the notes of others
}

// On reports whether there is a team: a database alone, or a workspace alone, is none.
func (o *Options) On() bool { return o.DSN != "" && o.Workspace != "" }

// Shared lists the keys of the shared projects.
func (o *Options) Shared() []string {
	var keys []string
	for key := range strings.SplitSeq(o.Projects, ",") {
		if key = strings.TrimSpace(key); key != "" && key != note.Global {
			keys = append(keys, key)
		}
	}
	return keys
}

// A Server is the index that a team shares, opened for the origin of this machine.
type Server interface {
	index.Backend
	// Changes returns what other origins changed after a generation, in order, at most
	// about limit of it and never a part of one generation; next is where to go on.
	Changes(ctx context.Context, since int64, limit int) (all []index.Change, next int64, err error)
	Standing(ctx context.Context) (Standing, error)
	// Sign makes every Apply from now on leave a mark, which Standing tells.
	Sign(mark string)
}

// A Standing is what the server says to one who writes the own origin.
type Standing struct {
	Mark      string            // that the last change left, "" for none
	Holder    string            // whose the origin is, "" when it is one's own
	Withdrawn map[string]string // notes that an owner of the team took away, by id in lower case, and why (Withdrawal)
}

// withdrawal begins the reasons of notes that an owner took away.
const withdrawal = "an owner of the team took it away"

// Withdrawal says of a note who of the owners took it away and why, for its author.
func Withdrawal(owner, reason string) string {
	why := withdrawal + " (" + note.Line(owner, 60) + ")"
	if reason = note.Line(reason, 200); reason != "" {
		why += ": " + reason
	}
	return why
}

// ErrCopied says that somebody else writes the own origin: this machine is a copy of
// another one, or that one of this.
var ErrCopied = errors.New("another machine shares under the name of this one, because one of the two is a copy of the other: " +
	"`anamnesis team share --origin new` gives this one a separate name, `anamnesis team share --origin keep` goes on under the old one here")

// ErrHeld says that the own origin is of another member: an owner of the team who took its
// notes away, or another login of the same person.
var ErrHeld = errors.New("what this machine shared before is another member's now, because an owner of the team took it away, " +
	"or because it was shared with another login: `anamnesis team share --origin new` shares under a separate name")

// Refusal says why a machine that left these marks must not write, nil when it may.
func (s *Standing) Refusal(marks []string) error {
	switch {
	case s.Holder != "":
		return ErrHeld
	case s.Copied(marks):
		return ErrCopied
	}
	return nil
}

// Copied reports whether somebody else has written the own origin, given the marks of
// this machine.
func (s *Standing) Copied(marks []string) bool {
	return s.Mark != "" && !slices.Contains(marks, s.Mark)
}

// portable reports whether a row may be shared at all, whatever its project: an
// ordinary note of the portable tree that lasts. Slots, handoffs and notes of single
// sessions say what one person works on.
func portable(row *index.Row) bool {
	return row.Ref.Scope == note.Portable && row.Type != note.Episodic && row.Kind != note.Slot && row.Kind != note.Handoff
}

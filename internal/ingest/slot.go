package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// A SlotChange is how a slot is changed.
type SlotChange string

// The changes. A cleared slot is kept and shown no more; the next text opens it again.
const (
	AppendSlot  SlotChange = "append" // a line, unless it is there
	ReplaceSlot SlotChange = "replace"
	ClearSlot   SlotChange = "clear"
	PinSlot     SlotChange = "pin" // only a person changes it from now on
	UnpinSlot   SlotChange = "unpin"
	LimitSlot   SlotChange = "limit"
)

// A SlotEdit is one change of one slot.
type SlotEdit struct {
	Change  SlotChange
	Name    string
	Project string // whose slot; note.Global for all projects
	Text    string // for AppendSlot and ReplaceSlot
	Limit   int    // characters, for LimitSlot
	By      Author
	Here    string // the project that the author works on
	Session string // of the agent that changes it, empty when unknown
}

// A SlotError says why a slot was not changed.
type SlotError struct {
	Name string
	Why  string
}

func (e *SlotError) Error() string { return "slot " + e.Name + ": " + e.Why }

// Slots are the slots of a store. They are safe for concurrent use.
type Slots struct{ g *Ingester }

// SlotsOf returns the slots behind the door.
func SlotsOf(g *Ingester) Slots { return Slots{g} }

// maxSlot bounds the size that a person may give a slot, in characters: all of them
// are shown at every session start.
const maxSlot = 20000

// Edit changes a slot, and makes it when its first text arrives. What a machine
// writes is redacted. The error is a *SlotError when the slot may not be changed like
// this: it would be too long, it is pinned, there is none.
func (s Slots) Edit(ctx context.Context, e SlotEdit) (Outcome, error) {
	if err := e.check(); err != nil {
		return Outcome{}, err
	}
	id, err := s.find(ctx, e.Project, e.Name)
	if err != nil {
		return Outcome{}, fmt.Errorf("slot %s: %w", e.Name, err)
	}
	if id == "" {
		id = SlotID(e.Project, e.Name)
	}
	out, err := s.g.Admit(ctx, Draft{
		Note: &note.Note{ID: id, Title: e.Name}, By: e.By, Here: e.Here, Force: true, Account: note.SlotOf(e.Name).Automatic,
		Change: func(was *note.Note) (*note.Note, error) { return s.g.changed(was, e) },
	})
	var refused *SlotError
	if errors.As(err, &refused) {
		return Outcome{}, refused
	}
	return out, err
}

func (e *SlotEdit) check() error {
	refuse := func(format string, args ...any) error { return &SlotError{e.Name, fmt.Sprintf(format, args...)} }
	switch {
	case !note.ValidSlotName(e.Name):
		return refuse("a name is a lower-case letter, then at most 63 letters, digits and underscores")
	case e.Change == LimitSlot && (e.Limit < 1 || e.Limit > maxSlot):
		return refuse("a size is 1 to %d characters, not %d", maxSlot, e.Limit)
	case (e.Change == AppendSlot || e.Change == ReplaceSlot) && strings.TrimSpace(strings.ReplaceAll(e.Text, "\x00", "")) == "":
		return refuse("there is no text; `clear` empties it")
	}
	return nil
}

// SlotID is the id of a slot that is made. Two machines that make one slot make one note.
func SlotID(project, name string) note.ID {
	sum := sha256.Sum256([]byte(project + "\x00" + name))
	return note.ID("slot-" + hex.EncodeToString(sum[:6]))
}

// List lists the slots of some projects, dead ones too if asked, in the order in which
// they are shown.
func (s Slots) List(ctx context.Context, projects []string, dead bool) ([]index.Row, error) {
	rows, err := s.g.index.Select(ctx, index.Filter{Projects: projects, Kind: note.Slot, Dead: dead, Now: s.g.store.Now()}, 0)
	slices.SortStableFunc(rows, func(a, b index.Row) int { return note.SlotOrder(a.Title, b.Title) })
	return rows, err
}

// Text returns what a slot of a project holds, "" when it is empty.
func (s Slots) Text(ctx context.Context, project, name string) (string, error) {
	id, err := s.find(ctx, project, name)
	if err != nil || id == "" {
		return "", err
	}
	ref, err := s.g.find(ctx, id)
	if err != nil || ref.Path == "" {
		return "", err
	}
	n, _, _, err := s.g.store.Read(ref.Path)
	if err != nil || n.IsArchived() {
		return "", err
	}
	return n.Body, nil
}

// EraseFormer erases the former forms of a slot.
func (s Slots) EraseFormer(ctx context.Context, project, name string) error {
	id, err := s.find(ctx, project, name)
	if err != nil || id == "" {
		return err
	}
	return EraseFormer(ctx, s.g, id)
}

// find returns the id of a slot that stands, "" when none does.
func (s Slots) find(ctx context.Context, project, name string) (note.ID, error) {
	id := SlotID(project, name)
	ref, err := s.g.find(ctx, id)
	if err != nil || ref.Path != "" {
		return id, err
	}
	rows, err := s.List(ctx, []string{project}, true)
	for _, r := range rows {
		if r.Title == name { // an import gave it another id
			return r.ID, nil
		}
	}
	return "", err
}

// changed returns a slot after a change; was is nil for one that is made.
func (g *Ingester) changed(was *note.Note, e SlotEdit) (*note.Note, error) {
	n := was
	if n == nil {
		if e.Change == ClearSlot || e.Change == UnpinSlot {
			return nil, &SlotError{e.Name, "there is none of that name here; `anamnesis slot list` names them"}
		}
		spec := note.SlotOf(e.Name)
		n = &note.Note{
			ID: SlotID(e.Project, e.Name), Type: note.Semantic, Kind: note.Slot, Title: e.Name, Project: e.Project, KeyInsight: spec.Doc,
			Provenance: note.Provenance{Source: note.SessionEnd, Confidence: 1, Session: e.Session},
		}
		if spec.Automatic {
			n.Scope = note.Local
		}
	}
	return n, g.changeSlot(n, e)
}

// changeSlot makes the change in the note.
func (g *Ingester) changeSlot(n *note.Note, e SlotEdit) error {
	refuse := func(format string, args ...any) error { return &SlotError{e.Name, fmt.Sprintf(format, args...)} }
	if n.Kind != note.Slot {
		return refuse("the note %s is no slot", n.ID)
	}
	if n.HasTag(note.SlotPinned) && e.By != Person {
		return refuse("it is pinned: only its owner changes it")
	}
	was := n.Clone()
	switch e.Change {
	case AppendSlot, ReplaceSlot:
		text, err := g.slotText(n, e)
		if err != nil {
			return err
		}
		n.Body = text
		plain(n)
		n.Reopen()
	case ClearSlot:
		n.Archive("cleared")
	case PinSlot:
		n.AddTags(note.SlotPinned)
	case UnpinSlot:
		n.Tags = slices.DeleteFunc(n.Tags, func(t string) bool { return t == note.SlotPinned })
	case LimitSlot:
		note.LimitSlot(n, e.Limit)
	default:
		return errors.New("edit slot: unknown change " + string(e.Change))
	}
	if !note.Equal(was, n) {
		n.UpdatedAt, n.Provenance.Session = note.At(g.store.Now()), e.Session
	}
	return nil
}

// slotText returns what a slot holds after a text arrived.
func (g *Ingester) slotText(n *note.Note, e SlotEdit) (string, error) {
	text := strings.TrimSpace(strings.ReplaceAll(strings.ReplaceAll(e.Text, "\r\n", "\n"), "\x00", ""))
	if e.By != Person {
		if g.redactor == nil {
			return "", errors.New("there are no rules for secrets")
		}
		text = g.redactor.Redact(text).String()
	}
	if e.Change == AppendSlot && !n.IsArchived() && n.Body != "" {
		if slices.Contains(strings.Split(n.Body, "\n"), text) {
			return n.Body, nil
		}
		text = strings.TrimRight(n.Body, "\n") + "\n" + text
	}
	if size, limit := utf8.RuneCountInString(text), note.LimitOfSlot(n); size > limit {
		return "", &SlotError{e.Name, fmt.Sprintf("it would have %d characters, and may have %d: make it shorter with "+
			"`anamnesis slot edit %s`, or give it more room with `anamnesis slot limit %s %d`", size, limit, e.Name, e.Name, min(size, maxSlot))}
	}
	return text, nil
}

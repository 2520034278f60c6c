package repo

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"anamnesis/internal/note"
	"anamnesis/internal/replica"
	"anamnesis/internal/store/layout"
)

// From these confidences on a note is sure, and fairly sure.
const (
	sure       = 0.8
	fairlySure = 0.5
)

// route checks a note and says where it goes.
func (r *Repo) route(d Document) Item {
	it := Item{State: Planned, Both: []string{}, doc: d}
	n, why := r.admit(d)
	it.note = n
	if n != nil {
		it.ID, it.Title, it.Project = n.ID, note.Line(n.Title, 200), note.Line(n.Project, 200)
		it.Confidence, it.Route = r.by(n, &d)
	} else {
		it.ID = note.ID(note.Line(layout.Stem(d.Path), 140))
	}
	switch {
	case why != "":
		it.State, it.Why = Held, why
	case it.Route == ToQueue && it.Confidence == "low":
		it.State = Queued
		it.Why = fmt.Sprintf("nobody is sure of it yet; when you have read it and it is right: `anamnesis review keep %s`", n.ID)
	case it.Route == ToQueue:
		it.State, it.Why = Queued, "the settings keep notes of this confidence here"
	}
	return it
}

// by returns how sure a note is, and where notes of that confidence go. A note that
// its owner has read is offered for a review, however unsure its writer was.
func (r *Repo) by(n *note.Note, d *Document) (confidence, route string) {
	c := n.Provenance.Confidence
	switch {
	case n.Speculative, c < fairlySure:
		confidence, route = "low", ToQueue
	case c < sure, !says(d.Data, "confidence"):
		confidence, route = "medium", r.o.Medium
	default:
		confidence, route = "high", r.o.High
	}
	if confidence == "low" && d.Reviewed {
		route = r.o.Medium
	}
	return confidence, route
}

// says reports whether the front matter has a key: a missing confidence is read as a
// sure one, and nobody said that here.
func says(data []byte, key string) bool {
	front, _, _ := bytes.Cut(bytes.TrimPrefix(data, []byte("---")), []byte("\n---"))
	return bytes.Contains(front, []byte("\n"+key+":"))
}

// admit reads a note and says why it must not leave, "" when it may.
func (r *Repo) admit(d Document) (*note.Note, string) {
	top, rest, _ := strings.Cut(d.Path, "/")
	switch {
	case top == layout.Local:
		n, _ := note.Parse(d.Data)
		return n, "it is machine-local, and stays on this machine"
	case top != layout.Memory || layout.InTree(rest) != layout.Note || !replica.Known(rest):
		return nil, "its file is no note of the store"
	}
	var limits replica.Options
	for _, data := range [][]byte{d.Data, d.Sidecar} {
		if why := limits.Withheld(d.Path, data); why != "" {
			return nil, why
		}
	}
	n, err := note.Parse(d.Data)
	if err != nil {
		return nil, "it cannot be read as a note: " + note.Line(err.Error(), 200)
	}
	if why := admissible(n, note.ID(strings.TrimSuffix(path.Base(d.Path), layout.NoteSuffix))); why != "" {
		return n, why
	}
	if d.Kept != "" {
		return n, d.Kept
	}
	return n, r.scrub(d)
}

// admissible says why a note is none for a team, whatever it says.
func admissible(n *note.Note, id note.ID) string {
	if err := n.Validate(); err != nil {
		return "it is no valid note: " + note.Line(err.Error(), 200)
	}
	switch {
	case n.ID != id:
		return "its file has another name than its id"
	case n.Scope != note.Portable:
		return "it is machine-local, and stays on this machine"
	case n.Project == note.Global || n.Project == "":
		return "it is global: only notes of a project are shared"
	case n.Quarantine:
		return fmt.Sprintf("it reads like orders to an agent; decide on it first: `anamnesis review keep %s`", n.ID)
	case n.Kind == note.Slot || n.Kind == note.Handoff:
		return fmt.Sprintf("it is a %s, which belongs to you alone", n.Kind)
	}
	return ""
}

// scrub says which secrets a note and its sidecar hold, "" for none. What is between
// private marks counts as one.
func (r *Repo) scrub(d Document) string {
	var rules []string
	for _, data := range [][]byte{d.Data, d.Sidecar} {
		text := string(data)
		found := r.p.Redactor.Find(text)
		for _, f := range found {
			if !slices.Contains(rules, f.Rule) {
				rules = append(rules, f.Rule)
			}
		}
		if len(found) == 0 && r.p.Redactor.Redact(text).String() != text {
			rules = append(rules, "private")
		}
	}
	if len(rules) == 0 {
		return ""
	}
	return fmt.Sprintf("it holds what looks like a secret (%s); take it out: `anamnesis edit %s`", strings.Join(rules, ", "),
		layout.Stem(d.Path))
}

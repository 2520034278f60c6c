package app

import (
	"strings"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// A NoteHead is a note without its body, in the shape that every answer has.
type NoteHead struct {
	ID          note.ID   `json:"id"`
	Type        note.Type `json:"type"`
	Title       string    `json:"title"`
	Project     string    `json:"project"`
	MachineID   string    `json:"machine_id"`
	Scope       string    `json:"scope"`
	UserID      string    `json:"user_id"`
	WorkspaceID string    `json:"workspace_id"`
	Source      string    `json:"prov_source"`
	Confidence  float64   `json:"confidence"`
	Model       string    `json:"prov_model,omitempty"`
	Session     string    `json:"prov_session,omitempty"`
	Supersedes  []note.ID `json:"supersedes,omitempty"`
	Tags        []string  `json:"tags"`
	CreatedAt   string    `json:"created_at"`
	UpdatedAt   string    `json:"updated_at"`
	Branch      string    `json:"branch"`
	Status      string    `json:"status"`
	When        []string  `json:"when,omitempty"`   // its triggers
	Author      string    `json:"author,omitempty"` // who of the team shares it
	Vouched     bool      `json:"vouched"`          // it is the user's word
	Reviewed    string    `json:"reviewed_at,omitempty"`
	About       string    `json:"about,omitempty"` // its subject
}

// HeadOf returns the head of a note.
func HeadOf(n *note.Note) NoteHead {
	return NoteHead{
		n.ID, n.Type, n.Title, n.Project, n.MachineID, string(n.Scope), n.UserID, n.WorkspaceID, n.Provenance.Source,
		n.Provenance.Confidence, n.Provenance.Model, n.Provenance.Session, n.Supersedes, n.Tags,
		string(n.CreatedAt), string(n.UpdatedAt), n.Branch, n.Status, n.When, n.Author, n.UserSaid(), reviewedAt(n), note.Subject(n.About),
	}
}

// reviewedAt is when the owner of a note read it as it is, "" for never.
func reviewedAt(n *note.Note) string {
	if !n.IsReviewed() {
		return ""
	}
	return string(n.Reviewed)
}

// A NoteView is a note in its place: its head, whether it is recalled, what replaced it, and
// its file, "" for a note of somebody else's.
type NoteView struct {
	NoteHead
	Live         bool    `json:"live"`
	SupersededBy note.ID `json:"superseded_by,omitempty"`
	Path         string  `json:"path"`

	Row index.Row `json:"-"`
}

// viewNote returns a note that the index found.
func viewNote(s *store.Store, n *note.Note, row *index.Row) NoteView {
	v := NoteView{HeadOf(n), !row.Dead, row.SupersededBy, s.Path(row.Ref.Path), *row}
	if v.Author != "" {
		v.Path = ""
	}
	return v
}

// ViewRow returns a note that is not read: of its head it has what the index knows.
func ViewRow(r *Rooms, row index.Row) NoteView {
	head := NoteHead{
		ID: row.ID, Type: row.Type, Title: row.Title, Project: row.Project, MachineID: row.MachineID, Scope: string(row.Ref.Scope),
		UserID: row.UserID, WorkspaceID: row.WorkspaceID, Source: row.Source, Confidence: row.Confidence, Session: row.Session,
		Tags: row.Tags, Branch: row.Branch, Status: row.Status,
		Vouched: row.Vouched(),
	}
	for _, tag := range row.Tags {
		head.About += note.SubjectOf(tag)
	}
	if !row.Created.IsZero() {
		head.CreatedAt = string(note.At(row.Created))
	}
	if !row.Updated.IsZero() {
		head.UpdatedAt = string(note.At(row.Updated))
	}
	return NoteView{head, !row.Dead, row.SupersededBy, r.Store.Path(row.Ref.Path), row}
}

// EndOf says in a few words why a note is not recalled, "" when it is. n is nil when it cannot be read.
func EndOf(n *note.Note, row *index.Row) string {
	switch {
	case row.SupersededBy != "":
		return "superseded by " + string(row.SupersededBy)
	case !row.Dead:
		return ""
	case n == nil:
		return "expired, archived or in quarantine"
	}
	switch state, _ := n.State(note.Known{}); state {
	case note.Standing:
		return "expired on " + string(n.ForgetAfter)
	case note.Proposed:
		return "in quarantine: it reads like orders to an agent and waits for a person"
	}
	return strings.TrimSuffix(n.Status+": "+n.StatusReason, ": ")
}

// Counts is a number for each value of a field.
type Counts map[string]int

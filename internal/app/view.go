package app

import (
	"strings"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
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
}

// HeadOf returns the head of a note.
func HeadOf(n *note.Note) NoteHead {
	return NoteHead{
		n.ID, n.Type, n.Title, n.Project, n.MachineID, string(n.Scope), n.UserID, n.WorkspaceID, n.Provenance.Source,
		n.Provenance.Confidence, n.Provenance.Model, n.Provenance.Session, n.Supersedes, n.Tags,
		string(n.CreatedAt), string(n.UpdatedAt), n.Branch, n.Status, n.When, n.Author,
	}
}

// A RowView is a note as the index knows it.
type RowView struct {
	ID           note.ID   `json:"id"`
	Type         note.Type `json:"type"`
	Title        string    `json:"title"`
	Project      string    `json:"project"`
	MachineID    string    `json:"machine_id"`
	Scope        string    `json:"scope"`
	UserID       string    `json:"user_id"`
	WorkspaceID  string    `json:"workspace_id"`
	Source       string    `json:"prov_source"`
	Confidence   float64   `json:"confidence"`
	Tags         []string  `json:"tags"`
	CreatedAt    string    `json:"created_at"`
	UpdatedAt    string    `json:"updated_at"`
	Live         bool      `json:"live"`
	SupersededBy note.ID   `json:"superseded_by,omitempty"`
	Branch       string    `json:"branch"`
	Path         string    `json:"path"`

	Row index.Row `json:"-"`
}

// ViewRow returns a row of the index in the words of a face.
func ViewRow(r *Rooms, row index.Row) RowView {
	v := RowView{
		row.ID, row.Type, row.Title, row.Project, row.MachineID, string(row.Ref.Scope), row.UserID, row.WorkspaceID, row.Source, row.Confidence,
		row.Tags, string(note.At(row.Created)), string(note.At(row.Updated)), !row.Dead, row.SupersededBy,
		row.Branch, r.Store.Path(row.Ref.Path), row,
	}
	if row.Created.IsZero() {
		v.CreatedAt = ""
	}
	if row.Updated.IsZero() {
		v.UpdatedAt = ""
	}
	return v
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

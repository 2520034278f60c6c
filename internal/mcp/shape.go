package mcp

import (
	"strings"
	"time"
	"unicode/utf8"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// Bounds of an answer.
const (
	maxAnswer    = 60_000 // bytes of all notes of an answer, as JSON
	maxShown     = 4_000  // characters of a body in a search
	maxShownName = 300    // characters of a title or a key
	maxShownTags = 30
	maxShownTag  = 100
)

// Ends of a text that is shown in part.
const (
	cutMark  = "\n… [cut; memory_get shows the rest]"
	cutShort = "… [cut]" // where the answer itself says what shows the rest
)

// A lineOut is a note in a list: what tells it from others. A key is left out when it says what
// most notes say. memory_get returns them all.
type lineOut struct {
	ID          note.ID  `json:"id"`
	Type        string   `json:"type"`
	Title       string   `json:"title"`
	Project     string   `json:"project"`
	Updated     string   `json:"updated"` // the day
	Tags        []string `json:"tags,omitempty"`
	Source      string   `json:"prov_source,omitempty"`
	Scope       string   `json:"scope,omitempty"`        // left out: portable
	UserID      string   `json:"user_id,omitempty"`      // left out: self
	WorkspaceID string   `json:"workspace_id,omitempty"` // left out: personal
	Branch      string   `json:"branch,omitempty"`
	Status      string   `json:"status,omitempty"`
}

// line returns the line of a note.
func (o *noteOut) line() lineOut {
	l := lineOut{
		ID: o.ID, Type: o.Type, Title: o.Title, Project: o.Project, Updated: o.UpdatedAt[:min(len(o.UpdatedAt), len(time.DateOnly))],
		Tags: o.Tags, Source: o.Source, Scope: o.Scope, UserID: o.UserID, WorkspaceID: o.WorkspaceID, Branch: o.Branch, Status: o.Status,
	}
	for _, usual := range []struct {
		field *string
		value string
	}{{&l.Scope, string(note.Portable)}, {&l.UserID, "self"}, {&l.WorkspaceID, "personal"}} {
		if *usual.field == usual.value {
			*usual.field = ""
		}
	}
	return l
}

// A noteOut is a note without its body. The first eleven keys are those of the
// program before this one, in its order.
type noteOut struct {
	ID          note.ID  `json:"id"`
	Type        string   `json:"type"`
	Title       string   `json:"title"`
	Project     string   `json:"project"`
	MachineID   string   `json:"machine_id"`
	Scope       string   `json:"scope"`
	UserID      string   `json:"user_id"`
	WorkspaceID string   `json:"workspace_id"`
	Tags        []string `json:"tags"`
	CreatedAt   string   `json:"created_at"`
	UpdatedAt   string   `json:"updated_at"`

	Source     string    `json:"prov_source"`
	Confidence float64   `json:"confidence"`
	Supersedes []note.ID `json:"supersedes,omitempty"`
	Branch     string    `json:"branch,omitempty"`
	Status     string    `json:"status,omitempty"`
	Expires    string    `json:"forget_after,omitempty"`
	Author     string    `json:"author,omitempty"`
}

// ofNote shows what a file says.
func ofNote(n *note.Note) noteOut {
	return noteOut{
		ID: n.ID, Type: string(n.Type), Title: name(n.Title), Project: name(n.Project), MachineID: name(n.MachineID), Scope: string(n.Scope),
		UserID: name(n.UserID), WorkspaceID: name(n.WorkspaceID), Tags: names(n.Tags), CreatedAt: name(string(n.CreatedAt)),
		UpdatedAt: name(string(n.UpdatedAt)), Source: name(n.Provenance.Source), Confidence: n.Provenance.Confidence,
		Supersedes: n.Supersedes[:min(len(n.Supersedes), maxShownTags)], Branch: name(n.Branch), Status: name(n.Status),
		Expires: name(string(n.ForgetAfter)), Author: name(n.Author),
	}
}

// ofRow shows what the index knows.
func ofRow(r *index.Row) noteOut {
	o := noteOut{
		ID: r.ID, Type: string(r.Type), Title: name(r.Title), Project: name(r.Project), MachineID: name(r.MachineID), Scope: string(r.Ref.Scope),
		UserID: name(r.UserID), WorkspaceID: name(r.WorkspaceID), Tags: names(r.Tags), Source: name(r.Source), Confidence: r.Confidence,
		Branch: name(r.Branch), Status: name(r.Status),
	}
	if !r.Created.IsZero() {
		o.CreatedAt = string(note.At(r.Created))
	}
	if !r.Updated.IsZero() {
		o.UpdatedAt = string(note.At(r.Updated))
	}
	return o
}

// marked puts the marks around text of notes.
func (s *Server) marked(text string) string {
	if s.opts.Start == "" {
		return text
	}
	return s.opts.Start + "\n" + text + "\n" + s.opts.End
}

// name makes one short, harmless line of a text. Spaces go first: without them
// something may be a mark that was none.
func name(text string) string {
	return clip(note.Harmless(strings.Join(strings.Fields(text), " ")), maxShownName, "…")
}

// names does so with a list, which is never null.
func names(list []string) []string {
	all := make([]string, 0, min(len(list), maxShownTags))
	for _, t := range list[:min(len(list), maxShownTags)] {
		all = append(all, clip(name(t), maxShownTag, "…"))
	}
	return all
}

// clip shortens a text to a number of characters and says so at its end.
func clip(text string, most int, mark string) string {
	if len(text) <= most || utf8.RuneCountInString(text) <= most {
		return text
	}
	n := 0
	for i := range text {
		if n == most {
			return text[:i] + mark
		}
		n++
	}
	return text // unreachable: it has more characters than most
}

// A budget is what is left of an answer's size.
type budget int

// room takes the bytes of v as JSON out of the budget. It reports whether v fits.
func (b *budget) room(v any) bool {
	data, err := compact(v)
	if err != nil || len(data)+1 > int(*b) {
		return false
	}
	*b -= budget(len(data) + 1)
	return true
}

// body cuts text to maxShown characters, and so that its JSON takes no more than its
// share of what is left when there are others behind it.
func (b *budget) body(text string, sharers int) string { return b.cut(text, sharers, cutMark) }

// cut is body with another mark at the end of what is shown in part.
func (b *budget) cut(text string, sharers int, mark string) string {
	text = note.Harmless(text)
	share := *b / budget(max(1, sharers))
	for most := maxShown; most >= 50; most = most * 3 / 4 {
		rest := share
		if cut := clip(text, most, mark); rest.room(cut) {
			*b -= share - rest
			return cut
		}
	}
	*b -= budget(min(len(mark)+8, int(*b)))
	return strings.TrimSpace(mark)
}

package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"anamnesis/internal/capture"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store/project"
)

// A Draft is a note as somebody wrote it, in the words of a face.
type Draft struct {
	Type    string
	Title   string // "" takes the first line of the body
	Body    string
	Tags    []string
	When    []string // triggers (note.Trigger)
	Project string   // its key; "" for the one of the current folder
	Global  bool     // for every project
	Path    string   // a folder of the repository, relative to the current one or absolute: sessions in it and below are shown the note
	Branch  string   // the git branch that it is about; "." is the one that is checked out
	Scope   string
	Agent   bool   // an agent wrote it, whoever runs the command: it is judged as an agent's
	Force   bool   // write it even if it was forgotten or is a near-duplicate
	About   string // its subject

	Rival ingest.Rival // what becomes of the user's note that says something else
}

// Titled takes the title from the first line of the body when there is none.
func (d *Draft) Titled(command string) error {
	if d.Title == "" {
		first, rest, _ := strings.Cut(strings.TrimSpace(d.Body), "\n")
		d.Title, d.Body = strings.TrimLeft(first, "# "), strings.TrimSpace(rest)
	}
	if strings.TrimSpace(d.Title) == "" {
		return Usagef("%s: there is no title and no body; give --title TITLE and --body TEXT", command)
	}
	return nil
}

// Check returns what is wrong with the words of a draft, and puts its triggers in order.
func (d *Draft) Check() error {
	switch {
	case !slices.Contains(note.Types, note.Type(d.Type)):
		return Usagef("add: --type %q: use procedural, semantic or episodic", d.Type)
	case d.Scope != string(note.Portable) && d.Scope != string(note.Local):
		return Usagef("add: --scope %q: use portable or machine-local", d.Scope)
	}
	when, err := note.ParseTriggers(d.When)
	if err != nil {
		return Usagef("add: --when: %w", err)
	}
	d.When = when
	return nil
}

// A Written is what became of a draft.
type Written struct {
	Result   string    `json:"result"`
	ID       note.ID   `json:"id,omitempty"`
	Path     string    `json:"path,omitempty"`
	Project  string    `json:"project,omitempty"`
	Twin     note.ID   `json:"twin,omitempty"`
	Why      string    `json:"why,omitempty"`
	Masked   bool      `json:"redacted"`
	Lifted   bool      `json:"lifted"` // it had been forgotten, and is not any more
	Secrets  []string  `json:"secrets"`
	Waits    []string  `json:"waits,omitempty"`       // triggers that wait for a person
	Conflict note.ID   `json:"conflict_of,omitempty"` // the user's note that it contradicts; both hold
	Rival    note.ID   `json:"rival,omitempty"`       // the user's note that says something else: nothing is written before the user decides
	Note     *NoteHead `json:"note,omitempty"`

	Outcome ingest.Outcome `json:"-"`
	Undo    string         `json:"-"` // the command that takes it back, "" when there is none
}

// NewWritten views an outcome. A draft that was dropped is an error of kind Failed
// that comes with the answer.
func NewWritten(r *Rooms, command string, out ingest.Outcome) (Written, error) {
	w := Written{
		Result: out.Result.String(), Why: out.Why, Masked: out.Redacted, Lifted: out.Revoked, Secrets: out.Secrets,
		Waits: out.Waits, Outcome: out,
	}
	if out.Twin != nil {
		w.Twin = out.Twin.ID
	}
	if out.Result == ingest.Asked {
		w.Rival = out.Of
		return w, &Error{Conflict, fmt.Errorf("%s: nothing is written: %s; --replace puts it in the place of that note, "+
			"--keep-both lets both hold", command, out.Why), true}
	}
	if out.Note != nil {
		head := HeadOf(out.Note)
		w.ID, w.Project, w.Note = out.Note.ID, out.Note.Project, &head
		switch {
		case out.Result == ingest.Created && out.Note.ConflictOf != "":
			w.Conflict = out.Note.ConflictOf
		case out.Effect == ingest.Contradicts && (out.Result == ingest.Created || out.Result == ingest.Updated) &&
			!slices.Contains(out.Note.Supersedes, out.Of):
			w.Conflict = out.Of
		}
	}
	if out.Ref.Path != "" {
		w.Path = r.Store.Path(out.Ref.Path)
	}
	if out.Result == ingest.Dropped {
		return w, Answered("%s: not written: %s; --force writes it all the same", command, out.Why)
	}
	return w, nil
}

// By is the author of a draft that a face was given.
func (d *Draft) By(r *Rooms) ingest.Author {
	if d.Agent {
		return ingest.Agent
	}
	return r.Host.By
}

// Add writes a note.
func Add(ctx context.Context, r *Rooms, d Draft) (w Written, err error) {
	by := d.By(r)
	if err := r.MayRedact(); err != nil && by != ingest.Person {
		return Written{}, err
	}
	if by == ingest.Person && strings.ContainsRune(d.Title+d.Body, 0) { // of others' words it is dropped
		return Written{}, Usagef("the text holds a NUL character, so it is none; give a file of text")
	}
	n := &note.Note{
		Type: note.Type(d.Type), Title: d.Title, Body: d.Body, Scope: note.Scope(d.Scope), Tags: d.Tags, When: d.When,
		About:      note.Subject(d.About),
		Provenance: note.Provenance{Confidence: sureness(by)}, Project: note.Global,
	}
	dir, derr := os.Getwd()
	at, here := "", ""
	if !d.Global {
		id := NamedOrHere(ctx, r, d.Project)
		if d.Path != "" {
			if !filepath.IsAbs(d.Path) {
				d.Path = filepath.Join(dir, d.Path)
			}
			if id.Key, err = project.BelowOf(r.Store, d.Path); err != nil {
				return Written{}, Usagef("--path: %w", err)
			}
			here = id.Key
		}
		n.Project, n.Branch = id.Key, branchOf(d.Branch, id)
		if derr == nil && id.Source != "flag" {
			capture.Stamp(n, dir, r.Redactor)
			at = dir
		}
	}
	out, err := r.Ingester.Admit(ctx, ingest.Draft{
		Note: n, By: by, Here: cmp.Or(here, project.Identify(r.Store, dir).Key), Force: d.Force, Dir: at, Rival: d.Rival,
	})
	if err != nil {
		return Written{}, fieldUsage(err)
	}
	return NewWritten(r, "add", out)
}

// sureness is the confidence of a note as its author wrote it.
func sureness(by ingest.Author) float64 {
	if by.Speaks() {
		return 1
	}
	return 0.8
}

// fieldUsage makes wrong usage of a field that a note cannot have.
func fieldUsage(err error) error {
	var field *note.FieldError
	if errors.As(err, &field) {
		return Usagef("%w", err)
	}
	return err
}

// branchOf is the branch that a note is written for: "" for all.
func branchOf(branch string, id project.Identity) string {
	dir, err := os.Getwd()
	if branch == "." {
		branch = id.Branch
	}
	if err != nil || id.Source == "flag" {
		return branch
	}
	return project.BranchScope(dir, branch)
}

// An Edit is a change of a note by its parts.
type Edit struct {
	Title, Body          *string // nil leaves them
	Type, Scope, Project *string
	Tag, Untag           []string
	When                 *[]string // its triggers; empty ones clear them
	About                *string   // its subject; "" clears it

	Rival ingest.Rival // what becomes of another note of the user that it contradicts from now on
}

// Empty reports whether nothing is changed.
func (e *Edit) Empty() bool {
	return e.Title == nil && e.Body == nil && e.Type == nil && e.Scope == nil && e.Project == nil && e.When == nil && e.About == nil &&
		len(e.Tag)+len(e.Untag) == 0
}

// An Editable is a note and its file, to be changed by ApplyEdit.
type Editable struct {
	ID   note.ID
	File []byte
	Note *note.Note

	Rival ingest.Rival // what becomes of another note of the user that it contradicts from now on
}

// ReadEditable reads the note that name names, to be changed.
func ReadEditable(ctx context.Context, r *Rooms, name string) (e Editable, err error) {
	row, err := Resolve(ctx, r, name)
	if err != nil {
		return e, err
	}
	e.ID = row.ID
	e.Note, e.File, _, err = r.Store.Read(row.Ref.Path)
	return e, err
}

// With returns the file with some parts changed.
func (e *Editable) With(c Edit) ([]byte, error) {
	n := e.Note.Clone()
	if err := c.Apply(n); err != nil {
		return nil, err
	}
	return n.Rewrite(e.File)
}

// Apply changes a note. The error says what is wrong with the change; then the note is not valid.
func (e *Edit) Apply(n *note.Note) error {
	if e.Title != nil {
		if n.Title != *e.Title {
			n.Rule = "" // the title is the rule from now on
		}
		n.Title = *e.Title
	}
	if e.Body != nil {
		n.Body = strings.TrimRight(*e.Body, "\n")
	}
	if e.Type != nil {
		n.Type = note.Type(*e.Type)
	}
	if e.Scope != nil {
		n.Scope = note.Scope(*e.Scope)
	}
	if e.Project != nil {
		n.Project = *e.Project
	}
	if e.About != nil {
		n.About = note.Subject(*e.About)
	}
	if e.When != nil {
		when, err := note.ParseTriggers(slices.DeleteFunc(slices.Clone(*e.When), func(w string) bool { return strings.TrimSpace(w) == "" }))
		if err != nil {
			return Usagef("--when: %w", err)
		}
		n.When = when
	}
	n.AddTags(e.Tag...)
	n.Tags = slices.DeleteFunc(n.Tags, func(t string) bool { return slices.Contains(e.Untag, t) })
	if err := n.Validate(); err != nil {
		return fieldUsage(err)
	}
	return nil
}

// ApplyEdit replaces the file of a note that nobody changed since.
func ApplyEdit(ctx context.Context, r *Rooms, e Editable, edited []byte) (Written, error) {
	ctx = Deciding(ctx, r, "edit")
	trace := traceIDs(ctx, r, e.ID)
	out, err := r.Ingester.Edit(ctx, r.Host.By, e.ID, e.File, edited, e.Rival)
	if err != nil {
		return Written{}, err
	}
	if out.Result == ingest.Updated {
		erase(ctx, r, trace)
	}
	w, err := NewWritten(r, "edit", out)
	if revs, herr := r.Store.History(e.ID); herr == nil && len(revs) > 0 && out.Result == ingest.Updated {
		w.Undo = "anamnesis restore " + string(e.ID) + "@" + revs[0].Name + " --apply"
	}
	return w, err
}

// SupersedeAnswer says that one note replaces another, or does not any more.
type SupersedeAnswer struct {
	Old     note.ID `json:"old"`
	New     note.ID `json:"new"`
	Undone  bool    `json:"undone"`
	Changed bool    `json:"changed"`
	Undo    string  `json:"undo"`

	OldTitle, NewTitle string `json:"-"`
}

// Supersede says that the note by replaces the note old; undo takes that back.
func Supersede(ctx context.Context, r *Rooms, oldName, byName string, undo bool) (a SupersedeAnswer, err error) {
	old, err := Resolve(ctx, r, oldName)
	if err != nil {
		return a, err
	}
	by, err := Resolve(ctx, r, byName)
	if err != nil {
		return a, err
	}
	what := "replace"
	if undo {
		what = "unreplace"
	}
	out, err := r.Ingester.Supersede(Deciding(ctx, r, what), old.ID, by.ID, undo)
	if err != nil {
		return a, err
	}
	outcomeStale(r, out)
	a = SupersedeAnswer{Old: old.ID, New: by.ID, Undone: undo, Changed: out.Result == ingest.Updated, OldTitle: old.Title, NewTitle: by.Title}
	a.Undo = "anamnesis edit supersede " + string(old.ID) + " " + string(by.ID)
	if !undo {
		a.Undo += " --undo"
	}
	return a, nil
}

// outcomeStale tells people that a note is written and the index could not be updated.
func outcomeStale(r *Rooms, out ingest.Outcome) {
	if out.Stale != nil {
		r.Notify("the note is safe, but not in the index yet: %v; `anamnesis doctor reindex` mends that", out.Stale)
	}
}

// Changed reports whether an edit failed because the note changed in the meantime.
func Changed(err error) bool { return errors.Is(err, ingest.ErrChanged) }

package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/session"
	"anamnesis/internal/store"
	"anamnesis/internal/store/project"
)

// ForgetWideOptions choose what is forgotten: everything that holds a text, or everything of a project. One is given.
type ForgetWideOptions struct {
	Text    string // whatever its case and its layout
	Project string
	Apply   bool
}

// ForgetWideAnswer is what forgetting a text or a project erased, or would erase.
type ForgetWideAnswer struct {
	Applied  bool                 `json:"applied"`
	Notes    []ForgottenNote      `json:"notes"`
	Slots    []string             `json:"slots"`       // names of slots that lose lines, or all of them
	Held     []note.ID            `json:"held"`        // drafts
	Sessions ForgetSessionsAnswer `json:"sessions"`    // exchanges and unread messages
	Left     []string             `json:"not_reached"` // where the text may be, and Anamnesis cannot erase it
}

// A ForgottenNote is a note that goes.
type ForgottenNote struct {
	ID      note.ID `json:"id"`
	Title   string  `json:"title"`
	Project string  `json:"project"`
}

// ForgetWide erases what holds a text, or what is of a project, wherever this machine keeps it: notes and their former forms, slots,
// drafts, conflicts, decisions, sessions with their notes and unread messages, and what was derived of all that. Other machines
// follow with their next sync, as far as notes go. Without Apply it only lists.
func ForgetWide(ctx context.Context, r *Rooms, o ForgetWideOptions) (a ForgetWideAnswer, err error) {
	w, err := newWide(r, o)
	if err != nil {
		return a, err
	}
	a = ForgetWideAnswer{Applied: o.Apply, Notes: []ForgottenNote{}, Slots: []string{}, Held: []note.ID{}, Left: notReached(r)}
	var ids []note.ID
	var slots []*note.Note
	for ref := range r.Store.Walk() {
		n, data, _, err := r.Store.Read(ref.Path)
		if err != nil || !w.note(n, data) {
			continue
		}
		if n.Kind == note.Slot {
			slots, a.Slots = append(slots, n), append(a.Slots, n.Project+"/"+n.Title)
			continue
		}
		ids = append(ids, n.ID)
		a.Notes = append(a.Notes, ForgottenNote{n.ID, n.Title, n.Project})
	}
	for _, d := range r.Store.Spool().Held() {
		if w.note(d, d.Format()) {
			a.Held = append(a.Held, d.ID)
		}
	}
	a.Sessions, err = ForgetSessions(ctx, r, ForgetSessionsOptions{Text: o.Text, Project: o.Project, Apply: o.Apply})
	if e := (*Error)(nil); errors.As(err, &e) && e.Kind == NotFound {
		a.Sessions, err = ForgetSessionsAnswer{Applied: o.Apply, Exchanges: []ExchangeHead{}}, nil
	}
	if err != nil || !o.Apply {
		if err == nil && len(a.Notes)+len(a.Slots)+len(a.Held)+a.Sessions.Sessions+a.Sessions.Unread == 0 {
			err = Errorf(NotFound, "nothing that is kept is like that")
		}
		return a, err
	}
	var errs []error
	ids = slices.DeleteFunc(ids, func(id note.ID) bool { _, err := r.Store.Find(id); return err != nil }) // gone with its session
	if len(ids) > 0 {
		_, err := forgetNow(ctx, r, ids...)
		errs = append(errs, err)
	}
	for _, n := range slots {
		errs = append(errs, w.slot(ctx, n))
	}
	for _, id := range a.Held {
		errs = append(errs, ingest.DropDraft(ctx, r.Store, id))
	}
	errs = append(errs, ingest.EraseHolding(ctx, r.Ingester, w.file))
	_, err = r.Store.Events().Scrub(w.record)
	errs = append(errs, err)
	return a, errors.Join(errs...)
}

// notReached says where a text may be that Anamnesis cannot erase.
func notReached(r *Rooms) []string {
	all := []string{"transcripts of your agents", "bundles and exports that you handed out"}
	if h, err := Historian(r); err == nil && h != nil {
		all = append(all, "the history of git in "+r.Store.Path("memory/.git")+" and of its remote (docs/sync.md says how to begin a new one)")
	}
	return all
}

// wide recognises what is forgotten.
type wide struct {
	r   *Rooms
	o   ForgetWideOptions
	key string // of the project, "" for a text
}

func newWide(r *Rooms, o ForgetWideOptions) (*wide, error) {
	w := &wide{r: r, o: o}
	switch {
	case (strings.TrimSpace(o.Text) == "") == (o.Project == ""):
		return nil, Usagef("forget: give ID, --text or --project")
	case o.Project != "":
		if w.key = project.Canonical(r.Store, o.Project); w.key == note.Global {
			return nil, Usagef("forget --project %s: that is every project; forget its notes one by one", w.key)
		}
	}
	return w, nil
}

func (w *wide) holds(text string) bool {
	says := session.Exchange{Ask: text}
	return w.o.Text != "" && says.Holds(w.o.Text)
}

// note reports whether a note or a draft goes, by what its file says too: it may have fields that this program does not know.
func (w *wide) note(n *note.Note, data []byte) bool {
	if w.key != "" {
		return project.Canonical(w.r.Store, n.Project) == w.key
	}
	return w.holds(n.Statement()) || w.holds(string(data))
}

// file reports whether a file that holds a form of a note goes.
func (w *wide) file(data []byte) bool {
	n, err := note.Parse(data)
	if err != nil {
		return w.holds(string(data))
	}
	return w.note(n, data)
}

// record takes the text out of a record of the event log.
func (w *wide) record(rec *store.Record) (changed bool) {
	of := w.key != "" && project.Canonical(w.r.Store, rec.Project) == w.key
	for _, text := range []*string{&rec.Query, &rec.Error, &rec.Text} {
		if *text != "" && (w.holds(*text) || of && text == &rec.Query) {
			*text, changed = "", true
		}
	}
	return changed
}

// slot takes the lines that hold the text out of a slot, or all of them, and its former forms.
func (w *wide) slot(ctx context.Context, n *note.Note) error {
	trace := traceIDs(ctx, w.r, n.ID)
	var left []string
	for line := range strings.Lines(n.Body) {
		if w.key == "" && !w.holds(line) {
			left = append(left, line)
		}
	}
	name, slots := n.Title, ingest.SlotsOf(w.r.Ingester)
	e := ingest.SlotEdit{Change: ingest.ReplaceSlot, Name: name, Project: n.Project, By: w.r.Host.By}
	e.Text = strings.TrimSpace(strings.Join(left, ""))
	empty := e.Text == ""
	if empty { // a slot that is cleared keeps its text
		e.Text = "- nothing"
	}
	_, err := slots.Edit(ctx, e)
	if err == nil && empty {
		e.Change, e.Text = ingest.ClearSlot, ""
		_, err = slots.Edit(ctx, e)
	}
	if err == nil {
		err = slots.EraseFormer(ctx, n.Project, name)
	}
	erase(ctx, w.r, trace)
	if err != nil {
		return fmt.Errorf("forget in slot %s of %s: %w", name, n.Project, err)
	}
	return nil
}

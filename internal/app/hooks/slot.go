package hooks

import (
	"context"
	"errors"
	"slices"
	"unicode/utf8"

	"anamnesis/internal/app"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store/project"
)

// A SlotView is a slot as it stands.
type SlotView struct {
	Name      string  `json:"name"`
	ID        note.ID `json:"id,omitempty"` // "" for a known slot that nobody filled
	Project   string  `json:"project"`
	Doc       string  `json:"doc"`
	Size      int     `json:"size"` // characters
	Limit     int     `json:"limit"`
	Pinned    bool    `json:"pinned"`
	Automatic bool    `json:"automatic"` // this machine fills it from its sessions
	Hidden    bool    `json:"hidden"`    // the project has its own of that name, which is shown in its place
	Text      string  `json:"text"`
	Updated   string  `json:"updated_at,omitempty"`
}

// SlotsAnswer lists the slots of a project and of all projects.
type SlotsAnswer struct {
	Project string     `json:"project"`
	Slots   []SlotView `json:"slots"`
}

// Slots lists the slots that sessions of a project ("" for the one of this folder) are
// shown, and the known ones that are empty.
func Slots(ctx context.Context, r *app.Rooms, key string) (SlotsAnswer, error) {
	id := app.PlaceProject(r.Store, key)
	return SlotsOf(ctx, r, id.Key, project.Names(r.Store, id))
}

// SlotsOf is Slots for a project that is given by all its keys.
func SlotsOf(ctx context.Context, r *app.Rooms, key string, keys []string) (a SlotsAnswer, err error) {
	a.Project = key
	rows, err := ingest.SlotsOf(r.Ingester).List(ctx, append(slices.Clone(keys), note.Global), false)
	if err != nil {
		return a, err
	}
	for _, c := range r.Index.Contents(ctx, rows) {
		if c.Err != nil {
			r.Notify("left out: %v", c.Err)
			continue
		}
		n := c.Note
		spec := note.SlotOf(n.Title)
		a.Slots = append(a.Slots, SlotView{
			Name: n.Title, ID: n.ID, Project: n.Project, Doc: spec.Doc, Size: utf8.RuneCountInString(n.Body), Limit: note.LimitOfSlot(n),
			Pinned: n.HasTag(note.SlotPinned), Automatic: spec.Automatic, Text: n.Body, Updated: string(n.UpdatedAt),
		})
	}
	for i := range a.Slots {
		s := &a.Slots[i]
		s.Hidden = s.Project == note.Global && slices.ContainsFunc(a.Slots, func(o SlotView) bool {
			return o.Name == s.Name && o.Project != note.Global
		})
	}
	for _, spec := range note.Slots {
		if !slices.ContainsFunc(a.Slots, func(s SlotView) bool { return s.Name == spec.Name }) {
			of := key
			if spec.Global {
				of = note.Global
			}
			a.Slots = append(a.Slots, SlotView{Name: spec.Name, Project: of, Doc: spec.Doc, Limit: spec.Limit, Automatic: spec.Automatic})
		}
	}
	slices.SortStableFunc(a.Slots, func(x, y SlotView) int { return note.SlotOrder(x.Name, y.Name) })
	return a, nil
}

// Slot returns the slot of that name that a session of the project is shown.
func Slot(ctx context.Context, r *app.Rooms, key, name string) (SlotView, error) {
	a, err := Slots(ctx, r, key)
	if err != nil {
		return SlotView{}, err
	}
	for _, s := range a.Slots {
		if s.Name == name && !s.Hidden {
			return s, nil
		}
	}
	return SlotView{}, app.Errorf(app.NotFound, "slot %s: there is none of that name here; `anamnesis slot list` names them", name)
}

// EditSlot changes a slot. Without a project it is the one of this folder, or that of all
// projects for a slot that is known to concern them all.
func EditSlot(ctx context.Context, r *app.Rooms, e ingest.SlotEdit, global bool) (app.Written, error) {
	if err := r.MayRedact(); err != nil && e.By != ingest.Person {
		return app.Written{}, err
	}
	e.Here = app.PlaceProject(r.Store, "").Key
	switch {
	case global, e.Project == "" && note.SlotOf(e.Name).Global:
		e.Project = note.Global
	default:
		e.Project = app.PlaceProject(r.Store, e.Project).Key
	}
	out, err := ingest.SlotsOf(r.Ingester).Edit(ctx, e)
	var refused *ingest.SlotError
	if errors.As(err, &refused) {
		return app.Written{}, app.Usagef("%w", refused)
	}
	if err != nil {
		return app.Written{}, err
	}
	return app.NewWritten(r, "slot "+string(e.Change), out)
}

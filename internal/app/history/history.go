// Package history holds the use cases about what notes were: their changes and the commits, why a
// note is there and who was shown it, a question looked into stage by stage, and going back.
//
// Failure policy: that of package app; nothing is restored over a change that came after it.
package history

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/note"
	"anamnesis/internal/replica"
	"anamnesis/internal/store"
)

// Answer lists what changed, newest first.
type Answer struct {
	ID      note.ID      `json:"id,omitempty"` // "" for all notes
	Changes []PastChange `json:"changes"`

	Uncommitted bool `json:"uncommitted"` // no commit has the note as it stands
}

// A PastChange is a line of a history.
type PastChange struct {
	At      string   `json:"at"`
	Rev     string   `json:"rev"`  // names the form, for diff and restore
	Kind    string   `json:"kind"` // former: as it was before a change here; commit: as it was committed
	Machine string   `json:"machine,omitempty"`
	What    string   `json:"what"` // why it changed, or the subject of the commit
	Paths   []string `json:"paths,omitempty"`
}

// History lists the changes of the note that name names, or with "" the commits
// of all notes; at most limit, 0 for all.
func History(ctx context.Context, r *app.Rooms, name string, limit int) (a Answer, err error) {
	var about *subject
	if name != "" {
		if about, err = findSubject(ctx, r, name); err != nil {
			return a, err
		}
		a.ID = about.id
	}
	if a.Changes, err = changesOf(ctx, r, about, limit); limit > 0 {
		a.Changes = a.Changes[:min(len(a.Changes), limit)]
	}
	if about != nil && err == nil {
		a.Uncommitted = uncommitted(ctx, r, about)
	}
	return a, err
}

// uncommitted reports whether a portable note stands otherwise than in the last commit.
func uncommitted(ctx context.Context, r *app.Rooms, about *subject) bool {
	place, portable := strings.CutPrefix(about.ref.Path, "memory/")
	h, err := app.Historian(r)
	if err != nil || h == nil || !portable {
		return false
	}
	now, err := present(r, about)
	if err != nil {
		return false
	}
	last, err := h.Show(ctx, "HEAD", place)
	if errors.Is(err, replica.ErrNoGit) {
		return false
	}
	return err != nil || string(last) != string(now.data)
}

// beforeRevision says which change a former form was kept for.
func beforeRevision(r *app.Rooms, rev store.Revision) string {
	switch rev.Reason {
	case store.Update:
		return "before it was edited"
	case store.Capture:
		return "before its session was captured again"
	case store.Restored:
		return "before a former form was restored"
	case store.Conceded:
		return "lost in a conflict"
	case store.Archived:
		if n, _, _, err := r.Store.Read(rev.Path); err == nil && n.Status != "" {
			return "before it was taken out of the archive"
		}
		return "before it was archived"
	}
	return "before: " + rev.Reason
}

// changesOf lists the former forms of a note and the commits that changed it,
// newest first; of all notes, the commits.
func changesOf(ctx context.Context, r *app.Rooms, about *subject, limit int) (list []PastChange, err error) {
	h, err := app.Historian(r)
	if err != nil {
		return nil, err
	}
	places := []string{""}
	if about != nil {
		places = about.places()
		revs, err := r.Store.History(about.id)
		if err != nil {
			return nil, err
		}
		for _, rev := range revs {
			list = append(list, PastChange{At: rev.At.UTC().Format(time.RFC3339), Rev: rev.Name, Kind: "former", What: beforeRevision(r, rev)})
		}
	}
	seen := make(map[string]bool)
	for _, place := range places {
		if h == nil {
			break
		}
		commits, err := h.Log(ctx, place, limit)
		if errors.Is(err, replica.ErrNoGit) {
			r.Notify("%v", err)
			break
		}
		if err != nil {
			return nil, err
		}
		for _, c := range commits {
			if !seen[c.ID] {
				seen[c.ID] = true
				list = append(list, PastChange{c.At.Format(time.RFC3339), c.ID[:min(len(c.ID), 12)], "commit", c.Machine, c.Subject, c.Paths})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b PastChange) int { return strings.Compare(b.At, a.At) })
	return list, nil
}

// A subject is a note whose history is asked for; it need not be there any more.
type subject struct {
	id  note.ID
	ref store.Ref // empty when the note is gone
}

// findSubject finds a note by its id or a part of it, or one that is gone by its whole id.
func findSubject(ctx context.Context, r *app.Rooms, name string) (*subject, error) {
	row, err := app.Resolve(ctx, r, name)
	if err == nil {
		return &subject{row.ID, row.Ref}, nil
	}
	var kinded *app.Error
	if !errors.As(err, &kinded) || kinded.Kind != app.NotFound {
		return nil, err
	}
	s := &subject{id: note.ID(strings.TrimSpace(name))}
	if ref, ferr := r.Store.Find(s.id); ferr == nil {
		s.ref = ref
		return s, nil
	}
	if list, cerr := changesOf(ctx, r, s, 1); cerr != nil || len(list) == 0 {
		return nil, err
	}
	return s, nil
}

// places returns where the note stands or stood, relative to memory/.
func (s *subject) places() []string {
	var places []string
	if rest, ok := strings.CutPrefix(s.ref.Path, "memory/"); ok {
		places = append(places, rest)
	}
	for _, t := range note.Types {
		place := strings.TrimPrefix(store.NotePath(note.Portable, t, s.id), "memory/")
		if !slices.Contains(places, place) {
			places = append(places, place)
		}
	}
	return places
}

// A form is a note as it was at some time.
type form struct {
	id   note.ID
	name string // as in ID@REV, or ID for the present one
	data []byte
}

// present returns a note as it stands; one that is gone has no data.
func present(r *app.Rooms, s *subject) (form, error) {
	f := form{id: s.id, name: string(s.id)}
	if s.ref.Path == "" {
		return f, nil
	}
	_, data, _, err := r.Store.Read(s.ref.Path)
	if data == nil && err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	f.data = data
	return f, nil
}

// shortest is how many characters of the name of a former form are enough.
const shortest = 6

// formAt returns a note as it was at a revision: one of its former forms here, or
// a revision of git's.
func formAt(ctx context.Context, r *app.Rooms, s *subject, rev string) (form, error) {
	f := form{id: s.id, name: string(s.id) + "@" + rev}
	revs, err := r.Store.History(s.id)
	if err != nil {
		return f, err
	}
	var found []store.Revision
	for _, have := range revs {
		if have.Name == rev {
			found = []store.Revision{have}
			break
		}
		if len(rev) >= shortest && strings.HasPrefix(have.Name, rev) {
			found = append(found, have)
		}
	}
	switch len(found) {
	case 0:
		return committed(ctx, r, s, f, rev)
	case 1:
		_, data, _, err := r.Store.Read(found[0].Path)
		if data != nil {
			f.data, err = data, nil
		}
		return f, err
	}
	return f, app.Usagef("%s names %s; give more of it", f.name, app.Plural(len(found), "revision"))
}

// committed fills a form with what a revision of git's has of the note.
func committed(ctx context.Context, r *app.Rooms, s *subject, f form, rev string) (form, error) {
	none := func(err error) (form, error) {
		return f, app.Errorf(app.NotFound, "%s: %w; `anamnesis log history %s` lists the revisions", f.name, err, s.id)
	}
	h, err := app.Historian(r)
	if err != nil {
		return f, err
	}
	if h == nil {
		return none(errors.New("there is no such revision"))
	}
	for _, place := range s.places() {
		if f.data, err = h.Show(ctx, rev, place); err == nil || !errors.Is(err, replica.ErrNoRevision) {
			return f, err
		}
	}
	return none(fmt.Errorf("%s is no form of it here and no revision of git that has %s", rev, path.Base(s.places()[0])))
}

// DiffAnswer compares two forms of notes.
type DiffAnswer struct {
	From string `json:"from"`
	To   string `json:"to"`
	Diff string `json:"diff"` // unified; "" when they are equal
}

// Diff compares two forms. first is ID@REV or ID; second is the same, a revision
// of the first, or "": then ID@REV is compared with the note as it stands, and ID
// with its newest form that differs.
func Diff(ctx context.Context, r *app.Rooms, first, second string) (DiffAnswer, error) {
	a, b, err := twoForms(ctx, r, first, second)
	return DiffAnswer{a.name, b.name, note.Unified(a.name, b.name, string(a.data), string(b.data))}, err
}

func twoForms(ctx context.Context, r *app.Rooms, first, second string) (a, b form, err error) {
	name, rev, dated := strings.Cut(first, "@")
	s, err := findSubject(ctx, r, name)
	if err != nil {
		return a, b, err
	}
	switch {
	case dated:
		a, err = formAt(ctx, r, s, rev)
	case second != "":
		a, err = present(r, s)
	default:
		a, err = former(ctx, r, s)
	}
	if err != nil {
		return a, b, err
	}
	if second == "" {
		b, err = present(r, s)
		return a, b, err
	}
	name, rev, dated = strings.Cut(second, "@")
	other, serr := findSubject(ctx, r, name)
	switch {
	case dated && serr != nil:
		return a, b, serr
	case dated:
		b, err = formAt(ctx, r, other, rev)
	case serr == nil:
		b, err = present(r, other)
	default: // without @ it is a note, or else a revision of the first
		b, err = formAt(ctx, r, s, name)
	}
	return a, b, err
}

// former returns the newest form of a note that differs from the present one.
func former(ctx context.Context, r *app.Rooms, s *subject) (form, error) {
	now, err := present(r, s)
	if err != nil {
		return form{}, err
	}
	list, err := changesOf(ctx, r, s, 0)
	if err != nil {
		return form{}, err
	}
	for _, c := range list {
		if f, err := formAt(ctx, r, s, c.Rev); err == nil && string(f.data) != string(now.data) {
			return f, nil
		}
	}
	return form{}, app.Errorf(app.NotFound, "diff %s: the note has not changed since it was written", s.id)
}

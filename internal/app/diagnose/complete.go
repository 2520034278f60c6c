package diagnose

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store/layout"
)

// peekTime is how long somebody who types waits for another process.
const peekTime = 200 * time.Millisecond

// maxOffered is how many ids are offered at most: more than one reads.
const maxOffered = 1000

// peek opens the rooms to look at the index as it stands. It is nil where there is
// no index, or where something is wrong.
func peek(ctx context.Context, h app.Host) *app.Rooms {
	if fi, err := os.Stat(filepath.Join(h.Config.Home, "index.db")); err != nil || !fi.Mode().IsRegular() {
		return nil
	}
	h.Peek = true
	r, err := app.Open(ctx, h, peekTime)
	if err != nil {
		return nil
	}
	return r
}

// OfferNotes lists notes to somebody who types an id, newest first; dead ones too
// with all. It walks nothing, creates nothing, and offers nothing where something
// is wrong.
func OfferNotes(ctx context.Context, h app.Host, all bool) []index.Row {
	r := peek(ctx, h)
	if r == nil {
		return nil
	}
	defer r.Close()
	rows, err := r.Index.Select(ctx, index.Filter{Dead: all, Now: r.Store.Now()}, maxOffered)
	if err != nil {
		return nil
	}
	return rows
}

// OfferSessions lists what is kept of sessions to somebody who types a key, newest first, as OfferNotes
// does.
func OfferSessions(ctx context.Context, h app.Host) []app.SessionView {
	if fi, err := os.Stat(filepath.Join(h.Config.Home, filepath.FromSlash(layout.SessionIndex))); err != nil || !fi.IsDir() {
		return nil
	}
	r, err := app.OpenFiles(h)
	if err != nil {
		return nil
	}
	defer r.Close()
	a, err := app.Sessions(ctx, r, app.SessionsOptions{Limit: maxOffered})
	if err != nil {
		return nil
	}
	return a.Sessions
}

// OfferProjects lists the projects that have notes, the one with the most first,
// as OfferNotes does.
func OfferProjects(ctx context.Context, h app.Host) []string {
	r := peek(ctx, h)
	if r == nil {
		return nil
	}
	defer r.Close()
	counts, err := r.Index.PerProject(ctx, index.Filter{Now: r.Store.Now()})
	if err != nil {
		return nil
	}
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	return slices.DeleteFunc(keys, func(key string) bool { return note.Printable(key) != key })
}

package history

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/replica"
	"anamnesis/internal/store"
)

// Folder returns what is known of the folder of the store, as it is there now.
func Folder(r *app.Rooms) (os.FileInfo, error) { return os.Stat(r.Store.Root()) }

// Version changes when the notes, what waits for a person, or the event log changed. It
// reads no note.
func Version(ctx context.Context, r *app.Rooms) string {
	fingerprint, files, _, _ := r.Index.State(ctx)
	parts := fmt.Sprintf("%x-%d-%d", fingerprint, files, r.Store.Events().Size())
	for _, name := range []string{"spool", "spool/held", "conflicts", "config.json", "memory/.git/HEAD"} {
		if fi, err := os.Stat(r.Store.Path(name)); err == nil {
			parts += fmt.Sprintf("-%x", fi.ModTime().UnixNano())
		}
	}
	return parts
}

// Facets count the notes by what people choose them by.
type Facets struct {
	Total     int        `json:"total"`
	Live      int        `json:"live"`
	ByType    app.Counts `json:"byType"` // live notes
	ByProject app.Counts `json:"byProject"`
}

// CountNotes counts the notes of a project, "" for all. It reads no row.
func CountNotes(ctx context.Context, r *app.Rooms, project string) (f Facets, err error) {
	s := app.Selection{Project: project}
	filter, err := s.Filter(r)
	if err != nil {
		return f, err
	}
	f.ByType, f.ByProject = app.Counts{}, app.Counts{}
	for _, t := range note.Types {
		f.ByType[string(t)] = 0
	}
	live, err := r.Index.Tally(ctx, filter)
	if err != nil {
		return f, err
	}
	for _, t := range live {
		f.Live += t.Notes
		f.ByType[string(t.Type)] += t.Notes
		f.ByProject[t.Project] += t.Notes
	}
	filter.Dead = true
	all, err := r.Index.PerProject(ctx, filter)
	for _, n := range all {
		f.Total += n
	}
	return f, err
}

// Like lists the notes that are most like one, without it; at most limit.
func Like(ctx context.Context, r *app.Rooms, name string, limit int) (rows []app.NoteView, err error) {
	row, err := app.Resolve(ctx, r, name)
	if err != nil {
		return nil, err
	}
	q := app.Question{Global: true, AllBranches: true, Lambda: app.Unset}
	query, _, err := q.NewQuery(ctx, r, row.Title+" "+strings.Join(row.Tags, " "))
	if err != nil {
		return nil, err
	}
	query.K, query.Synthetic, query.NoCache = limit+1, true, true
	res, err := r.Engine.Recall(ctx, query)
	if err != nil {
		return nil, err
	}
	for _, h := range res.Hits {
		if h.Row.ID != row.ID && len(rows) < limit {
			rows = append(rows, app.ViewRow(r, h.Row))
		}
	}
	return rows, nil
}

// Chain lists the notes that replaced one another, the newest first; the note that name
// names is one of them. It is at most 64 long.
func Chain(ctx context.Context, r *app.Rooms, name string) (rows []app.NoteView, err error) {
	row, err := app.Resolve(ctx, r, name)
	if err != nil {
		return nil, err
	}
	seen := map[note.ID]bool{row.ID: true}
	const most = 64
	rows = []app.NoteView{app.ViewRow(r, row)}
	for by := row.SupersededBy; by != "" && !seen[by] && len(rows) < most; {
		next, ok, err := r.Index.Lookup(ctx, by)
		if err != nil || !ok {
			return rows, err
		}
		seen[by], by = true, next.SupersededBy
		rows = slices.Insert(rows, 0, app.ViewRow(r, next))
	}
	older := []index.Row{row}
	for len(older) > 0 && len(rows) < most {
		c := r.Index.Content(ctx, older[0])
		older = older[1:]
		if c.Err != nil {
			continue
		}
		for _, id := range c.Note.Supersedes {
			if next, ok, err := r.Index.Lookup(ctx, id); err == nil && ok && !seen[id] {
				seen[id] = true
				rows, older = append(rows, app.ViewRow(r, next)), append(older, next)
			}
		}
	}
	return rows, nil
}

// CommitAnswer is what one commit changed.
type CommitAnswer struct {
	Rev  string `json:"hash"`
	Diff string `json:"diff"` // unified, of all files
}

// Commit returns what a commit of the notes changed.
func Commit(ctx context.Context, r *app.Rooms, rev string) (a CommitAnswer, err error) {
	h, err := app.Historian(r)
	if err != nil {
		return a, err
	}
	if h == nil {
		return a, app.Errorf(app.NotFound, "the notes have no history in git: sync is off")
	}
	a.Rev = rev
	a.Diff, err = h.Diff(ctx, rev+"^", rev, "")
	if errors.Is(err, replica.ErrNoRevision) {
		if _, lerr := h.Diff(ctx, rev, rev, ""); lerr == nil { // the first one has none before it
			a.Diff, err = whole(ctx, h, rev)
		}
	}
	if errors.Is(err, replica.ErrNoRevision) || errors.Is(err, replica.ErrNoGit) {
		err = &app.Error{Kind: app.NotFound, Err: err}
	}
	return a, err
}

// whole writes the files of the first commit as a change from nothing.
func whole(ctx context.Context, h replica.Historian, rev string) (diff string, err error) {
	all, err := h.Log(ctx, "", 0)
	if err != nil || len(all) == 0 {
		return "", err
	}
	for _, path := range all[len(all)-1].Paths {
		if data, err := h.Show(ctx, rev, path); err == nil {
			diff += "diff --git a/" + path + " b/" + path + "\n" + note.Unified("/dev/null", "b/"+path, "", string(data))
		}
	}
	return diff, nil
}

// SessionAnswer is what happened in one session, as the event log says.
type SessionAnswer struct {
	Session string         `json:"session"`
	Records []store.Record `json:"records"` // oldest first
	Titles  map[note.ID]string
}

// Session lists the records of one session, oldest first. Evidence names a session with its
// agent ("claude/ID"), the event log without; both are understood. Of a session that evidence
// names the log may know nothing, as of one that was imported: that is an empty answer.
func Session(ctx context.Context, r *app.Rooms, id, since string) (a SessionAnswer, err error) {
	from, err := app.Moment("--since", since, r.Store.Now())
	if err != nil {
		return a, err
	}
	a.Session, a.Titles = id, map[note.ID]string{}
	_, bare, named := strings.Cut(id, "/")
	err = app.LoggedRecords(r, from, func(rec store.Record, _ time.Time) {
		if rec.Session == "" || rec.Session != id && (!named || rec.Session != bare) {
			return
		}
		a.Records = append(a.Records, rec)
		for _, n := range rec.Notes {
			app.TitleOf(ctx, r, a.Titles, n)
		}
	})
	if err == nil && len(a.Records) == 0 && !named {
		err = app.Errorf(app.NotFound, "the event log has no session %s", note.Printable(id))
	}
	return a, err
}

// LikeDraft lists the notes that a draft that waits says nearly again; at most limit.
func LikeDraft(ctx context.Context, r *app.Rooms, n *note.Note, limit int) (rows []app.NoteView, err error) {
	like, err := r.Ingester.Alike(ctx, n)
	for _, l := range like {
		row, ok, lerr := r.Index.Lookup(ctx, l.ID)
		if lerr == nil && ok && row.ID != n.ID && len(rows) < limit {
			rows = append(rows, app.ViewRow(r, row))
		}
	}
	return rows, err
}

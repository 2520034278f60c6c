package history_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/app"
	"anamnesis/internal/app/apptest"
	"anamnesis/internal/app/curate"
	"anamnesis/internal/app/history"
	"anamnesis/internal/index"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/storetest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const (
	draftID   note.ID = "01JZZZZZZZZZZZZZZZZZZZZZD1"
	opposedID note.ID = "01JZZZZZZZZZZZZZZZZZZZZZD2"
	ownID     note.ID = "01JZZZZZZZZZZZZZZZZZZZZZN1"
	otherID   note.ID = "01JZZZZZZZZZZZZZZZZZZZZZN2"
	madeID    note.ID = "01JZZZZZZZZZZZZZZZZZZZZZN3"
)

// draftOf is a draft of a machine.
func draftOf(id note.ID, title string) *note.Note {
	return &note.Note{
		ID: id, Type: note.Semantic, Scope: note.Portable, Project: "shop", Title: title, Body: "Because " + title + ".",
		MachineID: "box", UserID: "self", WorkspaceID: "personal", CreatedAt: "2026-01-01T00:00:00+00:00", UpdatedAt: "2026-01-01T00:00:00+00:00",
		Provenance: note.Provenance{Source: note.Learning, Confidence: 0.7},
		Evidence:   []note.Evidence{{Session: "claude/s1", Chunk: "0000000000000000", Quote: "said " + title}},
	}
}

// furnish writes two notes of a person, one of a machine, and two drafts.
func furnish(tb testing.TB, r *app.Rooms) {
	tb.Helper()
	for id, title := range map[note.ID]string{ownID: "The staging host is amber", otherID: "Indent with tabs"} {
		n := draftOf(id, title)
		n.Evidence = nil
		if out, err := r.Ingester.Admit(tb.Context(), ingest.Draft{Note: n, By: ingest.Person}); err != nil || out.Result != ingest.Created {
			tb.Fatal(out.Result, err)
		}
	}
	if out, err := r.Ingester.Admit(tb.Context(), ingest.Draft{Note: draftOf(madeID, "Releases are tagged on Monday"), By: ingest.Model, Here: "shop"}); err != nil ||
		out.Result != ingest.Created {
		tb.Fatal(out.Result, err)
	}
	w, err := r.Store.BeginWrite(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	defer w.End()
	opposed := draftOf(opposedID, "Indent with spaces")
	opposed.ConflictOf = otherID
	for _, n := range []*note.Note{draftOf(draftID, "The queue holds nine jobs"), opposed} {
		if err := w.Hold(n); err != nil {
			tb.Fatal(err)
		}
	}
}

// state is everything that a decision may change: notes, drafts, aliases and the ledger.
func state(tb testing.TB, s *store.Store) map[string]string {
	tb.Helper()
	all := map[string]string{}
	for _, top := range []string{"memory", "local", "spool/held", "authors"} {
		err := filepath.WalkDir(s.Path(top), func(at string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) || err == nil && (d.IsDir() || strings.HasPrefix(d.Name(), ".tmp")) {
				return nil
			}
			data, rerr := os.ReadFile(at)
			name, _ := filepath.Rel(s.Root(), at)
			if len(data) > 0 { // a part of the ledger without entries is none
				all[filepath.ToSlash(name)] = string(data)
			}
			return errors.Join(err, rerr)
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	return all
}

// indexed is what the index has of the notes.
func indexed(tb testing.TB, r *app.Rooms) map[note.ID]string {
	tb.Helper()
	rows, err := r.Index.Select(tb.Context(), index.Filter{Dead: true}, 0)
	if err != nil {
		tb.Fatal(err)
	}
	all := map[note.ID]string{}
	for _, row := range rows {
		all[row.ID] = fmt.Sprint(row.Title, row.Status, row.SupersededBy, row.Source)
	}
	return all
}

// undoOne takes back what a name means.
func undoOne(ctx context.Context, r *app.Rooms, name string) (a history.UndoneDecision, err error) {
	d, ok, err := history.FindDecision(ctx, r, name)
	if err == nil && !ok {
		err = fmt.Errorf("no decision %s", name)
	}
	if err != nil {
		return a, err
	}
	return history.UndoDecision(ctx, r, d)
}

// codeOf is the kind of an error, "" for none.
func codeOf(err error) app.Kind {
	if err == nil {
		return ""
	}
	return app.Explain(err).Code
}

func edit(title string) app.Edit { return app.Edit{Title: &title} }

// A decisionKind is a kind of decision, by what the journal calls it.
type decisionKind struct {
	name, what string
	do         func(ctx context.Context, r *app.Rooms) error
}

var decisions = []decisionKind{
	{"keep a draft", "keep", func(ctx context.Context, r *app.Rooms) error {
		_, err := curate.KeepReviewed(ctx, r, []string{string(draftID)})
		return err
	}},
	{"keep a note", "keep", func(ctx context.Context, r *app.Rooms) error {
		_, err := curate.KeepReviewed(ctx, r, []string{string(madeID)})
		return err
	}},
	{"release a held draft", "keep", func(ctx context.Context, r *app.Rooms) error {
		_, err := curate.KeepDraft(ctx, r, string(draftID))
		return err
	}},
	{"drop a held draft", "drop", func(ctx context.Context, r *app.Rooms) error {
		_, err := curate.DropDraft(ctx, r, string(draftID))
		return err
	}},
	{"reject a draft", "reject", func(ctx context.Context, r *app.Rooms) error {
		_, err := curate.DecideReview(ctx, r, string(draftID), app.Reject, app.Edit{})
		return err
	}},
	{"reject a note", "reject", func(ctx context.Context, r *app.Rooms) error {
		_, err := curate.DecideReview(ctx, r, string(madeID), app.Reject, app.Edit{})
		return err
	}},
	{"edit and keep a draft", "edit", func(ctx context.Context, r *app.Rooms) error {
		_, err := curate.DecideReview(ctx, r, string(draftID), app.EditIt, edit("The queue holds ten jobs"))
		return err
	}},
	{"retire", "retire", func(ctx context.Context, r *app.Rooms) error {
		_, err := curate.DecideReview(ctx, r, string(opposedID), app.Retire, app.Edit{})
		return err
	}},
	{"edit", "edit", func(ctx context.Context, r *app.Rooms) error {
		return editNote(ctx, r, edit("The staging host is red"))
	}},
	{"move to this machine", "edit", func(ctx context.Context, r *app.Rooms) error {
		scope := string(note.Local)
		return editNote(ctx, r, app.Edit{Scope: &scope})
	}},
	{"archive some", "archive", func(ctx context.Context, r *app.Rooms) error {
		_, err := app.Archive(ctx, r, app.ArchiveOptions{Names: []string{string(ownID), string(otherID)}, Reason: "gone"})
		return err
	}},
	{"replace", "replace", func(ctx context.Context, r *app.Rooms) error {
		_, err := app.Supersede(ctx, r, string(otherID), string(ownID), false)
		return err
	}},
	{"alias", "alias", func(ctx context.Context, r *app.Rooms) error {
		_, err := app.AddAlias(ctx, r.Store, r.Host.Face, "old-shop", "shop")
		return err
	}},
}

func editNote(ctx context.Context, r *app.Rooms, change app.Edit) error {
	e, err := app.ReadEditable(ctx, r, string(ownID))
	if err != nil {
		return err
	}
	data, err := e.With(change)
	if err == nil {
		_, err = app.ApplyEdit(ctx, r, e, data)
	}
	return err
}

// rooms opens the rooms of a store with a face.
func rooms(tb testing.TB, root string, disk store.Disk, face string) *app.Rooms {
	tb.Helper()
	h := app.Host{By: ingest.Person, Face: face, Config: apptest.Config(root), Disk: disk}
	r, err := app.Open(tb.Context(), h, 0)
	if err == nil {
		_, err = r.Index.Sync(tb.Context(), index.SyncOptions{})
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(r.Close)
	return r
}

// Each kind of decision is taken back, decided again, and taken back once more, also by a process
// that did not make it.
func TestUndoDecision(t *testing.T) {
	for _, tt := range decisions {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			r := rooms(t, root, nil, "dashboard")
			furnish(t, r)
			before, known := state(t, r.Store), indexed(t, r)
			if err := tt.do(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			after, knownAfter := state(t, r.Store), indexed(t, r)
			if cmp.Equal(before, after) {
				t.Fatal("the decision changed nothing")
			}
			list, err := history.Decisions(t.Context(), r, 0)
			if err != nil || len(list.Decisions) != 1 || list.Decisions[0].What != tt.what || list.Decisions[0].By != "dashboard" {
				t.Fatalf("%+v %v", list, err)
			}
			r.Close()
			r = rooms(t, root, nil, "cli")
			check := func(when string, files map[string]string, rows map[note.ID]string) {
				t.Helper()
				if d := cmp.Diff(files, state(t, r.Store)); d != "" {
					t.Errorf("%s:\n%s", when, d)
				}
				if d := cmp.Diff(rows, indexed(t, r)); d != "" {
					t.Errorf("%s, in the index:\n%s", when, d)
				}
			}
			a, err := undoOne(t.Context(), r, "")
			if err != nil || a.Taken != 2 || a.Number != 1 || a.Left != 0 || len(a.Items) == 0 {
				t.Fatalf("%+v %v", a, err)
			}
			check("undone", before, known)
			if _, err := undoOne(t.Context(), r, ""); codeOf(err) != app.NotFound {
				t.Errorf("a second undo: %v", err)
			}
			if _, err := undoOne(t.Context(), r, "1"); codeOf(err) != app.Conflict {
				t.Errorf("undone twice: %v", err)
			}
			if a, err = undoOne(t.Context(), r, "2"); err != nil || a.Taken != 3 {
				t.Fatalf("%+v %v", a, err)
			}
			check("decided again", after, knownAfter)
			if a, err = undoOne(t.Context(), r, ""); err != nil || a.Number != 1 || a.Taken != 4 {
				t.Fatalf("%+v %v", a, err)
			}
			check("undone again", before, known)
		})
	}
}

// What was changed since a decision is named and left, and the decision that changed it too.
func TestUndoDecisionChanged(t *testing.T) {
	r := rooms(t, t.TempDir(), nil, "cli")
	furnish(t, r)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	before := state(t, r.Store)
	must(decisions[0].do(t.Context(), r)) // 1 keeps the draft
	must(editNote(t.Context(), r, edit("The staging host is red")))
	e, err := app.ReadEditable(t.Context(), r, string(draftID))
	must(err)
	data, err := e.With(edit("The queue holds ten jobs"))
	must(err)
	_, err = app.ApplyEdit(t.Context(), r, e, data) // 3
	must(err)
	now := state(t, r.Store)
	a, err := undoOne(t.Context(), r, "1")
	if codeOf(err) != app.Conflict || a.Left != 2 || a.Items[0].Result != ingest.UndoEdited || a.Taken != 0 || a.Next != "anamnesis undo 3" {
		t.Fatalf("%+v %v", a, err)
	}
	if d := cmp.Diff(now, state(t, r.Store)); d != "" {
		t.Error(d)
	}
	// By its id the last decision about it is meant.
	if a, err := undoOne(t.Context(), r, string(draftID)); err != nil || a.Number != 3 {
		t.Fatalf("%+v %v", a, err)
	}
	if a, err := undoOne(t.Context(), r, strings.ToLower(string(draftID[20:]))); err != nil || a.Number != 1 {
		t.Fatalf("%+v %v", a, err)
	}
	if a, err := undoOne(t.Context(), r, ""); err != nil || a.Number != 2 {
		t.Fatalf("%+v %v", a, err)
	}
	if d := cmp.Diff(before, state(t, r.Store)); d != "" {
		t.Error(d)
	}
	if _, err := undoOne(t.Context(), r, string(draftID)); codeOf(err) != app.Conflict {
		t.Errorf("nothing about it is in force: %v", err)
	}
	if _, err := undoOne(t.Context(), r, "99"); codeOf(err) != app.NotFound {
		t.Errorf("a number that was never: %v", err)
	}
}

// Who vouches follows: what is not kept any more has no entry, a former form has its own again.
func TestUndoDecisionVouches(t *testing.T) {
	r := rooms(t, t.TempDir(), nil, "cli")
	furnish(t, r)
	said := func(id note.ID) bool {
		n, _, err := store.Get(r.Store, id)
		return err == nil && n.UserSaid()
	}
	if said(madeID) || !said(ownID) {
		t.Fatal("the notes are not as they were meant")
	}
	for _, do := range []func() error{
		func() error { return decisions[1].do(t.Context(), r) },
		func() error { return editNote(t.Context(), r, edit("The staging host is red")) },
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
	}
	if n, _, _ := store.Get(r.Store, madeID); !n.IsReviewed() || !said(ownID) {
		t.Fatal("nobody vouches for what was kept")
	}
	for range 2 {
		if _, err := undoOne(t.Context(), r, ""); err != nil {
			t.Fatal(err)
		}
	}
	if store.Authors(r.Store, madeID) != "" || !said(ownID) {
		t.Errorf("%q %v", store.Authors(r.Store, madeID), said(ownID))
	}
}

// A note that an agent's newer word replaced stands again, and the agent's is archived. It is
// nothing that the user decided: without its number or an id it is not meant.
func TestUndoReplaced(t *testing.T) {
	r := rooms(t, t.TempDir(), nil, "cli")
	furnish(t, r)
	admit := func(title string) note.ID {
		t.Helper()
		n := &note.Note{Type: note.Semantic, Scope: note.Portable, Project: "shop", Title: title, Body: "b"}
		out, err := r.Ingester.Admit(t.Context(), ingest.Draft{Note: n, By: ingest.Agent, Here: "shop"})
		if err != nil || out.Result != ingest.Created {
			t.Fatal(out.Result, out.Why, err)
		}
		return out.Note.ID
	}
	older := admit("Always deploy with make")
	before, known := state(t, r.Store), indexed(t, r)
	newer := admit("Never deploy with make")
	after := state(t, r.Store)
	if row, _, err := r.Index.Lookup(t.Context(), older); err != nil || row.SupersededBy != newer {
		t.Fatalf("%+v %v", row, err)
	}
	if _, err := undoOne(t.Context(), r, ""); codeOf(err) != app.NotFound {
		t.Errorf("the user decided nothing: %v", err)
	}
	a, err := undoOne(t.Context(), r, string(newer))
	if err != nil || a.What != "replace" || a.By != "agent" || len(a.Items) != 1 || a.Items[0].Result != ingest.UndoArchived {
		t.Fatalf("%+v %v", a, err)
	}
	files, rows := state(t, r.Store), indexed(t, r)
	n, _, err := store.Get(r.Store, newer)
	if err != nil || !n.IsArchived() {
		t.Errorf("%+v %v", n, err)
	}
	maps.DeleteFunc(files, func(name, _ string) bool { return strings.Contains(name, string(newer)) })
	delete(rows, newer)
	if d := cmp.Diff(before, files); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(known, rows); d != "" {
		t.Error(d)
	}
	if _, err := undoOne(t.Context(), r, "2"); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(after, state(t, r.Store)); d != "" {
		t.Error(d)
	}
}

// What was forgotten does not come back by an undo, and its words are not in the journal.
func TestUndoDecisionForgotten(t *testing.T) {
	r := rooms(t, t.TempDir(), nil, "cli")
	furnish(t, r)
	if err := decisions[0].do(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if !storetest.Holds(t, r.Store, "nine jobs") {
		t.Fatal("it is nowhere")
	}
	if _, err := app.Forget(t.Context(), r, string(draftID), app.ForgetNow); err != nil {
		t.Fatal(err)
	}
	all, err := store.Decisions(r.Store)
	if err != nil || len(all) != 1 || len(all[0].Changes) < 3 {
		t.Fatalf("%+v %v", all, err)
	}
	for name := range state(t, r.Store) {
		if strings.Contains(name, string(draftID)) && path.Dir(name) != "memory/tombstones" {
			t.Errorf("%s is there", name)
		}
	}
	if data := storetest.ReadFile(t, r.Store, "journal/"+r.Store.Now().UTC().Format("2006-01")+".jsonl"); strings.Contains(string(data), "nine jobs") {
		t.Errorf("the journal has it: %s", data)
	}
	a, err := undoOne(t.Context(), r, "")
	if codeOf(err) != app.Conflict || a.Left == 0 || a.Taken != 0 {
		t.Errorf("%+v %v", a, err)
	}
}

// A draft that is away for what was decided later is not as an undo left it: that undo is not taken back before the later decision.
func TestUndoUndoneDraftAway(t *testing.T) {
	r := rooms(t, t.TempDir(), nil, "cli")
	furnish(t, r)
	before := state(t, r.Store)
	decide := func(name string) {
		t.Helper()
		i := slices.IndexFunc(decisions, func(d decisionKind) bool { return d.name == name })
		if err := decisions[i].do(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	undo := func(name string, want app.Kind) {
		t.Helper()
		if _, err := undoOne(t.Context(), r, name); codeOf(err) != want {
			t.Fatalf("undo %s: %v, want %q", name, err, want)
		}
	}
	decide("reject a draft")       // 1
	undo("1", "")                  // 2: it waits again
	decide("drop a held draft")    // 3
	undo("3", "")                  // 4: it waits again
	undo("2", "")                  // 5: it is rejected again
	decide("release a held draft") // 6
	undo("4", app.Conflict)        // it is away, and not because of 3
	for range 2 {
		undo("", "")
	}
	undo("", app.NotFound)
	if d := cmp.Diff(before, state(t, r.Store)); d != "" {
		t.Error(d)
	}
}

// Whatever is decided and taken back, in whatever order: when nothing is in force any more every
// file is what it was.
func TestUndoDecisionProperty(t *testing.T) {
	r := rooms(t, t.TempDir(), quick{}, "cli")
	furnish(t, r)
	before, known := state(t, r.Store), indexed(t, r)
	rapid.Check(t, func(rt *rapid.T) {
		ctx := t.Context()
		earlier, err := store.Decisions(r.Store)
		if err != nil {
			rt.Fatal(err)
		}
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			if rapid.IntRange(0, 2).Draw(rt, "undo") == 0 {
				all, err := store.Decisions(r.Store)
				if err != nil {
					rt.Fatal(err)
				}
				if all = all[len(earlier):]; len(all) == 0 {
					continue
				}
				d := rapid.SampledFrom(all).Draw(rt, "which")
				if _, err := history.UndoDecision(ctx, r, d); err != nil && codeOf(err) != app.Conflict {
					rt.Fatal(err)
				}
				continue
			}
			kind := decisions[rapid.IntRange(0, len(decisions)-1).Draw(rt, "decision")]
			_ = kind.do(ctx, r) // some are not possible any more
		}
		for {
			a, err := undoOne(ctx, r, "")
			if codeOf(err) == app.NotFound {
				break
			}
			if err != nil {
				rt.Fatalf("%+v %v", a, err)
			}
		}
		if d := cmp.Diff(before, state(t, r.Store)); d != "" {
			rt.Fatal(d)
		}
		if d := cmp.Diff(known, indexed(t, r)); d != "" {
			rt.Fatal(d)
		}
	})
}

// quick is a disk that does not wait.
type quick struct{ store.OS }

func (quick) SyncDir(string) error { return nil }

func (d quick) AppendSynced(name string, data []byte) error { return d.Append(name, data) }

// A machine that stops in the middle of a decision, or of its undo, leaves what an undo takes back.
func TestUndoDecisionCrash(t *testing.T) {
	for _, tt := range decisions {
		if !slices.Contains([]string{"keep a draft", "reject a draft", "move to this machine", "alias"}, tt.name) {
			continue // they write in the same ways
		}
		t.Run(tt.name, func(t *testing.T) {
			first := t.TempDir()
			r := rooms(t, first, nil, "cli")
			furnish(t, r)
			before := state(t, r.Store)
			r.Close()
			decide := func(r *app.Rooms) error { return tt.do(t.Context(), r) }
			crashes(t, first, decide, before)

			decided := copyOf(t, first)
			r = rooms(t, decided, nil, "cli")
			if err := decide(r); err != nil {
				t.Fatal(err)
			}
			r.Close()
			crashes(t, decided, func(r *app.Rooms) error {
				_, err := undoOne(t.Context(), r, "")
				return err
			}, before)
		})
	}
}

// crashes does something to copies of a store, each time stopped one step later. Whatever is done
// afterwards, undoing all leads to a state.
func crashes(t *testing.T, root string, do func(*app.Rooms) error, want map[string]string) {
	t.Helper()
	whole := storetest.NewCrashDisk(0)
	r := rooms(t, copyOf(t, root), whole, "cli")
	opened := whole.Steps()
	if err := do(r); err != nil {
		t.Fatal(err)
	}
	steps := whole.Steps() - opened
	r.Close()
	for stop := 1; stop <= steps; stop++ {
		at := copyOf(t, root)
		r := rooms(t, at, storetest.NewCrashDisk(opened+stop), "cli")
		_ = do(r) // what is written after the last step that counts is no error
		r.Close()
		r = rooms(t, at, nil, "cli")
		for {
			a, err := undoOne(t.Context(), r, "")
			if codeOf(err) == app.NotFound {
				break
			}
			if err != nil {
				t.Fatalf("stopped at %d of %d: %+v %v", stop, steps, a, err)
			}
		}
		got := state(t, r.Store)
		maps.DeleteFunc(got, func(name, _ string) bool { return strings.Contains(name, "/.") })
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("stopped at %d of %d:\n%s", stop, steps, d)
		}
		r.Close()
	}
}

func copyOf(t *testing.T, root string) string {
	t.Helper()
	at := filepath.Join(t.TempDir(), "store")
	if err := os.CopyFS(at, os.DirFS(root)); err != nil {
		t.Fatal(err)
	}
	return at
}

package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"anamnesis/internal/config"
	"anamnesis/internal/index"
	"anamnesis/internal/index/postgres/postgrestest"
	"anamnesis/internal/index/postgres/schema"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store/storetest"
	"anamnesis/internal/team"
)

func TestMain(m *testing.M) { postgrestest.Main(storetest.Memory{M: m}) }

// aServer returns the address of a new workspace.
func aServer(t *testing.T, dsn string, n int) string {
	t.Helper()
	workspace := fmt.Sprintf("6b0c1b1e-0000-4000-8000-%012d", n)
	if err := schema.AddWorkspace(t.Context(), dsn, workspace, "mine"); err != nil {
		t.Fatal(err)
	}
	return dsn + "&workspace=" + workspace
}

// aMachine opens the rooms of an empty home: with a store, or without.
func aMachine(t *testing.T, server string, away bool) *Rooms {
	t.Helper()
	dir := t.TempDir()
	c := config.Load(config.Environment{
		Lookup: func(string) (string, bool) { return "", false }, UserHome: dir, Hostname: "box",
		Flags: []string{"home=" + dir, "patience=100", "sync.on=false", "import.native=false", "index.server=" + server},
	})
	c.Index.Away = away
	r, err := Open(t.Context(), Host{Config: c}, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func write(t *testing.T, r *Rooms, source, title, body string) ingest.Outcome {
	t.Helper()
	out, err := r.Ingester.Admit(t.Context(), ingest.Draft{By: ingest.Person, Note: &note.Note{
		Type: note.Semantic, Title: title, Body: body, Project: "shop", Provenance: note.Provenance{Source: source, Confidence: 1},
	}})
	if err = errors.Join(err, out.Stale); err != nil {
		t.Fatal(err)
	}
	return out
}

// live lists the titles that a question of a machine can find, each as often as it is there.
func live(t *testing.T, r *Rooms) (titles []string) {
	t.Helper()
	rows, err := r.All.Select(t.Context(), index.Filter{Now: time.Now()}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		titles = append(titles, row.Title)
	}
	slices.Sort(titles)
	return titles
}

// kept lists the titles of the files of a store.
func kept(t *testing.T, r *Rooms) (titles []string) {
	t.Helper()
	for ref := range r.Store.Walk() {
		n, _, _, err := r.Store.Read(ref.Path)
		if err != nil {
			t.Fatal(err)
		}
		titles = append(titles, n.Title)
	}
	slices.Sort(titles)
	return titles
}

// errDead ends an exchange as a killed process does.
var errDead = errors.New("killed")

// A mortal server is killed at a step, before it or when it was done and nobody heard of it.
type mortal struct {
	TeamServer
	left *int
}

func (m mortal) step(f func() error) error {
	*m.left--
	if *m.left == 0 {
		return errDead
	}
	err := f()
	*m.left--
	if *m.left == 0 {
		return errDead
	}
	return err
}

func (m mortal) Found(ctx context.Context, prefix string, limit int) (all []index.Change, err error) {
	err = m.step(func() error { all, err = m.TeamServer.Found(ctx, prefix, limit); return err })
	return all, err
}

func (m mortal) Settle(ctx context.Context, all []index.Settled) error {
	return m.step(func() error { return m.TeamServer.Settle(ctx, all) })
}

func (m mortal) Apply(ctx context.Context, b index.Batch) error {
	return m.step(func() error { return m.TeamServer.Apply(ctx, b) })
}

// goHome is an exchange that is killed at a step, 0 never; alive reports whether it came to its end.
func goHome(t *testing.T, r *Rooms, kill int) (h HomeResult, alive bool) {
	t.Helper()
	server, err := openHomeServer(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	m := mortal{server, &kill}
	h.Sent, err = team.Home(t.Context(), m, homeSender(r), func(ctx context.Context, c index.Change) (why string, err error) {
		err = m.step(func() error { why, err = takeHome(ctx, r, c, &h); return err })
		return why, err
	})
	if err != nil && !errors.Is(err, errDead) {
		t.Fatal(err)
	}
	return h, err == nil
}

// Wherever the owner's machine is killed, no note of a machine without a store is lost, none is there
// twice, what was forgotten stays so, and no question sees a note never or twice.
func TestHomeKilled(t *testing.T) {
	dsn := postgrestest.DSN(t)
	if _, err := schema.Migrate(t.Context(), dsn, schema.MigrateOptions{}); err != nil {
		t.Fatal(err)
	}
	steps := 0
	for kill := 1; ; kill++ {
		server := aServer(t, dsn, kill)
		owner, away, later := aMachine(t, server, false), aMachine(t, server, true), aMachine(t, server, true)
		write(t, owner, note.Human, "Amounts are integers", "In cents.")
		gone := write(t, owner, note.Human, "Deploy on Mondays", "At nine.")
		if _, err := Forget(t.Context(), owner, string(gone.Note.ID), ForgetNow); err != nil {
			t.Fatal(err)
		}
		goHome(t, owner, 0)
		write(t, away, note.Agent, "Round VAT per line", "Half up.")
		write(t, away, note.Human, "Orders are events", "In a log.")
		write(t, away, note.Agent, "Amounts are integers", "In cents.") // the owner says it already
		write(t, away, note.Agent, "Deploy on Mondays", "At nine.")     // the owner forgot it
		if _, err := away.Ingester.Admit(t.Context(), ingest.Draft{By: ingest.Agent, Note: &note.Note{
			Type: note.Semantic, Title: "Wait for the bank", Body: "On Mondays.", Project: "shop", Provenance: note.Provenance{Source: note.Agent, Confidence: 1},
		}}); err != nil {
			t.Fatal(err)
		}
		if err := SendDrafts(t.Context(), away); err != nil {
			t.Fatal(err)
		}

		_, alive := goHome(t, owner, kill)
		want := []string{"Amounts are integers", "Orders are events", "Round VAT per line"}
		seen := live(t, later)
		for _, title := range want { // in between, too
			if !slices.Contains(seen, title) {
				t.Errorf("killed at %d: %q cannot be found; there is %q", kill, title, seen)
			}
		}
		goHome(t, owner, 0)
		again, _ := goHome(t, owner, 0)
		if again.Taken+again.Held+again.Known+again.Sent.Put+again.Sent.Dropped != 0 {
			t.Errorf("killed at %d: a second run does %+v", kill, again)
		}
		if got := kept(t, owner); !slices.Equal(got, want) {
			t.Errorf("killed at %d: the store has %q", kill, got)
		}
		if got := live(t, later); !slices.Equal(got, want) {
			t.Errorf("killed at %d: the server has %q", kill, got)
		}
		if got := owner.Store.Spool().Held(); len(got) != 1 || got[0].Title != "Wait for the bank" {
			t.Errorf("killed at %d: %d drafts wait", kill, len(got))
		}
		// The machine is still there, and does not send again what it knows to be at home.
		if rep, err := away.Index.Sync(t.Context(), index.SyncOptions{}); err != nil || rep.Indexed != 0 {
			t.Errorf("killed at %d: it sends %d again, %v", kill, rep.Indexed, err)
		}
		if alive {
			break
		}
		steps = kill
	}
	if steps < 10 {
		t.Errorf("only %d steps were killed", steps)
	}
}

// A note that came home is changed on either side.
func TestHomeChanged(t *testing.T) {
	dsn := postgrestest.DSN(t)
	if _, err := schema.Migrate(t.Context(), dsn, schema.MigrateOptions{}); err != nil {
		t.Fatal(err)
	}
	server := aServer(t, dsn, 1)
	owner, away := aMachine(t, server, false), aMachine(t, server, true)
	first := write(t, away, note.Human, "Round VAT per line", "Half up.").Note
	goHome(t, owner, 0)
	change := func(r *Rooms, body string, at time.Time) {
		t.Helper()
		n, data, _, err := r.Store.Read(mustFind(t, r, first.ID))
		if err != nil {
			t.Fatal(err)
		}
		n.Body, n.UpdatedAt = body, note.At(at)
		now, err := n.Rewrite(data)
		if err == nil {
			err = os.WriteFile(r.Store.Path(mustFind(t, r, first.ID)), now, 0o600)
		}
		if err == nil {
			err = Reindex(t.Context(), r, []string{mustFind(t, r, first.ID)})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	body := func() string {
		n, _, _, err := owner.Store.Read(mustFind(t, owner, first.ID))
		if err != nil {
			t.Fatal(err)
		}
		return n.Body
	}
	now := time.Now()
	change(away, "Half up, always.", now.Add(time.Hour))
	goHome(t, owner, 0)
	if got := body(); got != "Half up, always." {
		t.Errorf("the later form of the other machine: %q", got)
	}
	change(owner, "Half down.", now.Add(3*time.Hour))
	change(away, "Half even.", now.Add(2*time.Hour))
	goHome(t, owner, 0)
	if got := body(); got != "Half down." {
		t.Errorf("the later form here: %q", got)
	}
	if got := owner.Store.Conflicts().Count(); got != 1 {
		t.Errorf("%d conflicts: what both changed has to wait", got)
	}
	if h, _ := goHome(t, owner, 0); h.Known+h.Taken+h.Sent.Put != 0 {
		t.Errorf("a second run does %+v", h)
	}
}

func mustFind(t *testing.T, r *Rooms, id note.ID) string {
	t.Helper()
	ref, err := r.Store.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	return ref.Path
}

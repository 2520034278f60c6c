package ingest_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/index/sqlite"
	"anamnesis/internal/ingest"
	"anamnesis/internal/ingest/ingesttest"
	"anamnesis/internal/note"
	"anamnesis/internal/redact"
	"anamnesis/internal/store"
	"anamnesis/internal/store/storetest"
	"anamnesis/internal/store/tombstone"
)

type door struct {
	*testing.T
	*ingest.Ingester
	store *store.Store
	index *index.Index
	now   time.Time
}

func newDoor(t *testing.T) *door {
	t.Helper()
	d := &door{T: t, now: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)}
	var err error
	if d.store, err = store.Open(store.Options{Root: t.TempDir(), Now: func() time.Time { return d.now }}); err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(t.Context(), sqlite.Options{Path: d.store.Path("index.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	r, err := redact.New()
	if err != nil {
		t.Fatal(err)
	}
	d.index = index.New(db, d.store, index.Embedding{})
	d.Ingester = ingest.New(d.store, d.index, r, ingest.Options{MachineID: "box", HoldSimilar: true})
	return d
}

func (d *door) add(n note.Note, force bool) ingest.Outcome {
	d.Helper()
	if n.Type == "" {
		n.Type = note.Semantic
	}
	draft := ingesttest.DraftOf(&n)
	draft.Reason, draft.Force = store.Capture, force
	out, err := d.Admit(d.Context(), draft)
	if err != nil {
		d.Fatal(err)
	}
	if out.Stale != nil {
		d.Fatalf("the index was not told: %v", out.Stale)
	}
	return out
}

func (d *door) read(id note.ID) *note.Note {
	d.Helper()
	ref, err := d.store.Find(id)
	if err != nil {
		d.Fatal(err)
	}
	n, _, _, err := d.store.Read(ref.Path)
	if err != nil {
		d.Fatal(err)
	}
	return n
}

// secret is a token in the form of a real one, put together so that no scanner takes it for one.
var secret = "ghp_" + strings.Repeat("aB3dE6gH9", 4)

func machine(source string) note.Provenance { return note.Provenance{Source: source, Confidence: 0.8} }

func TestAddFillsIn(t *testing.T) {
	d := newDoor(t)
	out := d.add(note.Note{Title: "  a fact ", Body: "b"}, false)
	n := d.read(out.Note.ID)
	want := &note.Note{
		ID: out.Note.ID, Type: note.Semantic, Title: "a fact", Body: "b", Project: note.Global, MachineID: "box", Scope: note.Portable,
		UserID: "self", WorkspaceID: "personal", Provenance: note.Provenance{Source: note.Human},
		CreatedAt: "2026-11-20T10:00:00+00:00", UpdatedAt: "2026-11-20T10:00:00+00:00",
	}
	note.Vouch(want)
	if out.Result != ingest.Created || !note.Equal(n, want) {
		t.Errorf("%v\n got %+v\nwant %+v", out.Result, n, want)
	}
	if _, ok, _ := d.index.Lookup(t.Context(), n.ID); !ok {
		t.Error("the index does not know it")
	}
}

func TestAddRefuses(t *testing.T) {
	d := newDoor(t)
	for name, n := range map[string]note.Note{
		"type":       {Type: "../../evil", Title: "x"},
		"id":         {Type: note.Semantic, ID: "../x", Title: "x"},
		"title":      {Type: note.Semantic, Title: " "},
		"confidence": {Type: note.Semantic, Title: "x", Provenance: note.Provenance{Source: note.Human, Confidence: 2}},
		"scope":      {Type: note.Semantic, Title: "x", Scope: "everywhere"},
	} {
		if _, err := d.Admit(t.Context(), ingesttest.DraftOf(&n)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for ref := range d.store.Walk() {
		t.Errorf("left behind: %s", ref.Path)
	}
}

func TestMachineWrittenIsRedacted(t *testing.T) {
	d := newDoor(t)
	out := d.add(note.Note{
		Title: "token " + secret, Body: "use " + secret + " <private>home</private>", Rule: secret, Tags: []string{"ok", secret},
		Evidence: []note.Evidence{{Session: "s", Quote: secret}}, Provenance: machine(note.Agent),
	}, false)
	data, err := os.ReadFile(d.store.Path(out.Ref.Path))
	if err != nil || strings.Contains(string(data), secret) || strings.Contains(string(data), "home") || !out.Redacted {
		t.Errorf("%v, redacted %v\n%s", err, out.Redacted, data)
	}
	human := d.add(note.Note{Title: "my token", Body: secret}, false)
	if !strings.Contains(d.read(human.Note.ID).Body, secret) || len(human.Secrets) == 0 {
		t.Errorf("what a person wrote changed, or nobody said it holds a secret: %v", human.Secrets)
	}
}

func TestForgottenStaysForgotten(t *testing.T) {
	d := newDoor(t)
	n := note.Note{Title: "never deploy on friday", Body: "the on-call engineer is alone on the weekend and the last three outages began that way"}
	if err := tombstone.Write(storetest.Writer(d.store), note.Portable, tombstone.New("gone", n.Statement(), d.now)); err != nil {
		t.Fatal(err)
	}
	near := n
	near.Title = "NEVER deploy -- on Friday!"
	for _, c := range []note.Note{n, near} {
		c.Provenance = machine(note.Agent)
		if out := d.add(c, false); out.Result != ingest.Dropped || out.Note != nil || !strings.Contains(out.Why, "2026-11-20") {
			t.Errorf("%q: %v %s", c.Title, out.Result, out.Why)
		}
	}
	out := d.add(n, true)
	if out.Result != ingest.Created || !out.Revoked {
		t.Fatalf("its owner insists: %v", out.Result)
	}
	// What its owner wrote again is not forgotten any more, for whatever door.
	if erased, err := tombstone.Apply(storetest.Writer(d.store)); err != nil || len(erased) > 0 {
		t.Errorf("erased %v %v", erased, err)
	}
	same := n
	same.Provenance = machine(note.Agent)
	if out := d.add(same, false); out.Result != ingest.Unchanged || out.Revoked {
		t.Errorf("said again: %v %s", out.Result, out.Why)
	}
	same.ID = out.Note.ID
	same.Body += " of this company"
	if out := d.add(same, false); out.Result != ingest.Held {
		t.Errorf("an agent changed it: %v %s", out.Result, out.Why)
	}
	same.Provenance = machine(note.Human)
	if out := d.add(same, false); out.Result != ingest.Updated {
		t.Errorf("changed: %v %s", out.Result, out.Why)
	}
}

// A twin that nobody forgot stands already: the tombstone goes on its account.
func TestForgottenTwin(t *testing.T) {
	d := newDoor(t)
	n := note.Note{Title: "never deploy on friday", Body: "ever"}
	stands := d.add(n, false)
	if err := tombstone.Write(storetest.Writer(d.store), note.Portable, tombstone.New("gone", n.Statement(), d.now)); err != nil {
		t.Fatal(err)
	}
	if out := d.add(n, true); out.Result != ingest.Unchanged || !out.Revoked || out.Note.ID != stands.Note.ID {
		t.Errorf("%+v", out)
	}
	if _, err := os.Stat(d.store.Path("memory/tombstones/" + string(stands.Note.ID) + ".json")); err != nil {
		t.Error(err)
	}
	if erased, err := tombstone.Apply(storetest.Writer(d.store)); err != nil || len(erased) > 0 {
		t.Errorf("erased %v %v", erased, err)
	}
}

const long = "when payments proto changes run make proto gen and commit the generated clients in the same change or staging breaks for everyone who deploys after that day"

func TestTwins(t *testing.T) {
	base := note.Note{Title: "grpc clients", Body: long, Project: "p", Tags: []string{"a"}}
	for _, c := range []struct {
		name   string
		change func(*note.Note)
		force  bool
		want   ingest.Result
		twin   bool
	}{
		{"the same", func(*note.Note) {}, false, ingest.Unchanged, true},
		{"the same in other spelling", func(n *note.Note) { n.Body = strings.ToUpper(long) + " !!" }, false, ingest.Unchanged, true},
		{"the same with a new tag", func(n *note.Note) { n.Tags = []string{"b"} }, false, ingest.Updated, true},
		{"another project", func(n *note.Note) { n.Project = "q" }, false, ingest.Created, false},
		{"another type", func(n *note.Note) { n.Type = note.Procedural }, false, ingest.Created, false},
		{"another scope", func(n *note.Note) { n.Scope = note.Local }, false, ingest.Created, false},
		{"nearly the same, by a machine", func(n *note.Note) {
			n.Body = strings.Replace(long, "day", "date", 1)
			n.Provenance = machine(note.Agent)
		}, false, ingest.Held, true},
		{"nearly the same, a machine insists", func(n *note.Note) {
			n.Body = strings.Replace(long, "day", "date", 1)
			n.Provenance = machine(note.Agent)
		}, true, ingest.Held, true},
		{"nearly the same, by a person", func(n *note.Note) { n.Body = strings.Replace(long, "day", "date", 1) }, false, ingest.Created, true},
		{"another number", func(n *note.Note) { n.Body = long + " within 60 minutes"; n.Provenance = machine(note.Agent) }, false, ingest.Created, false},
		{"something else", func(n *note.Note) { n.Body = "quite another matter altogether" }, false, ingest.Created, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDoor(t)
			first := d.add(base, false).Note.ID
			n := base
			n.Tags = slices.Clone(base.Tags)
			c.change(&n)
			out := d.add(n, c.force)
			if out.Result != c.want || (out.Twin != nil) != c.twin {
				t.Fatalf("%v (%s), twin %v; want %v, %v", out.Result, out.Why, out.Twin != nil, c.want, c.twin)
			}
			if out.Result == ingest.Updated && (out.Note.ID != first || !slices.Equal(d.read(first).Tags, []string{"a", "b"})) {
				t.Errorf("tags %v", d.read(first).Tags)
			}
			held := d.store.Spool().Held()
			if (out.Result == ingest.Held) != (len(held) == 1) {
				t.Errorf("%d held", len(held))
			}
			if len(held) == 1 {
				kept, err := ingest.InboxOf(d.Ingester).Release(t.Context(), held[0].ID, false)
				if err != nil || kept.Result != ingest.Created || len(d.store.Spool().Held()) != 0 || d.read(held[0].ID).Body != n.Body {
					t.Errorf("keeping it: %v %v", kept.Result, err)
				}
			}
		})
	}
}

func TestSymbolsAloneAreNoTwins(t *testing.T) {
	d := newDoor(t)
	d.add(note.Note{Title: "🎉"}, false)
	if out := d.add(note.Note{Title: "🔥"}, false); out.Result != ingest.Created {
		t.Errorf("%v: %s", out.Result, out.Why)
	}
}

func session(title, body string) note.Note {
	return note.Note{
		ID: "S1", Type: note.Episodic, Title: title, Body: body, Project: "p", Tags: []string{"session"},
		Provenance: note.Provenance{Source: note.SessionEnd, Confidence: 1, Session: "s"}, ImportHash: ingest.SummaryHash(title, body),
	}
}

func TestSessionCapturedAgain(t *testing.T) {
	d := newDoor(t)
	d.add(session("ask", "first"), false)
	d.now = d.now.Add(time.Hour)
	if out := d.add(session("ask", "first"), false); out.Result != ingest.Unchanged {
		t.Errorf("the same again: %v", out.Result)
	}
	// Somebody added a tag and a key of their own, reflection marked it as distilled.
	n := d.read("S1")
	n.Tags = append(n.Tags, "reflected", "mine")
	n.Extra = []note.Field{{Key: "own", Raw: "own: kept\n"}}
	ref, _ := d.store.Find("S1")
	if _, _, err := storetest.Put(d.store, n, ref, store.Update); err != nil {
		t.Fatal(err)
	}
	out := d.add(session("ask", "second"), false)
	got := d.read("S1")
	if out.Result != ingest.Updated || got.Body != "second" || got.UpdatedAt != "2026-11-20T11:00:00+00:00" || got.CreatedAt != "2026-11-20T10:00:00+00:00" {
		t.Errorf("%v %+v", out.Result, got)
	}
	if !slices.Equal(got.Tags, []string{"session", "mine"}) || len(got.Extra) != 1 {
		t.Errorf("tags %v (a new body is not distilled), extra %v", got.Tags, got.Extra)
	}
	if revs, _ := d.store.History("S1"); len(revs) == 0 || revs[0].Reason != store.Capture {
		t.Errorf("history %v", revs)
	}
}

// A summary that its owner edited is not overwritten by a later capture.
func TestEditedSessionStays(t *testing.T) {
	d := newDoor(t)
	d.add(session("ask", "first"), false)
	n := d.read("S1")
	n.Body = "what really happened"
	ref, _ := d.store.Find("S1")
	if _, _, err := storetest.Put(d.store, n, ref, store.Update); err != nil {
		t.Fatal(err)
	}
	next := session("ask", "second")
	next.Tags = []string{"session", "precompact"}
	d.add(next, false)
	if got := d.read("S1"); got.Body != "what really happened" || !got.HasTag("precompact") {
		t.Errorf("%q %v", got.Body, got.Tags)
	}
}

func TestIDsThatDifferInCaseOnly(t *testing.T) {
	d := newDoor(t)
	d.add(note.Note{ID: "Alpha", Title: "one"}, false)
	n := note.Note{ID: "aLPHA", Type: note.Semantic, Title: "two"}
	if _, err := d.Admit(t.Context(), ingesttest.DraftOf(&n)); err == nil || !strings.Contains(err.Error(), "case only") {
		t.Errorf("%v", err)
	}
}

// The file is the note: when the index cannot be updated, the note is safe and said to be.
func TestIndexFails(t *testing.T) {
	d := newDoor(t)
	n := note.Note{Type: note.Episodic, Title: "kept", Provenance: machine(note.SessionEnd)}
	d.index.Close()
	out, err := d.Admit(t.Context(), ingesttest.DraftOf(&n))
	if err == nil && out.Stale == nil {
		t.Fatal("a closed index took a note")
	}
	if err == nil {
		if _, serr := d.store.Find(out.Note.ID); serr != nil {
			t.Error(serr)
		}
	}
}

func TestReadOnlyStore(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write everywhere")
	}
	d := newDoor(t)
	if err := os.Chmod(d.store.Root(), 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(d.store.Root(), 0o700) // so that the folder can be deleted
	s, err := store.Open(store.Options{Root: d.store.Root()})
	if err != nil || !s.ReadOnly() {
		t.Fatal(err)
	}
	n := note.Note{Type: note.Semantic, Title: "x"}
	if _, err := ingest.New(s, d.index, nil, ingest.Options{}).Admit(t.Context(), ingesttest.DraftOf(&n)); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("%v", err)
	}
}
